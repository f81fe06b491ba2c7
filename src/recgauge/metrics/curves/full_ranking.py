"""The ranks of relevant items among all candidates: AUC, average precision and mean curves."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from recgauge.errors import MetricError, ScoreError
from recgauge.metrics.curves import PrecisionRecallOverK, RocCurve, check_scored
from recgauge.metrics.metric import Kind, Metric, divide
from recgauge.utils.checks import DoubleArray, FloatArray, IntArray, LongArray, check_choice


@dataclass(frozen=True, slots=True, eq=False)
class FullRankings:
    """For each relevant candidate, how many others score more, as much or less; users back to back.

    A few numbers per relevant item, whatever the size of the catalogue.

    Parameters
    ----------
    n_positive, n_negative : ndarray of int64, shape (m,)
        Candidates of each user that are relevant, and those that are not.
    above, tied, tied_before : ndarray of int64, shape (r,)
        Candidates that are not relevant and score higher than this relevant one; as much; as much with a
        lower item code. Lowest relevant item first inside a user.
    positive_at_least : ndarray of int64, shape (r,)
        Relevant candidates that score at least as much, this one included.
    """

    n_positive: LongArray
    n_negative: LongArray
    above: LongArray
    tied: LongArray
    tied_before: LongArray
    positive_at_least: LongArray

    def total(self, weight: DoubleArray) -> DoubleArray:
        """Sum `weight` (r,) over each user's relevant candidates, shape (m,)."""
        owner = np.repeat(np.arange(len(self.n_positive)), self.n_positive)
        return np.bincount(owner, weight, minlength=len(self.n_positive)).astype(np.float64)

    def of_each(self, values: npt.NDArray[np.int64]) -> DoubleArray:
        """Repeat users' `values` (m,) for each of their relevant candidates, shape (r,)."""
        return np.repeat(values, self.n_positive).astype(np.float64)

    @classmethod
    def merge(cls, blocks: Sequence["FullRankings"]) -> "FullRankings":
        """Return the users of all blocks, in order."""
        return cls(*(np.concatenate([getattr(block, name) for block in blocks]) for name in cls.__slots__))


def rank_one(relevant: npt.ArrayLike, scores: npt.ArrayLike) -> FullRankings:
    """Rank one user's candidates, or all users' candidates taken as one pool.

    Parameters
    ----------
    relevant : array-like of bool, shape (n,)
    scores : array-like of float, shape (n,)

    Returns
    -------
    FullRankings
        Of one user.

    Examples
    --------
    >>> rank_one([1, 0, 1, 0], [0.9, 0.7, 0.7, 0.1]).above.tolist()
    [0, 0]
    """
    positive, values = check_scored(relevant, scores)
    items = np.flatnonzero(positive).astype(np.int32)
    return rank_block(values[None, :], np.array([0, len(items)]), items)


def rank_block(
    scores: FloatArray | DoubleArray,
    positive_start: LongArray,
    positives: IntArray,
    excluded: sparse.csr_array | None = None,
) -> FullRankings:
    """Rank the candidates of a block of users, and keep the ranks of the relevant items.

    Parameters
    ----------
    scores : ndarray of float, shape (b, n_items)
        Of all items.
    positive_start : ndarray of int64, shape (b + 1,)
        Row j's relevant items are at ``positives[positive_start[j]:positive_start[j + 1]]``.
    positives : ndarray of int32, shape (p,)
        Item codes, ascending inside a row.
    excluded : scipy.sparse.csr_array, shape (b, n_items), optional
        Non-zeros are no candidates, such as the users' training items; relevant ones among them are
        left out too.

    Returns
    -------
    FullRankings
        Time n_items log(relevant items) per user; memory a few numbers per relevant item.

    Raises
    ------
    ScoreError
        If a score is NaN.
    SchemaError
        If shapes do not fit.
    """
    from recgauge.metrics.curves._full_ranking_kernel import rank_rows  # compiled where it is used

    n_rows, n_items = scores.shape
    if np.isnan(scores).any():
        raise ScoreError("rank_block: scores must be numbers, got NaN.")
    if excluded is None:
        barred_start, barred = np.zeros(n_rows + 1, np.int64), np.zeros(0, np.int32)
    else:
        barred_start, barred = excluded.indptr.astype(np.int64), excluded.indices.astype(np.int32)
    counts, n_positive = rank_rows(
        np.ascontiguousarray(scores),
        np.asarray(positive_start, np.int64),
        np.ascontiguousarray(positives, np.int32),
        barred_start,
        barred,
    )
    return FullRankings(n_positive, n_items - np.diff(barred_start) - n_positive, *counts)


TIES = (0.5, 0, "item_order")


@dataclass(frozen=True)
class FullRankingMetric(Metric):
    """A metric of the ranks of relevant items among all candidates.

    Parameters
    ----------
    aggregate : {"user", "weighted"}, default "user"
        Mean over users, or weighted by their relevant candidates.
    """

    kind: ClassVar[Kind] = "full rankings"

    aggregate: Literal["user", "weighted"] = "user"

    @abstractmethod
    def per_user(self, rankings: FullRankings) -> DoubleArray:
        """Return one value per user, shape (m,); NaN where undefined."""

    def value(self, rankings: FullRankings) -> float:
        """Return the mean over users for whom the metric is defined, NaN if there is none."""
        per_user = self.per_user(rankings)
        defined = ~np.isnan(per_user)
        if not defined.any():
            return float("nan")
        weights = rankings.n_positive[defined] if self.aggregate == "weighted" else None
        return float(np.average(per_user[defined], weights=weights))


@dataclass(frozen=True)
class AUC(FullRankingMetric):
    r"""The chance that a relevant candidate scores higher than another one.

    .. math::
        \mathrm{AUC}(u) = \frac{1}{|R_u| |N_u|} \sum_{i \in R_u} \sum_{j \in N_u}
        \left( [s_i > s_j] + t \, [s_i = s_j] \right)

    Parameters
    ----------
    aggregate : {"user", "weighted"}, default "user"
        Mean over users, or weighted by their relevant candidates (RecBole's GAUC). To pool the pairs of
        different users, rank them as one: `recgauge.metrics.curves.full_ranking.rank_one`.
    ties : {0.5, 0, "item_order"}, default 0.5
        What a tie counts: half, nothing (Cornac), or all if the relevant item has the lower code (Elliot,
        which looks at ranks).
    negatives : {"exact", "plus_one"}, default "exact"
        Elliot counts one candidate more that is never ahead, so its worst value is above 0.

    Raises
    ------
    ConfigError
        If a parameter is unknown.

    In plain Python
    ---------------
    >>> def auc(scores, grades):
    ...     relevant = [score for item, score in scores.items() if item in grades]
    ...     others = [score for item, score in scores.items() if item not in grades]
    ...     if not relevant or not others:
    ...         return math.nan
    ...     won = sum((a > b) + (a == b) / 2 for a in relevant for b in others)
    ...     return won / (len(relevant) * len(others))

    Notes
    -----
    Range [0, 1], higher is better; .5 for chance. Undefined (NaN) for a user whose candidates are all
    relevant, or none; such users are left out of the mean.

    References
    ----------
    .. [1] J. A. Hanley, B. J. McNeil, "The meaning and use of the area under a receiver operating
       characteristic (ROC) curve", Radiology 143(1), 1982.

    Examples
    --------
    >>> from recgauge.metrics.curves.full_ranking import rank_one
    >>> AUC().value(rank_one([1, 0, 1, 0], [0.9, 0.7, 0.7, 0.1]))
    0.875
    >>> AUC(ties=0).value(rank_one([1, 0, 1, 0], [0.9, 0.7, 0.7, 0.1]))
    0.75
    """

    name: ClassVar[str] = "auc"
    label: ClassVar[str] = "AUC"

    ties: float | Literal["item_order"] = 0.5  # a Literal holds no float
    negatives: Literal["exact", "plus_one"] = "exact"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("AUC: ties", self.ties, TIES)

    def per_user(self, rankings: FullRankings) -> DoubleArray:
        """Return the area of each user, shape (m,); NaN with one kind of candidates only."""
        n_negative = rankings.n_negative + (self.negatives == "plus_one")
        lost = rankings.tied_before if self.ties == "item_order" else (1.0 - self.ties) * rankings.tied
        below = rankings.of_each(n_negative) - rankings.above - lost
        return divide(
            rankings.total(below), (rankings.n_positive * n_negative).astype(np.float64), empty=np.nan
        )


@dataclass(frozen=True)
class StepAveragePrecision(FullRankingMetric):
    r"""The mean, over relevant candidates, of the precision among all that score at least as much.

    .. math::
        \mathrm{AP}(u) = \frac{1}{|R_u|} \sum_{i \in R_u}
        \frac{|\{j \in R_u : s_j \ge s_i\}|}{|\{j : s_j \ge s_i\}|}

    Parameters
    ----------
    aggregate : {"user", "weighted"}, default "user"
        Mean over users, or weighted by their relevant candidates.

    Raises
    ------
    ConfigError
        If `aggregate` is unknown.

    In plain Python
    ---------------
    >>> def step_average_precision(scores, grades):
    ...     relevant = [score for item, score in scores.items() if item in grades]
    ...     precisions = [
    ...         sum(score >= lowest for score in relevant) / sum(score >= lowest for score in scores.values())
    ...         for lowest in relevant
    ...     ]
    ...     return sum(precisions) / len(precisions) if precisions else math.nan

    Notes
    -----
    Range (0, 1], higher is better. No cutoff. The area in steps under the precision-recall curve:
    scikit-learn's average precision, label ranking average precision and Cornac's MAP. Undefined (NaN) for a
    user without a relevant candidate.

    References
    ----------
    .. [1] C. D. Manning, P. Raghavan, H. Schütze, "Introduction to information retrieval", 2008,
       section 8.4.

    Examples
    --------
    >>> from recgauge.metrics.curves.full_ranking import rank_one
    >>> StepAveragePrecision().value(rank_one([1, 0, 0, 1], [0.9, 0.7, 0.7, 0.7]))
    0.75
    """

    name: ClassVar[str] = "step_average_precision"
    label: ClassVar[str] = "Step AP"

    def per_user(self, rankings: FullRankings) -> DoubleArray:
        """Return the average precision of each user, shape (m,); NaN without a relevant candidate."""
        precision = rankings.positive_at_least / (rankings.positive_at_least + rankings.above + rankings.tied)
        return divide(rankings.total(precision), rankings.n_positive.astype(np.float64), empty=np.nan)


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
    heights = np.minimum(np.cumsum(np.bincount(entry, rises)), 1.0)
    before = np.concatenate(([0.0], heights[:-1]))
    x = np.concatenate(([0.0], np.repeat(at, 2), [1.0]))
    y = np.concatenate(([0.0], np.stack((before, heights), axis=1).ravel(), [1.0]))
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
        What `recgauge.metrics.curves.precision_recall_over_k` gives of lists that are long
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
