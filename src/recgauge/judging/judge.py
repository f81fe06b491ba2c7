"""Joins ranked lists with held-out interactions, once, for all metrics."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from recgauge.data.catalogue import Catalogue
from recgauge.data.ids import IdArray
from recgauge.data.relevance import Relevant
from recgauge.data.top_k import TopK
from recgauge.errors import MetricError, SchemaError
from recgauge.judging import Policies
from recgauge.judging.gains import RankedGains, TiedGains
from recgauge.judging.ties import order_ties, shared_ranks, shuffled
from recgauge.utils.checks import BoolArray, DoubleArray, IntArray, LongArray, read_only, shown

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
    from recgauge.judging import _lookup

    chosen = policies or Policies()
    known_distinct = top_k.distinct
    if chosen.ties == "random":
        top_k = shuffled(top_k, *order)
    users, top_k, relevant = _align(top_k, relevant, users)
    items, scores = top_k.items, top_k.scores
    if chosen.duplicates == "error" and not known_distinct:
        row = _lookup.first_repeat(items)
        if row is not None:
            raise SchemaError(_repeated(users[row] if user_ids is None else user_ids[users[row]]))
    if chosen.score_precision == "single":
        with np.errstate(over="ignore"):
            scores = scores.astype(np.float32)
    if chosen.ties in ("item_code", "id_descending"):
        sign = -1 if chosen.ties == "id_descending" else 1
        items = order_ties(items, scores, lambda _, tied: sign * tied)
    start, gains = relevant.start, np.asarray(relevant.gains, np.float64)
    every = known_distinct or chosen.duplicates in ("every", "distinct")  # without repeats it is the same
    owner, rank, ordinal, gain = _lookup.look_up(items, start, relevant.items, gains, every=every)
    if chosen.duplicates == "distinct" and _lookup.first_repeat(items) is not None:
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


def _repeated(user: object) -> str:
    """Return the message about a list that holds an item twice."""
    return (
        f"recommendations: the list of user {shown(user)} holds an item twice, and duplicates are an error. "
        "Remove it, or choose policies with duplicates='first', 'every' or 'distinct'."
    )


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
