"""Equal scores: their order, the ranks that they share, and what ties with the end of a list."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from recgauge.data.relevance import Relevant
from recgauge.data.top_k import Beyond, TopK
from recgauge.judging import _lookup
from recgauge.utils.checks import BoolArray, DoubleArray, IntArray, LongArray
from recgauge.utils.progress import Progress
from recgauge.utils.randomness import GOLDEN, Words, mix, stream

FIRST, NEXT = 8, 32
"""How many times longer the next lists are where a group of equal scores did not end: most end soon."""
BYTES_PER_ITEM = 48


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


class Ask(Protocol):
    """`recgauge.recommend` with all but users and length settled."""

    def __call__(self, users: IntArray, k: int, *, progress: Progress | None = None) -> TopK:
        """Return the lists of the users."""


@dataclass(frozen=True, slots=True)
class Draws:
    """Random orders to keep.

    Parameters
    ----------
    n : int
        How many, 0 or more.
    seed : int
    """

    n: int = 0
    seed: int = 0


def recommend_with_ties(  # noqa: PLR0913
    ask: Ask,
    users: IntArray,
    k: int,
    relevant: Relevant,
    *,
    n_items: int,
    memory_mib: int = 256,
    draws: Draws | None = None,
    progress: Progress | None = None,
) -> TopK:
    """Return lists with what ties with their last items.

    One more item than needed is requested. Only users whose list ends inside a group of equal scores are
    scored again, with longer and longer lists, until the group ends; block by block of users.

    Parameters
    ----------
    ask : callable
        `recgauge.recommend` with model and candidates settled.
    users : ndarray of int32, shape (m,)
    k : int
        Length of the lists.
    relevant : Relevant
        Which items beyond the lists count.
    n_items : int
        Size of the catalogue.
    memory_mib : int
        Memory for blocks of longer lists, MiB; never changes a number.
    draws : Draws, optional
        Random orders to draw the ends of lists for; none if left out.
    progress : Progress, optional

    Returns
    -------
    TopK
        Equal to ``ask(users, k)``, with `beyond`.
    """
    longer = ask(users, k + 1, progress=progress)
    lists = TopK(users, longer.items[:, :k].copy(), longer.scores[:, :k].copy(), distinct=longer.distinct)
    tied = (longer.items[:, k] >= 0) & (longer.scores[:, k] == longer.scores[:, k - 1])
    ends = _Ends(lists, relevant, np.flatnonzero(tied), draws or Draws())
    pending, width = ends.rows, min(n_items, FIRST * (k + 1))
    while len(pending):
        still_open = []
        for rows in _blocks(pending, (memory_mib << 20) // (BYTES_PER_ITEM * width)):
            found = ask(users[rows], width)
            ended = (found.items[:, -1] < 0) | (found.scores[:, -1] != lists.scores[rows, -1])
            ended |= width == n_items
            ends.add(rows[ended], found.items[ended], found.scores[ended])
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
    return TopK(top_k.users, items, top_k.scores, beyond)


def _blocks(rows: LongArray, size: int) -> Iterator[LongArray]:
    size = max(1, size)
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


class _Ends:
    """Collects what is found beyond lists."""

    def __init__(self, lists: TopK, relevant: Relevant, rows: LongArray, draws: Draws) -> None:
        self.rows, self._lists, self._relevant, self._draws = rows, lists, relevant, draws
        self._size = np.zeros(len(lists.users), np.int64)
        self._row: list[LongArray] = []
        self._gain: list[DoubleArray] = []
        self._drawn = np.full((draws.n, len(rows), lists.items.shape[1]), -1, np.int32)

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
        for draw in range(self._draws.n):
            self._drawn[draw, columns] = self._draw(draw, users, items, group)

    def _draw(self, draw: int, users: IntArray, items: IntArray, group: BoolArray) -> IntArray:
        """Return the first k items (b, k) of a random order of each user's group, padded with -1."""
        k = self._lists.items.shape[1]
        keys = random_keys(self._draws.seed, draw, users, items)
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
