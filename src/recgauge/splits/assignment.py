"""What a strategy decides: which rows are held out, given after training, or not used."""

from dataclasses import dataclass

import numpy as np

from recgauge.errors import SchemaError
from recgauge.utils.checks import BoolArray


@dataclass(frozen=True, slots=True, eq=False)
class Assignment:
    """The part that each row goes to; a row in none of the masks is a training row.

    Parameters
    ----------
    test : ndarray of bool, shape (n,)
    validation : ndarray of bool, shape (n,), or None
        None: there is no validation part.
    fold_in : ndarray of bool, shape (n,), or None
        Rows of held-out users that models are given after training. None: no user is held out.
    unused : tuple of (str, ndarray of bool)
        Rows in no part, with the reason in words.

    Raises
    ------
    SchemaError
        If a row is in several masks.

    Examples
    --------
    >>> halves = Assignment(test=np.array([False, True, False]))
    >>> halves.train.tolist()
    [True, False, True]
    """

    test: BoolArray
    validation: BoolArray | None = None
    fold_in: BoolArray | None = None
    unused: tuple[tuple[str, BoolArray], ...] = ()

    def __post_init__(self) -> None:
        taken = np.zeros(len(self.test), dtype=bool)
        for name, mask in self._masks():
            if mask.shape != taken.shape or (taken & mask).any():
                raise SchemaError(
                    f"Assignment: each of the {len(taken)} rows may be in one part only; {name} shares rows "
                    "with another part or has another length. Correct the strategy."
                )
            taken |= mask

    def _masks(self) -> list[tuple[str, BoolArray]]:
        named = [("test", self.test), ("validation", self.validation), ("fold_in", self.fold_in)]
        return [(name, mask) for name, mask in (*named, *self.unused) if mask is not None]

    @property
    def train(self) -> BoolArray:
        """Training rows, shape (n,)."""
        train = np.ones(len(self.test), dtype=bool)
        for _, mask in self._masks():
            train &= ~mask
        return train
