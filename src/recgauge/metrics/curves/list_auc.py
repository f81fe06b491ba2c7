"""Area under the ROC curve inside the list."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from recgauge.judging.judge import JudgedTopK
from recgauge.metrics import UserMetric
from recgauge.metrics.curves.walk import walk
from recgauge.metrics.denominators import divide
from recgauge.utils.checks import DoubleArray


@dataclass(frozen=True)
class ListAUC(UserMetric):
    r"""The chance that, of a hit and a miss in the list, the hit stands first.

    .. math:: \frac{1}{h (n - h)} \sum_{\text{hits } i} |\{\text{misses below } i\}|

    Notes
    -----
    Range [0, 1], higher is better. 0 without a hit, 1 for a list of hits only. Says nothing about what the
    list misses, and a longer list of the same model can be worse. RePlay's RocAuc.

    References
    ----------
    .. [1] A. Vasilev et al., "RePlay: a recommendation framework for experimentation and production use",
       RecSys 2024.

    Examples
    --------
    Hits at ranks 1 and 3 of three: one of two pairs of a hit and a miss is in order.

    >>> from recgauge.metrics.examples import judged_example
    >>> ListAUC().per_user(judged_example(), 3)
    array([0.5])
    """

    name: ClassVar[str] = "list_auc"
    label: ClassVar[str] = "List AUC"

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the area of each list, shape (m,)."""
        lists = walk(judged, k)
        in_order = lists.total((lists.misses[lists.owner] - lists.misses_before).astype(np.float64))
        areas = divide(in_order, lists.hits * lists.misses)
        areas[(lists.hits > 0) & (lists.misses == 0)] = 1.0
        return areas
