"""Precision and recall, per user or pooled, what is made of both, and their averages over ranks."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from recgauge.judging import JudgedTopK
from recgauge.judging.ties import TiedGains
from recgauge.metrics.metric import (
    RunMetric,
    UserMetric,
    denominator,
    divide,
    hits,
    quiet,
    undefined_value,
)
from recgauge.utils.checks import DoubleArray, LongArray, Positive
from recgauge.utils.exact import exact_sum, from_limbs, to_float, to_limbs


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
        n_hits = tied.total(tied.share * tied.inside(k))
        return divide(n_hits, denominator(self.denominator, judged, k), empty)


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

    def expected(self, judged: JudgedTopK, tied: TiedGains, k: int | None) -> DoubleArray:
        """Return the expected recall of each list, shape (t,)."""
        n_hits = tied.total(tied.share * tied.inside(k))
        return divide(n_hits, denominator(self.denominator, judged, k))


@dataclass(frozen=True)
class FScore(UserMetric):
    r"""Weighted harmonic mean of a user's precision and recall.

    .. math:: \mathrm{F}_\beta\mathrm{@}k(u) = \frac{(1 + \beta^2) P R}{\beta^2 P + R}

    Parameters
    ----------
    beta : float, default 1.0
        How many times recall weighs as much as precision, > 0.
    zero : {0, "nan", "raise"}, default 0
        The value without a hit, where precision and recall are both 0: 0, undefined, or an error.

    Raises
    ------
    ConfigError
        If a parameter has an unknown value.

    In plain Python
    ---------------
    >>> def f1(items, grades, k):
    ...     hits = sum(item in grades for item in items[:k])
    ...     precision, recall = hits / k, hits / len(grades)
    ...     return 2 * precision * recall / (precision + recall) if hits else 0.0

    Notes
    -----
    Range [0, 1], higher is better. 0 without a hit unless `zero` refuses it. Computed for each
    user, then averaged: not the F-score of the mean precision and the mean recall.

    References
    ----------
    .. [1] C. J. van Rijsbergen, "Information Retrieval", 2nd ed., 1979, ch. 7.

    Examples
    --------
    Hits at ranks 1 and 3 of three, two relevant items:

    >>> from recgauge.metrics.examples import judged_example
    >>> FScore().per_user(judged_example(), 2)
    array([0.5])
    """

    name: ClassVar[str] = "f1"
    label: ClassVar[str] = "F"

    beta: Positive = 1.0
    zero: Literal[0, "nan", "raise"] = quiet(0)

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the F-score of each list, shape (m,)."""
        return self._score(Precision().per_user(judged, k), Recall().per_user(judged, k))

    def _score(self, precision: DoubleArray, recall: DoubleArray) -> DoubleArray:
        weight = self.beta**2
        empty = undefined_value(self.zero)
        return divide((1 + weight) * precision * recall, weight * precision + recall, empty)

    @property
    def has_expected(self) -> bool:
        """Whether a formula gives the expected value."""
        return self.zero == 0

    def expected(self, judged: JudgedTopK, tied: TiedGains, k: int | None) -> DoubleArray:
        """Return the expected F-score of each list, shape (t,)."""
        shown, relevant = (denominator(name, judged, k) for name in ("k", "relevant"))

        def score(n_hits: DoubleArray, users: LongArray) -> DoubleArray:
            return self._score(divide(n_hits, shown[users]), divide(n_hits, relevant[users]))

        return tied.expect_hits(k, score)


@dataclass(frozen=True)
class FScoreOfMeans(RunMetric):
    r"""Harmonic mean of the mean precision and the mean recall.

    .. math:: \frac{2 \bar P \bar R}{\bar P + \bar R}, \quad
        \bar P = \frac{1}{|U|} \sum_u \mathrm{P@}k(u), \quad \bar R = \frac{1}{|U|} \sum_u \mathrm{R@}k(u)

    Notes
    -----
    Range [0, 1], higher is better; 0 if no user has a hit. Not the mean of the users' F-scores, which is
    `FScore`. A value of the whole run: there are no per-user values.

    References
    ----------
    .. [1] M. Ferrari Dacrema, S. Boglio, P. Cremonesi, D. Jannach, "A troubling analysis of
       reproducibility and progress in recommender systems research", ACM TOIS 39(2), 2021 (in the code).

    Examples
    --------
    One user with hits at ranks 1 and 3 of three and two relevant items: precision and recall are 1/2.

    >>> from recgauge.metrics.examples import judged_example
    >>> metric = FScoreOfMeans()
    >>> metric.value(metric.sums(judged_example(), 2))
    0.5
    """

    name: ClassVar[str] = "f1_of_means"
    label: ClassVar[str] = "FOfMeans"

    def sums(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the number of users and the exact sums of precision and recall, shape (1 + 2 * LIMBS,)."""
        precision, recall = Precision().per_user(judged, k), Recall().per_user(judged, k)
        exact = (to_limbs(exact_sum(values)) for values in (precision, recall))
        return np.concatenate(([judged.n_users], *exact))

    def value(self, sums: DoubleArray) -> float:
        """Return the F-score of the means; NaN without users."""
        n_users = float(sums[0])
        precision, recall = (to_float(from_limbs(limbs)) for limbs in sums[1:].reshape(2, -1))
        if n_users == 0:
            return float("nan")
        return 2 * precision * recall / (precision + recall) / n_users if precision + recall else 0.0


@dataclass(frozen=True)
class HitRate(UserMetric):
    r"""1 for a user with a relevant item among the first k, else 0; the mean is the share of such users.

    .. math:: \mathrm{HR@}k(u) = [\,|L_k \cap R_u| > 0\,]

    In plain Python
    ---------------
    >>> def hit_rate(items, grades, k):
    ...     return float(any(item in grades for item in items[:k]))

    Notes
    -----
    Range {0, 1}, higher is better. Also called success or hit ratio.

    References
    ----------
    .. [1] M. Deshpande, G. Karypis, "Item-based top-N recommendation algorithms", TOIS 22(1), 2004.

    Examples
    --------
    >>> from recgauge.metrics.examples import judged_example
    >>> HitRate().per_user(judged_example(), 1)
    array([1.])
    """

    name: ClassVar[str] = "hit_rate"
    label: ClassVar[str] = "HitRate"

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return 1 or 0 for each list, shape (m,)."""
        return (hits(judged, k) > 0).astype(np.float64)

    def expected(
        self,
        judged: JudgedTopK,  # noqa: ARG002 - contract
        tied: TiedGains,
        k: int | None,
    ) -> DoubleArray:
        """Return the expected hit rate of each list, shape (t,)."""
        return tied.expect_hits(k, lambda count, _: (count > 0).astype(np.float64))


At = Literal["hits", "ranks"]
Normalizer = Literal["relevant", "min_relevant_k", "min_relevant_list", "hits", "k"]


@dataclass(frozen=True)
class _CurveMean(UserMetric):
    """A curve over the list, summed and divided."""

    normalizer: Normalizer = "relevant"
    at: At = "hits"
    zero: Literal[0, "nan"] = quiet(0)

    @abstractmethod
    def _sum(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the sum of the curve over the hits' ranks, or over all ranks up to `k`, shape (m,)."""

    @abstractmethod
    def _expected_sum(self, judged: JudgedTopK, tied: TiedGains, k: int | None) -> DoubleArray:
        """Return the `_sum` that is expected of random orders of equal scores, shape (t,)."""

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the value of each list, shape (m,)."""
        count = denominator(self.normalizer, judged, k)
        return divide(self._sum(judged, k), count, undefined_value(self.zero))

    @property
    def has_expected(self) -> bool:
        """Whether a formula gives the expected value."""
        return self.normalizer != "hits"

    def expected(self, judged: JudgedTopK, tied: TiedGains, k: int | None) -> DoubleArray:
        """Return the expected value of each list, shape (t,)."""
        count = denominator(self.normalizer, judged, k)
        return divide(self._expected_sum(judged, tied, k), count, undefined_value(self.zero))


@dataclass(frozen=True)
class AveragePrecision(_CurveMean):
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

    In plain Python
    ---------------
    >>> def average_precision(items, grades, k):
    ...     hits = [rank for rank, item in enumerate(items[:k], 1) if item in grades]
    ...     return sum(found / rank for found, rank in enumerate(hits, 1)) / len(grades)

    Notes
    -----
    Range [0, 1], higher is better; 0 without a hit unless `zero` says otherwise. The mean over users is the
    mean average precision (MAP). With ``hits`` as normalizer a lone hit at rank 1 gives 1.0 whatever was
    missed, so finding one more relevant item can lower it. Where ties share their ranks, a hit counts at
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

    at: At = quiet("hits")

    def _sum(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        top_hits = judged.hits.cut(k)
        if self.at == "ranks":
            # a hit at rank r adds 1/i to the precision at every rank i >= r
            last = denominator("k", judged, k).astype(np.int64)
            harmonic = np.concatenate(([0.0], np.cumsum(1.0 / np.arange(1, last.max(initial=0) + 1))))
            return top_hits.total(harmonic[last[top_hits.owner]] - harmonic[top_hits.rank - 1])
        if top_hits.tie_last is None:
            return top_hits.total(top_hits.ordinal / top_hits.rank)
        # items that share ranks are taken together: precision where the last of them is in
        ends = top_hits.tie_last if k is None else np.minimum(top_hits.tie_last, k)
        starts = np.ones(len(ends), bool)
        starts[1:] = (np.diff(top_hits.owner) != 0) | (np.diff(ends) != 0)
        group = np.cumsum(starts) - 1
        hits_at_end = np.zeros(group[-1] + 1 if len(group) else 0)
        np.maximum.at(hits_at_end, group, top_hits.ordinal)
        return top_hits.total(hits_at_end[group] / ends)

    def _expected_sum(self, judged: JudgedTopK, tied: TiedGains, k: int | None) -> DoubleArray:
        inside = tied.inside(k)
        last = denominator("k", judged, k).astype(np.int64)
        harmonic = np.concatenate(([0.0], np.cumsum(1.0 / np.arange(1, last.max(initial=0) + 1))))
        if self.at == "ranks":
            # as above, summed over the ranks of the group that count
            summed = inside * harmonic[last[tied.owner]] - tied.weight(k, np.concatenate(([0.0], harmonic)))
            return tied.total(tied.share * summed)
        base, step = tied.hit_ordinals()
        inverse = tied.weight(k, np.diff(harmonic, prepend=0.0))
        # of j / (first + j), summed over ranks j: their number less first times the sum of 1 / (first + j)
        return tied.total(tied.share * (base * inverse + step * (inside - tied.first * inverse)))


@dataclass(frozen=True)
class AverageRecall(_CurveMean):
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

    In plain Python
    ---------------
    >>> def average_recall(items, grades, k):
    ...     hits = [sum(item in grades for item in items[:rank]) for rank in range(1, k + 1)]
    ...     return sum(found / len(grades) for found in hits) / k

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

    normalizer: Normalizer = "k"
    at: At = "ranks"

    def _sum(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        top_hits = judged.hits.cut(k)
        if self.at == "hits":
            return divide(
                top_hits.total(top_hits.ordinal.astype(np.float64)), judged.n_relevant.astype(np.float64)
            )
        # a hit at rank r adds 1/|R| to the recall at every rank i >= r
        last = denominator("k", judged, k).astype(np.int64)
        ranks_left = (last[top_hits.owner] - top_hits.rank + 1).astype(np.float64)
        return divide(top_hits.total(ranks_left), judged.n_relevant.astype(np.float64))

    def _expected_sum(self, judged: JudgedTopK, tied: TiedGains, k: int | None) -> DoubleArray:
        inside = tied.inside(k)
        if self.at == "hits":
            base, step = tied.hit_ordinals()
            summed = base * inside + step * (inside * (inside - 1) / 2.0)
        else:
            highest = denominator("k", judged, k)[tied.owner] - tied.first + 1
            summed = inside * highest - inside * (inside - 1) / 2.0
        return divide(tied.total(tied.share * summed), judged.n_relevant.astype(np.float64))
