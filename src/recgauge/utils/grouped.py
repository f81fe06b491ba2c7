"""Rows with equal codes, side by side."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from recgauge.utils.checks import BoolArray, IntArray, LongArray

TABLE = 1 << 22
"""Cells of a table of groups and codes: few enough to stay near the processor."""


def grouped(codes: IntArray, n_codes: int) -> tuple[LongArray, LongArray]:
    """Return where each code's rows begin, and the rows in the order of their codes.

    Parameters
    ----------
    codes : ndarray of int32, shape (n,)
        Users or items of the rows.
    n_codes : int

    Returns
    -------
    start : ndarray of int64, shape (n_codes + 1,)
        The rows of code c are ``order[start[c] : start[c + 1]]``.
    order : ndarray of int64, shape (n,)
        Rows of one code stay in their order.

    Examples
    --------
    >>> start, order = grouped(np.array([2, 0, 2], np.int32), 4)
    >>> start.tolist(), order.tolist()
    ([0, 1, 1, 3, 3], [1, 0, 2])
    """
    start = np.concatenate(([0], np.cumsum(np.bincount(codes, minlength=n_codes))))
    return start, np.argsort(codes, kind="stable")


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
    table = np.empty(max(TABLE, n_codes), np.int32)
    found: BoolArray | None = None
    for rows, row_of_table in _blocks(start, n_codes):
        cell = row_of_table + codes[rows]
        ordered = np.sort(cell)  # fast for so few numbers, and nearly always the end of it
        if not (ordered[1:] == ordered[:-1]).any():
            continue
        place = np.arange(len(cell), dtype=np.int32)
        table[cell[::-1]] = place[::-1]  # the first one stays; cells without rows are not read
        again = table[cell] != place
        if again.any():
            found = np.zeros(len(codes), bool) if found is None else found
            found[rows] = again
    return found


def _any_repeat(lists: IntArray) -> bool:
    """Whether a list of several of one length holds a code twice; some at a time stay near the processor."""
    step = max(1, (1 << 16) // max(1, lists.shape[1]))
    ordered = (np.sort(lists[first : first + step], axis=1) for first in range(0, len(lists), step))
    return any((some[:, 1:] == some[:, :-1]).any() for some in ordered)


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
    table, found = np.zeros(max(TABLE, n_codes), bool), np.zeros(len(codes), bool)
    blocks = zip(_blocks(start, n_codes), _blocks(other_start, n_codes), strict=True)
    for (rows, row_of_table), (other_rows, other_row_of_table) in blocks:
        marked = other_row_of_table + other_codes[other_rows]
        table[marked] = True
        found[rows] = table[row_of_table + codes[rows]]
        table[marked] = False
    return found


def _blocks(start: LongArray, n_codes: int) -> Iterator[tuple[slice, IntArray]]:
    """Yield the rows of some groups after others, and for each row the first cell of its group's codes."""
    lengths = np.diff(start)
    step = max(1, min(TABLE // max(1, n_codes), len(lengths)))
    first_cells = np.arange(step, dtype=np.int32) * np.int32(n_codes if step > 1 else 0)
    for first in range(0, len(lengths), step):
        some = lengths[first : first + step]
        yield slice(start[first], start[first + len(some)]), np.repeat(first_cells[: len(some)], some)
