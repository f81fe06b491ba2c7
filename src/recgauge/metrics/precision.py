"""Precision: the share of the list that is relevant, per user or pooled over all users."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from recgauge.judging.gains import TiedGains
from recgauge.judging.judge import JudgedTopK
from recgauge.metrics.denominators import denominator, divide, hits
from recgauge.metrics.metric import RunMetric, UserMetric, quiet, undefined_value
from recgauge.utils.checks import DoubleArray


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

    In plain Python
    ---------------
    >>> def precision(items, grades, k):
    ...     return sum(item in grades for item in items[:k]) / k

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

    denominator: Literal["k", "list", "min_relevant_k"] = "k"
    zero: Literal[0, "nan", "raise"] = quiet(0)

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the precision of each list, shape (m,)."""
        empty = undefined_value(self.zero)
        return divide(hits(judged, k), denominator(self.denominator, judged, k), empty)

    @property
    def has_expected(self) -> bool:
        """Whether a formula gives the expected value."""
        return True

    def expected(self, judged: JudgedTopK, tied: TiedGains, k: int | None) -> DoubleArray:
        """Return the expected precision of each list, shape (t,)."""
        empty = undefined_value(self.zero)
        found = tied.total(tied.share * tied.inside(k))
        return divide(found, denominator(self.denominator, judged, k), empty)


@dataclass(frozen=True)
class PooledPrecision(RunMetric):
    r"""Hits of all users together, divided by the most that could be hit.

    .. math:: \mathrm{P_{micro}@}k = \frac{\sum_u |L_k(u) \cap R_u|}{\sum_u \min(k, |R_u|)}

    Parameters
    ----------
    denominator : {"min_relevant_k", "k", "list"}, default "min_relevant_k"
        What each user adds below the line.

    Raises
    ------
    ConfigError
        If `denominator` is unknown.

    Notes
    -----
    Range [0, 1], higher is better. Users with many relevant items weigh more than in the mean over users.
    A value of the whole run: there are no per-user values.

    References
    ----------
    .. [1] implicit, https://github.com/benfred/implicit, ``evaluation.pyx`` (its "precision").

    Examples
    --------
    One of at most two hits:

    >>> from recgauge.metrics.examples import judged_example
    >>> metric = PooledPrecision()
    >>> metric.value(metric.sums(judged_example(), 2))
    0.5
    """

    name: ClassVar[str] = "micro_precision"
    label: ClassVar[str] = "PooledPrecision"

    denominator: Literal["min_relevant_k", "k", "list"] = "min_relevant_k"

    def sums(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return hits and the most that could be hit, shape (2,)."""
        possible = denominator(self.denominator, judged, k)
        return np.array([hits(judged, k).sum(), possible.sum()])

    def value(self, sums: DoubleArray) -> float:
        """Return the share of hits."""
        return float(sums[0] / sums[1]) if sums[1] else float("nan")
