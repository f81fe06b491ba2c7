"""How rows fall on items: their order by popularity, short head, Gini coefficient, tenths of the rows."""

import numpy as np

from recgauge.utils.checks import BoolArray, DoubleArray, LongArray
from recgauge.utils.exact import exact_dot, to_float


def by_popularity(counts: LongArray) -> LongArray:
    """Return item codes, most popular first, equal counts by rising code, shape (n_items,)."""
    return np.argsort(-counts, kind="stable")


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
    target = share * counts.sum()
    # a hair of tolerance, since 0.55 of 100 is a little more than 55 as floats
    if boundary == "head":
        size = int(np.searchsorted(reached, target * (1 - 1e-12), side="left")) + 1
    else:
        size = int(np.searchsorted(reached, target * (1 + 1e-12), side="right"))
    head = np.zeros(len(counts), np.bool_)
    head[order[:size]] = True
    return head & (counts > 0)


def gini(values: DoubleArray, divisor: float) -> float:
    r"""Return ``sum((2 i - n - 1) x_i) / (divisor sum(x_i))`` of rising values; NaN where that is 0 / 0.

    Examples
    --------
    >>> gini(np.array([1.0, 1.0, 2.0, 0.0, 0.0]), 5)
    0.5
    """
    n, scale = len(values), values.sum() * divisor
    if scale == 0:
        return float("nan")
    weight = 2.0 * np.arange(1.0, n + 1.0) - n - 1.0
    return to_float(exact_dot(weight, np.sort(values)), products=True) / float(scale)


def shares_by_popularity(
    train: LongArray, test: LongArray, n_groups: int = 10
) -> tuple[DoubleArray, DoubleArray]:
    """Return the shares of training and of test rows of groups of items, the most popular ones first.

    Each group holds about the same share of the training rows; items without training rows are in the last.
    """
    order = by_popularity(train)
    middle = (np.cumsum(train[order]) - train[order] / 2) / train.sum()
    group = np.minimum((middle * n_groups).astype(np.int64), n_groups - 1)
    shares = [
        np.bincount(group, counts[order].astype(np.float64), minlength=n_groups) / counts.sum()
        for counts in (train, test)
    ]
    return shares[0], shares[1]
