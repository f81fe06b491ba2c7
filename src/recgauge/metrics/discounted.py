"""Gains that count less the further down they are: DCG, nDCG, reciprocal rank, and how far somebody reads."""

from dataclasses import dataclass
from math import frexp, nextafter
from typing import Annotated, ClassVar, Literal

import numpy as np

from recgauge.errors import MetricError
from recgauge.judging import JudgedTopK, _lookup
from recgauge.judging.ties import TiedGains
from recgauge.metrics.metric import UserMetric, divide, hits, list_length, quiet, undefined_value
from recgauge.utils.checks import DoubleArray, Real, Within

Gain = Literal["linear", "exponential", "binary"]
Discount = Literal["log2", "ln", "jarvelin2", "reciprocal"]


def gain_of(grades: DoubleArray, gain: Gain, offset: float) -> DoubleArray:
    """Return the gain of each grade.

    Raises
    ------
    MetricError
        If a grade is below 0, which is no gain.

    Examples
    --------
    >>> gain_of(np.array([1.0, 3.0]), "exponential", 0.0)
    array([1., 7.])
    """
    if gain == "binary":
        return np.ones(len(grades))
    if grades.min(initial=0.0) < 0:
        raise MetricError(
            f"gains are grades of 0 or more, and {grades.min():g} is relevant. Raise relevant_from to 0 or "
            "above, or choose metrics without grades, such as recall and map; in a run, filters=[binarise] "
            "lets relevant rows count alike."
        )
    lowered = grades - offset
    return lowered if gain == "linear" else np.exp2(lowered) - 1.0


def discounts(name: Discount, n: int) -> DoubleArray:
    """Return the weights of ranks 0 to `n`, shape (n + 1,); rank 0 has none.

    Examples
    --------
    >>> discounts("jarvelin2", 4)
    array([0. , 1. , 1. , 0.63092975, 0.5 ])
    """
    ranks = np.arange(1, n + 1)
    match name:
        case "log2":
            weights = 1.0 / np.log2(ranks + 1.0)
        case "ln":
            weights = 1.0 / np.log(ranks + 1.0)
        case "jarvelin2":
            weights = 1.0 / np.maximum(1.0, np.log2(ranks))
        case _:
            weights = 1.0 / ranks
    return np.concatenate(([0.0], weights))


def list_gain(
    judged: JudgedTopK, k: int | None, weights: DoubleArray, gain: Gain, offset: float
) -> DoubleArray:
    """Return the discounted gain of each list, shape (m,)."""
    hits = judged.hits
    if hits.tie_first is None or hits.tie_last is None:
        top_hits = hits.cut(k)
        if (flat := _flat(judged, gain, offset)) is not None:
            return top_hits.total(weights[top_hits.rank]) * flat
        return top_hits.total(gain_of(top_hits.gain, gain, offset) * weights[top_hits.rank])
    # items that share their ranks each get the mean weight of these ranks, 0 beyond k
    total = np.cumsum(weights if k is None else np.where(np.arange(len(weights)) <= k, weights, 0.0))
    shared = (total[hits.tie_last] - total[hits.tie_first - 1]) / (hits.tie_last - hits.tie_first + 1)
    return hits.total(gain_of(hits.gain, gain, offset) * shared)


def expected_gain(
    tied: TiedGains, k: int | None, weights: DoubleArray, gain: Gain, offset: float
) -> DoubleArray:
    """Return the discounted gain of each list that is expected of random orders of equal scores, (t,)."""
    return tied.total(tied.mean_gain(gain_of(tied.gain, gain, offset)) * tied.weight(k, weights))


def _flat(judged: JudgedTopK, gain: Gain, offset: float) -> float | None:
    """Return the gain of every relevant item, if it is one power of two: factored out, it rounds nothing."""
    if gain == "binary":
        return 1.0
    if judged.flat_gain is None:
        return None
    flat = float(gain_of(np.array([judged.flat_gain]), gain, offset)[0])
    return flat if frexp(flat)[0] == 0.5 else None


@dataclass(frozen=True)
class DCG(UserMetric):
    r"""Gains of the first k items, each discounted by its rank.

    .. math:: \mathrm{DCG@}k(u) = \sum_{r=1}^{k} \frac{g_{ur}}{\log_2(r+1)}

    Parameters
    ----------
    gain : {"linear", "exponential", "binary"}, default "linear"
        The grade as it is, ``2**grade - 1``, or 1 for every relevant item.
    discount : {"log2", "ln", "jarvelin2", "reciprocal"}, default "log2"
        Divisor of rank r: ``log2(r + 1)``, ``ln(r + 1)``, ``max(1, log2(r))``, or r itself.
    gain_offset : float, default 0.0
        Taken off the grade first; the threshold less 1 gives the least relevant grade a gain of 1.

    Raises
    ------
    ConfigError
        If a parameter is unknown.

    In plain Python
    ---------------
    >>> def dcg(items, grades, k):
    ...     gains = [grades.get(item, 0) for item in items[:k]]
    ...     return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))

    Notes
    -----
    Range [0, inf), higher is better; 0 without a hit. Not comparable between users with different numbers
    of relevant items: see nDCG.

    References
    ----------
    .. [1] K. Järvelin, J. Kekäläinen, "Cumulated gain-based evaluation of IR techniques", TOIS 20(4), 2002.

    Examples
    --------
    Hits at ranks 1 and 3: 1 + 1/2.

    >>> from recgauge.metrics.examples import judged_example
    >>> DCG().per_user(judged_example(), 3)
    array([1.5])
    """

    name: ClassVar[str] = "dcg"
    label: ClassVar[str] = "DCG"

    gain: Gain = "linear"
    discount: Discount = "log2"
    gain_offset: Real = quiet(0.0)

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the DCG of each list, shape (m,)."""
        weights = discounts(self.discount, judged.items.shape[1])
        return list_gain(judged, k, weights, self.gain, self.gain_offset)

    def expected(self, judged: JudgedTopK, tied: TiedGains, k: int | None) -> DoubleArray:
        """Return the expected DCG of each list, shape (t,)."""
        weights = discounts(self.discount, judged.items.shape[1])
        return expected_gain(tied, k, weights, self.gain, self.gain_offset)


@dataclass(frozen=True)
class CumulativeGain(UserMetric):
    r"""Gains of the first k items, all ranks alike.

    .. math:: \mathrm{CG@}k(u) = \sum_{r=1}^{k} g_{ur}

    Parameters
    ----------
    gain : {"linear", "exponential", "binary"}, default "linear"
        The grade as it is, ``2**grade - 1``, or 1 for every relevant item, which counts the hits.

    Raises
    ------
    ConfigError
        If `gain` is unknown.

    In plain Python
    ---------------
    >>> def cumulative_gain(items, grades, k):
    ...     return sum(grades.get(item, 0) for item in items[:k])

    Notes
    -----
    Range [0, inf), higher is better; 0 without a hit. The order within the first k does not matter: see DCG.

    References
    ----------
    .. [1] K. Järvelin, J. Kekäläinen, "Cumulated gain-based evaluation of IR techniques", TOIS 20(4), 2002.

    Examples
    --------
    Hits at ranks 1 and 3:

    >>> from recgauge.metrics.examples import judged_example
    >>> CumulativeGain().per_user(judged_example(), 3)
    array([2.])
    """

    name: ClassVar[str] = "cg"
    label: ClassVar[str] = "CG"

    gain: Gain = "linear"

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the cumulative gain of each list, shape (m,)."""
        weights = np.ones(judged.items.shape[1] + 1)
        weights[0] = 0.0  # there is no rank 0
        return list_gain(judged, k, weights, self.gain, 0.0)


@dataclass(frozen=True)
class NDCG(UserMetric):
    r"""Discounted gain of the list, relative to that of the best possible list.

    .. math::
        \mathrm{nDCG@}k(u) = \frac{\sum_{r=1}^{k} g_{ur} / \log_2(r+1)}{\sum_{r=1}^{k} g^*_{ur} / \log_2(r+1)}

    Parameters
    ----------
    gain : {"linear", "exponential", "binary"}, default "linear"
        The grade as it is, ``2**grade - 1``, or 1 for every relevant item.
    discount : {"log2", "ln", "jarvelin2", "reciprocal"}, default "log2"
        Divisor of rank r: ``log2(r + 1)``, ``ln(r + 1)``, ``max(1, log2(r))``, or r itself.
    ideal : {"at_k", "full", "list_length", "own_list", "own_at_k", "k_ones"}, default "at_k"
        The best list: the user's relevant items best first, cut at k; all of them; as many as the list
        has items; the list's own items re-sorted, then cut at k; its first k items re-sorted; or k items of
        gain 1 whatever is relevant.
    normalization : {"max", "minmax"}, default "max"
        Divide by the best list's DCG; or stretch from the DCG of the list's own items worst first to it.
    zero : {0, "nan", "raise"}, default 0
        The value where the best list gains nothing.
    gain_offset : float, default 0.0
        Taken off the grade first; the threshold less 1 gives the least relevant grade a gain of 1.

    Raises
    ------
    ConfigError
        If a parameter is unknown.

    In plain Python
    ---------------
    >>> def ndcg(items, grades, k):
    ...     gains = [grades.get(item, 0) for item in items[:k]]
    ...     best = sorted(grades.values(), reverse=True)[:k]
    ...     dcg = sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))
    ...     return dcg / sum(gain / math.log2(rank + 1) for rank, gain in enumerate(best, 1))

    Notes
    -----
    Range [0, 1], higher is better; 0 without a hit. With ``full`` a perfect list shorter than the user's
    relevant items stays below 1, with ``k_ones`` so does that of a user with fewer than k of them;
    ``own_list`` and ``own_at_k`` cannot see what the list misses. Where all gains of a list are equal,
    ``minmax`` is 0/0: undefined, NaN. The base of a plain logarithm cancels, so ``ln`` and ``log2`` agree.

    References
    ----------
    .. [1] K. Järvelin, J. Kekäläinen, "Cumulated gain-based evaluation of IR techniques", TOIS 20(4), 2002.
    .. [2] C. Burges et al., "Learning to rank using gradient descent", ICML 2005 (gain=exponential).

    Examples
    --------
    Hits at ranks 1 and 3, two relevant items: (1 + 1/2) / (1 + 1/log2(3)).

    >>> from recgauge.metrics.examples import judged_example
    >>> NDCG().per_user(judged_example(), 3).round(4)
    array([0.9197])
    """

    name: ClassVar[str] = "ndcg"
    label: ClassVar[str] = "nDCG"

    gain: Gain = "linear"
    discount: Discount = "log2"
    ideal: Literal["at_k", "full", "list_length", "own_list", "own_at_k", "k_ones"] = "at_k"
    normalization: Literal["max", "minmax"] = quiet("max")
    zero: Literal[0, "nan", "raise"] = quiet(0)
    gain_offset: Real = quiet(0.0)

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the nDCG of each list, shape (m,)."""
        longest = max(judged.items.shape[1], int(judged.n_relevant.max(initial=0)), k or 0)
        weights = discounts(self.discount, longest)
        gained = list_gain(judged, k, weights, self.gain, self.gain_offset)
        best = self._best(judged, k, weights)
        empty = undefined_value(self.zero)
        if self.normalization == "max":
            return divide(gained, best, empty)
        worst = self._own(judged, k, weights, best_first=False)
        return np.where(best == 0, empty, divide(gained - worst, best - worst, np.nan))

    def _best(self, judged: JudgedTopK, k: int | None, weights: DoubleArray) -> DoubleArray:
        """Return the discounted gain of each user's best list, shape (m,)."""
        shown = list_length(judged, k).astype(np.int64)
        cutoff = np.full(judged.n_users, k or len(weights), np.int64)
        match self.ideal:
            case "own_list" | "own_at_k":
                return self._own(judged, k, weights, best_first=True)
            case "k_ones":
                return np.cumsum(weights)[shown if k is None else cutoff]
            case "list_length":
                length = shown
            case "full":
                length = judged.n_relevant
            case _:
                length = cutoff
        length = np.minimum(judged.n_relevant, length)
        if (flat := _flat(judged, self.gain, self.gain_offset)) is not None:
            return np.asarray(np.cumsum(weights)[length] * flat, np.float64)
        gains = gain_of(judged.relevant_gains, self.gain, self.gain_offset)
        start = np.concatenate(([0], np.cumsum(judged.n_relevant)))
        return _lookup.sum_best(start, gains, length, weights)

    def _own(
        self, judged: JudgedTopK, k: int | None, weights: DoubleArray, *, best_first: bool
    ) -> DoubleArray:
        """Return the discounted gain of the list's own items (m,), re-sorted and cut at `k`."""
        hits = judged.hits.cut(k) if self.ideal == "own_at_k" else judged.hits
        gains = gain_of(hits.gain, self.gain, self.gain_offset)
        order = np.lexsort((-gains if best_first else gains, hits.owner))
        length = list_length(judged, k if self.ideal == "own_at_k" else None)
        misses_before = 0 if best_first else length[hits.owner] - hits.counts()[hits.owner]
        rank = hits.ordinal + np.asarray(misses_before, np.int64)
        weight = np.where(rank <= (k or len(weights)), weights[rank], 0.0)
        return hits.total(gains[order] * weight)

    @property
    def has_expected(self) -> bool:
        """Whether a formula gives the expected value."""
        return self.ideal not in ("own_list", "own_at_k") and self.normalization == "max"

    def expected(self, judged: JudgedTopK, tied: TiedGains, k: int | None) -> DoubleArray:
        """Return the expected nDCG of each list, shape (t,)."""
        longest = max(judged.items.shape[1], int(judged.n_relevant.max(initial=0)), k or 0)
        weights = discounts(self.discount, longest)
        gained = expected_gain(tied, k, weights, self.gain, self.gain_offset)
        return divide(gained, self._best(judged, k, weights), undefined_value(self.zero))


@dataclass(frozen=True)
class ReciprocalRank(UserMetric):
    r"""One over the rank of the first relevant item; 0 if none is among the first k.

    .. math:: \mathrm{RR@}k(u) = \frac{1}{\min \{ r \le k : L_r \in R_u \}}

    Parameters
    ----------
    miss : {0, "raise"}, default 0
        The value of a list without a hit.

    Raises
    ------
    ConfigError
        If `miss` is unknown.

    In plain Python
    ---------------
    >>> def reciprocal_rank(items, grades, k):
    ...     for rank, item in enumerate(items[:k], 1):
    ...         if item in grades:
    ...             return 1 / rank
    ...     return 0.0

    Notes
    -----
    Range [0, 1], higher is better; 0 without a hit. The mean over users is the mean reciprocal rank (MRR).

    References
    ----------
    .. [1] E. M. Voorhees, "The TREC-8 question answering track report", TREC 1999.

    Examples
    --------
    >>> from recgauge.metrics.examples import judged_example
    >>> ReciprocalRank().per_user(judged_example(), 3)
    array([1.])
    """

    name: ClassVar[str] = "mrr"
    label: ClassVar[str] = "MRR"

    miss: Literal[0, "raise"] = quiet(0)

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the reciprocal rank of each list, shape (m,)."""
        top_hits = judged.hits.cut(k)
        counts = hits(judged, k).astype(np.int64)
        hit = counts > 0
        values = np.full(judged.n_users, undefined_value(self.miss))
        values[hit] = 1.0 / top_hits.rank[(np.cumsum(counts) - counts)[hit]]
        return values

    @property
    def has_expected(self) -> bool:
        """Whether a formula gives the expected value."""
        return self.miss == 0

    def expected(
        self,
        judged: JudgedTopK,  # noqa: ARG002 - contract
        tied: TiedGains,
        k: int | None,
    ) -> DoubleArray:
        """Return the expected reciprocal rank of each list, shape (t,)."""
        return tied.expected_reciprocal_rank(k)


@dataclass(frozen=True)
class ExpectedReciprocalRank(UserMetric):
    r"""Expected 1/rank at which a reader stops, each item satisfying with a probability from its grade.

    .. math::
        \mathrm{ERR@}k(u) = \sum_{r=1}^{k} \frac{s_r}{r} \prod_{q<r} (1 - s_q),
        \qquad s_r = \frac{2^{g_{ur}} - 1}{2^{g_{\max}}}

    Parameters
    ----------
    max_grade : float, default 4.0
        The highest grade of the scale, > 0.

    Raises
    ------
    ConfigError
        If `max_grade` is not above 0.
    MetricError
        If a listed item has a higher grade.

    In plain Python
    ---------------
    >>> def expected_reciprocal_rank(items, grades, k, max_grade=4):
    ...     value, reads_on = 0.0, 1.0
    ...     for rank, item in enumerate(items[:k], 1):
    ...         satisfied = (2 ** grades.get(item, 0) - 1) / 2**max_grade
    ...         value += reads_on * satisfied / rank
    ...         reads_on *= 1 - satisfied
    ...     return value

    Notes
    -----
    Range [0, 1), higher is better; 0 without a hit. An item below a satisfying one adds little, so the
    value says next to nothing about the tail of the list.

    References
    ----------
    .. [1] O. Chapelle, D. Metzler, Y. Zhang, P. Grinspan, "Expected reciprocal rank for graded relevance",
       CIKM 2009.

    Examples
    --------
    Grade 1 of 1 at ranks 1 and 3: 1/2 + 1/2 * 1/2 * 1/3.

    >>> from recgauge.metrics.examples import judged_example
    >>> ExpectedReciprocalRank(max_grade=1).per_user(judged_example(), 3).round(4)
    array([0.5833])
    """

    name: ClassVar[str] = "err"
    label: ClassVar[str] = "ERR"

    max_grade: Annotated[float, Within(0.0, 1000.0, low_open=True)] = 4.0

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the expected reciprocal rank of each list, shape (m,)."""
        top_hits = judged.hits.cut(k)
        if top_hits.gain.max(initial=0.0) > self.max_grade:
            raise MetricError(
                f"ExpectedReciprocalRank: grades must be at most max_grade={self.max_grade:g}, "
                f"got {top_hits.gain.max():g}; set max_grade to the top of your scale."
            )
        satisfied = gain_of(top_hits.gain, "exponential", 0.0) / 2.0**self.max_grade
        values, unsatisfied = np.zeros(judged.n_users), np.ones(judged.n_users)
        by_ordinal = np.argsort(top_hits.ordinal, kind="stable")
        edges = np.cumsum(np.bincount(top_hits.ordinal))[:-1]
        # every user's first hit, then every user's second, ...: one hit a user at a time
        for entries in np.split(by_ordinal, edges):
            users = top_hits.owner[entries]
            values[users] += unsatisfied[users] * satisfied[entries] / top_hits.rank[entries]
            unsatisfied[users] *= 1.0 - satisfied[entries]
        return values


@dataclass(frozen=True)
class RankBiasedPrecision(UserMetric):
    r"""Rate at which a reader finds relevant items who reads on after each with probability p.

    .. math:: \mathrm{RBP@}k(u) = (1 - p) \sum_{r \le k,\, L_r \in R_u} p^{r-1}

    Parameters
    ----------
    p : float, default 0.8
        Patience, between 0 and 1, both excluded: 0.5 looks at the top, 0.95 far down.
    gain : {"binary", "linear"}, default "binary"
        1 for every relevant item, or its grade.
    normalization : {"infinite", "ideal"}, default "infinite"
        The best list is endless; or divide by the best that the user's relevant items and the list allow.

    Raises
    ------
    ConfigError
        If a parameter has an unknown value.

    In plain Python
    ---------------
    >>> def rank_biased_precision(items, grades, k, p=0.8):
    ...     hits = [rank for rank, item in enumerate(items[:k], 1) if item in grades]
    ...     return (1 - p) * sum(p ** (rank - 1) for rank in hits)

    Notes
    -----
    Range [0, 1] (above 1 with linear gains of grades above 1), higher is better; 0 without a hit. What
    follows the list is taken to be irrelevant. With ``ideal``, undefined (NaN) for an empty list.

    References
    ----------
    .. [1] A. Moffat, J. Zobel, "Rank-biased precision for measurement of retrieval effectiveness",
       TOIS 27(1), 2008.

    Examples
    --------
    Hits at ranks 1 and 3: 0.5 (1 + 0.25).

    >>> from recgauge.metrics.examples import judged_example
    >>> RankBiasedPrecision(p=0.5).per_user(judged_example(), 3)
    array([0.625])
    """

    name: ClassVar[str] = "rbp"
    label: ClassVar[str] = "RBP"

    p: Annotated[float, Within(0.0, nextafter(1.0, 0.0), low_open=True)] = 0.8
    gain: Literal["binary", "linear"] = "binary"
    normalization: Literal["infinite", "ideal"] = quiet("infinite")

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the rank-biased precision of each list, shape (m,)."""
        top_hits = judged.hits.cut(k)
        weights = self.p ** np.arange(judged.items.shape[1] + 1)
        gain = gain_of(top_hits.gain, self.gain, 0.0)
        return self._normalised(top_hits.total(gain * weights[top_hits.rank - 1]), judged, k, weights)

    def _normalised(
        self, total: DoubleArray, judged: JudgedTopK, k: int | None, weights: DoubleArray
    ) -> DoubleArray:
        if self.normalization == "infinite":
            return (1.0 - self.p) * total
        best = np.minimum(judged.n_relevant, list_length(judged, k).astype(np.int64))
        return divide(total, np.concatenate(([0.0], np.cumsum(weights)))[best], np.nan)

    def expected(self, judged: JudgedTopK, tied: TiedGains, k: int | None) -> DoubleArray:
        """Return the expected rank-biased precision of each list, shape (t,)."""
        weights = self.p ** np.arange(judged.items.shape[1] + 1)
        gains = gain_of(tied.gain, self.gain, 0.0)
        total = tied.total(tied.mean_gain(gains) * tied.weight(k, np.concatenate(([0.0], weights))))
        return self._normalised(total, judged, k, weights)
