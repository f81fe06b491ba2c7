"""Intervals of a mean over users, and of a difference of two means."""

from typing import Literal

import numpy as np

from recgauge.utils.checks import DoubleArray


def normal_interval(values: DoubleArray, confidence: float) -> tuple[float, float]:
    """Return Student's interval of the mean of values (m,).

    Examples
    --------
    >>> low, high = normal_interval(np.array([1.0, 2.0, 3.0]), 0.95)
    >>> round(low, 3), round(high, 3)
    (-0.484, 4.484)
    """
    from scipy.special import stdtrit

    mean, n = float(values.mean()), len(values)
    half = float(stdtrit(n - 1, (1 + confidence) / 2) * values.std(ddof=1) / np.sqrt(n))
    return mean - half, mean + half


def bootstrap_interval(
    means: DoubleArray,
    values: DoubleArray,
    confidence: float,
    method: Literal["bca", "percentile"] = "bca",
    observed: float | None = None,
) -> tuple[float, float]:
    """Return an interval of the mean of values from its means in samples drawn with replacement.

    The percentile interval takes the quantiles of these means. BCa moves them: by how far their median is
    from the mean of the values, and by how the spread changes with the mean, which for a mean is a sixth of
    the values' skewness over the square root of their number.

    Parameters
    ----------
    means : ndarray of float64, shape (n_resamples,)
    values : ndarray of float64, shape (m,)
    confidence : float
    method : {"bca", "percentile"}
    observed : float, optional
        The mean of the values as the samples have it, if it was rounded.

    References
    ----------
    .. [1] B. Efron, "Better bootstrap confidence intervals", Journal of the American Statistical Association
       82(397), 1987.

    Examples
    --------
    >>> values = np.array([0.0, 0.0, 0.0, 1.0])
    >>> means = np.array([0.0, 0.25, 0.25, 0.25, 0.5, 0.75])
    >>> bootstrap_interval(means, values, 0.5, "percentile")
    (0.25, 0.4375)
    """
    tails = np.array([(1 - confidence) / 2, (1 + confidence) / 2])
    if method == "bca":
        tails = _bca_tails(means, values, tails, float(values.mean()) if observed is None else observed)
    low, high = np.quantile(means, tails)
    return float(low), float(high)


def _bca_tails(means: DoubleArray, values: DoubleArray, tails: DoubleArray, observed: float) -> DoubleArray:
    from scipy.special import ndtr, ndtri

    moved = values - values.mean()
    squared = moved * moved
    squares = float(squared.sum())
    if squares == 0 or means.min() == means.max():
        return tails
    acceleration = float((squared * moved).sum()) / (6 * squares**1.5)
    below = ((means < observed).sum() + (means <= observed).sum()) / (2 * len(means))
    # a sample of few users may lie on one side of the mean altogether
    bias = ndtri(np.clip(below, 0.5 / len(means), 1 - 0.5 / len(means)))
    normal = bias + ndtri(tails)
    moved_tails: DoubleArray = ndtr(bias + normal / (1 - acceleration * normal))
    return moved_tails
