"""Sums over the items of lists, in blocks of users so that memory stays bounded."""

from collections.abc import Iterator
from typing import Literal

import numpy as np
import numpy.typing as npt

from recgauge.judging.judge import JudgedTopK
from recgauge.metrics.denominators import divide, list_length
from recgauge.utils.checks import DoubleArray, IntArray

BLOCK_ENTRIES = 1 << 20
"""List entries looked at together: 8 MiB of float64 at a time."""


def row_blocks(n_rows: int, entries_per_row: int) -> Iterator[slice]:
    """Yield slices of rows that hold about `BLOCK_ENTRIES` entries each."""
    step = max(1, BLOCK_ENTRIES // max(1, entries_per_row))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def list_blocks(judged: JudgedTopK, k: int | None) -> Iterator[tuple[slice, IntArray]]:
    """Yield blocks of rows with the first `k` items of their lists, (b, k), padded with -1."""
    first = judged.items[:, :k]
    for rows in row_blocks(judged.n_users, first.shape[1]):
        yield rows, first[rows]


def sum_over_list(item_value: npt.NDArray[np.generic], judged: JudgedTopK, k: int | None) -> DoubleArray:
    """Sum a value of items over the first `k` items of each list, shape (m,).

    Parameters
    ----------
    item_value : ndarray, shape (n_items,)
    judged : JudgedTopK
    k : int or None

    Returns
    -------
    ndarray of float64, shape (m,)

    Examples
    --------
    >>> from recgauge.metrics.examples import beyond_example
    >>> sum_over_list(np.arange(5) * 10, beyond_example(), k=2)
    array([50., 40.])
    """
    # padding is item -1, which finds the 0 at the end
    padded = np.append(np.asarray(item_value, np.float64), 0.0)
    sums = np.empty(judged.n_users)
    for rows, items in list_blocks(judged, k):
        sums[rows] = padded[items].sum(axis=1)
    return sums


def mean_over_list(
    item_value: npt.NDArray[np.generic], judged: JudgedTopK, k: int | None, divisor: Literal["k", "list"]
) -> DoubleArray:
    """Average a value of items over each list, shape (m,).

    Parameters
    ----------
    item_value : ndarray, shape (n_items,)
    judged : JudgedTopK
    k : int or None
    divisor : {"k", "list"}
        The cutoff even where the list is shorter, or the items that the list has. NaN for an empty list
        that is divided by its own length.

    Returns
    -------
    ndarray of float64, shape (m,)
    """
    total = sum_over_list(item_value, judged, k)
    if divisor == "k" and k is not None:
        return total / k
    return divide(total, list_length(judged, k), empty=np.nan)


def exposure(
    judged: JudgedTopK, k: int | None, n_items: int, weight: DoubleArray | None = None
) -> DoubleArray:
    """Count the lists' first `k` ranks that each item holds, or sum the weights of their users.

    Parameters
    ----------
    judged : JudgedTopK
    k : int or None
    n_items : int
    weight : ndarray of float64, shape (m,), optional
        The weight of a rank in each user's list; 1 if left out.

    Returns
    -------
    ndarray of float64, shape (n_items,)

    Examples
    --------
    >>> from recgauge.metrics.examples import beyond_example
    >>> exposure(beyond_example(), 2, 5)
    array([0., 1., 1., 2., 0.])
    """
    total = np.zeros(n_items + 1)
    for rows, items in list_blocks(judged, k):
        weights = None if weight is None else np.repeat(weight[rows], items.shape[1])
        # padding is item -1 and goes to the entry in front
        total += np.bincount(items.ravel() + 1, weights, minlength=n_items + 1)
    return total[1:]
