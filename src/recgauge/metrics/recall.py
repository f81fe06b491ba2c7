"""Recall: the share of the relevant items that the list holds."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from recgauge.judging.gains import TiedGains
from recgauge.judging.judge import JudgedTopK
from recgauge.metrics.denominators import denominator, divide, hits
from recgauge.metrics.metric import UserMetric
from recgauge.utils.checks import DoubleArray


@dataclass(frozen=True)
class Recall(UserMetric):
    r"""Share of the user's relevant items among the first k.

    .. math:: \mathrm{R@}k(u) = \frac{|L_k \cap R_u|}{|R_u|}

    Parameters
    ----------
    denominator : {"relevant", "min_relevant_k", "min_relevant_list"}, default "relevant"
        What hits are divided by: all relevant items; at most k of them, so that a full list of hits
        gives 1; or at most as many as the list has items.

    Raises
    ------
    ConfigError
        If `denominator` is unknown.

    In plain Python
    ---------------
    >>> def recall(items, grades, k):
    ...     return sum(item in grades for item in items[:k]) / len(grades)

    Notes
    -----
    Range [0, 1], higher is better. With ``relevant``, a user with more than k relevant items stays below 1.

    References
    ----------
    .. [1] C. D. Manning, P. Raghavan, H. Schütze, "Introduction to Information Retrieval", 2008, ch. 8.

    Examples
    --------
    Hits at ranks 1 and 3 of three, two relevant items:

    >>> from recgauge.metrics.examples import judged_example
    >>> Recall().per_user(judged_example(), 2)
    array([0.5])
    """

    name: ClassVar[str] = "recall"
    label: ClassVar[str] = "Recall"

    denominator: Literal["relevant", "min_relevant_k", "min_relevant_list"] = "relevant"

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the recall of each list, shape (m,)."""
        return divide(hits(judged, k), denominator(self.denominator, judged, k))

    @property
    def has_expected(self) -> bool:
        """Whether a formula gives the expected value."""
        return True

    def expected(self, judged: JudgedTopK, tied: TiedGains, k: int | None) -> DoubleArray:
        """Return the expected recall of each list, shape (t,)."""
        found = tied.total(tied.share * tied.inside(k))
        return divide(found, denominator(self.denominator, judged, k))
