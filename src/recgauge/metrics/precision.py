"""Precision: the share of the list that is relevant, per user or pooled, and R-precision."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from recgauge.judging.gains import TiedGains
from recgauge.judging.judge import JudgedTopK
from recgauge.metrics.metric import RunMetric, UserMetric, denominator, divide, hits, quiet, undefined_value
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


@dataclass(frozen=True)
class RPrecision(UserMetric):
    r"""Precision among the first R items of the list, R the number of the user's relevant items.

    .. math:: \mathrm{RPrec@}k(u) = \frac{|L_{\min(k, |R_u|)} \cap R_u|}{|R_u|}

    Parameters
    ----------
    denominator : {"relevant", "min_relevant_k"}, default "relevant"
        What hits are divided by; they differ for users with more than k relevant items.
    zero : {0, "nan"}, default 0
        The value without a hit among the first R items. ``nan`` leaves such users out of the mean,
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
    and recall are equal at rank R.

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
