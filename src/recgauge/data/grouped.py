"""Rows with equal codes, side by side."""

import numpy as np

from recgauge.utils.checks import IntArray, LongArray


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
