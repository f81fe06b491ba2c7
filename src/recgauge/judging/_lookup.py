"""The inner loops of judging: which listed items are relevant, and at which rank.

Compiled, a user's relevant items are marked in one array over all items, the list is looked up there, and the
marks are taken back: no sorting and no hashing. Each thread has an array of its own, and the compiled code
holds no lock. Over the first cells of a process steps of numpy do the same, with the same result: slower
where they run often, and there at once, while numba takes more than a second to load.
"""

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from recgauge.utils.checks import DoubleArray, IntArray, LongArray, frozen
from recgauge.utils.grouped import BLOCK, TABLE, repeats, run_starts
from recgauge.utils.resources import process_cpus

INSERTION_LIMIT = 100
FIRST_CELLS = 200_000_000  # ten lists of 100 for each user of MovieLens 20M


def _look_up_block(  # noqa: C901, PLR0913 -- one compiled loop over its arrays
    items: Any,
    start: Any,
    relevant: Any,
    gains: Any,
    first: int,
    last: int,
    every: bool,
    marks: Any,
    owners: Any,
    ranks: Any,
    ordinals: Any,
    hit_gains: Any,
) -> int:
    n = 0
    for user in range(first, last):
        begin, end = start[user], start[user + 1]
        if begin == end:
            continue
        for position in range(begin, end):
            marks[relevant[position]] = position - begin + 1
        ordinal = 0
        for column in range(items.shape[1]):
            item = items[user, column]
            if item < 0:
                break
            mark = marks[item]
            if mark > 0:
                ordinal += 1
                owners[n] = user
                ranks[n] = column + 1
                ordinals[n] = ordinal
                hit_gains[n] = gains[begin + mark - 1]
                n += 1
                if not every:
                    marks[item] = 0
                    if ordinal == end - begin:
                        break
        for position in range(begin, end):
            marks[relevant[position]] = 0
    return n


def _find_repeat(items: Any, first: int, last: int, marks: Any) -> int:
    stamp = 0
    for user in range(first, last):
        stamp += 1
        if stamp == 256:
            marks[:] = 0
            stamp = 1
        for column in range(items.shape[1]):
            item = items[user, column]
            if item < 0:
                break
            if marks[item] == stamp:
                return user
            marks[item] = stamp
    return -1


def _sort_segments(start: Any, values: Any, first: int, last: int) -> None:
    for user in range(first, last):
        begin, end = start[user], start[user + 1]
        if end - begin > INSERTION_LIMIT:
            continue
        for position in range(begin + 1, end):
            value, at = values[position], position
            while at > begin and values[at - 1] < value:
                values[at] = values[at - 1]
                at -= 1
            values[at] = value


def _sum_best(start: Any, gains: Any, length: Any, weights: Any, first: int, last: int, out: Any) -> None:
    for user in range(first, last):
        begin, n = start[user], min(length[user], start[user + 1] - start[user])
        total = 0.0
        for i in range(n):
            total += gains[begin + i] * weights[i + 1]
        out[user] = total


@cache
def compile_once(loop: Callable[..., Any]) -> Callable[..., Any]:
    """Return a loop compiled; numba is imported when the first one is needed."""
    from recgauge.utils.compiled import compiled

    return compiled(nogil=True)(loop)


def _is_first(n_cells: int) -> bool:
    """Whether numba is not loaded, and so many cells are no reason to load it."""
    return "numba" not in sys.modules and n_cells <= FIRST_CELLS


def look_up(
    items: IntArray, start: LongArray, relevant: IntArray, gains: DoubleArray, *, every: bool
) -> tuple[LongArray, IntArray, IntArray, DoubleArray]:
    """Look up the lists of all users.

    Parameters
    ----------
    items : ndarray of int32, shape (m, k)
        Lists, padded with -1 at the tail.
    start : ndarray of int64, shape (m + 1,)
        User j's relevant items are at ``start[j]:start[j + 1]``.
    relevant, gains : ndarray of int32 and float64, shape (r,)
    every : bool
        Count a repeated item at each of its ranks, not only at the first.

    Returns
    -------
    tuple of ndarray, shape (h,) each
        Row of the user (int64), rank from 1 and how many hits the user has down to there (int32), gain
        (float64).
    """
    n_codes = max(int(items.max(initial=-1)), int(relevant.max(initial=-1))) + 1
    items, start = frozen(items, np.int32), frozen(start, np.int64)
    relevant, gains = frozen(relevant, np.int32), frozen(gains, np.float64)
    if _is_first(items.size + len(relevant)):
        return _look_up_in_steps(items, start, relevant, gains, n_codes, every=every)
    # the marks are read at random: the smaller they are, the more of them stay in the fastest cache
    most = int(np.diff(start).max(initial=0))
    marks_type = np.int16 if most < np.iinfo(np.int16).max else np.int32
    look_up_block = compile_once(_look_up_block)

    def block(first: int, last: int) -> list[npt.NDArray[Any]]:
        lists = (last - first) * items.shape[1]
        most_hits = lists if every else min(lists, int(start[last] - start[first]))
        # buffers for the most hits there could be; pages that no hit reaches are never touched
        buffers = [np.empty(most_hits, dtype) for dtype in (np.int64, np.int32, np.int32, np.float64)]
        marks = np.zeros(n_codes, marks_type)
        n = look_up_block(items, start, relevant, gains, first, last, every, marks, *buffers)
        return [array[:n] for array in buffers]

    owner, rank, ordinal, gain = (
        np.concatenate(column) for column in zip(*_over_blocks(block, len(items)), strict=True)
    )
    return owner, rank, ordinal, gain


def first_repeat(items: IntArray) -> int | None:
    """Return the row of a list that holds an item twice, or None."""
    items = frozen(items, np.int32)
    if _is_first(items.size):
        listed = items >= 0
        start = np.concatenate((np.zeros(1, np.int64), np.cumsum(listed.sum(axis=1))))
        return first_repeat_ragged(start, items.ravel() if listed.all() else items[listed])
    n_codes = int(items.max(initial=-1)) + 1
    find_repeat = compile_once(_find_repeat)

    def block(first: int, last: int) -> int:
        row: int = find_repeat(items, first, last, np.zeros(n_codes, np.uint8))
        return row

    return next((row for row in _over_blocks(block, len(items)) if row >= 0), None)


def first_repeat_ragged(start: LongArray, codes: IntArray) -> int | None:
    """Return the row of ``codes[start[row]:start[row + 1]]`` that holds a code twice, None if none does."""
    repeated = repeats(start, codes, int(codes.max(initial=-1)) + 1)
    return None if repeated is None else int(np.searchsorted(start, np.argmax(repeated), side="right")) - 1


def best_first(start: LongArray, gains: DoubleArray) -> DoubleArray:
    """Return `gains` put in falling order inside each user."""
    if len(gains) == 0 or gains.min() == gains.max():
        return gains
    if _is_first(len(gains)):
        return gains[np.lexsort((-gains, np.repeat(np.arange(len(start) - 1), np.diff(start))))]
    ordered = np.array(gains, np.float64)
    plain_start, sort_segments = frozen(start, np.int64), compile_once(_sort_segments)
    # insertion, since most users have few relevant items and a library sort would allocate for each user
    _over_blocks(lambda first, last: sort_segments(plain_start, ordered, first, last), len(start) - 1)
    for user in np.flatnonzero(np.diff(start) > INSERTION_LIMIT):
        segment = ordered[start[user] : start[user + 1]]
        segment[:] = -np.sort(-segment)
    return ordered


def sum_best(start: LongArray, gains: DoubleArray, length: LongArray, weights: DoubleArray) -> DoubleArray:
    """Return the discounted sum of each user's first `length` gains, shape (m,).

    Parameters
    ----------
    start : ndarray of int64, shape (m + 1,)
    gains : ndarray of float64, shape (r,)
        Best first inside each user.
    length : ndarray of int64, shape (m,)
    weights : ndarray of float64
        ``weights[rank]``, ranks from 1.
    """
    if _is_first(len(gains)):
        counts = np.diff(start)
        place = _within(counts)
        kept = np.flatnonzero(place < np.repeat(length, counts))
        owner = np.repeat(np.arange(len(counts)), counts)[kept]
        products = gains[start[0] : start[-1]][kept] * weights[place[kept] + 1]
        return np.bincount(owner, products, len(counts)).astype(np.float64, copy=False)
    total, sum_block = np.zeros(len(length)), compile_once(_sum_best)
    arguments = frozen(start, np.int64), frozen(gains, np.float64), frozen(length, np.int64)
    by_rank = frozen(weights, np.float64)
    _over_blocks(lambda first, last: sum_block(*arguments, by_rank, first, last, total), len(total))
    return total


def _over_blocks(work: Callable[[int, int], Any], n_rows: int) -> list[Any]:
    """Run `work(first, last)` over blocks of rows, one thread a core, results in order of rows."""
    n_threads = process_cpus()
    # four blocks a thread even out users with long and short lists; below 1,000 rows threads cost more
    n_blocks = max(1, min(4 * n_threads, n_rows // 1000))
    edges = [n_rows * block // n_blocks for block in range(n_blocks + 1)]
    if n_blocks == 1:
        return [work(0, n_rows)]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(work, edges[:-1], edges[1:]))


_CELLS = 16  # of a table for each relevant item


def _look_up_in_steps(
    items: IntArray, start: LongArray, relevant: IntArray, gains: DoubleArray, n_codes: int, *, every: bool
) -> tuple[LongArray, IntArray, IntArray, DoubleArray]:
    """Look up the lists of all users, see `look_up`; `n_codes` items have codes."""
    k, counts = max(1, items.shape[1]), np.diff(start)
    # A user's row of the table has the places of relevant items among the user's, from 1, where the last
    # digits of their codes say: so small a table stays near the processor, and nearly all items meet a 0.
    step = max(1, min(BLOCK // k, len(items)))
    mean = len(relevant) // max(1, int(np.count_nonzero(counts))) + 1
    width = 1 << min((_CELLS * mean).bit_length(), (TABLE // step).bit_length() - 1)
    positions = (_within(counts) + 1).astype(np.min_scalar_type(counts.max(initial=0)))
    table, digits = np.zeros(step * width, positions.dtype), np.int32(width - 1)
    base = np.arange(step, dtype=np.int32) * np.int32(width)
    cells, positions_of_hits = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for first in range(0, len(items), step):  # on one thread: steps so short mostly wait for another's lock
        lists, own = items[first : first + step], slice(start[first], start[min(first + step, len(items))])
        owner, ours = np.repeat(np.arange(len(lists)), counts[first : first + step]), relevant[own]
        cell_of = base[owner] + (ours & digits)
        table[cell_of] = positions[own]
        place = table.take(base[: len(lists), None] + (lists & digits), mode="wrap").ravel()
        covered = np.flatnonzero(table[cell_of] != positions[own])  # by another of the user's, as a rule none
        table[cell_of] = 0
        cell = np.flatnonzero(place)
        at = start[first + cell // k] + place[cell] - 1
        same = relevant[at] == lists.ravel()[cell]
        cell, at = cell[same], at[same]
        for block in (covered[i : i + step] for i in range(0, len(covered), step)):
            row, column = np.nonzero(lists[owner[block]] == ours[block, None])
            cell = np.append(cell, owner[block[row]] * k + column)
            at = np.append(at, block[row] + start[first])
        if len(covered):
            order = np.lexsort((at, cell))
            order = order[np.diff(cell[order], append=-1) != 0]  # of an item named twice, the last counts
            cell, at = cell[order], at[order]
        cells.append(cell + first * k)
        positions_of_hits.append(at)
    cell, at = np.concatenate(cells), np.concatenate(positions_of_hits)
    if not every:
        row_start = np.searchsorted(cell, np.arange(len(items) + 1) * k)
        repeated = repeats(row_start, items.ravel()[cell], n_codes)
        if repeated is not None:
            cell, at = cell[~repeated], at[~repeated]
    row, column = np.divmod(cell, k)
    ordinal = _within(np.diff(run_starts(row), append=len(row))) + 1
    return row, (column + 1).astype(np.int32), ordinal.astype(np.int32), gains[at]


def _within(counts: LongArray) -> LongArray:
    """Return the place of each row in its group, from 0."""
    return np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
