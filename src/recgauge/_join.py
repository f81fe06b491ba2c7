"""The inner loops of judging, compiled: which listed items are relevant, and at which rank.

A user's relevant items are marked in one array over all items, the list is looked up there, and the marks
are taken back: no sorting and no hashing. Each thread has an array of its own, and the compiled code
holds no lock. Import this module only where lists are judged: loading numba takes half a second.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from recgauge._checks import DoubleArray, IntArray, LongArray, read_only


@numba.njit(nogil=True, cache=True)
def _join_block(  # noqa: PLR0913 -- arrays of one compiled loop
    items: Any,
    start: Any,
    relevant: Any,
    gains: Any,
    first: int,
    last: int,
    every: bool,
    marks: Any,
    out: Any,
    out_gain: Any,
) -> int:
    n = 0
    for user in range(first, last):
        begin, end = start[user], start[user + 1]
        if begin == end:
            continue
        for position in range(begin, end):
            marks[relevant[position]] = position + 1
        found = 0
        for column in range(items.shape[1]):
            item = items[user, column]
            if item < 0:
                break
            position = marks[item]
            if position > 0:
                found += 1
                out[n, 0] = user
                out[n, 1] = column + 1
                out[n, 2] = found
                out_gain[n] = gains[position - 1]
                n += 1
                if not every:
                    marks[item] = 0
                    if found == end - begin:
                        break
        for position in range(begin, end):
            marks[relevant[position]] = 0
    return n


@numba.njit(nogil=True, cache=True)
def _find_repeat(items: Any, first: int, last: int, marks: Any) -> int:
    for user in range(first, last):
        for column in range(items.shape[1]):
            item = items[user, column]
            if item < 0:
                break
            if marks[item] == user + 1:
                return user
            marks[item] = user + 1
    return -1


@numba.njit(nogil=True, cache=True)
def _find_repeat_ragged(start: Any, codes: Any, marks: Any) -> int:
    for user in range(len(start) - 1):
        for position in range(start[user], start[user + 1]):
            if marks[codes[position]] == user + 1:
                return user
            marks[codes[position]] = user + 1
    return -1


@numba.njit(nogil=True, cache=True)
def _sort_segments(start: Any, values: Any) -> None:
    for user in range(len(start) - 1):
        begin, end = start[user], start[user + 1]
        values[begin:end] = -np.sort(-values[begin:end])


def join(
    items: IntArray, start: LongArray, relevant: IntArray, gains: DoubleArray, *, every: bool
) -> tuple[LongArray, DoubleArray]:
    """Look up the lists of all users.

    Parameters
    ----------
    items : ndarray of int32, shape (m, k)
        Lists, padded with -1 at the tail.
    start : ndarray of int64, shape (m + 1,)
        User j's relevant items lie at ``start[j]:start[j + 1]``.
    relevant, gains : ndarray of int32 and float64, shape (r,)
    every : bool
        Count a repeated item at each of its places, not only at the first.

    Returns
    -------
    ndarray of int64, shape (h, 3)
        Row of the user, rank from 1, and how many hits the user has down to there.
    ndarray of float64, shape (h,)
        Gains.
    """
    n_codes = _n_codes(items, relevant)
    items, start = _plain(items, np.int32), _plain(start, np.int64)
    relevant, gains = _plain(relevant, np.int32), _plain(gains, np.float64)

    def block(first: int, last: int) -> tuple[LongArray, DoubleArray]:
        lists = (last - first) * items.shape[1]
        room = lists if every else min(lists, int(start[last] - start[first]))
        hits, hit_gains = np.empty((room, 3), np.int64), np.empty(room)
        marks = np.zeros(n_codes, np.int32)
        n = _join_block(items, start, relevant, gains, first, last, every, marks, hits, hit_gains)
        return hits[:n], hit_gains[:n]

    parts = _over_blocks(block, len(items))
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def first_repeat(items: IntArray) -> int | None:
    """Return the row of a list that holds an item twice, None if there is none."""
    n_codes = _n_codes(items, np.empty(0, np.int32))
    items = _plain(items, np.int32)

    def block(first: int, last: int) -> int:
        found: int = _find_repeat(items, first, last, np.zeros(n_codes, np.int32))
        return found

    return next((row for row in _over_blocks(block, len(items)) if row >= 0), None)


def first_repeat_ragged(start: LongArray, codes: IntArray) -> int | None:
    """Return the row of ``codes[start[row]:start[row + 1]]`` that holds a code twice, None if none does."""
    start, codes = _plain(start, np.int64), _plain(codes, np.int32)
    row: int = _find_repeat_ragged(start, codes, np.zeros(int(codes.max(initial=-1)) + 1, np.int32))
    return row if row >= 0 else None


def best_first(start: LongArray, gains: DoubleArray) -> DoubleArray:
    """Return `gains` put in falling order inside each user."""
    if len(gains) == 0 or gains.min() == gains.max():
        return gains
    ordered = np.array(gains, np.float64)
    _sort_segments(_plain(start, np.int64), ordered)
    return ordered


def _plain(array: npt.NDArray[Any], dtype: type[np.generic]) -> npt.NDArray[Any]:
    """Give an array the flags and layout of all others, so that a loop is compiled and cached once."""
    return read_only(np.ascontiguousarray(array, dtype))


def _n_codes(items: npt.NDArray[Any], relevant: IntArray) -> int:
    return max(int(items.max(initial=-1)), int(relevant.max(initial=-1))) + 1


def _over_blocks(work: Callable[[int, int], Any], n_rows: int) -> list[Any]:
    """Run `work(first, last)` over blocks of rows, one thread a core, results in order of rows."""
    n_threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    # four blocks a thread even out users with long and short lists; below 1,000 rows threads cost more
    n_blocks = max(1, min(4 * n_threads, n_rows // 1000))
    edges = [n_rows * block // n_blocks for block in range(n_blocks + 1)]
    if n_blocks == 1:
        return [work(0, n_rows)]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(work, edges[:-1], edges[1:]))
