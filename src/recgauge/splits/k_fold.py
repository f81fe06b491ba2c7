"""Folds over rows: every row is tested in exactly one; random ones, and those of the Surprise library."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.errors import ConfigError, EmptySplitError
from recgauge.splits import Assignment, ColdRows, Splitter
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


@dataclass(frozen=True)
class SurpriseKFold(Folds):
    """Hold out one of the folds of Surprise's ``KFold(n_splits, random_state)``, row for row.

    Parameters
    ----------
    n_splits : int
        Number of folds, >= 2, or >= 3 with a validation part.
    fold : int
        The fold that is tested, from 0, in the order in which Surprise yields them.
    validation : bool
        Whether the next fold (after the last, the first) is the validation part; Surprise has none.
    random_state : int
        Surprise's ``random_state``, >= 0; the run's seed does not matter.
    cold_users, cold_items : {"drop", "keep"}
        See `Splitter`; both "keep", as in Surprise, which predicts every row.

    Raises
    ------
    EmptySplitError
        If there are fewer rows than folds.

    Notes
    -----
    Depends on the order of the rows: the folds are Surprise's if the rows are in the order of the publisher's
    file, as recgauge's data sets have them, and no filter drops any. The benchmark table in Surprise's README
    has five folds and ``random_state=0``.

    References
    ----------
    .. [1] N. Hug, "Surprise: A Python library for recommender systems", Journal of Open Source Software
       5(52), 2020.

    Examples
    --------
    >>> ratings = Interactions.from_ids([1, 1, 1, 2, 2, 2], [1, 2, 3, 1, 2, 3])
    >>> held_out = SurpriseKFold(n_splits=3).assign(ratings, rng=np.random.default_rng(0)).test
    >>> np.flatnonzero(held_out).tolist()
    [2, 5]
    """

    random_state: int = 0
    cold_users: ColdRows = field(default="keep", kw_only=True)

    name: ClassVar[str] = "surprise_k_fold"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_int("SurpriseKFold: random_state", self.random_state, minimum=0)

    def assign(self, interactions: Interactions, *, rng: np.random.Generator) -> Assignment:  # noqa: ARG002
        """Return which rows are held out; `rng` is not used."""
        order = np.arange(len(interactions))
        # The legacy generator of numpy, whose stream is frozen: that is what Surprise shuffles with.
        np.random.RandomState(self.random_state).shuffle(order)
        return Assignment(*self._parts(self._chunks(order.astype(np.int32), "rows")))
