"""How far down somebody reads: reciprocal rank, expected reciprocal rank and rank-biased precision."""

from dataclasses import dataclass
from math import nextafter
from typing import ClassVar, Literal

import numpy as np

from recgauge.errors import MetricError
from recgauge.judging.judge import JudgedTopK, TiedGains
from recgauge.metrics.metric import UserMetric, divide, hits, list_length, number, quiet, undefined_value
from recgauge.utils.checks import DoubleArray


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
        found = judged.hits.cut(k)
        counts = hits(judged, k).astype(np.int64)
        hit = counts > 0
        values = np.full(judged.n_users, undefined_value(self.miss))
        values[hit] = 1.0 / found.rank[(np.cumsum(counts) - counts)[hit]]
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

    max_grade: float = number(4.0, low=0.0, high=1000.0, low_open=True)

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the expected reciprocal rank of each list, shape (m,)."""
        found = judged.hits.cut(k)
        if found.gain.max(initial=0.0) > self.max_grade:
            raise MetricError(
                f"ExpectedReciprocalRank: grades must be at most max_grade={self.max_grade:g}, "
                f"got {found.gain.max():g}; set max_grade to the top of your scale."
            )
        satisfied = (np.exp2(found.gain) - 1.0) / 2.0**self.max_grade
        values, unsatisfied = np.zeros(judged.n_users), np.ones(judged.n_users)
        by_ordinal = np.argsort(found.ordinal, kind="stable")
        edges = np.cumsum(np.bincount(found.ordinal))[:-1]
        # every user's first hit, then every user's second, ...: one hit a user at a time
        for entries in np.split(by_ordinal, edges):
            users = found.owner[entries]
            values[users] += unsatisfied[users] * satisfied[entries] / found.rank[entries]
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

    p: float = number(0.8, low=0.0, high=nextafter(1.0, 0.0), low_open=True)
    gain: Literal["binary", "linear"] = "binary"
    normalization: Literal["infinite", "ideal"] = quiet("infinite")

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the rank-biased precision of each list, shape (m,)."""
        found = judged.hits.cut(k)
        weights = self.p ** np.arange(judged.items.shape[1] + 1)
        gain = found.gain if self.gain == "linear" else np.ones(len(found.rank))
        return self._normalised(found.total(gain * weights[found.rank - 1]), judged, k, weights)

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
        gains = tied.gain if self.gain == "linear" else np.ones(len(tied.gain))
        total = tied.total(tied.mean_gain(gains) * tied.weight(k, np.concatenate(([0.0], weights))))
        return self._normalised(total, judged, k, weights)
