"""Shares of rows that are held out, for strategies that rank rows and cut."""

from dataclasses import dataclass

import numpy as np

from recgauge.errors import ConfigError
from recgauge.splits import Splitter
from recgauge.utils.checks import BoolArray, LongArray, check_real


@dataclass(frozen=True)
class Shares(Splitter):
    """A strategy with a share of rows in test and one in validation."""

    test_size: float = 0.2
    validation_size: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        owner = type(self).__name__
        check_real(f"{owner}: test_size", self.test_size, low=0.0, high=1.0, low_open=True)
        check_real(f"{owner}: validation_size", self.validation_size, low=0.0, high=1.0)
        if self.test_size + self.validation_size >= 1.0:
            raise ConfigError(
                f"{owner}: test_size + validation_size must be below 1 so that training rows are left, "
                f"got {self.test_size:g} + {self.validation_size:g}."
            )

    def _masks(self, position: LongArray, n_rows: LongArray | int) -> tuple[BoolArray, BoolArray | None]:
        """Turn each row's position among `n_rows` into masks: test first, then validation."""
        n_test = np.rint(np.multiply(n_rows, self.test_size))
        in_test = position < n_test
        if self.validation_size == 0.0:
            return in_test, None
        n_validation = np.rint(np.multiply(n_rows, self.validation_size))
        return in_test, ~in_test & (position < n_test + n_validation)
