"""Normalised discounted cumulative gain."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from recgauge._checks import DoubleArray, check_choice
from recgauge.judging import JudgedTopK, RankedGains
from recgauge.metrics import UserMetric
from recgauge.metrics.denominators import divide

GAINS = ("linear", "exponential", "binary")
DISCOUNTS = ("log2",)
IDEALS = ("at_k", "full")


@dataclass(frozen=True)
class NDCG(UserMetric):
    r"""Discounted gain of the list, relative to that of the best possible list.

    .. math::
        \mathrm{nDCG@}k(u) = \frac{\sum_{r=1}^{k} g_{ur} / \log_2(r+1)}{\sum_{r=1}^{k} g^*_{ur} / \log_2(r+1)}

    Parameters
    ----------
    gain : {"linear", "exponential", "binary"}
        The grade as it is, ``2**grade - 1``, or 1 for every relevant item.
    discount : {"log2"}
        ``log2(rank + 1)``, so rank 1 is undiscounted.
    ideal : {"at_k", "full"}
        The user's relevant items best first, cut at k or in full.

    Raises
    ------
    ConfigError
        If a parameter is unknown.

    Notes
    -----
    Range [0, 1], higher is better; 0 without a hit. With ``ideal="full"`` a perfect list shorter than the
    user's relevant items stays below 1.

    References
    ----------
    .. [1] K. Järvelin, J. Kekäläinen, "Cumulated gain-based evaluation of IR techniques", TOIS 20(4), 2002.

    Examples
    --------
    Hits at ranks 1 and 3, two relevant items: (1 + 1/2) / (1 + 1/log2(3)).

    >>> from recgauge.metrics.examples import judged_example
    >>> NDCG().per_user(judged_example(), 3).round(4)
    array([0.9197])
    """

    name: ClassVar[str] = "ndcg"
    label: ClassVar[str] = "nDCG"

    gain: str = "linear"
    discount: str = "log2"
    ideal: str = "at_k"

    def __post_init__(self) -> None:
        check_choice("NDCG: gain", self.gain, GAINS)
        check_choice("NDCG: discount", self.discount, DISCOUNTS)
        check_choice("NDCG: ideal", self.ideal, IDEALS)

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the nDCG of each list, shape (m,)."""
        best = judged.ideal if self.ideal == "full" else judged.ideal.cut(k)
        return divide(self._dcg(judged.hits.cut(k)), self._dcg(best))

    def _dcg(self, ranked: RankedGains) -> DoubleArray:
        grades = ranked.gain.astype(np.float64)
        gains = {"linear": grades, "exponential": 2.0**grades - 1.0, "binary": np.ones(len(grades))}
        return ranked.total(gains[self.gain] / np.log2(ranked.rank + 1.0))
