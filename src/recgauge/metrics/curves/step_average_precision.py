"""Average precision of full rankings, equal scores taken together."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from recgauge.metrics.curves.auc import FullRankingMetric
from recgauge.metrics.curves.places import Places
from recgauge.metrics.denominators import divide
from recgauge.utils.checks import DoubleArray


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
    >>> from recgauge.metrics.curves.places import place
    >>> StepAveragePrecision().value(place([1, 0, 0, 1], [0.9, 0.7, 0.7, 0.7]))
    0.75
    """

    name: ClassVar[str] = "step_average_precision"
    label: ClassVar[str] = "Step AP"

    def per_user(self, places: Places) -> DoubleArray:
        """Return the average precision of each user, shape (m,); NaN without a relevant candidate."""
        precision = places.positive_at_least / (places.positive_at_least + places.above + places.tied)
        return divide(places.total(precision), places.n_positive.astype(np.float64), empty=np.nan)
