"""How rows fall on users and items: quantiles, curves and concentration of counts."""

from dataclasses import dataclass

import numpy as np

from recgauge.errors import SchemaError
from recgauge.metrics.beyond.concentration import Gini
from recgauge.utils.checks import DoubleArray, LongArray

CURVE_POINTS = 40  # enough for a smooth line over six decades, little enough for a readable record


@dataclass(frozen=True, slots=True)
class Quantiles:
    """Where the counts lie, of those with at least one row."""

    lowest: int
    lower_quartile: float
    median: float
    mean: float
    upper_quartile: float
    highest_tenth: float
    highest_hundredth: float
    highest: int


def quantiles(counts: LongArray) -> Quantiles:
    """Describe the counts above zero.

    Parameters
    ----------
    counts : ndarray of int, shape (n,)
        Rows of each user or item.

    Returns
    -------
    Quantiles
        Linear interpolation between the two nearest counts; ``highest_tenth`` is the 0.9 quantile.

    Raises
    ------
    SchemaError
        If every count is zero.

    Examples
    --------
    >>> found = quantiles(np.array([0, 1, 2, 3, 4]))
    >>> found.lowest, found.median, found.highest
    (1, 2.5, 4)
    """
    known = _above_zero("quantiles", counts)
    q25, q50, q75, q90, q99 = (float(value) for value in np.quantile(known, (0.25, 0.5, 0.75, 0.9, 0.99)))
    return Quantiles(int(known.min()), q25, q50, float(known.mean()), q75, q90, q99, int(known.max()))


def share_with_at_least(counts: LongArray) -> tuple[tuple[int, float], ...]:
    """Return the curve of the share of users or items that have at least so many rows.

    Parameters
    ----------
    counts : ndarray of int, shape (n,)
        Rows of each; zeros are left out.

    Returns
    -------
    tuple of (int, float)
        Number of rows, rising, and the share; about 40 points, evenly spread over the logarithm.

    Raises
    ------
    SchemaError
        If every count is zero.

    Examples
    --------
    >>> share_with_at_least(np.array([1, 2, 2, 8, 0]))
    ((1, 1.0), (2, 0.75), (8, 0.25))
    """
    ordered = np.sort(_above_zero("share_with_at_least", counts))
    steps = np.unique(ordered)
    if len(steps) > CURVE_POINTS:
        wanted = np.geomspace(steps[0], steps[-1], CURVE_POINTS)
        wanted[-1] = steps[-1]  # whatever rounding makes of it
        steps = np.unique(steps[np.searchsorted(steps, wanted)])
    shares = (len(ordered) - np.searchsorted(ordered, steps, side="left")) / len(ordered)
    return tuple(zip(steps.tolist(), shares.tolist(), strict=True))


def gini(counts: LongArray) -> float:
    """Return the Gini coefficient of counts: 0 if all are equal, near 1 if few hold everything.

    Parameters
    ----------
    counts : ndarray of int, shape (n,)
        Rows of each item; items with zero rows count.

    Raises
    ------
    SchemaError
        If every count is zero.

    Notes
    -----
    The formula of the metric `Gini`, applied to interactions in place of recommendations.

    Examples
    --------
    >>> gini(np.array([2, 1, 1, 0, 0]))
    0.5
    """
    _above_zero("gini", counts)
    return Gini().value(counts.astype(np.float64))


def shares_by_popularity(
    train: LongArray, test: LongArray, n_groups: int = 10
) -> tuple[DoubleArray, DoubleArray]:
    """Group items by popularity in train, so that each group holds about the same share of the training rows.

    Parameters
    ----------
    train, test : ndarray of int, shape (n_items,)
        Rows of each item.
    n_groups : int
        The first group has the fewest, most popular items.

    Returns
    -------
    ndarray of float64, shape (n_groups,)
        Share of the training rows that fall on each group.
    ndarray of float64, shape (n_groups,)
        Share of the test rows; items without training rows are in the last group.

    Examples
    --------
    >>> train, test = shares_by_popularity(np.array([5, 3, 2]), np.array([1, 0, 1]), n_groups=2)
    >>> train.tolist(), test.tolist()
    ([0.5, 0.5], [0.5, 0.5])
    """
    order = np.argsort(-train, kind="stable")
    middle = (np.cumsum(train[order]) - train[order] / 2) / train.sum()
    group = np.minimum((middle * n_groups).astype(np.int64), n_groups - 1)
    shares = [
        np.bincount(group, counts[order].astype(np.float64), minlength=n_groups) / counts.sum()
        for counts in (train, test)
    ]
    return shares[0], shares[1]


def _above_zero(owner: str, counts: LongArray) -> LongArray:
    known = counts[counts > 0]
    if len(known) == 0:
        raise SchemaError(f"{owner}: counts must hold rows, got none.")
    return known
