"""Curves and the areas under them: from scores of all candidates, or from the first ranks of a list."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recgauge.errors import MetricError, SchemaError
from recgauge.utils.checks import BoolArray, DoubleArray


@dataclass(frozen=True, slots=True, eq=False)
class ThresholdCounts:
    """What is accepted at each distinct score, from the highest down.

    Parameters
    ----------
    thresholds : ndarray of float64, shape (t,)
        Distinct scores, falling.
    accepted_positive, accepted_negative : ndarray of float64, shape (t,)
        Rows of either kind with a score of at least the threshold; the last entry counts them all.
    """

    thresholds: DoubleArray
    accepted_positive: DoubleArray
    accepted_negative: DoubleArray


def count_at_thresholds(relevant: npt.ArrayLike, scores: npt.ArrayLike) -> ThresholdCounts:
    """Count what each distinct score accepts.

    Parameters
    ----------
    relevant : array-like of bool, shape (n,)
    scores : array-like of float, shape (n,)

    Returns
    -------
    ThresholdCounts

    Raises
    ------
    SchemaError
        If columns differ in length, are empty, or hold something else than 0 and 1, or than numbers.
    MetricError
        If no row is relevant.
    """
    positive, values = check_scored(relevant, scores)
    order = np.argsort(-values, kind="stable")
    values, positive = values[order], positive[order]
    last = np.append(np.flatnonzero(values[1:] != values[:-1]), len(values) - 1)
    accepted = np.cumsum(positive, dtype=np.float64)[last]
    return ThresholdCounts(values[last], accepted, last + 1.0 - accepted)


def check_scored(relevant: npt.ArrayLike, scores: npt.ArrayLike) -> tuple[BoolArray, DoubleArray]:
    """Return `relevant` as bool and `scores` as float64, both (n,), or say what is wrong with them."""
    flags, values = np.asarray(relevant), np.asarray(scores, dtype=np.float64)
    if flags.ndim != 1 or len(flags) == 0:
        raise SchemaError(f"relevant must be one column with at least one row, got shape {flags.shape}.")
    if values.shape != flags.shape:
        raise SchemaError(f"scores must have one number for each of {len(flags)} rows, got {values.shape}.")
    if not np.isin(flags, (0, 1)).all():
        raise SchemaError("relevant must be true or false (1 or 0) in every row.")
    if np.isnan(values).any():
        raise SchemaError("scores must be numbers in every row, got NaN.")
    if not flags.any():
        raise MetricError("A curve is undefined without a relevant row; leave such users out.")
    return flags.astype(np.bool_), values


def trapezoids(x: DoubleArray, y: DoubleArray) -> float:
    """Return the area between the polygon through the points and the x axis; `x` rises or falls."""
    return float(abs(np.sum(np.diff(x) * (y[1:] + y[:-1])) / 2.0))
