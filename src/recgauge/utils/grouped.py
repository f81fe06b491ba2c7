"""Rows with equal codes, side by side."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from recgauge.utils.checks import BoolArray, IntArray, LongArray

TABLE = 1 << 22
"""Cells of a table of groups and codes: few enough to stay near the processor."""
BLOCK = 1 << 16
"""Rows at a time that stay near the processor."""


def dense(ids: npt.NDArray[Any]) -> bool:
    """Whether ids are whole numbers in a range that is not much larger than there are of them."""
    if not len(ids) or ids.dtype.kind not in "iu":
        return False
    return int(ids.max()) - int(ids.min()) < 4 * len(ids) + (1 << 20)


def encode_sorted(ids: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], IntArray]:
    """Return the distinct ids, ascending and of the same type, and the code of each id.

    Parameters
    ----------
    ids : ndarray of any sortable type, shape (n,)

    Returns
    -------
    distinct : ndarray, shape (n_distinct,)
    codes : ndarray of int32, shape (n,)

    Examples
    --------
    >>> encode_sorted(np.array([30, 10, 30]))
    (array([10, 30]), array([1, 0, 1], dtype=int32))
    """
    if not dense(ids):
        distinct, codes = np.unique(ids, return_inverse=True)
        return distinct, codes.astype(np.int32)
    # A table over the range instead of a sort: 20 million rows in a tenth of the time.
    least = ids.min()
    place = np.subtract(ids, least, dtype=np.int64, casting="unsafe") if least else ids
    present = np.zeros(int(place.max()) + 1, dtype=np.bool_)
    present[place] = True
    code_of = np.cumsum(present, dtype=np.int32) - np.int32(1)
    return (np.flatnonzero(present).astype(ids.dtype) + least), code_of[place]


def run_starts(codes: npt.NDArray[Any]) -> LongArray:
    """Return where runs of equal codes begin, shape (n_runs,).

    Examples
    --------
    >>> run_starts(np.array([4, 4, 2, 4])).tolist()
    [0, 2, 3]
    """
    changes = np.flatnonzero(codes[1:] != codes[:-1]) + 1
    return np.concatenate((np.zeros(min(1, len(codes)), np.int64), changes))


def repeats(start: LongArray, codes: IntArray, n_codes: int) -> BoolArray | None:
    """Return which codes an earlier row of their group has, shape (n,); None if there are none.

    Parameters
    ----------
    start : ndarray of int64, shape (n_groups + 1,)
        The rows of group g are ``start[g]:start[g + 1]``.
    codes : ndarray of int32, shape (n,)
        From 0 to `n_codes` - 1.
    n_codes : int

    Examples
    --------
    >>> repeats(np.array([0, 3, 4]), np.array([1, 0, 1, 1], np.int32), 2).tolist()
    [False, False, True, False]
    """
    lengths = np.diff(start)
    if len(lengths) and (lengths == lengths[0]).all() and not _any_repeat(codes.reshape(len(lengths), -1)):
        return None
    is_repeat: BoolArray | None = None
    for groups in blocks_of(lengths, BLOCK):
        rows = slice(start[groups.start], start[groups.stop])
        cell = np.repeat(np.arange(groups.stop - groups.start) * n_codes, lengths[groups]) + codes[rows]
        ordered = np.sort(cell)  # fast for so few numbers, and nearly always the end of it
        if (ordered[1:] == ordered[:-1]).any():
            order = np.argsort(cell, kind="stable")
            is_repeat = np.zeros(len(codes), bool) if is_repeat is None else is_repeat
            is_repeat[rows][order[1:][ordered[1:] == ordered[:-1]]] = True
    return is_repeat


def blocks_of(lengths: LongArray, n_rows: int) -> Iterator[slice]:
    """Yield groups of these lengths, about `n_rows` rows at a time.

    Examples
    --------
    >>> list(blocks_of(np.array([3, 1, 1, 9, 2]), 4))
    [slice(0, 2, None), slice(2, 3, None), slice(3, 4, None), slice(4, 5, None)]
    """
    end, first = np.cumsum(lengths), 0
    while first < len(lengths):
        before = end[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(end, before + n_rows, side="right")))
        yield slice(first, last)
        first = last


def _any_repeat(lists: IntArray) -> bool:
    """Whether a list of several of one length holds a code twice; some at a time stay near the processor."""
    step = max(1, BLOCK // max(1, lists.shape[1]))
    ordered = (np.sort(lists[first : first + step], axis=1) for first in range(0, len(lists), step))
    return any((block[:, 1:] == block[:, :-1]).any() for block in ordered)


def shared(
    start: LongArray, codes: IntArray, other_start: LongArray, other_codes: IntArray, n_codes: int
) -> BoolArray:
    """Return which codes are in the same group of another table, shape (n,).

    Parameters
    ----------
    start, other_start : ndarray of int64, shape (n_groups + 1,)
    codes, other_codes : ndarray of int32
    n_codes : int

    Examples
    --------
    >>> one = np.array([0, 2, 3]), np.array([0, 1, 1], np.int32)
    >>> shared(*one, np.array([0, 1, 1]), np.array([1], np.int32), 2).tolist()
    [False, True, False]
    """
    table, is_shared = np.zeros(max(TABLE, n_codes), bool), np.zeros(len(codes), bool)
    blocks = zip(_blocks(start, n_codes), _blocks(other_start, n_codes), strict=True)
    for (rows, row_of_table), (other_rows, other_row_of_table) in blocks:
        marked = other_row_of_table + other_codes[other_rows]
        table[marked] = True
        is_shared[rows] = table[row_of_table + codes[rows]]
        table[marked] = False
    return is_shared


def _blocks(start: LongArray, n_codes: int) -> Iterator[tuple[slice, IntArray]]:
    """Yield the rows of some groups after others, and for each row the first cell of its group's codes."""
    lengths = np.diff(start)
    step = max(1, min(TABLE // max(1, n_codes), len(lengths)))
    first_cells = np.arange(step, dtype=np.int32) * np.int32(n_codes if step > 1 else 0)
    for first in range(0, len(lengths), step):
        sizes = lengths[first : first + step]
        yield slice(start[first], start[first + len(sizes)]), np.repeat(first_cells[: len(sizes)], sizes)
