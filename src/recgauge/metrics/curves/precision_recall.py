"""Precision against recall: at every distinct score, or at every rank."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recgauge.errors import MetricError
from recgauge.judging.judge import JudgedTopK
from recgauge.metrics.curves import count_at_thresholds, trapezoids
from recgauge.utils.checks import DoubleArray, LongArray, check_int


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
    counts = count_at_thresholds(relevant, scores)
    accepted = counts.accepted_positive + counts.accepted_negative
    precision = counts.accepted_positive / accepted
    recall = counts.accepted_positive / counts.accepted_positive[-1]
    return PrecisionRecallCurve(
        np.append(precision[::-1], 1.0), np.append(recall[::-1], 0.0), counts.thresholds[::-1]
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
