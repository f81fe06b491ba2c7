"""Joins ranked lists with held-out interactions, once, for all metrics: what their bodies add up."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from recgauge.data.catalogue import Catalogue
from recgauge.data.ids import IdArray
from recgauge.data.relevance import Relevant
from recgauge.data.top_k import Beyond, TopK
from recgauge.errors import MetricError, SchemaError
from recgauge.judging import Policies, _lookup
from recgauge.judging.ties import order_ties, shared_ranks, shuffled, tied_rows
from recgauge.utils.checks import BoolArray, DoubleArray, IntArray, LongArray, read_only, shown

Limit = int | LongArray | None
"""Last rank that counts: of all users, of each user (t,), or None for the whole list."""
BLOCK = 4096


@dataclass(frozen=True, slots=True, eq=False)
class RankedGains:
    """Gains at ranks of users' lists, sparse: one entry a relevant item, in order of user, then rank.

    Parameters
    ----------
    owner : ndarray of int64, shape (h,)
        Row of the user, ascending.
    rank : ndarray of int32, shape (h,)
        From 1, ascending inside a user.
    gain : ndarray of float64, shape (h,)
        Above 0.
    ordinal : ndarray of int32, shape (h,)
        Position of each entry among its user's entries, from 1.
    n_users : int
        Number of rows, with or without entries.
    tie_first, tie_last : ndarray of int64, shape (h,), optional
        First and last rank of the items with the same score, where ties share their ranks.
    """

    owner: LongArray
    rank: IntArray
    gain: DoubleArray
    ordinal: IntArray
    n_users: int
    tie_first: LongArray | None = None
    tie_last: LongArray | None = None
    # every metric cuts at the same few ranks: the cuts and counts are kept
    _cuts: "dict[int, RankedGains]" = field(default_factory=dict, init=False, repr=False)
    _counts: "list[DoubleArray]" = field(default_factory=list, init=False, repr=False)

    def __post_init__(self) -> None:
        for name in ("owner", "rank", "gain", "ordinal"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def cut(self, k: int | None) -> "RankedGains":
        """Return the entries down to rank `k` (all if None)."""
        if k is None:
            return self
        if k not in self._cuts:
            self._cuts[k] = self._take(np.flatnonzero(self.rank <= k))
        return self._cuts[k]

    def within(self, limit: LongArray) -> "RankedGains":
        """Return the entries down to a rank of each user's own, `limit` of shape (n_users,)."""
        return self._take(np.flatnonzero(self.rank <= limit[self.owner]))

    def _take(self, kept: LongArray) -> "RankedGains":
        if len(kept) == len(self.owner):
            return self
        return RankedGains(
            self.owner[kept],
            self.rank[kept],
            self.gain[kept],
            self.ordinal[kept],
            self.n_users,
            None if self.tie_first is None else self.tie_first[kept],
            None if self.tie_last is None else self.tie_last[kept],
        )

    def total(self, weight: DoubleArray) -> DoubleArray:
        """Sum `weight` (h,) over each user's entries, shape (n_users,) float64."""
        total: DoubleArray = np.bincount(self.owner, weight, minlength=self.n_users).astype(
            np.float64, copy=False
        )
        return total

    def counts(self) -> DoubleArray:
        """Return the number of each user's entries, shape (n_users,) float64."""
        if not self._counts:
            counts = np.bincount(self.owner, minlength=self.n_users).astype(np.float64)
            self._counts.append(read_only(counts))
        return self._counts[0]


@dataclass(frozen=True, slots=True, eq=False)
class TiedGains:
    """Relevant items of the users with equal scores, by group of equal scores.

    A single item is a group of one. Every order of a group is taken to be equally likely, independent of
    other groups. A group may go on beyond the end of the list.

    Parameters
    ----------
    rows : ndarray of int64, shape (t,)
        Rows of the users among the judged.
    lengths : ndarray of int64, shape (t,)
        Lengths of their lists.
    owner : ndarray of int64, shape (g,)
        User of each group, 0 to t - 1, rising. Groups without relevant items are left out.
    first : ndarray of int64, shape (g,)
        First rank of the group, rising inside a user.
    size, n_relevant : ndarray of int64, shape (g,)
        Items and relevant items of the group, in and beyond the list.
    before : ndarray of int64, shape (g,)
        Relevant items in the user's earlier groups.
    group, gain : ndarray of int64 and float64, shape (h,)
        Group and grade of each relevant item.

    References
    ----------
    .. [1] F. McSherry, M. Najork, "Computing information retrieval performance measures efficiently in the
       presence of tied scores", ECIR 2008.
    """

    rows: LongArray
    lengths: LongArray
    owner: LongArray
    first: LongArray
    size: LongArray
    n_relevant: LongArray
    before: LongArray
    group: LongArray
    gain: DoubleArray

    @classmethod
    def of(
        cls,
        items: IntArray,
        scores: npt.NDArray[np.floating],
        lengths: IntArray,
        hits: RankedGains,
        beyond: Beyond | None,
    ) -> "TiedGains":
        """Find the groups of judged lists (m, k); nothing beyond the lists where that is not known."""
        size = np.zeros(len(items), np.int64) if beyond is None else beyond.size
        is_tied = tied_rows(items, scores) | (size > 0)
        rows, row_of = np.flatnonzero(is_tied), np.cumsum(is_tied) - 1
        shown, size = lengths[rows].astype(np.int64), size[rows]
        kept = is_tied[hits.owner]
        owner, gain = row_of[hits.owner[kept]], hits.gain[kept]
        first, last = shared_ranks(scores[rows], owner, hits.rank[kept])
        if beyond is not None and len(beyond.gains):
            more = row_of[np.repeat(np.arange(len(items)), np.diff(beyond.start))]
            width = np.full(len(more), items.shape[1])
            starts, ends = shared_ranks(scores[rows], more, width)
            owner, gain = np.concatenate((owner, more)), np.concatenate((gain, beyond.gains))
            first, last = np.concatenate((first, starts)), np.concatenate((last, ends))
        last = last + np.where(last == items.shape[1], size[owner], 0)
        return cls._grouped(rows, shown, owner, first, last - first + 1, gain)

    @classmethod
    def _grouped(
        cls,
        rows: LongArray,
        lengths: LongArray,
        owner: LongArray,
        first: LongArray,
        size: LongArray,
        gain: DoubleArray,
    ) -> "TiedGains":
        order = np.lexsort((gain, first, owner))
        owner, first, size, gain = owner[order], first[order], size[order], gain[order]
        opens = np.ones(len(owner), bool)
        opens[1:] = (np.diff(owner) != 0) | (np.diff(first) != 0)
        group, starts = np.cumsum(opens) - 1, np.flatnonzero(opens)
        counts = np.diff(np.append(starts, len(owner)))
        whose = owner[starts]
        before = starts - starts[np.searchsorted(whose, whose)]
        return cls(rows, lengths, whose, first[starts], size[starts], counts, before, group, gain)

    @property
    def share(self) -> DoubleArray:
        """Chance of each rank of a group to hold a relevant item, shape (g,)."""
        return self.n_relevant / self.size

    def _limits(self, limit: Limit) -> LongArray:
        return self.lengths if limit is None else np.minimum(self.lengths, limit)

    def inside(self, limit: Limit) -> LongArray:
        """Return how many ranks of each group count, shape (g,)."""
        inside: LongArray = np.clip(self._limits(limit)[self.owner] - self.first + 1, 0, self.size)
        return inside

    def total(self, of_group: DoubleArray) -> DoubleArray:
        """Sum over each user's groups, shape (t,)."""
        total: DoubleArray = np.bincount(self.owner, of_group, minlength=len(self.rows)).astype(np.float64)
        return total

    def weight(self, limit: Limit, weights: DoubleArray) -> DoubleArray:
        """Return the summed weights (by rank, from 0) of each group's ranks that count, shape (g,)."""
        total = np.cumsum(weights)
        before = np.minimum(self.first - 1, len(total) - 1)
        return np.asarray(total[np.minimum(before + self.inside(limit), len(total) - 1)] - total[before])

    def mean_gain(self, gains: DoubleArray) -> DoubleArray:
        """Return the mean gain of the items of each group, shape (g,), from gains of relevant items (h,)."""
        total = np.bincount(self.group, gains, minlength=len(self.owner)).astype(np.float64)
        return total / self.size

    def expect_hits(
        self, limit: Limit, value: Callable[[DoubleArray, LongArray], DoubleArray]
    ) -> DoubleArray:
        """Return the expected value of a function of the number of relevant items that count, shape (t,).

        Parameters
        ----------
        limit : int, ndarray or None
        value : callable
            Gets counts (b,) and their users (b,), 0 to t - 1; returns values (b,).
        """
        inside = self.inside(limit)
        whole = inside == self.size
        certain = self.total(np.where(whole, self.n_relevant, 0).astype(np.float64))
        expected = value(certain, np.arange(len(self.rows)))
        # at most one group of a user is cut
        cut = np.flatnonzero(~whole & (inside > 0))
        for start in range(0, len(cut), BLOCK):
            groups = cut[start : start + BLOCK]
            users = self.owner[groups]
            chances = _hit_chances(self.size[groups], self.n_relevant[groups], inside[groups])
            expected[users] = 0.0
            for count, chance in enumerate(chances.T):
                possible = chance > 0
                part = users[possible]
                expected[part] += chance[possible] * value(certain[part] + count, part)
        return expected

    def expected_reciprocal_rank(self, limit: Limit) -> DoubleArray:
        """Return the expected reciprocal rank of each user's first relevant item, shape (t,), 0 for none."""
        opens = np.flatnonzero(self.before == 0)
        size, n_relevant = self.size[opens].astype(np.float64), self.n_relevant[opens]
        first, inside = self.first[opens], self.inside(limit)[opens]
        values, none_yet = np.zeros(len(opens)), np.ones(len(opens))
        for j in range(int(inside.max(initial=0))):
            left = np.maximum(size - j, 1.0)
            values += np.where(j < inside, none_yet * n_relevant / left / (first + j), 0.0)
            none_yet *= np.maximum(left - n_relevant, 0.0) / left
        expected = np.zeros(len(self.rows))
        expected[self.owner[opens]] = values
        return expected

    def hit_ordinals(self) -> tuple[DoubleArray, DoubleArray]:
        """Return a and b (g,): a relevant item at position j (from 0) of its group is hit a + b j on average.

        a: hits before the group and the item itself; b: chance that another position of the group is a hit.
        """
        others = np.maximum(self.size - 1, 1)
        return np.asarray(self.before + 1.0, np.float64), (self.n_relevant - 1) / others


def _hit_chances(size: LongArray, n_relevant: LongArray, n_drawn: LongArray) -> DoubleArray:
    """Return the chances (b, c) of 0, 1, ... relevant items among the first `n_drawn` of random orders.

    Drawn one by one, which adds no large numbers that cancel.
    """
    most = int(np.minimum(n_relevant, n_drawn).max(initial=0))
    counts = np.arange(most + 1)
    chances = np.zeros((len(size), most + 1))
    chances[:, 0] = 1.0
    missing = np.maximum(n_relevant[:, None] - counts, 0)
    for j in range(int(n_drawn.max(initial=0))):
        hit = missing / np.maximum(size - j, 1)[:, None]
        after = chances * np.maximum(1.0 - hit, 0.0)
        after[:, 1:] += (chances * hit)[:, :-1]
        chances = np.where((j < n_drawn)[:, None], after, chances)
    return chances


__all__ = ["JudgedTopK", "RankedGains", "Relevant", "judge"]


@dataclass(frozen=True, eq=False)
class JudgedTopK:
    """Ranked lists and relevant items: all that a metric of one user's list needs.

    Every user with a list or with relevant items has a row; a user may be without either.

    Parameters
    ----------
    users : ndarray of int32, shape (m,)
        User codes; rows of everything below.
    items : ndarray of int32, shape (m, k)
        The lists, padded with -1.
    list_length : ndarray of int32, shape (m,)
        0: no list.
    hits : RankedGains
        The relevant items in the lists, at their ranks.
    n_relevant : ndarray of int64, shape (m,)
        0: no relevant items.
    relevant_gains : ndarray of float64, shape (r,)
        Gains of all relevant items, users back to back, falling inside each user.
    none_relevant : ndarray of bool, shape (m,)
        Users with judged rows none of which is relevant; False for those without any judged row.
    catalogue : Catalogue or None
        For metrics beyond accuracy.
    tied : TiedGains or None
        Groups of equal scores, where values are to be those expected of a random order.
    """

    users: IntArray
    items: IntArray
    list_length: IntArray
    hits: RankedGains
    n_relevant: LongArray
    relevant_gains: DoubleArray
    none_relevant: BoolArray
    catalogue: Catalogue | None = None
    tied: TiedGains | None = None

    def __post_init__(self) -> None:
        for name in ("users", "items", "list_length", "n_relevant", "none_relevant"):
            array = getattr(self, name)
            if len(array) != len(self.users):
                raise SchemaError(f"JudgedTopK: {name} must have {len(self.users)} rows, got {len(array)}.")
            object.__setattr__(self, name, read_only(array))

    @property
    def n_users(self) -> int:
        """Number of judged users."""
        return len(self.users)

    @property
    def relevant_start(self) -> LongArray:
        """Where each user's part of `relevant_gains` begins, and the end, shape (m + 1,)."""
        return np.concatenate(([0], np.cumsum(self.n_relevant)))

    @cached_property
    def flat_gain(self) -> float | None:
        """The gain that all relevant items share, None if they differ."""
        lowest = float(self.relevant_gains.min()) if len(self.relevant_gains) else 1.0
        return lowest if (self.relevant_gains == lowest).all() else None

    def take(self, rows: LongArray | BoolArray) -> "JudgedTopK":
        """Return the chosen rows (ascending positions or a mask), to evaluate a part of the users.

        Without `tied`.
        """
        chosen = np.flatnonzero(rows) if rows.dtype == np.bool_ else np.asarray(rows, np.int64)
        new_row = np.full(self.n_users, -1)
        new_row[chosen] = np.arange(len(chosen))
        hits = self.hits._take(np.flatnonzero(new_row[self.hits.owner] >= 0))
        owner, ties = new_row[hits.owner], (hits.tie_first, hits.tie_last)
        moved = RankedGains(owner, hits.rank, hits.gain, hits.ordinal, len(chosen), *ties)
        owned = np.repeat(new_row >= 0, self.n_relevant)
        return JudgedTopK(
            self.users[chosen],
            self.items[chosen],
            self.list_length[chosen],
            moved,
            self.n_relevant[chosen],
            self.relevant_gains[owned],
            self.none_relevant[chosen],
            self.catalogue,
        )


def judge(
    top_k: TopK,
    relevant: Relevant,
    catalogue: Catalogue | None = None,
    *,
    policies: Policies | None = None,
    users: IntArray | None = None,
    user_ids: IdArray | None = None,
    order: tuple[int, int] = (0, 0),
) -> JudgedTopK:
    """Look up the gain of every item in every list.

    Parameters
    ----------
    top_k : TopK
        Lists; a user without relevant items may have one.
    relevant : Relevant
        A user without a list may have relevant items.
    catalogue : Catalogue, optional
        For metrics beyond accuracy.
    policies : Policies, optional
        Ties and duplicates act here; the defaults if left out.
    users : ndarray of int32, shape (m,), optional
        Distinct codes of everybody who counts, in the order of the result; by default everybody who has
        a list or relevant items.
    user_ids : ndarray, optional
        Ids of all user codes, for messages.
    order : tuple of int, default (0, 0)
        Seed and number of the random order, where ties are put in one.

    Returns
    -------
    JudgedTopK

    Raises
    ------
    SchemaError
        If `users` leaves out somebody who has a list or relevant items, or a list repeats an item and
        duplicates are an error.

    Examples
    --------
    >>> lists = TopK(np.array([0]), np.array([[5, 3, 9]]), np.array([[3.0, 2.0, 1.0]]))
    >>> relevant = Relevant(
    ...     np.array([0]), np.array([0, 2]), np.array([3, 7]), np.array([1.0, 2.0]), n_without=0
    ... )
    >>> judged = judge(lists, relevant)
    >>> judged.hits.rank.tolist(), judged.relevant_gains.tolist()
    ([2], [2.0, 1.0])
    """
    chosen = policies or Policies()
    known_distinct = top_k.distinct
    if chosen.ties == "random":
        top_k = shuffled(top_k, *order)
    users, top_k, relevant = _align(top_k, relevant, users)
    items, scores = top_k.items, top_k.scores
    if chosen.duplicates == "error" and not known_distinct:
        row = _lookup.first_repeat(items)
        if row is not None:
            user = users[row] if user_ids is None else user_ids[users[row]]
            raise SchemaError(
                f"recommendations: the list of user {shown(user)} holds an item twice, and duplicates are an "
                "error. Remove it, or choose policies with duplicates='first', 'every' or 'distinct'."
            )
    if chosen.score_precision == "single":
        with np.errstate(over="ignore"):
            scores = scores.astype(np.float32)
    if chosen.ties in ("item_code", "id_descending"):
        sign = -1 if chosen.ties == "id_descending" else 1
        items = order_ties(items, scores, lambda _, tied: sign * tied)
    start, gains = relevant.start, np.asarray(relevant.gains, np.float64)
    every = known_distinct or chosen.duplicates in ("every", "distinct")  # without repeats it is the same
    owner, rank, ordinal, gain = _lookup.look_up(items, start, relevant.items, gains, every=every)
    if chosen.duplicates == "distinct" and not known_distinct and _lookup.first_repeat(items) is not None:
        start, gains = _with_repeats(items, owner, rank, gain, start, gains)
    shared = shared_ranks(scores, owner, rank) if chosen.ties == "average" else (None, None)
    hits = RankedGains(owner, rank, gain, ordinal, len(users), *shared)
    return JudgedTopK(
        users,
        items,
        top_k.lengths,
        hits,
        np.diff(start),
        _lookup.best_first(start, gains),
        np.isin(users, relevant.none_relevant),
        catalogue,
        TiedGains.of(items, scores, top_k.lengths, hits, top_k.beyond) if chosen.ties == "expected" else None,
    )


def _with_repeats(
    items: IntArray,
    owner: LongArray,
    rank: IntArray,
    gain: DoubleArray,
    start: LongArray,
    gains: DoubleArray,
) -> tuple[LongArray, DoubleArray]:
    """Give each user one more relevant item for every repeat of one; return starts and gains."""
    item = items[owner, rank - 1]
    order = np.lexsort((rank, item, owner))
    again = (np.diff(owner[order]) == 0) & (np.diff(item[order]) == 0)
    repeats = order[1:][again]
    owners = np.concatenate((np.repeat(np.arange(len(items)), np.diff(start)), owner[repeats]))
    by_owner = np.argsort(owners, kind="stable")
    counts = np.bincount(owners, minlength=len(items))
    return np.concatenate(([0], np.cumsum(counts))), np.concatenate((gains, gain[repeats]))[by_owner]


def _align(top_k: TopK, relevant: Relevant, users: IntArray | None) -> tuple[IntArray, TopK, Relevant]:
    """Bring lists and relevant items to the same users, rows empty where a user is without one of them."""
    if users is None:
        if np.array_equal(top_k.users, relevant.users):
            return relevant.users, top_k, relevant
        users = np.union1d(top_k.users, relevant.users).astype(np.int32)
    list_rows = _rows_of(users, top_k.users, "top_k")
    relevant_rows = _rows_of(users, relevant.users, "relevant")
    items = np.full((len(users), top_k.items.shape[1]), -1, np.int32)
    scores = np.full(items.shape, -np.inf, top_k.scores.dtype)
    items[list_rows] = top_k.items
    scores[list_rows] = top_k.scores
    beyond = None if top_k.beyond is None else top_k.beyond.spread(list_rows, len(users))
    return users, TopK(users, items, scores, beyond), relevant.spread(relevant_rows, users)


def _rows_of(users: IntArray, wanted: IntArray, name: str) -> LongArray:
    order = np.argsort(users, kind="stable")
    at = np.searchsorted(users, wanted, sorter=order)
    rows: LongArray = order[np.minimum(at, len(users) - 1)] if len(users) else at
    if len(wanted) and (len(users) == 0 or not np.array_equal(users[rows], wanted)):
        raise MetricError(f"judge: {name} has users that are not among `users`.")
    return rows
