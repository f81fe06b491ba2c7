"""Area under the ROC curve of full rankings."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from recgauge.metrics import Metric
from recgauge.metrics.curves.places import Places
from recgauge.metrics.denominators import divide
from recgauge.utils.checks import DoubleArray, check_choice

AGGREGATES = ("user", "weighted")
TIES = (0.5, 0, "item_order")
NEGATIVES = ("exact", "plus_one")


@dataclass(frozen=True)
class FullRankingMetric(Metric):
    """A metric of where relevant items stand among all candidates.

    Parameters
    ----------
    aggregate : {"user", "weighted"}, default "user"
        Mean over users, or weighted by their relevant candidates.
    """

    aggregate: str = "user"

    def __post_init__(self) -> None:
        check_choice(f"{type(self).__name__}: aggregate", self.aggregate, AGGREGATES)

    @abstractmethod
    def per_user(self, places: Places) -> DoubleArray:
        """Return one value a user, shape (m,); NaN where undefined."""

    def value(self, places: Places) -> float:
        """Return the mean over users for whom the metric is defined, NaN if there is none."""
        per_user = self.per_user(places)
        defined = ~np.isnan(per_user)
        if not defined.any():
            return float("nan")
        weights = places.n_positive[defined] if self.aggregate == "weighted" else None
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
        different users, use `recgauge.metrics.curves.pooled_auc.PooledAUC`.
    ties : {0.5, 0, "item_order"}, default 0.5
        What a tie counts: half, nothing (Cornac), or all if the relevant item has the lower code (Elliot,
        which looks at ranks).
    negatives : {"exact", "plus_one"}, default "exact"
        Elliot counts one candidate more that is never ahead, so its worst value is above 0.

    Raises
    ------
    ConfigError
        If a parameter is unknown.

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
    >>> from recgauge.metrics.curves.places import place
    >>> AUC().value(place([1, 0, 1, 0], [0.9, 0.7, 0.7, 0.1]))
    0.875
    >>> AUC(ties=0).value(place([1, 0, 1, 0], [0.9, 0.7, 0.7, 0.1]))
    0.75
    """

    name: ClassVar[str] = "auc"
    label: ClassVar[str] = "AUC"

    ties: Any = 0.5
    negatives: str = "exact"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("AUC: ties", self.ties, TIES)
        check_choice("AUC: negatives", self.negatives, NEGATIVES)

    def per_user(self, places: Places) -> DoubleArray:
        """Return the area of each user, shape (m,); NaN with one kind of candidates only."""
        n_negative = places.n_negative + (self.negatives == "plus_one")
        lost = places.tied_before if self.ties == "item_order" else (1.0 - self.ties) * places.tied
        below = places.of_each(n_negative) - places.above - lost
        return divide(places.total(below), (places.n_positive * n_negative).astype(np.float64), empty=np.nan)
