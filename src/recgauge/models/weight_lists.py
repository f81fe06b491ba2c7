"""Lists of weights: the largest that are kept, and the matrix that lists of several blocks make."""

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from recgauge.utils.checks import FloatArray, IntArray, LongArray
from recgauge.utils.compiled import F32s, I32s, compiled


def joined_lists(parts: Sequence[tuple[IntArray, IntArray, FloatArray]], n_columns: int) -> sparse.csr_array:
    """Return the lists of all blocks as rows of one matrix, shape (n_lists, n_columns).

    A part has the lengths of its lists, their columns, one list after the other, and their weights.

    Examples
    --------
    >>> first = np.array([2, 0], np.int32), np.array([0, 2], np.int32), np.array([1, 2], np.float32)
    >>> second = np.array([1], np.int32), np.array([1], np.int32), np.array([3], np.float32)
    >>> joined_lists([first, second], 3).toarray().tolist()
    [[1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [0.0, 3.0, 0.0]]
    """
    lengths, columns, weights = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    starts = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    return sparse.csr_array((weights, columns, starts), shape=(len(lengths), n_columns))


def cut_columns(weights: sparse.csc_array, most: int | LongArray) -> sparse.csc_array:
    """Return each column's largest weights alone, whatever their sign; of equal ones those of low codes."""
    n_weights = np.diff(weights.indptr)
    column = np.repeat(np.arange(len(n_weights)), n_weights)
    order = np.lexsort((weights.indices, -np.abs(weights.data), column))
    place = np.arange(len(order)) - weights.indptr[column]
    weights.data[order[place >= np.broadcast_to(most, n_weights.shape)[column]]] = 0.0
    weights.eliminate_zeros()
    return weights


@compiled(nogil=True)
def largest(weights: F32s, codes: I32s, count: int, k: int) -> int:
    """Move the k largest of the first `count` weights, of equal ones those of low codes, to the front."""
    level = np.partition(weights[:count], count - k)[count - k]
    ties = np.sort(codes[:count][weights[:count] == level])
    kept = 0
    for place in range(count):
        if weights[place] > level:
            weights[kept], codes[kept] = weights[place], codes[place]
            kept += 1
    weights[kept:k], codes[kept:k] = level, ties[: k - kept]
    return k


@compiled(nogil=True)
def with_room(codes: I32s, weights: F32s, filled: int, count: int) -> tuple[I32s, F32s]:
    """Return lists that can take `count` more entries after the first `filled`."""
    if filled + count <= len(codes):
        return codes, weights
    room = max(2 * len(codes), filled + count)
    more_codes, more_weights = np.empty(room, np.int32), np.empty(room, np.float32)
    more_codes[:filled], more_weights[:filled] = codes[:filled], weights[:filled]
    return more_codes, more_weights
