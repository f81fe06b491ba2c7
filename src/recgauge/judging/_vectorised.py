"""The loops of `_lookup` as steps of numpy: slower where they run often, and there at once."""

from threading import local

import numpy as np

from recgauge.data.grouped import TABLE, repeats
from recgauge.utils.checks import DoubleArray, IntArray, LongArray
from recgauge.utils.threads import over_blocks


def look_up(
    items: IntArray, start: LongArray, relevant: IntArray, gains: DoubleArray, n_codes: int, *, every: bool
) -> tuple[LongArray, IntArray, IntArray, DoubleArray]:
    """Look up the lists of all users, see `_lookup.look_up`; `n_codes` items have codes."""
    n_codes = max(1, n_codes)
    step = max(1, TABLE // n_codes)
    mine = local()  # each thread's places of relevant items among their users', from 1

    def block(first: int, end: int) -> tuple[LongArray, LongArray, IntArray]:
        if not hasattr(mine, "marks"):
            mine.marks = np.zeros(step * n_codes, np.int32)
        return _block(items[first:end], start[first : end + 1], relevant, mine.marks, n_codes)

    found = over_blocks(block, len(items), step)
    row = np.concatenate([part[0] + n * step for n, part in enumerate(found)] or [np.empty(0, np.int64)])
    column, place = (np.concatenate([part[at] for part in found] or [row]) for at in (1, 2))
    if not every:
        code = items[row, column]
        again = repeats(np.searchsorted(row, np.arange(len(items) + 1)), code, n_codes)
        if again is not None:
            row, column, place = row[~again], column[~again], place[~again]
    ordinal = np.arange(len(row)) - np.searchsorted(row, row) + 1
    gain = gains[start[row] + place - 1]
    return row, (column + 1).astype(np.int32), ordinal.astype(np.int32), gain


def _block(
    items: IntArray, start: LongArray, relevant: IntArray, marks: IntArray, n_codes: int
) -> tuple[LongArray, LongArray, IntArray]:
    """Return row, column and place of the hits of some users; `marks` is all 0 before and after."""
    counts = np.diff(start)
    base = np.arange(len(items)) * n_codes
    cell = np.repeat(base, counts) + relevant[start[0] : start[-1]]
    marks[cell] = np.arange(start[0], start[-1]) - np.repeat(start[:-1], counts) + 1
    mark = marks[base[:, None] + items]
    if (items[:, -1:] < 0).any():
        mark[items < 0] = 0
    marks[cell] = 0
    row, column = np.nonzero(mark)
    return row, column, mark[row, column]


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
    place = np.arange(start[0], start[-1]) - np.repeat(start[:-1], counts)
    kept = np.flatnonzero(place < np.repeat(length, counts))
    owner = np.repeat(np.arange(len(counts)), counts)[kept]
    products = gains[start[0] : start[-1]][kept] * weights[place[kept] + 1]
    total: DoubleArray = np.bincount(owner, products, len(counts)).astype(np.float64, copy=False)
    return total
