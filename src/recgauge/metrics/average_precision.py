"""Average precision: precision at each hit, averaged; its mean is the MAP."""

from dataclasses import dataclass
from typing import ClassVar

from recgauge._checks import DoubleArray, check_choice
from recgauge.judging import JudgedTopK
from recgauge.metrics import UserMetric
from recgauge.metrics.denominators import denominator, divide


@dataclass(frozen=True)
class AveragePrecision(UserMetric):
    r"""Sum of the precision at each relevant item's rank, divided by how many there could be.

    .. math:: \mathrm{AP@}k(u) = \frac{1}{|R_u|} \sum_{r \le k,\, L_r \in R_u} \mathrm{P@}r(u)

    Parameters
    ----------
    normalizer : {"relevant", "min_relevant_k", "min_relevant_list", "hits", "k"}
        What the sum is divided by; libraries differ in this more than in anything else.

    Raises
    ------
    ConfigError
        If `normalizer` is unknown.

    Notes
    -----
    Range [0, 1], higher is better; 0 without a hit. The mean over users is the mean average precision (MAP).
    With ``hits`` a lone hit at rank 1 gives 1.0 whatever was missed.

    References
    ----------
    .. [1] C. Buckley, E. M. Voorhees, "Evaluating evaluation measure stability", SIGIR 2000.

    Examples
    --------
    Hits at ranks 1 and 3, two relevant items: (1/1 + 2/3) / 2.

    >>> from recgauge.metrics.examples import judged_example
    >>> AveragePrecision().per_user(judged_example(), 3).round(4)
    array([0.8333])
    """

    name: ClassVar[str] = "map"
    label: ClassVar[str] = "MAP"

    normalizer: str = "relevant"

    def __post_init__(self) -> None:
        choices = ("relevant", "min_relevant_k", "min_relevant_list", "hits", "k")
        check_choice("AveragePrecision: normalizer", self.normalizer, choices)

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the average precision of each list, shape (m,)."""
        found = judged.hits.cut(k)
        precision_at_hit = found.ordinal() / found.rank
        return divide(found.total(precision_at_hit), denominator(self.normalizer, judged, k))
