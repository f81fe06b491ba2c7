"""The loops of `_lookup` as steps of numpy: slower where they run often, and there at once."""

import numpy as np

from recgauge.utils.checks import DoubleArray, IntArray, LongArray
from recgauge.utils.grouped import BLOCK, TABLE, repeats, run_starts

_CELLS = 16  # of a table for each relevant item


def look_up(
    items: IntArray, start: LongArray, relevant: IntArray, gains: DoubleArray, n_codes: int, *, every: bool
) -> tuple[LongArray, IntArray, IntArray, DoubleArray]:
    """Look up the lists of all users, see `_lookup.look_up`; `n_codes` items have codes."""
    k, counts = max(1, items.shape[1]), np.diff(start)
    # A user's row of the table has the places of relevant items among the user's, from 1, where the last
    # digits of their codes say: so small a table stays near the processor, and nearly all items meet a 0.
    step = max(1, min(BLOCK // k, len(items)))
    mean = len(relevant) // max(1, int(np.count_nonzero(counts))) + 1
    width = 1 << min((_CELLS * mean).bit_length(), (TABLE // step).bit_length() - 1)
    places = (_within(counts) + 1).astype(np.min_scalar_type(counts.max(initial=0)))
    table, digits = np.zeros(step * width, places.dtype), np.int32(width - 1)
    base = np.arange(step, dtype=np.int32) * np.int32(width)
    cells, found = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for first in range(0, len(items), step):  # on one thread: steps so short mostly wait for another's lock
        lists, mine = items[first : first + step], slice(start[first], start[min(first + step, len(items))])
        owner, ours = np.repeat(np.arange(len(lists)), counts[first : first + step]), relevant[mine]
        cell_of = base[owner] + (ours & digits)
        table[cell_of] = places[mine]
        place = table.take(base[: len(lists), None] + (lists & digits), mode="wrap").ravel()
        covered = np.flatnonzero(table[cell_of] != places[mine])  # by another of the user's, as a rule none
        table[cell_of] = 0
        cell = np.flatnonzero(place)
        at = start[first + cell // k] + place[cell] - 1
        same = relevant[at] == lists.ravel()[cell]
        cell, at = cell[same], at[same]
        for some in (covered[i : i + step] for i in range(0, len(covered), step)):
            which, column = np.nonzero(lists[owner[some]] == ours[some, None])
            cell = np.append(cell, owner[some[which]] * k + column)
            at = np.append(at, some[which] + start[first])
        if len(covered):
            order = np.lexsort((at, cell))
            order = order[np.diff(cell[order], append=-1) != 0]  # of an item named twice, the last counts
            cell, at = cell[order], at[order]
        cells.append(cell + first * k)
        found.append(at)
    cell, at = np.concatenate(cells), np.concatenate(found)
    if not every:
        row_start = np.searchsorted(cell, np.arange(len(items) + 1) * k)
        again = repeats(row_start, items.ravel()[cell], n_codes)
        if again is not None:
            cell, at = cell[~again], at[~again]
    row, column = np.divmod(cell, k)
    ordinal = _within(np.diff(run_starts(row), append=len(row))) + 1
    return row, (column + 1).astype(np.int32), ordinal.astype(np.int32), gains[at]


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
