"""Precision: the share of the list that is relevant."""

from dataclasses import dataclass
from typing import ClassVar

from recgauge.judging.judge import JudgedTopK
from recgauge.judging.tied_gains import TiedGains
from recgauge.metrics import UserMetric, check_undefined, quiet
from recgauge.metrics.denominators import denominator, divide, hits
from recgauge.utils.checks import DoubleArray, check_choice


@dataclass(frozen=True)
class Precision(UserMetric):
    r"""Share of the first k items that are relevant.

    .. math:: \mathrm{P@}k(u) = \frac{|L_k \cap R_u|}{k}

    Parameters
    ----------
    denominator : {"k", "list", "min_relevant_k"}, default "k"
        What hits are divided by: k even where the list is shorter; the items that the list has; or
        the most that could be hit.
    zero : {0, "nan", "raise"}, default 0
        The value where that is nothing, such as for an empty list with ``list``.

    Raises
    ------
    ConfigError
        If a parameter is unknown.

    Notes
    -----
    Range [0, 1], higher is better. 0 for an empty list unless `zero` says otherwise. Without a cutoff,
    k is the list's length. With ``min_relevant_k`` it is sometimes called R-precision.

    References
    ----------
    .. [1] C. D. Manning, P. Raghavan, H. Schütze, "Introduction to Information Retrieval", 2008, ch. 8.

    Examples
    --------
    Hits at ranks 1 and 3 of three, two relevant items:

    >>> from recgauge.metrics.examples import judged_example
    >>> Precision().per_user(judged_example(), 2)
    array([0.5])
    """

    name: ClassVar[str] = "precision"
    label: ClassVar[str] = "Precision"

    denominator: str = "k"
    zero: int | str = quiet(0)

    def __post_init__(self) -> None:
        check_choice("Precision: denominator", self.denominator, ("k", "list", "min_relevant_k"))
        check_undefined("Precision: zero", self.zero)

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the precision of each list, shape (m,)."""
        empty = check_undefined("Precision: zero", self.zero)
        return divide(hits(judged, k), denominator(self.denominator, judged, k), empty)

    @property
    def has_expected(self) -> bool:
        """Whether a formula gives the expected value."""
        return True

    def expected(self, judged: JudgedTopK, tied: TiedGains, k: int | None) -> DoubleArray:
        """Return the expected precision of each list, shape (t,)."""
        empty = check_undefined("Precision: zero", self.zero)
        found = tied.total(tied.share * tied.inside(k))
        return divide(found, denominator(self.denominator, judged, k), empty)
