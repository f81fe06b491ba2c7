"""Average precision: precision at each hit, averaged; its mean is the MAP."""

from dataclasses import dataclass
from typing import ClassVar

from recgauge.judging.judge import JudgedTopK
from recgauge.judging.tied_gains import TiedGains
from recgauge.metrics import UserMetric, check_undefined, quiet
from recgauge.metrics.average_at import AT, NORMALIZERS, expected_precision_sum, normalised, precision_sum
from recgauge.utils.checks import DoubleArray, check_choice


@dataclass(frozen=True)
class AveragePrecision(UserMetric):
    r"""Sum of the precision at each relevant item's rank, divided by how many there could be.

    .. math:: \mathrm{AP@}k(u) = \frac{1}{|R_u|} \sum_{r \le k,\, L_r \in R_u} \mathrm{P@}r(u)

    Parameters
    ----------
    normalizer : {"relevant", "min_relevant_k", "min_relevant_list", "hits", "k"}, default "relevant"
        What the sum is divided by; libraries differ in this more than in anything else.
    at : {"hits", "ranks"}, default "hits"
        Sum precision where the list hits, or at every rank.
    zero : {0, "nan"}, default 0
        The value where the divisor is 0.

    Raises
    ------
    ConfigError
        If a parameter is unknown.

    Notes
    -----
    Range [0, 1], higher is better; 0 without a hit unless `zero` says otherwise. The mean over users is the
    mean average precision (MAP). With ``hits`` as normalizer a lone hit at rank 1 gives 1.0 whatever was
    missed, so finding one more relevant item can lower it. Where ties share their places, a hit counts at
    the last of them, as in the step-wise area under the precision-recall curve.

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
    at: str = quiet("hits")
    zero: int | str = quiet(0)

    def __post_init__(self) -> None:
        check_choice("AveragePrecision: normalizer", self.normalizer, NORMALIZERS)
        check_choice("AveragePrecision: at", self.at, AT)
        check_choice("AveragePrecision: zero", self.zero, (0, "nan"))

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the average precision of each list, shape (m,)."""
        empty = check_undefined("AveragePrecision: zero", self.zero)
        return normalised(precision_sum(judged, k, self.at), judged, k, self.normalizer, empty)

    @property
    def has_expected(self) -> bool:
        """Whether a formula gives the expected value."""
        return self.normalizer != "hits"

    def expected(self, judged: JudgedTopK, tied: TiedGains, k: int | None) -> DoubleArray:
        """Return the expected average precision of each list, shape (t,)."""
        empty = check_undefined("AveragePrecision: zero", self.zero)
        total = expected_precision_sum(judged, tied, k, self.at)
        return normalised(total, judged, k, self.normalizer, empty)
