"""What scores as the last item of a full list and did not fit in: how much of it, and what is relevant."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from recgauge.data.relevance import Relevant
from recgauge.data.top_k import Beyond, TopK
from recgauge.judging.ties import order_ties, random_keys
from recgauge.utils.checks import BoolArray, DoubleArray, IntArray, LongArray
from recgauge.utils.progress import Progress

FIRST, NEXT = 8, 32
"""How many times longer the next lists are where a group of equal scores did not end: most end soon."""
BYTES_PER_ITEM = 48


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

    One more item than needed is asked for. Only users whose list ends inside a group of equal scores are
    asked about again, with longer and longer lists, until the group ends; block by block of users.

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
    lists = TopK(users, longer.items[:, :k].copy(), longer.scores[:, :k].copy())
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
    return TopK(users, lists.items, lists.scores, ends.beyond())


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
        place = np.cumsum(at_end, axis=1) - 1
        part[at_end] = np.take_along_axis(beyond.drawn[draw], np.maximum(place, 0), axis=1)[at_end]
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
        from recgauge.judging import _join

        if not len(rows):
            return
        k = self._lists.items.shape[1]
        group = (items >= 0) & (scores == self._lists.scores[rows, -1:])
        # lists are sorted, so that the group goes on where the list ends
        self._size[rows] = group[:, k:].sum(axis=1)
        users = self._lists.users[rows]
        start, relevant, gains = self._relevant.of(users)
        after = np.ascontiguousarray(np.where(group[:, k:], items[:, k:], -1), np.int32)
        owner, _, _, gain = _join.join(after, start, relevant, gains, every=False)
        self._row.append(rows[owner])
        self._gain.append(gain)
        places = np.searchsorted(self.rows, rows)
        for draw in range(self._draws.n):
            self._drawn[draw, places] = self._draw(draw, users, items, group)

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
