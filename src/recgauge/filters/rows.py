"""Rows are dropped: by ratings, by times, by how many a user, an item or a pair has, or at random."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from recgauge.data.dataset import Dataset
from recgauge.data.interactions import Interactions, at_least
from recgauge.errors import ConfigError, EmptySplitError, SchemaError
from recgauge.filters import Filter, RowFilter, with_values
from recgauge.utils.checks import (
    BoolArray,
    Count,
    LongArray,
    Natural,
    Real,
    check_time,
    shown,
    time_text,
)

EARLIEST = 100_000_000  # March 1973; below it a whole number is a year or a date without dashes


@dataclass(frozen=True)
class MinRating(RowFilter):
    """Keep rows with a value of at least `rating`.

    Parameters
    ----------
    rating : float
        Lowest rating that stays, in the data set's scale.

    Examples
    --------
    >>> ratings = Interactions.from_ids(["a", "a", "b"], [1, 2, 1], [3.0, 4.0, 5.0])
    >>> MinRating(4).keep(ratings).tolist()
    [False, True, True]
    """

    rating: Real

    def keep(self, interactions: Interactions) -> BoolArray:
        """Return the mask of the rows that stay, shape (n,)."""
        return at_least(interactions.value, self.rating)

    def __str__(self) -> str:
        return f"ratings below {self.rating:g}"


@dataclass(frozen=True)
class Binarise(Filter):
    """Keep rows with a value of at least `rating`, as 1; drop the others; feedback becomes implicit.

    Rows below are dropped, not kept as 0: implicit feedback has no rows for what did not happen, and a row
    would make the item count as seen. Every held-out row is relevant afterwards.

    Parameters
    ----------
    rating : float
        Lowest rating that counts as a yes.

    Examples
    --------
    >>> from recgauge.datasets.demo import Demo
    >>> binary = Binarise(4).apply(Demo().load(), rng=np.random.default_rng(0))
    >>> binary.feedback, binary.relevant_from, float(binary.interactions.value.max())
    ('implicit', None, 1.0)
    """

    rating: Real

    @property
    def changes(self) -> str:
        """What happens to the values."""
        return "the others count as 1"

    def apply(self, dataset: Dataset, *, rng: np.random.Generator) -> Dataset:
        """Return the implicit data set."""
        kept = MinRating(self.rating).apply(dataset, rng=rng)
        ones = np.ones(len(kept.interactions), dtype=np.float32)
        return with_values(kept, ones, implicit=True)

    def __str__(self) -> str:
        return f"ratings below {self.rating:g}"


@dataclass(frozen=True)
class DateRange(RowFilter):
    """Keep rows with ``start <= time < end``.

    Parameters
    ----------
    start, end : str, int or None
        An ISO 8601 date or time (``2018-01-31``, ``2018-01-31T12:00``, UTC unless it names an offset), or
        seconds since 1970-01-01 UTC; None: no limit. The start belongs to the range, the end does not, so
        that ranges that follow one another share no row.

    Raises
    ------
    ConfigError
        If a limit cannot be read, both are None, or the range is empty.

    Examples
    --------
    >>> ratings = Interactions.from_ids(["a", "a"], [1, 2], timestamp=[1_514_764_799, 1_514_764_800])
    >>> DateRange(start="2018-01-01").keep(ratings).tolist()
    [False, True]
    >>> print(DateRange(start="2018-01-01", end="2019-01-01"))
    rows outside 2018-01-01..2019-01-01 (end left out)
    """

    start: str | int | None = None
    end: str | int | None = None

    def __post_init__(self) -> None:
        start, end = self._limits()
        if start is None and end is None:
            raise ConfigError("DateRange: no limit is set; set start, end or both.")
        if start is not None and end is not None and start >= end:
            raise ConfigError(
                f"DateRange: start must be before end, got start={self.start} and end={self.end}; the end "
                "itself is left out, so name the day after the last one."
            )

    def _limits(self) -> tuple[int | None, int | None]:
        start, end = (
            None if limit is None else check_time(f"DateRange: {name}", limit, earliest=EARLIEST)
            for name, limit in (("start", self.start), ("end", self.end))
        )
        return start, end

    def keep(self, interactions: Interactions) -> BoolArray:
        """Return the mask of the rows that stay, shape (n,).

        Raises
        ------
        SchemaError
            If the rows have no times.
        EmptySplitError
            If no row is in the range.
        """
        times = interactions.timestamp
        if times is None:
            raise SchemaError(
                "DateRange: rows must have times, these have none. Name the column of the time "
                "(dataset.time=...) if there is one, or leave the filter out."
            )
        start, end = self._limits()
        kept = np.ones(len(times), dtype=bool)
        if start is not None:
            kept &= times >= start
        if end is not None:
            kept &= times < end
        if len(times) and not kept.any():
            raise EmptySplitError(
                f"DateRange: dropping {self} leaves no row; the data reach from "
                f"{time_text(int(times.min()))} to {time_text(int(times.max()))}. Choose a range inside."
            )
        return kept

    def __str__(self) -> str:
        start, end = self._limits()
        if end is None:
            return f"rows before {time_text(start or 0)}"
        if start is None:
            return f"rows from {time_text(end)} on"
        return f"rows outside {time_text(start)}..{time_text(end)} (end left out)"


@dataclass(frozen=True)
class _RowCounts(RowFilter):
    at_least: Count | None = None
    more_than: Natural | None = None
    at_most: Count | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        owner = type(self).__name__
        if self.at_least is None and self.more_than is None and self.at_most is None:
            raise ConfigError(f"{owner}: no limit is set; set at_least, more_than or at_most.")
        if self.at_most is not None and self.at_most < self._fewest:
            raise ConfigError(
                f"{owner}: at_most must not be below the fewest rows required, got at_most={self.at_most} "
                f"and at least {self._fewest}; no one can meet both."
            )

    @property
    def _fewest(self) -> int:
        return max(self.at_least or 1, 1 if self.more_than is None else self.more_than + 1)

    def _inside(self, counts: LongArray) -> BoolArray:
        inside: BoolArray = counts >= self._fewest
        return inside if self.at_most is None else inside & (counts <= self.at_most)

    def _outside(self, noun: str) -> str:
        if self.at_most is None:
            return f"{noun} with fewer than {self._fewest} rows"
        if self._fewest == 1:
            return f"{noun} with more than {self.at_most} rows"
        return f"{noun} with fewer than {self._fewest} or more than {self.at_most} rows"


@dataclass(frozen=True)
class UserRows(_RowCounts):
    """Keep users with enough, and not too many, rows.

    Parameters
    ----------
    at_least : int or None
        Fewest rows that a user may have, >= 1.
    more_than : int or None
        Users must have more rows than this, >= 0; with `at_least`, both hold.
    at_most : int or None
        Most rows that a user may have.

    Examples
    --------
    >>> ratings = Interactions.from_ids(["a", "b", "b", "c", "c", "c"], [1, 1, 2, 1, 2, 3])
    >>> UserRows(more_than=1, at_most=2).keep(ratings).tolist()
    [False, True, True, False, False, False]
    """

    def keep(self, interactions: Interactions) -> BoolArray:
        """Return the mask of the rows that stay, shape (n,)."""
        return self._inside(interactions.user_counts())[interactions.user]

    def __str__(self) -> str:
        return self._outside("users")


@dataclass(frozen=True)
class ItemRows(_RowCounts):
    """Keep items with enough, and not too many, rows.

    Parameters
    ----------
    at_least : int or None
        Fewest rows that an item may have, >= 1.
    more_than : int or None
        Items must have more rows than this, >= 0; with `at_least`, both hold.
    at_most : int or None
        Most rows that an item may have.

    Examples
    --------
    >>> ratings = Interactions.from_ids(["a", "b", "b"], [1, 1, 2])
    >>> ItemRows(at_least=2).keep(ratings).tolist()
    [True, True, False]
    """

    def keep(self, interactions: Interactions) -> BoolArray:
        """Return the mask of the rows that stay, shape (n,)."""
        return self._inside(interactions.item_counts())[interactions.item]

    def __str__(self) -> str:
        return self._outside("items")


@dataclass(frozen=True)
class NCore(RowFilter):
    """Keep users and items with at least so many rows each.

    Parameters
    ----------
    n : int
        Fewest rows of a user, >= 1.
    item_n : int or None
        Fewest rows of an item, >= 1; None: as `n`.
    repeat : bool
        Whether to count again on what is left until nothing changes. False: users and items are counted
        once, both before any row is dropped, so some may end below the limit.

    Notes
    -----
    The repeated form is the largest part in which everybody has enough rows; order of rows and of counting
    do not matter, and running it again changes nothing.

    References
    ----------
    .. [1] S. B. Seidman, "Network structure and minimum degree", Social Networks 5(3), 1983.

    Examples
    --------
    >>> ratings = Interactions.from_ids(["a", "a", "b", "b", "c", "c"], [1, 2, 1, 2, 2, 3])
    >>> NCore(2).keep(ratings).tolist()
    [True, True, True, True, False, False]
    >>> NCore(2, repeat=False).keep(ratings).tolist()
    [True, True, True, True, True, False]
    """

    n: Count
    item_n: Count | None = None
    repeat: bool = True

    def keep(self, interactions: Interactions) -> BoolArray:
        """Return the mask of the rows that stay, shape (n,)."""
        kept = np.ones(len(interactions), dtype=bool)
        item_n = self.n if self.item_n is None else self.item_n
        while True:
            users = np.bincount(interactions.user[kept], minlength=interactions.n_users) >= self.n
            items = np.bincount(interactions.item[kept], minlength=interactions.n_items) >= item_n
            enough = users[interactions.user] & items[interactions.item]
            unchanged = not (kept & ~enough).any()
            kept &= enough
            if unchanged or not self.repeat:
                return kept

    def broken_in(self, interactions: Interactions) -> str:
        """Say how many users and items have fewer rows; nothing of a core that was counted once."""
        limits = (self.n, self.n if self.item_n is None else self.item_n)
        counts = interactions.user_counts(), interactions.item_counts()
        few = [int(((of > 0) & (of < n)).sum()) for of, n in zip(counts, limits, strict=True)]
        if not self.repeat or not any(few):
            return ""
        each = zip(few, ("users", "items"), limits, strict=True)
        return " and ".join(f"{n:,} {kind} have fewer than {limit} rows" for n, kind, limit in each if n)

    def __str__(self) -> str:
        items = "" if self.item_n in (None, self.n) else f"-{self.item_n}"
        if self.repeat:
            return f"users and items outside the {self.n}{items}-core"
        least = f"{self.n} rows" if not items else f"{self.n} (users) or {self.item_n} (items) rows"
        return f"users and items with fewer than {least}, counted once"


def check_amount(subject: str, amount: object) -> int | float:
    """Return a count (a whole number of at least 1) or a share (strictly between 0 and 1), or refuse it."""
    if isinstance(amount, int) and not isinstance(amount, bool) and amount >= 1:
        return amount
    if isinstance(amount, float) and 0 < amount < 1:
        return amount
    raise ConfigError(
        f"{subject} must be a count (a whole number >= 1) or a share (between 0 and 1), got {amount!r}."
    )


def count_of(amount: int | float, total: int) -> int:
    """Return how many of `total` an amount means; a share is rounded down."""
    # a hair of tolerance, so that 0.29 of 100 is 29 although the product is 28.999999999999996
    return amount if isinstance(amount, int) else int(total * amount + 1e-9)


def amount_text(amount: int | float, noun: str) -> str:
    """Return an amount in words.

    Examples
    --------
    >>> amount_text(100, "items"), amount_text(0.01, "items")
    ('100 items', '1% of the items')
    """
    return f"{amount:,} {noun}" if isinstance(amount, int) else f"{amount * 100:g}% of the {noun}"


@dataclass(frozen=True)
class PopularItems(RowFilter):
    """Drop the items with the most rows.

    Parameters
    ----------
    top : int or float
        How many: a count (``100``), or a share of the items (``0.01``), rounded down.

    Notes
    -----
    Among items with equal counts the one whose id sorts first goes first, whatever the order of rows. A list
    of blockbusters is easy to get right and of little use; without them a model must know more.

    References
    ----------
    .. [1] P. Cremonesi, Y. Koren, R. Turrin, "Performance of recommender algorithms on top-N recommendation
       tasks", RecSys 2010 (without the short head, models change places).

    Examples
    --------
    >>> ratings = Interactions.from_ids(["a", "b", "a", "c"], [1, 1, 2, 3])
    >>> PopularItems(1).keep(ratings).tolist()
    [False, False, True, True]
    """

    top: int | float

    def __post_init__(self) -> None:
        check_amount("PopularItems: top", self.top)

    def keep(self, interactions: Interactions) -> BoolArray:
        """Return the mask of the rows that stay, shape (n,)."""
        counts = interactions.item_counts()
        n_dropped = count_of(self.top, int(np.count_nonzero(counts)))
        inside = np.ones(interactions.n_items, dtype=bool)
        inside[np.argsort(-counts, kind="stable")[:n_dropped]] = False
        return inside[interactions.item]

    def __str__(self) -> str:
        return f"the most popular {amount_text(self.top, 'items')}"


@dataclass(frozen=True)
class SampleUsers(Filter):
    """Keep the rows of users drawn at random, each with the same chance.

    Parameters
    ----------
    users : int or float
        How many: a count (``1000``), or a share of the users (``0.1``), rounded down.

    Raises
    ------
    ConfigError
        If `users` is neither a count nor a share; on application, if there are fewer users, or none is left.

    Notes
    -----
    The draw depends on the run's seed and on who the users are, not on the order of rows.

    Examples
    --------
    >>> from recgauge.datasets.demo import Demo
    >>> SampleUsers(0.1).apply(Demo().load(), rng=np.random.default_rng(0)).interactions.n_users
    100
    """

    users: int | float

    def __post_init__(self) -> None:
        check_amount("SampleUsers: users", self.users)

    def apply(self, dataset: Dataset, *, rng: np.random.Generator) -> Dataset:
        """Return the data set of the drawn users."""
        rows = dataset.interactions
        present = np.flatnonzero(rows.user_counts())
        n_drawn = count_of(self.users, len(present))
        if not 1 <= n_drawn <= len(present):
            raise ConfigError(
                f"SampleUsers: users must draw from 1 to {len(present)} users, all that {dataset.name} has "
                f"here, got {self.users}. Choose another number."
            )
        drawn = np.zeros(rows.n_users, dtype=bool)
        drawn[rng.permutation(present)[:n_drawn]] = True
        return dataset.with_interactions(rows.take(drawn[rows.user]))

    def __str__(self) -> str:
        return f"users outside a random draw of {amount_text(self.users, 'users')}"


Policy = Literal["error", "first", "last", "mean", "max", "count"]
POLICIES: tuple[Policy, ...] = get_args(Policy)
_VALUES = {
    "mean": "a pair counts once, with the mean of its values",
    "max": "a pair counts once, with its highest value",
    "count": "a pair counts once, with the number of its rows",
}


@dataclass(frozen=True)
class Duplicates(Filter):
    """Leave one row of each (user, item) pair.

    Parameters
    ----------
    policy : {"error", "first", "last", "mean", "max", "count"}
        ``error``: refuse data with repeated pairs. ``first``, ``last``: the row with the earliest or latest
        time stays; rows of one time, and all rows if there are no times, go by their order. ``mean``,
        ``max``, ``count``: the last row stays, with this value; after ``count`` feedback is implicit and
        every held-out row is relevant.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from recgauge.datasets.demo import Demo
    >>> plays = Interactions.from_ids(["a", "a", "b"], [1, 1, 1], [2.0, 5.0, 3.0])
    >>> twice = replace(Demo().load(), interactions=plays, item_titles=None, item_features=None)
    >>> Duplicates("mean").apply(twice, rng=np.random.default_rng(0)).interactions.value.tolist()
    [3.5, 3.0]
    """

    policy: Policy

    @property
    def changes(self) -> str:
        """What happens to the values."""
        return _VALUES.get(self.policy, "")

    def apply(self, dataset: Dataset, *, rng: np.random.Generator) -> Dataset:  # noqa: ARG002 - contract
        """Return the data set with one row a pair.

        Raises
        ------
        SchemaError
            If `policy` is ``error`` and a pair is repeated.
        """
        rows = dataset.interactions
        order, begins = _repeated_rows(rows)
        first = np.flatnonzero(begins)
        if self.policy == "error" and len(first):
            raise _refusal(dataset, order[~begins])
        n_rows = np.diff(first, append=len(order))
        chosen = order[first] if self.policy == "first" else order[first + n_rows - 1]
        kept = np.ones(len(rows), dtype=bool)
        kept[order] = False
        kept[chosen] = True
        left = dataset.with_interactions(rows.take(kept))
        if not self.changes:
            return left
        if self.policy == "count":
            numbers = np.ones(len(rows))
            numbers[chosen] = n_rows
            return with_values(left, numbers[kept], implicit=True)
        values = rows.value.astype(np.float64)
        if len(first):
            merge = np.maximum if self.policy == "max" else np.add
            merged = merge.reduceat(values[order], first)
            values[chosen] = merged if self.policy == "max" else merged / n_rows
        return with_values(left, values[kept])

    def __str__(self) -> str:
        kept = f" (the {self.policy} one stays)" if self.policy in ("first", "last") else ""
        return f"further rows of a (user, item) pair{kept}"


def _repeated_rows(rows: Interactions) -> tuple[LongArray, BoolArray]:
    """Return the rows of repeated pairs by pair, time and position, and where in them a pair begins."""
    pair = rows.user.astype(np.int64) * rows.n_items + rows.item
    ordered = np.sort(pair)
    repeated = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    # only the few rows of repeated pairs go through the slow sort, which is stable: ties stay in their order
    at = np.minimum(np.searchsorted(repeated, pair), max(len(repeated) - 1, 0))
    concerned = np.flatnonzero(repeated[at] == pair) if len(repeated) else np.zeros(0, np.int64)
    pair = pair[concerned]
    times = np.zeros(len(pair), np.int64) if rows.timestamp is None else rows.timestamp[concerned]
    order = np.lexsort((times, pair))
    begins = np.ones(len(pair), dtype=bool)
    begins[1:] = pair[order][1:] != pair[order][:-1]
    return concerned[order], begins


def _refusal(dataset: Dataset, repeats: LongArray) -> SchemaError:
    rows, row = dataset.interactions, int(repeats.min())
    return SchemaError(
        f"Duplicates: {dataset.name} must have one row per (user, item) pair, got {len(repeats)} rows more "
        f"than pairs; row {row + 1} repeats user {shown(rows.user_ids[rows.user[row]])}, "
        f"item {shown(rows.item_ids[rows.item[row]])}. Choose what stays: "
        f"filters.duplicates.policy={'|'.join(POLICIES[1:])}."
    )
