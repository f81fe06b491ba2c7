"""Which items are the long tail: two rules, by share of interactions and by share of items."""

import numpy as np

from recgauge.utils.checks import BoolArray, LongArray


def by_popularity(counts: LongArray) -> LongArray:
    """Return item codes, most popular first, equal counts by rising code, shape (n_items,)."""
    return np.argsort(-counts, kind="stable")


def whole(share: float, count: int) -> int:
    """Return a share of a count, rounded down, yet 0.29 of 100 is 29 whatever floats make of it.

    Examples
    --------
    >>> whole(0.29, 100), int(0.29 * 100)
    (29, 28)
    """
    return int(share * count * (1 + 1e-12))


def short_head(counts: LongArray, share: float, boundary: str) -> BoolArray:
    """Mark the most popular items that together hold a share of the interactions.

    Parameters
    ----------
    counts : ndarray of int64, shape (n_items,)
        Interactions of each item.
    share : float
        Of all interactions, in (0, 1].
    boundary : {"head", "tail"}
        Where the item goes with which the share is crossed.

    Returns
    -------
    ndarray of bool, shape (n_items,)
        Items without interactions are never in the head.

    Examples
    --------
    >>> short_head(np.array([1, 6, 3]), 0.8, "head")
    array([False,  True,  True])
    >>> short_head(np.array([1, 6, 3]), 0.8, "tail")
    array([False,  True, False])
    """
    order = by_popularity(counts)
    reached = np.cumsum(counts[order])
    wanted = share * counts.sum()
    # a hair of tolerance, since 0.55 of 100 is a little more than 55 as floats
    if boundary == "head":
        size = int(np.searchsorted(reached, wanted * (1 - 1e-12), side="left")) + 1
    else:
        size = int(np.searchsorted(reached, wanted * (1 + 1e-12), side="right"))
    head = np.zeros(len(counts), np.bool_)
    head[order[:size]] = True
    return head & (counts > 0)


def least_popular(counts: LongArray, share: float) -> BoolArray:
    """Mark the least popular items among those with interactions.

    Parameters
    ----------
    counts : ndarray of int64, shape (n_items,)
        Interactions of each item.
    share : float
        Of the items with interactions, in (0, 1]; their number is rounded down, but at least one.

    Returns
    -------
    ndarray of bool, shape (n_items,)
        Equal counts: lower codes first.

    Examples
    --------
    >>> least_popular(np.array([2, 0, 1, 1]), 0.5)
    array([False, False,  True, False])
    """
    known = np.flatnonzero(counts)
    order = known[np.argsort(counts[known], kind="stable")]
    tail = np.zeros(len(counts), np.bool_)
    tail[order[: max(1, whole(share, len(known)))]] = True
    return tail
