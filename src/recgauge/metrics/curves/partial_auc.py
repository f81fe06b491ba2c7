"""Partial area under the ROC curve: up to the first few misses."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from recgauge.errors import MetricError
from recgauge.judging.judge import JudgedTopK
from recgauge.metrics import UserMetric
from recgauge.metrics.curves.walk import walk
from recgauge.metrics.denominators import divide
from recgauge.utils.checks import DoubleArray, check_choice

POSITIVES = ("relevant", "min_relevant_k")


@dataclass(frozen=True)
class PartialAUC(UserMetric):
    r"""How many relevant items stand above each of the first `k` misses, as a share of what is possible.

    .. math:: \frac{1}{k P} \sum_{j=1}^{k} \min(P, |\{\text{hits above miss } j\}|)

    Parameters
    ----------
    positives : {"relevant", "min_relevant_k"}, default "relevant"
        P: all relevant items of the user (pAUC), or at most k of them (pAp, so that k hits on top are
        perfect).

    Raises
    ------
    ConfigError
        If `positives` is unknown.
    MetricError
        Without a cutoff.

    Notes
    -----
    Range [0, 1], higher is better. Here k counts misses, not ranks: the whole list is read, and a list that
    ends before its k-th miss counts as if only misses followed. Longer lists may therefore give higher
    values at the same k. RecTools' PartialAUC and PAP.

    References
    ----------
    .. [1] L. E. Dodd, M. S. Pepe, "Partial AUC estimation and regression", Biometrics 59(3), 2003.

    Examples
    --------
    Hits at ranks 1 and 3: one hit above the first miss, two above the second, which never comes.

    >>> from recgauge.metrics.examples import judged_example
    >>> PartialAUC().per_user(judged_example(), 2)
    array([0.75])
    """

    name: ClassVar[str] = "partial_auc"
    label: ClassVar[str] = "Partial AUC"

    positives: str = "relevant"

    def __post_init__(self) -> None:
        check_choice("PartialAUC: positives", self.positives, POSITIVES)

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the partial area of each list, shape (m,); 0 without relevant items."""
        if k is None:
            raise MetricError("PartialAUC: needs a cutoff, the number of misses; pass cutoffs=[...].")
        lists = walk(judged, None)
        most = judged.n_relevant.astype(np.float64)
        if self.positives == "min_relevant_k":
            most = np.minimum(most, k)
        misses_below = np.maximum(k - lists.misses_before, 0)
        counted = lists.ordinal <= most[lists.owner]
        return divide(lists.total(np.where(counted, misses_below, 0).astype(np.float64)), k * most)
