"""The loops of `_lookup` as steps of numpy: slower where they run often, and there at once."""

import numpy as np

from recgauge.utils.checks import DoubleArray, IntArray, LongArray
from recgauge.utils.grouped import TABLE, repeats, run_starts


def look_up(
    items: IntArray, start: LongArray, relevant: IntArray, gains: DoubleArray, n_codes: int, *, every: bool
) -> tuple[LongArray, IntArray, IntArray, DoubleArray]:
    """Look up the lists of all users, see `_lookup.look_up`; `n_codes` items have codes."""
    k, n_codes, counts = items.shape[1], max(1, n_codes), np.diff(start)
    step = max(1, min(TABLE // n_codes, len(items)))
    # places of relevant items among their users', from 1; the smaller the table, the less it leaves the cache
    kind = np.min_scalar_type(counts.max(initial=0))
    places = (_within(counts) + 1).astype(kind)
    marks, base = np.zeros(step * n_codes, kind), np.arange(step) * n_codes
    cells, found = [], []
    for first in range(
        0, len(items), step
    ):  # on one thread: steps this short mostly wait for the other's lock
        lists = items[first : first + step]
        mine = slice(start[first], start[first + len(lists)])
        marked = np.repeat(base[: len(lists)], counts[first : first + step]) + relevant[mine]
        marks[marked] = places[mine]
        mark = marks.take(base[: len(lists), None] + lists, mode="wrap").ravel()
        if (lists[:, -1:] < 0).any():
            mark[lists.ravel() < 0] = 0
        marks[marked] = 0
        cell = np.flatnonzero(mark)
        cells.append(cell + first * k)
        found.append(mark[cell])
    cell, place = (np.concatenate(parts or [np.empty(0, np.int64)]) for parts in (cells, found))
    if not every:
        row_start = np.searchsorted(cell, np.arange(len(items) + 1) * k)
        again = repeats(row_start, items.ravel()[cell], n_codes)
        if again is not None:
            cell, place = cell[~again], place[~again]
    row, column = np.divmod(cell, max(1, k))
    ordinal = _within(np.diff(run_starts(row), append=len(row))) + 1
    gain = gains[start[row] + place - 1]
    return row, (column + 1).astype(np.int32), ordinal.astype(np.int32), gain


def _within(counts: LongArray) -> LongArray:
    """Return the place of each row in its group, from 0."""
    return np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)


def first_repeat(items: IntArray, n_codes: int) -> int | None:
    """Return the row of a list that holds an item twice, or None."""
    listed = items >= 0
    lengths = listed.sum(axis=1)
    start = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    return first_repeat_ragged(start, items.ravel() if listed.all() else items[listed], n_codes)


def first_repeat_ragged(start: LongArray, codes: IntArray, n_codes: int) -> int | None:
    """Return the row that holds a code twice, None if none does."""
    again = repeats(start, codes, n_codes)
    return None if again is None else int(np.searchsorted(start, np.argmax(again), side="right")) - 1


def best_first(start: LongArray, gains: DoubleArray) -> DoubleArray:
    """Return `gains` put in falling order inside each user."""
    return gains[np.lexsort((-gains, np.repeat(np.arange(len(start) - 1), np.diff(start))))]


def sum_best(start: LongArray, gains: DoubleArray, length: LongArray, weights: DoubleArray) -> DoubleArray:
    """Return the discounted sum of each user's first `length` gains, added from the first to the last."""
    counts = np.diff(start)
    place = _within(counts)
    kept = np.flatnonzero(place < np.repeat(length, counts))
    owner = np.repeat(np.arange(len(counts)), counts)[kept]
    products = gains[start[0] : start[-1]][kept] * weights[place[kept] + 1]
    total: DoubleArray = np.bincount(owner, products, len(counts)).astype(np.float64, copy=False)
    return total
