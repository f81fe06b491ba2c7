"""Equal scores: their order, shared ranks, expected values, and what ties with the end of a list."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from recgauge.data.lists import Beyond, Relevant, TopK
from recgauge.judging import _lookup
from recgauge.utils.checks import BoolArray, DoubleArray, IntArray, LongArray
from recgauge.utils.progress import Progress
from recgauge.utils.randomness import GOLDEN, Words, mix, stream

FIRST, NEXT = 8, 32
"""How many times longer the next lists are where a group of equal scores did not end: most end soon."""
BYTES_PER_ITEM = 48
BLOCK = 4096
Limit = int | LongArray | None
"""Last rank that counts: of all users, of each user (t,), or None for the whole list."""


def tied_rows(items: IntArray, scores: npt.NDArray[np.floating]) -> BoolArray:
    """Return which lists (m, k) hold equal scores, shape (m,)."""
    tied: BoolArray = ((scores[:, 1:] == scores[:, :-1]) & (items[:, 1:] >= 0)).any(axis=1)
    return tied


def order_ties(
    items: IntArray, scores: npt.NDArray[np.floating], key: Callable[[LongArray, IntArray], IntArray | Words]
) -> IntArray:
    """Return lists (m, k) whose items with equal scores are in rising order of a key.

    Parameters
    ----------
    items : ndarray of int32, shape (m, k)
    scores : ndarray, shape (m, k)
        Falling in a row; -inf where padded.
    key : callable
        Gets row numbers (t,) and their lists (t, k), returns keys (t, k).

    Examples
    --------
    >>> by_code = lambda rows, items: items
    >>> order_ties(np.array([[4, 2, 9]]), np.array([[1.0, 1.0, 0.5]]), by_code).tolist()
    [[2, 4, 9]]
    """
    rows = np.flatnonzero(tied_rows(items, scores))
    if not len(rows):
        return items
    # padding has the score -inf and stays at the tail
    order = np.lexsort((key(rows, items[rows]), -scores[rows]), axis=-1)
    ordered = items.copy()
    ordered[rows] = np.take_along_axis(items[rows], order, axis=1)
    return ordered


def random_keys(seed: int, draw: int, users: IntArray, items: IntArray) -> Words:
    """Return a pseudo-random number for every item of every user; sorted by them, items are shuffled.

    A number depends on nothing but its arguments: not on blocks of users, threads or other items.

    Parameters
    ----------
    seed, draw : int
        The seed's stream of ties is used; another draw is another order.
    users : ndarray of int32, shape (b,)
    items : ndarray of int32, shape (b, n)

    Returns
    -------
    ndarray of uint64, shape (b, n)

    Examples
    --------
    >>> one = random_keys(0, 0, np.array([3], np.int32), np.array([[1, 2]], np.int32))
    >>> two = random_keys(0, 0, np.array([4, 3], np.int32), np.array([[1, 2], [2, 1]], np.int32))
    >>> bool((one[0] == two[1, ::-1]).all()), bool((one[0] == two[0]).any())
    (True, False)
    """
    start = stream(seed, "ties").integers(1 << 63, size=draw + 1)[-1:].astype(np.uint64)
    of_user = _mixed(start ^ _mixed(users.astype(np.uint64)))
    return _mixed(of_user[:, None] ^ _mixed(items.astype(np.uint64)))


def _mixed(words: Words) -> Words:
    return mix(words + GOLDEN)


def shared_ranks(
    scores: npt.NDArray[np.floating], row: LongArray, rank: IntArray
) -> tuple[LongArray, LongArray]:
    """Return the first and last rank of the items that share the score at (row, rank), shape (h,) each.

    Examples
    --------
    >>> shared_ranks(np.array([[3.0, 1.0, 1.0]]), np.array([0]), np.array([2]))
    (array([2]), array([3]))
    """
    ranks = np.arange(1, scores.shape[1] + 1)
    starts = np.ones(scores.shape, bool)
    starts[:, 1:] = scores[:, 1:] != scores[:, :-1]
    first = np.maximum.accumulate(np.where(starts, ranks, 0), axis=1)
    ends = np.ones(scores.shape, bool)
    ends[:, :-1] = starts[:, 1:]
    from_end = np.where(ends, ranks, scores.shape[1] + 1)[:, ::-1]
    last = np.minimum.accumulate(from_end, axis=1)[:, ::-1]
    return first[row, rank - 1], last[row, rank - 1]


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
        hits: tuple[LongArray, IntArray, DoubleArray],
        beyond: Beyond | None,
    ) -> "TiedGains":
        """Find the groups of judged lists (m, k); nothing beyond the lists where that is not known.

        `hits` are the row, rank and gain of the relevant items in the lists.
        """
        size = np.zeros(len(items), np.int64) if beyond is None else beyond.size
        is_tied = tied_rows(items, scores) | (size > 0)
        rows, row_of = np.flatnonzero(is_tied), np.cumsum(is_tied) - 1
        shown, size = lengths[rows].astype(np.int64), size[rows]
        owner, rank, gain = hits
        kept = is_tied[owner]
        owner, gain = row_of[owner[kept]], gain[kept]
        first, last = shared_ranks(scores[rows], owner, rank[kept])
        if beyond is not None and len(beyond.gains):
            more = row_of[np.repeat(np.arange(len(items)), np.diff(beyond.start))]
            width = np.full(len(more), items.shape[1])
            starts, ends = shared_ranks(scores[rows], more, width)
            owner, gain = np.concatenate((owner, more)), np.concatenate((gain, beyond.gains))
            first, last = np.concatenate((first, starts)), np.concatenate((last, ends))
        last = last + np.where(last == items.shape[1], size[owner], 0)
        order = np.lexsort((gain, first, owner))
        owner, first, last, gain = owner[order], first[order], last[order], gain[order]
        opens = np.ones(len(owner), bool)
        opens[1:] = (np.diff(owner) != 0) | (np.diff(first) != 0)
        group, starts = np.cumsum(opens) - 1, np.flatnonzero(opens)
        counts = np.diff(np.append(starts, len(owner)))
        whose, size = owner[starts], (last - first + 1)[starts]
        before = starts - starts[np.searchsorted(whose, whose)]
        return cls(rows, shown, whose, first[starts], size, counts, before, group, gain)

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
        n_rest = np.maximum(self.size - 1, 1)
        return np.asarray(self.before + 1.0, np.float64), (self.n_relevant - 1) / n_rest


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


def recommend_with_ties(  # noqa: PLR0913
    ask: Callable[..., TopK],
    users: IntArray,
    k: int,
    relevant: Relevant,
    *,
    n_items: int,
    memory_mib: int = 256,
    draws: int = 0,
    seed: int = 0,
    progress: Progress | None = None,
) -> TopK:
    """Return lists with what ties with their last items.

    One more item than needed is requested. Only users whose list ends inside a group of equal scores are
    scored again, with longer and longer lists, until the group ends; block by block of users.

    Parameters
    ----------
    ask : callable
        `recgauge.recommend` with model and candidates settled; gets users, length and perhaps `progress`.
    users : ndarray of int32, shape (m,)
    k : int
        Length of the lists.
    relevant : Relevant
        Which items beyond the lists count.
    n_items : int
        Size of the catalogue.
    memory_mib : int
        Memory for blocks of longer lists, MiB; never changes a number.
    draws : int, default 0
        Random orders to draw the ends of lists for.
    seed : int
    progress : Progress, optional

    Returns
    -------
    TopK
        Equal to ``ask(users, k)``, with `beyond`.
    """
    longer = ask(users, k + 1, progress=progress)
    lists = TopK(users, longer.items[:, :k].copy(), longer.scores[:, :k].copy(), distinct=longer.distinct)
    tied = (longer.items[:, k] >= 0) & (longer.scores[:, k] == longer.scores[:, k - 1])
    ends = _Ends(lists, relevant, np.flatnonzero(tied), draws, seed)
    pending, width = ends.rows, min(n_items, FIRST * (k + 1))
    while len(pending):
        still_open = []
        step = max(1, (memory_mib << 20) // (BYTES_PER_ITEM * width))
        for rows in (pending[start : start + step] for start in range(0, len(pending), step)):
            deeper = ask(users[rows], width)
            ended = (deeper.items[:, -1] < 0) | (deeper.scores[:, -1] != lists.scores[rows, -1])
            ended |= width == n_items
            ends.add(rows[ended], deeper.items[ended], deeper.scores[ended])
            still_open.append(rows[~ended])
        pending, width = np.concatenate(still_open), min(n_items, NEXT * width)
    return replace(lists, beyond=ends.beyond())


def shuffled(top_k: TopK, seed: int, draw: int) -> TopK:
    """Return the lists with equal scores in a random order, drawn from beyond the list where that is known.

    Shuffling again with the same seed and draw changes nothing.
    """
    items, beyond = top_k.items, top_k.beyond
    if beyond is not None and draw < len(beyond.drawn):
        items = items.copy()
        rows = np.flatnonzero(beyond.size)
        part = items[rows]
        at_end = top_k.scores[rows] == top_k.scores[rows, -1:]
        column = np.cumsum(at_end, axis=1) - 1
        part[at_end] = np.take_along_axis(beyond.drawn[draw], np.maximum(column, 0), axis=1)[at_end]
        items[rows] = part
    items = order_ties(
        items, top_k.scores, lambda rows, tied: random_keys(seed, draw, top_k.users[rows], tied)
    )
    return TopK(top_k.users, items, top_k.scores, beyond, top_k.distinct)


class _Ends:
    """Collects what is found beyond lists."""

    def __init__(self, lists: TopK, relevant: Relevant, rows: LongArray, draws: int, seed: int) -> None:
        self.rows, self._lists, self._relevant, self._seed = rows, lists, relevant, seed
        self._size = np.zeros(len(lists.users), np.int64)
        self._row: list[LongArray] = []
        self._gain: list[DoubleArray] = []
        self._drawn = np.full((draws, len(rows), lists.items.shape[1]), -1, np.int32)

    def add(self, rows: LongArray, items: IntArray, scores: DoubleArray) -> None:
        """Take in users whose longer lists (b, w) hold their whole group."""
        if not len(rows):
            return
        k = self._lists.items.shape[1]
        group = (items >= 0) & (scores == self._lists.scores[rows, -1:])
        # lists are sorted, so that the group goes on where the list ends
        self._size[rows] = group[:, k:].sum(axis=1)
        users = self._lists.users[rows]
        start, relevant, gains = self._relevant.of(users)
        after = np.ascontiguousarray(np.where(group[:, k:], items[:, k:], -1), np.int32)
        owner, _, _, gain = _lookup.look_up(after, start, relevant, gains, every=False)
        self._row.append(rows[owner])
        self._gain.append(gain)
        columns = np.searchsorted(self.rows, rows)
        for draw in range(len(self._drawn)):
            self._drawn[draw, columns] = self._draw(draw, users, items, group)

    def _draw(self, draw: int, users: IntArray, items: IntArray, group: BoolArray) -> IntArray:
        """Return the first k items (b, k) of a random order of each user's group, padded with -1."""
        k = self._lists.items.shape[1]
        keys = random_keys(self._seed, draw, users, items)
        keys[~group] = np.iinfo(np.uint64).max
        first = np.argpartition(keys, k - 1, axis=1)[:, :k]
        order = np.argsort(np.take_along_axis(keys, first, axis=1), axis=1)
        first = np.take_along_axis(first, order, axis=1)
        chosen = np.take_along_axis(items, first, axis=1)
        return np.where(np.take_along_axis(group, first, axis=1), chosen, np.int32(-1))

    def beyond(self) -> Beyond:
        """Return all that was found, users in the order of the lists."""
        row = np.concatenate([np.empty(0, np.int64), *self._row])
        gain = np.concatenate([np.empty(0), *self._gain])
        order = np.lexsort((gain, row))
        start = np.searchsorted(row[order], np.arange(len(self._size) + 1))
        return Beyond(self._size, start, gain[order], self._drawn)
