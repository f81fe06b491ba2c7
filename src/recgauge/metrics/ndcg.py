"""Normalised discounted cumulative gain."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from recgauge.judging.gains import TiedGains
from recgauge.judging.judge import JudgedTopK
from recgauge.metrics.dcg import (
    Discount,
    Gain,
    best_gain,
    discounts,
    expected_gain,
    gain_of,
    list_gain,
)
from recgauge.metrics.metric import UserMetric, divide, list_length, quiet, undefined_value
from recgauge.utils.checks import DoubleArray, check_real


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
    ideal : {"at_k", "full", "list_length", "own_list", "k_ones"}, default "at_k"
        The best list: the user's relevant items best first, cut at k; all of them; as many as the list
        has items; the list's own items re-sorted; or k items of gain 1 whatever is relevant.
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
    ``own_list`` cannot see what the list misses. Where all gains of a list are equal, ``minmax`` is 0/0:
    undefined, NaN. The base of a plain logarithm cancels, so ``ln`` and ``log2`` agree.

    References
    ----------
    .. [1] K. Järvelin, J. Kekäläinen, "Cumulated gain-based evaluation of IR techniques", TOIS 20(4), 2002.
    .. [2] C. Burges et al., "Learning to rank using gradient descent", ICML 2005 (exponential gain).

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
    ideal: Literal["at_k", "full", "list_length", "own_list", "k_ones"] = "at_k"
    normalization: Literal["max", "minmax"] = quiet("max")
    zero: Literal[0, "nan", "raise"] = quiet(0)
    gain_offset: float = quiet(0.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_real("NDCG: gain_offset", self.gain_offset, low=-np.inf, high=np.inf)

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
        shown = list_length(judged, k).astype(np.int64)
        cutoff = np.full(judged.n_users, k or len(weights), np.int64)
        match self.ideal:
            case "own_list":
                return self._own(judged, k, weights, best_first=True)
            case "k_ones":
                return np.cumsum(weights)[shown if k is None else cutoff]
            case "list_length":
                length = shown
            case "full":
                length = judged.n_relevant
            case _:
                length = cutoff
        return best_gain(judged, length, weights, self.gain, self.gain_offset)

    def _own(
        self, judged: JudgedTopK, k: int | None, weights: DoubleArray, *, best_first: bool
    ) -> DoubleArray:
        """Return the discounted gain of the list's own items (m,), re-sorted, then cut at `k`."""
        hits = judged.hits
        gains = gain_of(hits.gain, self.gain, self.gain_offset)
        order = np.lexsort((-gains if best_first else gains, hits.owner))
        misses_before = 0 if best_first else judged.list_length[hits.owner] - hits.counts()[hits.owner]
        rank = hits.ordinal + np.asarray(misses_before, np.int64)
        weight = np.where(rank <= (k or len(weights)), weights[rank], 0.0)
        return hits.total(gains[order] * weight)

    @property
    def has_expected(self) -> bool:
        """Whether a formula gives the expected value."""
        return self.ideal != "own_list" and self.normalization == "max"

    def expected(self, judged: JudgedTopK, tied: TiedGains, k: int | None) -> DoubleArray:
        """Return the expected nDCG of each list, shape (t,)."""
        longest = max(judged.items.shape[1], int(judged.n_relevant.max(initial=0)), k or 0)
        weights = discounts(self.discount, longest)
        gained = expected_gain(tied, k, weights, self.gain, self.gain_offset)
        return divide(gained, self._best(judged, k, weights), undefined_value(self.zero))
