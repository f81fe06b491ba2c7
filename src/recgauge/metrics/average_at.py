"""What average precision and average recall share: a curve over the list, summed and normalised."""

import numpy as np

from recgauge.judging.judge import JudgedTopK
from recgauge.judging.tied_gains import TiedGains
from recgauge.metrics.denominators import denominator, divide, list_length
from recgauge.utils.checks import DoubleArray

AT = ("hits", "ranks")
NORMALIZERS = ("relevant", "min_relevant_k", "min_relevant_list", "hits", "k")


def precision_sum(judged: JudgedTopK, k: int | None, at: str) -> DoubleArray:
    """Return the sum of precision@i over the hits' ranks i, or over all ranks up to `k`, shape (m,)."""
    found = judged.hits.cut(k)
    if at == "ranks":
        # a hit at rank r adds 1/i to the precision at every rank i >= r
        last = _last_rank(judged, k)
        harmonic = np.concatenate(([0.0], np.cumsum(1.0 / np.arange(1, last.max(initial=0) + 1))))
        return found.total(harmonic[last[found.owner]] - harmonic[found.rank - 1])
    if found.tie_last is None:
        return found.total(found.ordinal / found.rank)
    # items that share their places are taken together: precision where the last of them is in
    ends = found.tie_last if k is None else np.minimum(found.tie_last, k)
    starts = np.ones(len(ends), bool)
    starts[1:] = (np.diff(found.owner) != 0) | (np.diff(ends) != 0)
    group = np.cumsum(starts) - 1
    hits_at_end = np.zeros(group[-1] + 1 if len(group) else 0)
    np.maximum.at(hits_at_end, group, found.ordinal)
    return found.total(hits_at_end[group] / ends)


def recall_sum(judged: JudgedTopK, k: int | None, at: str) -> DoubleArray:
    """Return the sum of recall@i over the hits' ranks i, or over all ranks up to `k`, shape (m,)."""
    found = judged.hits.cut(k)
    if at == "hits":
        return divide(found.total(found.ordinal.astype(np.float64)), judged.n_relevant.astype(np.float64))
    # a hit at rank r adds 1/|R| to the recall at every rank i >= r
    last = _last_rank(judged, k)
    ranks_left = (last[found.owner] - found.rank + 1).astype(np.float64)
    return divide(found.total(ranks_left), judged.n_relevant.astype(np.float64))


def expected_precision_sum(judged: JudgedTopK, tied: TiedGains, k: int | None, at: str) -> DoubleArray:
    """Return the `precision_sum` that is expected of random orders of equal scores, shape (t,)."""
    inside = tied.inside(k)
    last = _last_rank(judged, k)
    harmonic = np.concatenate(([0.0], np.cumsum(1.0 / np.arange(1, last.max(initial=0) + 1))))
    if at == "ranks":
        # as above, summed over the places of the group that count
        summed = inside * harmonic[last[tied.owner]] - tied.weight(k, np.concatenate(([0.0], harmonic)))
        return tied.total(tied.share * summed)
    base, step = tied.hit_ordinals()
    inverse = tied.weight(k, np.diff(harmonic, prepend=0.0))
    # of j / (first + j), summed over places j: their number less first times the sum of 1 / (first + j)
    return tied.total(tied.share * (base * inverse + step * (inside - tied.first * inverse)))


def expected_recall_sum(judged: JudgedTopK, tied: TiedGains, k: int | None, at: str) -> DoubleArray:
    """Return the `recall_sum` that is expected of random orders of equal scores, shape (t,)."""
    inside = tied.inside(k)
    if at == "hits":
        base, step = tied.hit_ordinals()
        summed = base * inside + step * (inside * (inside - 1) / 2.0)
    else:
        highest = _last_rank(judged, k)[tied.owner] - tied.first + 1
        summed = inside * highest - inside * (inside - 1) / 2.0
    return divide(tied.total(tied.share * summed), judged.n_relevant.astype(np.float64))


def normalised(
    total: DoubleArray, judged: JudgedTopK, k: int | None, normalizer: str, empty: float
) -> DoubleArray:
    """Return `total` divided by the count called `normalizer`, `empty` where that is 0; shape (m,)."""
    if normalizer == "hits":
        return divide(total, judged.hits.cut(k).counts(), empty)
    return divide(total, denominator(normalizer, judged, k), empty)


def _last_rank(judged: JudgedTopK, k: int | None) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    if k is None:
        return list_length(judged, None).astype(np.int64)
    return np.full(judged.n_users, k, np.int64)
