"""R-precision: precision at as many items as the user has relevant ones."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from recgauge.judging.gains import TiedGains
from recgauge.judging.judge import JudgedTopK
from recgauge.metrics.denominators import denominator, divide
from recgauge.metrics.metric import UserMetric, quiet, undefined_value
from recgauge.utils.checks import DoubleArray


@dataclass(frozen=True)
class RPrecision(UserMetric):
    r"""Precision among the first |R| items of the list, R the user's relevant items.

    .. math:: \mathrm{RPrec@}k(u) = \frac{|L_{\min(k, |R_u|)} \cap R_u|}{|R_u|}

    Parameters
    ----------
    denominator : {"relevant", "min_relevant_k"}, default "relevant"
        What hits are divided by; they differ for users with more than k relevant items.
    zero : {0, "nan"}, default 0
        The value without a hit among the first |R| items. ``nan`` leaves such users out of the mean,
        which raises it.

    Raises
    ------
    ConfigError
        If a parameter is unknown.

    In plain Python
    ---------------
    >>> def r_precision(items, grades, k):
    ...     first = items[: min(k, len(grades))]
    ...     return sum(item in grades for item in first) / len(grades)

    Notes
    -----
    Range [0, 1], higher is better; 0 without a hit unless `zero` says otherwise. Without a cutoff precision
    and recall are equal at rank |R|.

    References
    ----------
    .. [1] C. Buckley, E. M. Voorhees, "Evaluating evaluation measure stability", SIGIR 2000.

    Examples
    --------
    Hits at ranks 1 and 3, two relevant items: one hit among the first two.

    >>> from recgauge.metrics.examples import judged_example
    >>> RPrecision().per_user(judged_example(), None)
    array([0.5])
    """

    name: ClassVar[str] = "r_precision"
    label: ClassVar[str] = "RPrecision"

    denominator: Literal["relevant", "min_relevant_k"] = "relevant"
    zero: Literal[0, "nan"] = quiet(0)

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the R-precision of each list, shape (m,)."""
        early = judged.hits.cut(k).within(judged.n_relevant).counts()
        empty = undefined_value(self.zero)
        values = divide(early, denominator(self.denominator, judged, k), empty)
        values[early == 0] = empty
        return values

    @property
    def has_expected(self) -> bool:
        """Whether a formula gives the expected value."""
        return self.zero == 0

    def expected(self, judged: JudgedTopK, tied: TiedGains, k: int | None) -> DoubleArray:
        """Return the expected R-precision of each list, shape (t,)."""
        limit = judged.n_relevant if k is None else np.minimum(judged.n_relevant, k)
        early = tied.total(tied.share * tied.inside(limit))
        return divide(early, denominator(self.denominator, judged, k))
