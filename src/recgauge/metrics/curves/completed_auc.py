"""Area under the ROC curve, completed by a straight line beyond the list."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from recgauge.judging.judge import JudgedTopK
from recgauge.metrics import UserMetric
from recgauge.metrics.curves.walk import catalogue_size, limited_irrelevant, walk
from recgauge.metrics.denominators import divide
from recgauge.utils.checks import DoubleArray


@dataclass(frozen=True)
class CompletedAUC(UserMetric):
    r"""AUC as if, beyond the list, the remaining relevant items were spread evenly over all other items.

    .. math::
        \frac{1}{|R_u| N_u} \left( \sum_{\text{misses } j} |\{\text{hits above } j\}|
        + \frac{h + |R_u|}{2} (N_u - \text{misses}) \right), \qquad N_u = n_{items} - |R_u|

    Raises
    ------
    MetricError
        If the lists were judged without a catalogue.

    Notes
    -----
    Range [0, 1], higher is better; about .5 without a hit, so values of short lists say little. Items that
    the user has seen count among the N irrelevant ones, unless a rule limits the candidates. Undefined (NaN)
    if every item is relevant or none is. The AUC of implicit's ranking_metrics_at_k.

    References
    ----------
    .. [1] G. Schröder, M. Thiele, W. Lehner, "Setting goals and choosing metrics for recommender system
       evaluations", UCERSTI workshop at RecSys 2011.

    Examples
    --------
    Twelve items; hits at ranks 1 and 3 are all relevant ones, and one miss stands between them.

    >>> from dataclasses import replace
    >>> from recgauge.data.catalogue import Catalogue
    >>> from recgauge.metrics.examples import judged_example
    >>> CompletedAUC().per_user(replace(judged_example(), catalogue=Catalogue(12)), 3)
    array([0.95])
    """

    name: ClassVar[str] = "completed_auc"
    label: ClassVar[str] = "Completed AUC"
    needs: ClassVar[frozenset[str]] = frozenset({"n_items"})

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the area of each user, shape (m,); NaN with one kind of items only."""
        lists = walk(judged, k)
        n_relevant = judged.n_relevant.astype(np.float64)
        n_others = limited_irrelevant(judged)
        if n_others is None:
            n_others = catalogue_size(judged, "CompletedAUC") - n_relevant
        inside = lists.total((lists.misses[lists.owner] - lists.misses_before).astype(np.float64))
        beyond = (lists.hits + n_relevant) / 2.0 * (n_others - lists.misses)
        return divide(inside + beyond, n_relevant * n_others, empty=np.nan)
