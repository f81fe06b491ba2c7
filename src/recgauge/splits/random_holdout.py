"""Random hold-out, over all rows or inside each user's rows."""

from dataclasses import dataclass

import numpy as np

from recgauge._checks import BoolArray, LongArray, check_real
from recgauge.errors import ConfigError
from recgauge.interactions import Interactions
from recgauge.splits import Splitter


@dataclass(frozen=True)
class _Fractions(Splitter):
    test_size: float = 0.2
    validation_size: float = 0.0

    def __post_init__(self) -> None:
        owner = type(self).__name__
        check_real(f"{owner}: test_size", self.test_size, low=0.0, high=1.0, low_open=True)
        check_real(f"{owner}: validation_size", self.validation_size, low=0.0, high=1.0)
        if self.test_size + self.validation_size >= 1.0:
            raise ConfigError(
                f"{owner}: test_size + validation_size must be below 1 so that training rows are left, "
                f"got {self.test_size:g} + {self.validation_size:g}."
            )

    def _masks(self, position: LongArray, n_rows: LongArray | int) -> tuple[BoolArray, BoolArray | None]:
        """Turn each row's random position among `n_rows` into masks: test first, then validation."""
        n_test = np.rint(np.multiply(n_rows, self.test_size))
        in_test = position < n_test
        if self.validation_size == 0.0:
            return in_test, None
        n_validation = np.rint(np.multiply(n_rows, self.validation_size))
        return in_test, ~in_test & (position < n_test + n_validation)


@dataclass(frozen=True)
class RandomRows(_Fractions):
    """Hold out a random share of all rows.

    Parameters
    ----------
    test_size : float
        Share of rows in test, in (0, 1); the count is rounded to the nearest whole number.
    validation_size : float
        Share of rows in validation, in [0, 1); 0 makes no validation part.

    Raises
    ------
    ConfigError
        If the shares leave nothing to train on.

    Examples
    --------
    >>> ratings = Interactions.from_ids([1, 1, 1, 2, 2, 2], [1, 2, 3, 1, 2, 3])
    >>> split = RandomRows(test_size=0.5).split(ratings, rng=np.random.default_rng(0))
    >>> len(split.train), len(split.test)
    (3, 3)
    """

    name: str = "random"

    def assign(
        self, interactions: Interactions, *, rng: np.random.Generator
    ) -> tuple[BoolArray, BoolArray | None]:
        """Return the masks of test and validation rows."""
        n_rows = len(interactions)
        return self._masks(rng.permutation(n_rows), n_rows)


@dataclass(frozen=True)
class RandomPerUser(_Fractions):
    """Hold out a random share of each user's rows.

    Parameters
    ----------
    test_size : float
        Share of a user's rows in test, in (0, 1); the count is rounded to the nearest whole number, half
        to even, so a user with few rows may have none.
    validation_size : float
        Share of a user's rows in validation, in [0, 1); 0 makes no validation part.

    Raises
    ------
    ConfigError
        If the shares leave nothing to train on.

    Examples
    --------
    >>> ratings = Interactions.from_ids([1, 1, 1, 1, 2, 2, 2, 2], [1, 2, 3, 4, 1, 2, 3, 4])
    >>> split = RandomPerUser(test_size=0.25).split(ratings, rng=np.random.default_rng(0))
    >>> split.test.user_counts().tolist()
    [1, 1]
    """

    name: str = "random_per_user"

    def assign(
        self, interactions: Interactions, *, rng: np.random.Generator
    ) -> tuple[BoolArray, BoolArray | None]:
        """Return the masks of test and validation rows."""
        shuffled = np.lexsort((rng.random(len(interactions)), interactions.user))
        counts = interactions.user_counts()
        first = np.cumsum(counts) - counts
        position = np.empty(len(interactions), dtype=np.int64)
        position[shuffled] = np.arange(len(interactions)) - first[interactions.user[shuffled]]
        return self._masks(position, counts[interactions.user])
