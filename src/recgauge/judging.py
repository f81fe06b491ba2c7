"""Joins ranked lists with held-out interactions, once, for all metrics."""

from dataclasses import dataclass

import numpy as np

from recgauge._checks import DoubleArray, FloatArray, IntArray, LongArray, read_only
from recgauge.catalogue import Catalogue
from recgauge.errors import EmptySplitError, SchemaError
from recgauge.interactions import Interactions
from recgauge.recommending import TopK


@dataclass(frozen=True, slots=True, eq=False)
class Relevant:
    """The relevant items of users and their gains, users back to back (CSR without a matrix).

    Parameters
    ----------
    users : ndarray of int32, shape (m,)
        User codes, ascending, each with at least one relevant item.
    start : ndarray of int64, shape (m + 1,)
        User j's items lie at ``start[j]:start[j + 1]``.
    items : ndarray of int32, shape (r,)
        Item codes, ascending inside a user.
    gains : ndarray of float32, shape (r,)
        Positive grades, aligned with `items`.
    n_without : int
        Users with held-out rows but no relevant item.
    """

    users: IntArray
    start: LongArray
    items: IntArray
    gains: FloatArray
    n_without: int

    @classmethod
    def from_interactions(cls, held_out: Interactions, relevant_from: float | None) -> "Relevant":
        """Find the relevant rows of a held-out part.

        Parameters
        ----------
        held_out : Interactions
            Test or validation rows.
        relevant_from : float or None
            Lowest value that is relevant; its gain is the value itself. None: every row, with gain 1.

        Returns
        -------
        Relevant

        Raises
        ------
        EmptySplitError
            If no row is relevant.
        SchemaError
            If a relevant row has a value of 0 or less, which cannot be a gain.
        """
        rows = held_out if relevant_from is None else held_out.take(held_out.value >= relevant_from)
        if len(rows) == 0:
            raise EmptySplitError(
                f"Nobody can be evaluated: none of the {len(held_out)} held-out rows is relevant "
                f"(value >= {relevant_from}). Lower dataset.relevant_from or hold out more."
            )
        gains = np.ones(len(rows), np.float32) if relevant_from is None else rows.value
        if gains.min() <= 0:
            raise SchemaError(
                f"Relevant rows need values above 0 as gains, got {gains.min():g}; "
                "raise dataset.relevant_from above 0."
            )
        order = np.lexsort((rows.item, rows.user))
        users, counts = np.unique(rows.user, return_counts=True)
        start = np.concatenate(([0], np.cumsum(counts)))
        n_without = len(np.unique(held_out.user)) - len(users)
        return cls(users, start, rows.item[order], gains[order], n_without)


@dataclass(frozen=True, slots=True, eq=False)
class RankedGains:
    """Gains at ranks of users' lists, sparse: one entry a relevant item, in order of user, then rank.

    Parameters
    ----------
    owner : ndarray of int32, shape (h,)
        Row of the user, ascending.
    rank : ndarray of int32, shape (h,)
        From 1, ascending inside a user.
    gain : ndarray of float32, shape (h,)
        Above 0.
    n_users : int
        Number of rows, with or without entries.
    """

    owner: IntArray
    rank: IntArray
    gain: FloatArray
    n_users: int

    def __post_init__(self) -> None:
        for name in ("owner", "rank", "gain"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def cut(self, k: int | None) -> "RankedGains":
        """Return the entries down to rank `k` (all if None)."""
        if k is None:
            return self
        kept = self.rank <= k
        return RankedGains(self.owner[kept], self.rank[kept], self.gain[kept], self.n_users)

    def total(self, weight: DoubleArray | None = None) -> DoubleArray:
        """Sum `weight` (h,) over each user's entries, or count them; shape (n_users,) float64."""
        return np.bincount(self.owner, weight, minlength=self.n_users).astype(np.float64)

    def ordinal(self) -> LongArray:
        """Position of each entry among its user's entries, from 1, shape (h,)."""
        counts = np.bincount(self.owner, minlength=self.n_users)
        first = np.cumsum(counts) - counts
        return np.arange(1, len(self.owner) + 1) - first[self.owner]


@dataclass(frozen=True, slots=True, eq=False)
class JudgedTopK:
    """Ranked lists beside what was relevant: all that a metric of one user's list needs.

    Parameters
    ----------
    users : ndarray of int32, shape (m,)
        User codes; rows of everything below.
    items : ndarray of int32, shape (m, k)
        The lists, padded with -1.
    list_length : ndarray of int32, shape (m,)
    hits : RankedGains
        The relevant items in the lists, at their ranks.
    ideal : RankedGains
        All relevant items of each user, best first: the list that a perfect model gives.
    n_relevant : ndarray of int64, shape (m,)
    catalogue : Catalogue or None
        For metrics beyond accuracy.
    """

    users: IntArray
    items: IntArray
    list_length: IntArray
    hits: RankedGains
    ideal: RankedGains
    n_relevant: LongArray
    catalogue: Catalogue | None = None

    def __post_init__(self) -> None:
        for name in ("users", "items", "list_length", "n_relevant"):
            array = getattr(self, name)
            if len(array) != len(self.users):
                raise SchemaError(f"JudgedTopK: {name} must have {len(self.users)} rows, got {len(array)}.")
            object.__setattr__(self, name, read_only(array))

    @property
    def n_users(self) -> int:
        """Number of judged users."""
        return len(self.users)


def judge(top_k: TopK, relevant: Relevant, catalogue: Catalogue | None = None) -> JudgedTopK:
    """Look up the gain of every item in every list.

    Parameters
    ----------
    top_k : TopK
        Lists of exactly the users of `relevant`, in the same order.
    relevant : Relevant
    catalogue : Catalogue, optional
        For metrics beyond accuracy.

    Returns
    -------
    JudgedTopK

    Raises
    ------
    SchemaError
        If the users differ.

    Examples
    --------
    >>> lists = TopK(np.array([0]), np.array([[5, 3, 9]]), np.array([[3.0, 2.0, 1.0]]))
    >>> relevant = Relevant(
    ...     np.array([0]), np.array([0, 2]), np.array([3, 7]), np.array([1.0, 2.0]), n_without=0
    ... )
    >>> judged = judge(lists, relevant)
    >>> judged.hits.rank.tolist(), judged.ideal.gain.tolist()
    ([2], [2.0, 1.0])
    """
    if not np.array_equal(top_k.users, relevant.users):
        raise SchemaError("judge: top_k and relevant must be about the same users in the same order.")
    n_users = len(relevant.users)
    owner = np.repeat(np.arange(n_users, dtype=np.int32), np.diff(relevant.start))
    hits = _find_hits(top_k.items, relevant, owner)
    best_first = np.lexsort((-relevant.gains, owner))
    rank = (np.arange(len(owner)) - relevant.start[owner] + 1).astype(np.int32)
    ideal = RankedGains(owner, rank, relevant.gains[best_first], n_users)
    return JudgedTopK(
        relevant.users, top_k.items, top_k.lengths, hits, ideal, np.diff(relevant.start), catalogue
    )


def _find_hits(items: IntArray, relevant: Relevant, owner: IntArray) -> RankedGains:
    """Search every listed (row, item) among the relevant ones, both as one sortable number."""
    n_codes = max(int(items.max(initial=0)), int(relevant.items.max(initial=0))) + 1
    known = owner.astype(np.int64) * n_codes + relevant.items
    row, column = np.nonzero(items >= 0)
    asked = row * n_codes + items[row, column]
    place = np.minimum(np.searchsorted(known, asked), len(known) - 1)
    hit = known[place] == asked
    return RankedGains(
        row[hit].astype(np.int32),
        (column[hit] + 1).astype(np.int32),
        relevant.gains[place[hit]],
        len(items),
    )
