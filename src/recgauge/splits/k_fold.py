"""Cross-validation over rows: every row is tested in exactly one fold."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.errors import ConfigError, EmptySplitError
from recgauge.splits import Assignment, Splitter
from recgauge.utils.checks import BoolArray, IntArray, check_bool, check_int


@dataclass(frozen=True)
class Folds(Splitter):
    """A strategy with `n_splits` folds of which one is tested."""

    n_splits: int = 5
    fold: int = 0
    validation: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        owner = type(self).__name__
        check_bool(f"{owner}: validation", self.validation)
        check_int(f"{owner}: n_splits", self.n_splits, minimum=3 if self.validation else 2)
        check_index(f"{owner}: fold", self.fold, self.n_splits, "n_splits")

    def _parts(self, folds: IntArray) -> tuple[BoolArray, BoolArray | None]:
        """Turn the fold of each row or user into masks of test and validation."""
        in_validation = folds == (self.fold + 1) % self.n_splits if self.validation else None
        return folds == self.fold, in_validation

    def _chunks(self, shuffled: IntArray, what: str) -> IntArray:
        """Return the fold of each of the shuffled numbers: as even chunks as can be, longer ones first."""
        if self.n_splits > len(shuffled):
            raise EmptySplitError(
                f"{type(self).__name__}: {self.n_splits} folds need at least as many {what}, there are "
                f"{len(shuffled)}. Lower split.n_splits."
            )
        folds = np.empty(len(shuffled), dtype=np.int32)
        for number, chunk in enumerate(np.array_split(shuffled, self.n_splits)):
            folds[chunk] = number
        return folds


@dataclass(frozen=True)
class KFold(Folds):
    """Hold out one of `n_splits` random folds of all rows.

    Parameters
    ----------
    n_splits : int
        Number of folds, >= 2, or >= 3 with a validation part; sizes differ by at most one row.
    fold : int
        The fold that is tested, from 0; the folds are the same whichever is tested.
    validation : bool
        Whether the next fold (after the last, the first) is the validation part.
    cold_users, cold_items : {"drop", "keep"}
        See `Splitter`.

    Raises
    ------
    ConfigError
        If there is no such fold.
    EmptySplitError
        If there are fewer rows than folds.

    Notes
    -----
    Depends on the order of the rows, which is the publisher's.

    Examples
    --------
    >>> ratings = Interactions.from_ids([1, 1, 1, 2, 2, 2], [1, 2, 3, 1, 2, 3])
    >>> folds = [KFold(n_splits=3, fold=fold, cold_users="keep") for fold in range(3)]
    >>> [len(one.split(ratings, rng=np.random.default_rng(0)).test) for one in folds]
    [2, 2, 2]
    """

    name: ClassVar[str] = "k_fold"

    def assign(self, interactions: Interactions, *, rng: np.random.Generator) -> Assignment:
        """Return which rows are held out."""
        order = rng.permutation(len(interactions)).astype(np.int32)
        return Assignment(*self._parts(self._chunks(order, "rows")))


def check_index(subject: str, value: object, count: int, counted: str) -> int:
    """Return `value` as a number from 0 to ``count - 1``, or say that there is no such fold or window."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and 0 <= value < count:
        return int(value)
    raise ConfigError(
        f"{subject} must be a whole number from 0 to {count - 1} ({counted} is {count}), got {value!r}."
    )
