"""Items with equal scores: put in order by id, or the places that they share."""

from typing import Any

import numpy as np
import numpy.typing as npt

from recgauge._checks import IntArray, LongArray


def order_ties(items: IntArray, scores: npt.NDArray[Any], *, descending: bool) -> IntArray:
    """Return lists (m, k) whose items with equal scores are in order of their codes.

    Examples
    --------
    >>> order_ties(np.array([[4, 2, 9]]), np.array([[1.0, 1.0, 0.5]]), descending=False).tolist()
    [[2, 4, 9]]
    """
    tied = ((scores[:, 1:] == scores[:, :-1]) & (items[:, 1:] >= 0)).any(axis=1)
    if not tied.any():
        return items
    rows = items[tied]
    codes = -rows if descending else rows
    # padding has the score -inf and stays at the tail
    order = np.lexsort((codes, -scores[tied]), axis=-1)
    ordered = items.copy()
    ordered[tied] = np.take_along_axis(rows, order, axis=1)
    return ordered


def tie_places(scores: npt.NDArray[Any], row: LongArray, rank: IntArray) -> tuple[LongArray, LongArray]:
    """Return the first and last rank of the items that share the score at (row, rank), shape (h,) each.

    Examples
    --------
    >>> tie_places(np.array([[3.0, 1.0, 1.0]]), np.array([0]), np.array([2]))
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
