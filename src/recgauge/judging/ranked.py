"""Relevant items at ranks, sparse: what metric bodies add up. Imports checks only."""

from dataclasses import dataclass, field

import numpy as np

from recgauge.utils.checks import DoubleArray, IntArray, LongArray, read_only


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
        First and last rank of the items with the same score, where ties share their places.
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
