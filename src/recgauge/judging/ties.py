"""Items with equal scores: put in order by id or at random, or the places that they share."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from recgauge.utils.checks import BoolArray, IntArray, LongArray
from recgauge.utils.randomness import stream

Keys = npt.NDArray[np.uint64]


def tied_rows(items: IntArray, scores: npt.NDArray[Any]) -> BoolArray:
    """Return which lists (m, k) hold equal scores, shape (m,)."""
    tied: BoolArray = ((scores[:, 1:] == scores[:, :-1]) & (items[:, 1:] >= 0)).any(axis=1)
    return tied


def order_ties(
    items: IntArray, scores: npt.NDArray[Any], key: Callable[[LongArray, IntArray], npt.NDArray[Any]]
) -> IntArray:
    """Return lists (m, k) whose items with equal scores are in rising order of a key.

    Parameters
    ----------
    items : ndarray of int32, shape (m, k)
    scores : ndarray, shape (m, k)
        Falling in a row; -inf where padded.
    key : callable
        Gets row numbers (t,) and their lists (t, k), returns keys (t, k).

    Examples
    --------
    >>> by_code = lambda rows, items: items
    >>> order_ties(np.array([[4, 2, 9]]), np.array([[1.0, 1.0, 0.5]]), by_code).tolist()
    [[2, 4, 9]]
    """
    rows = np.flatnonzero(tied_rows(items, scores))
    if not len(rows):
        return items
    # padding has the score -inf and stays at the tail
    order = np.lexsort((key(rows, items[rows]), -scores[rows]), axis=-1)
    ordered = items.copy()
    ordered[rows] = np.take_along_axis(items[rows], order, axis=1)
    return ordered


def random_keys(seed: int, draw: int, users: IntArray, items: IntArray) -> Keys:
    """Return a pseudo-random number for every item of every user; sorted by them, items are shuffled.

    A number depends on nothing but its arguments: not on blocks of users, threads or other items.

    Parameters
    ----------
    seed, draw : int
        The seed's stream of ties is used; another draw gives another order.
    users : ndarray of int32, shape (b,)
    items : ndarray of int32, shape (b, n)

    Returns
    -------
    ndarray of uint64, shape (b, n)

    References
    ----------
    .. [1] G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number generators",
       OOPSLA 2014 (the mixing function).

    Examples
    --------
    >>> one = random_keys(0, 0, np.array([3], np.int32), np.array([[1, 2]], np.int32))
    >>> two = random_keys(0, 0, np.array([4, 3], np.int32), np.array([[1, 2], [2, 1]], np.int32))
    >>> bool((one[0] == two[1, ::-1]).all()), bool((one[0] == two[0]).any())
    (True, False)
    """
    start = stream(seed, "ties").integers(1 << 63, size=draw + 1)[-1:].astype(np.uint64)
    of_user = _mix(start ^ _mix(users.astype(np.uint64)))
    return _mix(of_user[:, None] ^ _mix(items.astype(np.uint64)))


_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def _mix(words: Keys) -> Keys:
    words = words + _GOLDEN
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


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
