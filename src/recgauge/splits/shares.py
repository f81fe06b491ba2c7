"""One cut: a share of all rows, or a share or number of each user's, at random or the latest."""

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.errors import ConfigError
from recgauge.splits import Assignment, Splitter
from recgauge.splits._order import ByTime, latest_first, ranks_by, shuffled, times_of
from recgauge.utils.checks import BoolArray, Count, DoubleArray, LongArray, Natural, Share, Within


@dataclass(frozen=True)
class Shares(Splitter):
    """A strategy with a share of rows in test and one in validation."""

    test_size: Annotated[float, Within(0.0, 1.0, low_open=True)] = 0.2
    validation_size: Share = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.test_size + self.validation_size >= 1.0:
            raise ConfigError(
                f"{type(self).__name__}: test_size + validation_size must be below 1 so that training rows "
                f"are left, got {self.test_size:g} + {self.validation_size:g}."
            )

    def _masks(self, position: LongArray, n_rows: LongArray | int) -> tuple[BoolArray, BoolArray | None]:
        """Turn each row's position among `n_rows` into masks: test first, then validation."""
        n_test, n_validation = self._sizes(n_rows)
        in_test = position < n_test
        if self.validation_size == 0.0:
            return in_test, None
        return in_test, ~in_test & (position < n_test + n_validation)

    def _sizes(self, n_rows: LongArray | int) -> tuple[DoubleArray, DoubleArray]:
        return np.rint(np.multiply(n_rows, self.test_size)), np.rint(
            np.multiply(n_rows, self.validation_size)
        )


@dataclass(frozen=True)
class RandomRows(Shares):
    """Hold out a random share of all rows.

    Parameters
    ----------
    test_size : float
        Share of rows in test, in (0, 1); the count is rounded to the nearest whole number.
    validation_size : float
        Share of rows in validation, in [0, 1); 0 makes no validation part.
    cold_users, cold_items : {"drop", "keep"}
        See `Splitter`.
    whole : str or None
        See `Splitter`.

    Notes
    -----
    Depends on the order of the rows, which is the publisher's.

    Examples
    --------
    >>> ratings = Interactions.from_ids([1, 1, 1, 2, 2, 2], [1, 2, 3, 1, 2, 3])
    >>> split = RandomRows(test_size=0.5).split(ratings, rng=np.random.default_rng(0))
    >>> len(split.train), len(split.test)
    (3, 3)
    """

    name: ClassVar[str] = "random"

    def assign(self, interactions: Interactions, *, rng: np.random.Generator) -> Assignment:
        """Return which rows are held out."""
        n_test, n_validation = map(int, self._sizes(len(interactions)))
        part = np.zeros(len(interactions), np.uint8)
        part[:n_test] = 1
        part[n_test : n_test + n_validation] = 2
        rng.shuffle(part)  # as a shuffle of the rows' numbers, with an eighth of the memory
        return Assignment(part == 1, None if self.validation_size == 0.0 else part == 2)


@dataclass(frozen=True)
class RandomPerUser(Shares):
    """Hold out a random share of each user's rows.

    Parameters
    ----------
    test_size : float
        Share of a user's rows in test, in (0, 1); the count is rounded to the nearest whole number, half
        to even, so a user with few rows may have none.
    validation_size : float
        Share of a user's rows in validation, in [0, 1); 0 makes no validation part.
    cold_users, cold_items : {"drop", "keep"}
        See `Splitter`.
    whole : str or None
        See `Splitter`.

    Notes
    -----
    Depends on the order of the rows, which is the publisher's.

    Examples
    --------
    >>> ratings = Interactions.from_ids([1, 1, 1, 1, 2, 2, 2, 2], [1, 2, 3, 4, 1, 2, 3, 4])
    >>> split = RandomPerUser(test_size=0.25).split(ratings, rng=np.random.default_rng(0))
    >>> split.test.user_counts().tolist()
    [1, 1]
    """

    name: ClassVar[str] = "random_per_user"

    def assign(self, interactions: Interactions, *, rng: np.random.Generator) -> Assignment:
        """Return which rows are held out."""
        draws = rng.random(len(interactions))
        position = ranks_by(interactions, (draws * 2**40).astype(np.int64), draws)
        counts = interactions.user_counts()
        return Assignment(*self._masks(position, counts[interactions.user]))


@dataclass(frozen=True)
class TemporalFraction(Shares):
    """Hold out the latest share of all rows: train ends before validation, validation before test.

    Parameters
    ----------
    test_size : float
        Least share of rows in test, in (0, 1): the test part begins with the second of the first row of the
        latest share, and all rows of that second are in it.
    validation_size : float
        Least share of rows in validation, in [0, 1), cut likewise; 0 makes no validation part.
    cold_users, cold_items : {"drop", "keep"}
        See `Splitter`. Many users and items have no row before the cut.
    whole : str or None
        See `Splitter`. Many users and items have no row before the cut.

    Raises
    ------
    SchemaError
        If the data have no timestamps.

    Notes
    -----
    Rows of one second are never separated, so neither the order of the rows nor chance matters.

    Examples
    --------
    >>> ratings = Interactions.from_ids([1, 1, 2, 2], [1, 2, 1, 3], None, [10, 40, 20, 30])
    >>> split = TemporalFraction(test_size=0.25).split(ratings, rng=np.random.default_rng(0))
    >>> split.train.timestamp.tolist(), split.test.timestamp.tolist()
    ([10, 20, 30], [40])
    """

    name: ClassVar[str] = "temporal_fraction"
    temporal: ClassVar[bool] = True

    def assign(self, interactions: Interactions, *, rng: np.random.Generator) -> Assignment:  # noqa: ARG002
        """Return which rows are held out; no chance is involved."""
        times = times_of(interactions, "TemporalFraction")
        n_rows = len(times)
        n_test = round(n_rows * self.test_size)
        if n_test == 0:
            return Assignment(np.zeros(n_rows, dtype=bool))
        cut = n_rows - n_test
        in_test = times >= np.partition(times, cut)[cut]
        if self.validation_size == 0.0:
            return Assignment(in_test)
        earlier = times[~in_test]
        n_validation = min(round(n_rows * self.validation_size), len(earlier))
        if n_validation == 0:
            return Assignment(in_test, np.zeros(n_rows, dtype=bool))
        cut = len(earlier) - n_validation
        return Assignment(in_test, ~in_test & (times >= np.partition(earlier, cut)[cut]))


@dataclass(frozen=True)
class TemporalPerUser(ByTime, Shares):
    """Hold out the last share of each user's rows by time.

    Parameters
    ----------
    test_size : float
        Share of a user's rows in test, in (0, 1); the count is rounded to the nearest whole number, half
        to even, so a user with few rows may have none.
    validation_size : float
        Share of a user's rows in validation, in [0, 1), those right before the test rows; 0 makes no
        validation part.
    ties : str
        Which of a user's rows of one time counts as the latest, see `ByTime`; default ``fixed_random``.
    cold_users, cold_items : {"drop", "keep"}
        See `Splitter`.
    whole : str or None
        See `Splitter`.

    Raises
    ------
    SchemaError
        If the data have no timestamps.

    Notes
    -----
    Does not depend on the order of the rows if no (user, item) pair repeats, except with ``ties="row_order"``
    and its reverse. Rows of other users may be later than a user's test rows.

    Examples
    --------
    >>> ratings = Interactions.from_ids([1, 1, 1, 1], [1, 2, 3, 4], None, [30, 10, 20, 40])
    >>> split = TemporalPerUser(test_size=0.5).split(ratings, rng=np.random.default_rng(0))
    >>> split.test.item_ids[split.test.item].tolist()
    [1, 4]
    """

    name: ClassVar[str] = "temporal_per_user"
    temporal: ClassVar[bool] = True

    def assign(self, interactions: Interactions, *, rng: np.random.Generator) -> Assignment:
        """Return which rows are held out; chance is involved with ``ties="random"`` alone."""
        rank = latest_first(interactions, "TemporalPerUser", self.ties, rng)
        masks = self._masks(rank, interactions.user_counts()[interactions.user])
        return Assignment(*masks, rank=rank)


@dataclass(frozen=True)
class _LeaveOut(Splitter):
    n: Count = 1
    n_validation: Natural = 0

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
    whole : str or None
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
    history : {"train", "train_validation"}
        What models that take histories (`recgauge.models.TakesHistories`) see when they are asked for test
        rows: the training rows, or the validation rows as well, as SASRec, BERT4Rec and most articles about
        next items have it. No model is fitted on validation rows for that. For validation rows it is the
        training rows. What counts as seen is ``candidates.seen``.
    cold_users, cold_items : {"drop", "keep"}
        See `Splitter`.
    whole : str or None
        See `Splitter`.

    Raises
    ------
    ConfigError
        If `history` has validation rows and there are none.
    SchemaError
        If the data have no timestamps, and `ties` is not the order of the rows.

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

    history: Literal["train", "train_validation"] = "train"

    name: ClassVar[str] = "last_n"
    temporal: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.grows and not self.n_validation:
            raise ConfigError(
                "LeaveLastOut: history=train_validation needs validation rows, and n_validation is 0. Set "
                "split.n_validation=1, or leave split.history out."
            )

    @property
    def grows(self) -> bool:
        """Whether histories have the validation rows, too."""
        return self.history == "train_validation"

    def assign(self, interactions: Interactions, *, rng: np.random.Generator) -> Assignment:
        """Return which rows are held out; chance is involved with ``ties="random"`` alone."""
        rank = latest_first(interactions, "LeaveLastOut", self.ties, rng)
        return replace(self._cut(interactions, rank), rank=rank)
