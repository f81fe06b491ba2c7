"""The compiled count of inversions; imported when a metric of pairs is computed."""

import numpy as np

from recgauge.utils.compiled import F64s, I64s, compiled


@compiled(nogil=True)
def count_inversions(values: F64s, start: I64s) -> I64s:
    """Count, in each group, the pairs of rows whose earlier value is the larger one.

    Merge sort from the bottom up, O(n log n) time and n extra numbers; `values` is sorted in place.

    Parameters
    ----------
    values : ndarray of float64, shape (n,)
    start : ndarray of int64, shape (g + 1,)

    Returns
    -------
    ndarray of int64, shape (g,)
    """
    counts = np.zeros(len(start) - 1, np.int64)
    spare = np.empty_like(values)
    for group in range(len(start) - 1):
        low, high = start[group], start[group + 1]
        width = 1
        while width < high - low:
            for left in range(low, high, 2 * width):
                middle, end = min(left + width, high), min(left + 2 * width, high)
                a, b = left, middle
                for position in range(left, end):
                    if b >= end or (a < middle and values[a] <= values[b]):
                        spare[position] = values[a]
                        a += 1
                    else:
                        spare[position] = values[b]
                        b += 1
                        counts[group] += middle - a
            values[low:high] = spare[low:high]
            width *= 2
    return counts
