"""What bodies of metrics add up: relevant items at ranks, and in groups of equal scores."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from recgauge.data.top_k import Beyond
from recgauge.judging.ties import shared_ranks, tied_rows
from recgauge.utils.checks import DoubleArray, IntArray, LongArray, read_only

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
