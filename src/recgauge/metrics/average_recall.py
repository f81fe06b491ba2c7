"""Average recall: recall along the list, averaged; its mean is the MAR."""

from dataclasses import dataclass
from typing import ClassVar

from recgauge.judging.judge import JudgedTopK
from recgauge.judging.tied_gains import TiedGains
from recgauge.metrics import UserMetric, check_undefined, quiet
from recgauge.metrics.average_at import AT, NORMALIZERS, expected_recall_sum, normalised, recall_sum
from recgauge.utils.checks import DoubleArray, check_choice


@dataclass(frozen=True)
class AverageRecall(UserMetric):
    r"""Mean of the recall at ranks 1 to k.

    .. math:: \mathrm{AR@}k(u) = \frac{1}{k} \sum_{r \le k} \mathrm{R@}r(u)

    Parameters
    ----------
    normalizer : {"relevant", "min_relevant_k", "min_relevant_list", "hits", "k"}, default "k"
        What the sum is divided by.
    at : {"hits", "ranks"}, default "ranks"
        Sum recall where the list hits, or at every rank.
    zero : {0, "nan"}, default 0
        The value where the divisor is 0.

    Raises
    ------
    ConfigError
        If a parameter is unknown.

    Notes
    -----
    Range [0, 1], higher is better; 0 without a hit unless `zero` says otherwise. What recmetrics calls MAR
    is not this: it is average precision divided by the relevant items.

    References
    ----------
    .. [1] V. W. Anelli et al., "Elliot: a comprehensive and rigorous framework for reproducible recommender
       systems evaluation", SIGIR 2021.

    Examples
    --------
    Hits at ranks 1 and 3, two relevant items: (1/2 + 1/2 + 1) / 3.

    >>> from recgauge.metrics.examples import judged_example
    >>> AverageRecall().per_user(judged_example(), 3).round(4)
    array([0.6667])
    """

    name: ClassVar[str] = "mar"
    label: ClassVar[str] = "MAR"

    normalizer: str = "k"
    at: str = "ranks"
    zero: int | str = quiet(0)

    def __post_init__(self) -> None:
        check_choice("AverageRecall: normalizer", self.normalizer, NORMALIZERS)
        check_choice("AverageRecall: at", self.at, AT)
        check_choice("AverageRecall: zero", self.zero, (0, "nan"))

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the average recall of each list, shape (m,)."""
        empty = check_undefined("AverageRecall: zero", self.zero)
        return normalised(recall_sum(judged, k, self.at), judged, k, self.normalizer, empty)

    @property
    def has_expected(self) -> bool:
        """Whether a formula gives the expected value."""
        return self.normalizer != "hits"

    def expected(self, judged: JudgedTopK, tied: TiedGains, k: int | None) -> DoubleArray:
        """Return the expected average recall of each list, shape (t,)."""
        empty = check_undefined("AverageRecall: zero", self.zero)
        total = expected_recall_sum(judged, tied, k, self.at)
        return normalised(total, judged, k, self.normalizer, empty)
