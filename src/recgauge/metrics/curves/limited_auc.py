"""Area under the ROC curve as far as the list shows it."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from recgauge.judging.judge import JudgedTopK
from recgauge.metrics import UserMetric
from recgauge.metrics.curves.walk import catalogue_size, limited_irrelevant, walk
from recgauge.metrics.denominators import denominator, divide
from recgauge.utils.checks import DoubleArray


@dataclass(frozen=True)
class LimitedAUC(UserMetric):
    r"""The share of irrelevant candidates that each hit in the list leaves behind, misses counting nothing.

    .. math::
        \frac{1}{\min(|R_u|, k)} \sum_{\text{hits } i}
        \frac{N_u + 1 - |\{\text{misses above } i\}|}{N_u + 1}

    with N candidates that are not relevant: the catalogue less the user's training and relevant items, or
    what a candidate rule leaves of it.

    Raises
    ------
    MetricError
        If the lists were judged without a catalogue.

    Notes
    -----
    Range [0, 1] for lists without training items, higher is better. Close to recall over at most k items,
    since few candidates of a large catalogue can stand above a hit. Elliot's LAUC, which counts one candidate
    more than there is.

    References
    ----------
    .. [1] G. Schröder, M. Thiele, W. Lehner, "Setting goals and choosing metrics for recommender system
       evaluations", UCERSTI workshop at RecSys 2011.

    Examples
    --------
    Eleven items, two relevant: the hits leave 10 of 10 and 9 of 10 behind.

    >>> from dataclasses import replace
    >>> from recgauge.data.catalogue import Catalogue
    >>> from recgauge.metrics.examples import judged_example
    >>> LimitedAUC().per_user(replace(judged_example(), catalogue=Catalogue(11)), 3)
    array([0.95])
    """

    name: ClassVar[str] = "limited_auc"
    label: ClassVar[str] = "Limited AUC"
    needs: ClassVar[frozenset[str]] = frozenset({"n_items"})

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the value of each list, shape (m,); 0 without relevant items."""
        n_items, lists = catalogue_size(judged, "LimitedAUC"), walk(judged, k)
        irrelevant = limited_irrelevant(judged)
        if irrelevant is None:
            irrelevant = n_items - judged.n_relevant - _seen_counts(judged)
        ahead_of = irrelevant[lists.owner] + 1.0
        shares = (ahead_of - lists.misses_before) / ahead_of
        return divide(lists.total(shares), denominator("min_relevant_k", judged, k))


def _seen_counts(judged: JudgedTopK) -> DoubleArray:
    """Return the number of training items of each judged user, shape (m,)."""
    seen = None if judged.catalogue is None else judged.catalogue.seen
    if seen is None:
        return np.zeros(judged.n_users)
    return np.diff(seen.indptr)[judged.users].astype(np.float64)
