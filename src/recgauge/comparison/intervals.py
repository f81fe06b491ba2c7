"""Intervals of a mean over users."""

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
    if n < 2:
        return mean, mean
    half = float(stdtrit(n - 1, (1 + confidence) / 2) * values.std(ddof=1) / np.sqrt(n))
    return mean - half, mean + half
