"""Curves of full rankings, averaged over users: at each false positive rate, and at each rank."""

import numpy as np

from recgauge.errors import MetricError
from recgauge.metrics.curves.full_ranking import FullRankings
from recgauge.metrics.curves.points import PrecisionRecallOverK, RocCurve
from recgauge.utils.checks import LongArray

NAMED_CUTOFFS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
"""Cutoffs that a curve always has, so that a figure can mark them."""


def full_ranking_curves(
    rankings: FullRankings, n_relevant: LongArray
) -> tuple[RocCurve | None, PrecisionRecallOverK]:
    """Return the mean ROC curve over users, None if no user has one, and precision and recall over ranks.

    Parameters
    ----------
    rankings : FullRankings
        Of m users.
    n_relevant : ndarray of int64, shape (m,)
        Relevant items of each user, candidates or not.
    """
    longest = int((rankings.n_positive + rankings.n_negative).max())
    # the head of the ranking changes most: cutoffs one by one there, ever fewer further down
    spread = np.geomspace(1, max(1, longest), 600).round().astype(np.int64)
    k = np.union1d(spread, [named for named in NAMED_CUTOFFS if named < longest])
    drawn = ((rankings.n_positive > 0) & (rankings.n_negative > 0)).any()
    return mean_roc(rankings) if drawn else None, mean_precision_recall(rankings, n_relevant, k)


def mean_roc(rankings: FullRankings) -> RocCurve:
    """Return the mean over users of the true positive rate at each false positive rate.

    Parameters
    ----------
    rankings : FullRankings
        Of m users; those whose candidates are all relevant, or none, have no curve and are left out.

    Returns
    -------
    RocCurve
        In steps; its area is the mean of the users' areas, ties counted half. `thresholds` are NaN: the
        scores of different users do not compare.

    Raises
    ------
    MetricError
        If no user has a curve.

    References
    ----------
    .. [1] T. Fawcett, "An introduction to ROC analysis", Pattern Recognition Letters 27(8), 2006, section 8
       (vertical averaging).

    Examples
    --------
    >>> from recgauge.metrics.curves.full_ranking import rank_one
    >>> curve = mean_roc(rank_one([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1]))
    >>> curve.false_positive_rate.tolist(), curve.true_positive_rate.tolist(), curve.area()
    ([0.0, 0.0, 0.5, 0.5, 1.0], [0.0, 0.5, 0.5, 1.0, 1.0], 0.75)
    """
    drawn = (rankings.n_positive > 0) & (rankings.n_negative > 0)
    if not drawn.any():
        raise MetricError("A ROC curve is undefined: no user has relevant and other candidates.")
    kept = np.repeat(drawn, rankings.n_positive)
    misses = (rankings.above + rankings.tied / 2)[kept] / rankings.of_each(rankings.n_negative)[kept]
    rises = 1.0 / rankings.of_each(rankings.n_positive)[kept] / np.count_nonzero(drawn)
    at, entry = np.unique(misses, return_inverse=True)
    found = np.minimum(np.cumsum(np.bincount(entry, rises)), 1.0)
    before = np.concatenate(([0.0], found[:-1]))
    x = np.concatenate(([0.0], np.repeat(at, 2), [1.0]))
    y = np.concatenate(([0.0], np.stack((before, found), axis=1).ravel(), [1.0]))
    new = np.concatenate(([True], (np.diff(x) > 0) | (np.diff(y) > 0)))
    return RocCurve(x[new], y[new], np.full(np.count_nonzero(new), np.nan))


def mean_precision_recall(
    rankings: FullRankings, n_relevant: LongArray, k: LongArray
) -> PrecisionRecallOverK:
    """Return mean precision and recall at cutoffs anywhere in the full ranking.

    Parameters
    ----------
    rankings : FullRankings
        Of m users.
    n_relevant : ndarray of int64, shape (m,)
        Relevant items of each user, each >= 1, candidates or not: what recall divides by.
    k : ndarray of int64
        Cutoffs, rising, each >= 1.

    Returns
    -------
    PrecisionRecallOverK
        What `recgauge.metrics.curves.points.precision_recall_over_k` gives of lists that are long
        enough; equal scores are in the order of item codes there, too.

    Examples
    --------
    >>> from recgauge.metrics.curves.full_ranking import rank_one
    >>> rankings = rank_one([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1])
    >>> curve = mean_precision_recall(rankings, np.array([2]), np.arange(1, 5))
    >>> curve.recall.tolist(), curve.precision.round(2).tolist()
    ([0.5, 0.5, 1.0, 1.0], [1.0, 0.5, 0.67, 0.5])
    """
    owner = np.repeat(np.arange(len(rankings.n_positive)), rankings.n_positive)
    misses = rankings.above + rankings.tied_before
    order = np.lexsort((misses, owner))
    start = np.cumsum(rankings.n_positive) - rankings.n_positive
    rank = misses[order] + np.arange(1, len(owner) + 1) - start[owner]
    by_rank = np.argsort(rank, kind="stable")
    reached = np.searchsorted(rank[by_rank], k, side="right")
    shares = np.concatenate(([0.0], np.cumsum(1.0 / n_relevant[owner[by_rank]])))
    return PrecisionRecallOverK(k, reached / k / len(n_relevant), shares[reached] / len(n_relevant))
