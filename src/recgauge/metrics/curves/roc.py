"""The receiver operating characteristic: what is found against what is wrongly accepted."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recgauge.errors import MetricError
from recgauge.metrics.curves import count_at_thresholds, trapezoids
from recgauge.utils.checks import DoubleArray


@dataclass(frozen=True, slots=True, eq=False)
class RocCurve:
    """Points of a ROC curve, from (0, 0) to (1, 1).

    Parameters
    ----------
    false_positive_rate, true_positive_rate : ndarray of float64, shape (t,)
        Rising.
    thresholds : ndarray of float64, shape (t,)
        Falling; infinity at (0, 0), where nothing is accepted.
    """

    false_positive_rate: DoubleArray
    true_positive_rate: DoubleArray
    thresholds: DoubleArray

    def area(self) -> float:
        """Return the area under the curve, in [0, 1]: the AUC, ties counted half."""
        return trapezoids(self.false_positive_rate, self.true_positive_rate)


def roc_curve(relevant: npt.ArrayLike, scores: npt.ArrayLike, *, drop_collinear: bool = False) -> RocCurve:
    """Return the curve with a point at every distinct score.

    Parameters
    ----------
    relevant : array-like of bool, shape (n,)
    scores : array-like of float, shape (n,)
        Higher means more likely relevant.
    drop_collinear : bool
        Leave out points inside straight stretches, as scikit-learn does by default; the curve is the same.

    Returns
    -------
    RocCurve

    Raises
    ------
    MetricError
        If all rows are relevant, or none is.
    SchemaError
        If the columns cannot be used.

    References
    ----------
    .. [1] T. Fawcett, "An introduction to ROC analysis", Pattern Recognition Letters 27(8), 2006.

    Examples
    --------
    >>> curve = roc_curve([1, 0, 1, 0], [0.9, 0.7, 0.7, 0.1])
    >>> curve.false_positive_rate.tolist(), curve.true_positive_rate.tolist(), curve.area()
    ([0.0, 0.0, 0.5, 1.0], [0.0, 0.5, 1.0, 1.0], 0.875)
    """
    counts = count_at_thresholds(relevant, scores)
    found, wrong, thresholds = counts.accepted_positive, counts.accepted_negative, counts.thresholds
    if wrong[-1] == 0:
        raise MetricError("A ROC curve is undefined if every row is relevant; leave such users out.")
    if drop_collinear and len(found) > 2:
        bends = (np.diff(wrong, 2) != 0) | (np.diff(found, 2) != 0)
        kept = np.concatenate(([True], bends, [True]))
        found, wrong, thresholds = found[kept], wrong[kept], thresholds[kept]
    start = np.zeros(1)
    return RocCurve(
        np.concatenate((start, wrong / wrong[-1])),
        np.concatenate((start, found / found[-1])),
        np.concatenate(([np.inf], thresholds)),
    )
