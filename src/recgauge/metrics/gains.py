"""Gains of grades, discounts of ranks, and what a list gains under them: shared by DCG and nDCG."""

from typing import Literal

import numpy as np

from recgauge.judging.gains import TiedGains
from recgauge.judging.judge import JudgedTopK
from recgauge.utils.checks import DoubleArray, LongArray

Gain = Literal["linear", "exponential", "binary"]
Discount = Literal["log2", "ln", "jarvelin2", "reciprocal"]


def gain_of(grades: DoubleArray, gain: Gain, offset: float) -> DoubleArray:
    """Return the gain of each grade.

    Examples
    --------
    >>> gain_of(np.array([1.0, 3.0]), "exponential", 0.0)
    array([1., 7.])
    """
    if gain == "binary":
        return np.ones(len(grades))
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
        found = hits.cut(k)
        if gain == "binary" or judged.flat_gain is not None:
            return found.total(weights[found.rank]) * _flat(judged, gain, offset)
        return found.total(gain_of(found.gain, gain, offset) * weights[found.rank])
    # items that share their ranks each get the mean weight of these ranks, 0 beyond k
    total = np.cumsum(weights if k is None else np.where(np.arange(len(weights)) <= k, weights, 0.0))
    shared = (total[hits.tie_last] - total[hits.tie_first - 1]) / (hits.tie_last - hits.tie_first + 1)
    return hits.total(gain_of(hits.gain, gain, offset) * shared)


def expected_gain(
    tied: TiedGains, k: int | None, weights: DoubleArray, gain: Gain, offset: float
) -> DoubleArray:
    """Return the discounted gain of each list that is expected of random orders of equal scores, (t,)."""
    return tied.total(tied.mean_gain(gain_of(tied.gain, gain, offset)) * tied.weight(k, weights))


def best_gain(
    judged: JudgedTopK, length: LongArray, weights: DoubleArray, gain: Gain, offset: float
) -> DoubleArray:
    """Return the discounted gain of each user's best list of `length` (m,) items, shape (m,)."""
    counted = np.minimum(judged.n_relevant, length)
    if gain == "binary" or judged.flat_gain is not None:
        best: DoubleArray = np.cumsum(weights)[counted] * _flat(judged, gain, offset)
        return best
    from recgauge.judging import _lookup

    gains = gain_of(judged.relevant_gains, gain, offset)
    return _lookup.sum_best(judged.relevant_start, gains, counted, weights)


def _flat(judged: JudgedTopK, gain: Gain, offset: float) -> float:
    """Return the gain of every relevant item, where they are all alike."""
    return float(gain_of(np.array([judged.flat_gain or 1.0]), gain, offset)[0])
