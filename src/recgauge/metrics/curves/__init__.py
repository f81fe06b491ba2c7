"""Curves: points at every distinct score, or at every rank of a list, and the areas under them."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recgauge.errors import MetricError, SchemaError
from recgauge.judging import JudgedTopK
from recgauge.utils.checks import BoolArray, DoubleArray, LongArray, check_int


def _accepted(relevant: npt.ArrayLike, scores: npt.ArrayLike) -> tuple[DoubleArray, DoubleArray, DoubleArray]:
    """Return the distinct scores, falling, and how many relevant and other rows score at least as much."""
    positive, values = check_scored(relevant, scores)
    order = np.argsort(-values, kind="stable")
    values, positive = values[order], positive[order]
    last = np.append(np.flatnonzero(values[1:] != values[:-1]), len(values) - 1)
    right = np.cumsum(positive, dtype=np.float64)[last]
    return values[last], right, last + 1.0 - right


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
    thresholds, right, wrong = _accepted(relevant, scores)
    if wrong[-1] == 0:
        raise MetricError("A ROC curve is undefined if every row is relevant; leave such users out.")
    if drop_collinear and len(right) > 2:
        bends = (np.diff(wrong, 2) != 0) | (np.diff(right, 2) != 0)
        kept = np.concatenate(([True], bends, [True]))
        right, wrong, thresholds = right[kept], wrong[kept], thresholds[kept]
    start = np.zeros(1)
    return RocCurve(
        np.concatenate((start, wrong / wrong[-1])),
        np.concatenate((start, right / right[-1])),
        np.concatenate(([np.inf], thresholds)),
    )


@dataclass(frozen=True, slots=True, eq=False)
class PrecisionRecallCurve:
    """Points of a precision-recall curve, ending where nothing is accepted.

    Parameters
    ----------
    precision, recall : ndarray of float64, shape (t + 1,)
        In the order of `thresholds`; the last point is precision 1 at recall 0, without a threshold.
    thresholds : ndarray of float64, shape (t,)
        Rising.
    """

    precision: DoubleArray
    recall: DoubleArray
    thresholds: DoubleArray

    def area(self) -> float:
        """Return the area under straight lines between the points; too high, see `average_precision`."""
        return trapezoids(self.recall, self.precision)

    def average_precision(self) -> float:
        """Return the area in steps: each rise of recall times the precision reached there."""
        return float(-np.sum(np.diff(self.recall) * self.precision[:-1]))


def precision_recall_curve(relevant: npt.ArrayLike, scores: npt.ArrayLike) -> PrecisionRecallCurve:
    """Return precision and recall at every distinct score.

    Parameters
    ----------
    relevant : array-like of bool, shape (n,)
    scores : array-like of float, shape (n,)
        Higher means more likely relevant.

    Returns
    -------
    PrecisionRecallCurve

    Raises
    ------
    MetricError
        If no row is relevant.
    SchemaError
        If the columns cannot be used.

    References
    ----------
    .. [1] J. Davis, M. Goadrich, "The relationship between precision-recall and ROC curves", ICML 2006.

    Examples
    --------
    >>> curve = precision_recall_curve([1, 0, 1], [0.9, 0.7, 0.5])
    >>> curve.recall.tolist(), curve.average_precision() == (1 + 2 / 3) / 2
    ([1.0, 0.5, 0.5, 0.0], True)
    """
    thresholds, right, wrong = _accepted(relevant, scores)
    precision, recall = right / (right + wrong), right / right[-1]
    return PrecisionRecallCurve(
        np.append(precision[::-1], 1.0), np.append(recall[::-1], 0.0), thresholds[::-1]
    )


@dataclass(frozen=True, slots=True, eq=False)
class PrecisionRecallOverK:
    """Mean precision and recall of lists cut at each rank.

    Parameters
    ----------
    k : ndarray of int64, shape (max_k,)
        From 1.
    precision, recall : ndarray of float64, shape (max_k,)
        Means over the users with relevant items: hits over k, and hits over relevant items.
    """

    k: LongArray
    precision: DoubleArray
    recall: DoubleArray


def precision_recall_over_k(judged: JudgedTopK, max_k: int) -> PrecisionRecallOverK:
    """Return mean precision and recall at every cutoff from 1 to `max_k`.

    Parameters
    ----------
    judged : JudgedTopK
        Lists of m users.
    max_k : int
        Last cutoff, >= 1.

    Returns
    -------
    PrecisionRecallOverK

    Raises
    ------
    MetricError
        If no user has a relevant item.

    Examples
    --------
    >>> from recgauge.metrics.examples import judged_example
    >>> curve = precision_recall_over_k(judged_example(), 3)
    >>> curve.recall.tolist(), curve.precision.round(2).tolist()
    ([0.5, 0.5, 1.0], [1.0, 0.5, 0.67])
    """
    check_int("precision_recall_over_k: max_k", max_k, minimum=1)
    n_users = np.count_nonzero(judged.n_relevant)
    if n_users == 0:
        raise MetricError("Precision and recall over k are undefined: no user has a relevant item.")
    hits = judged.hits.cut(max_k)
    at_rank = np.bincount(hits.rank, minlength=max_k + 1)[1:]
    shares = np.bincount(hits.rank, 1.0 / judged.n_relevant[hits.owner], minlength=max_k + 1)[1:]
    k = np.arange(1, max_k + 1)
    return PrecisionRecallOverK(k, np.cumsum(at_rank) / k / n_users, np.cumsum(shares) / n_users)
