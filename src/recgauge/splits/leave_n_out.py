"""A fixed number of rows of each user is held out: random ones, or the last by time."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.splits import Assignment, Splitter
from recgauge.splits._order import ByTime, latest_first, shuffled
from recgauge.utils.checks import LongArray, check_int


@dataclass(frozen=True)
class _LeaveOut(Splitter):
    n: int = 1
    n_validation: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_int(f"{type(self).__name__}: n", self.n, minimum=1)
        check_int(f"{type(self).__name__}: n_validation", self.n_validation, minimum=0)

    def _cut(self, interactions: Interactions, rank: LongArray) -> Assignment:
        counts = interactions.user_counts()[interactions.user]
        n_out = self.n + self.n_validation
        eligible = counts > n_out
        in_test = eligible & (rank < self.n)
        in_validation = eligible & (rank >= self.n) & (rank < n_out) if self.n_validation else None
        return Assignment(in_test, in_validation)


@dataclass(frozen=True)
class LeaveRandomOut(_LeaveOut):
    """Hold out `n` random rows of each user; with ``n=1``, random leave-one-out.

    Parameters
    ----------
    n : int
        Test rows of each user, >= 1.
    n_validation : int
        Validation rows of each user; 0 makes no validation part.
    cold_users, cold_items : {"drop", "keep"}
        See `Splitter`.

    Notes
    -----
    A user who would have no training row left keeps all rows in train and is not tested. Does not depend on
    the order of the rows if no (user, item) pair repeats.

    Examples
    --------
    >>> ratings = Interactions.from_ids([1, 1, 1, 2, 2, 3], [1, 2, 3, 1, 2, 1])
    >>> split = LeaveRandomOut().split(ratings, rng=np.random.default_rng(0))
    >>> split.test.user_counts().tolist(), split.train.user_counts().tolist()
    ([1, 1, 0], [2, 1, 1])
    """

    name: ClassVar[str] = "leave_one_out"

    def assign(self, interactions: Interactions, *, rng: np.random.Generator) -> Assignment:
        """Return which rows are held out."""
        return self._cut(interactions, shuffled(interactions, rng))


@dataclass(frozen=True)
class LeaveLastOut(ByTime, _LeaveOut):
    """Hold out the last `n` rows of each user by time; with ``n=1``, leave-last-one-out.

    Parameters
    ----------
    n : int
        Test rows of each user, >= 1.
    n_validation : int
        Validation rows of each user, those right before the test rows; 0 makes no validation part.
    ties : str
        Which of a user's rows of one time counts as the latest, see `ByTime`; default ``fixed_random``.
    cold_users, cold_items : {"drop", "keep"}
        See `Splitter`.

    Raises
    ------
    SchemaError
        If the data have no timestamps.

    Notes
    -----
    A user who would have no training row left keeps all rows in train and is not tested. Does not depend on
    the order of the rows if no (user, item) pair repeats, except with ``ties="row_order"`` and its reverse.

    A model may still learn from rows of other users that are later than a user's test row; only a global cut
    in time rules that out (`TemporalDate`, `TemporalFraction`, `RollingWindow`).

    Examples
    --------
    >>> ratings = Interactions.from_ids([1, 1, 1, 2, 2], [1, 2, 3, 1, 2], None, [30, 10, 20, 5, 6])
    >>> split = LeaveLastOut().split(ratings, rng=np.random.default_rng(0))
    >>> split.test.timestamp.tolist()
    [30, 6]

    Three rows of one time: the last of them in the table, or the first.

    >>> page = Interactions.from_ids([1, 1, 1], [7, 9, 8], None, [5, 5, 5])
    >>> for ties in ("row_order", "row_order_reversed"):
    ...     test = LeaveLastOut(ties=ties).split(page, rng=np.random.default_rng(0)).test
    ...     print(test.item_ids[test.item])
    [8]
    [7]
    """

    name: ClassVar[str] = "last_n"
    temporal: ClassVar[bool] = True

    def assign(self, interactions: Interactions, *, rng: np.random.Generator) -> Assignment:
        """Return which rows are held out; chance is involved with ``ties="random"`` alone."""
        return self._cut(interactions, latest_first(interactions, "LeaveLastOut", self.ties, rng))
