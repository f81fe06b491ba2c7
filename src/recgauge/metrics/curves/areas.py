"""Areas under the curves of full rankings: AUC and average precision over all candidates."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from recgauge.metrics.curves.full_ranking import FullRankings
from recgauge.metrics.metric import Kind, Metric, divide
from recgauge.utils.checks import DoubleArray, check_choice

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
