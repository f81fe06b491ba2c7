"""Average precision and average recall: a curve over the list, summed and divided."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from recgauge.judging.judge import JudgedTopK, TiedGains
from recgauge.metrics.metric import UserMetric, denominator, divide, quiet, undefined_value
from recgauge.utils.checks import DoubleArray

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
        return self._divided(self._sum(judged, k), judged, k)

    @property
    def has_expected(self) -> bool:
        """Whether a formula gives the expected value."""
        return self.normalizer != "hits"

    def expected(self, judged: JudgedTopK, tied: TiedGains, k: int | None) -> DoubleArray:
        """Return the expected value of each list, shape (t,)."""
        return self._divided(self._expected_sum(judged, tied, k), judged, k)

    def _divided(self, total: DoubleArray, judged: JudgedTopK, k: int | None) -> DoubleArray:
        return divide(total, denominator(self.normalizer, judged, k), undefined_value(self.zero))


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
        found = judged.hits.cut(k)
        if self.at == "ranks":
            # a hit at rank r adds 1/i to the precision at every rank i >= r
            last = denominator("k", judged, k).astype(np.int64)
            harmonic = np.concatenate(([0.0], np.cumsum(1.0 / np.arange(1, last.max(initial=0) + 1))))
            return found.total(harmonic[last[found.owner]] - harmonic[found.rank - 1])
        if found.tie_last is None:
            return found.total(found.ordinal / found.rank)
        # items that share ranks are taken together: precision where the last of them is in
        ends = found.tie_last if k is None else np.minimum(found.tie_last, k)
        starts = np.ones(len(ends), bool)
        starts[1:] = (np.diff(found.owner) != 0) | (np.diff(ends) != 0)
        group = np.cumsum(starts) - 1
        hits_at_end = np.zeros(group[-1] + 1 if len(group) else 0)
        np.maximum.at(hits_at_end, group, found.ordinal)
        return found.total(hits_at_end[group] / ends)

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
        found = judged.hits.cut(k)
        if self.at == "hits":
            return divide(found.total(found.ordinal.astype(np.float64)), judged.n_relevant.astype(np.float64))
        # a hit at rank r adds 1/|R| to the recall at every rank i >= r
        last = denominator("k", judged, k).astype(np.int64)
        ranks_left = (last[found.owner] - found.rank + 1).astype(np.float64)
        return divide(found.total(ranks_left), judged.n_relevant.astype(np.float64))

    def _expected_sum(self, judged: JudgedTopK, tied: TiedGains, k: int | None) -> DoubleArray:
        inside = tied.inside(k)
        if self.at == "hits":
            base, step = tied.hit_ordinals()
            summed = base * inside + step * (inside * (inside - 1) / 2.0)
        else:
            highest = denominator("k", judged, k)[tied.owner] - tied.first + 1
            summed = inside * highest - inside * (inside - 1) / 2.0
        return divide(tied.total(tied.share * summed), judged.n_relevant.astype(np.float64))
