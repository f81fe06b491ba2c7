"""A walk down a list: how many misses are above each hit, from which areas under list curves are computed."""

from dataclasses import dataclass

import numpy as np

from recgauge.errors import MetricError
from recgauge.judging.judge import JudgedTopK
from recgauge.utils.checks import DoubleArray, LongArray


@dataclass(frozen=True, slots=True, eq=False)
class Walk:
    """Hits and misses of users' lists.

    Parameters
    ----------
    owner : ndarray of int, shape (h,)
        Row of the user of each hit.
    ordinal, misses_before : ndarray of int64, shape (h,)
        Hits of the user down to this one, from 1; misses above it.
    hits, misses : ndarray of float64, shape (m,)
        Of each list.
    """

    owner: LongArray
    ordinal: LongArray
    misses_before: LongArray
    hits: DoubleArray
    misses: DoubleArray

    def total(self, weight: DoubleArray) -> DoubleArray:
        """Sum `weight` (h,) over each user's hits, shape (m,)."""
        return np.bincount(self.owner, weight, minlength=len(self.hits)).astype(np.float64)


def walk(judged: JudgedTopK, k: int | None) -> Walk:
    """Walk down the first `k` ranks of each list (all if None)."""
    hits = judged.hits.cut(k)
    counts = np.bincount(hits.owner, minlength=judged.n_users)
    ordinal = np.arange(1, len(hits.owner) + 1) - (np.cumsum(counts) - counts)[hits.owner]
    lengths = judged.list_length if k is None else np.minimum(judged.list_length, k)
    n_hits = counts.astype(np.float64)
    owner, rank = hits.owner.astype(np.int64), hits.rank.astype(np.int64)
    return Walk(owner, ordinal.astype(np.int64), rank - ordinal, n_hits, lengths - n_hits)


def catalogue_size(judged: JudgedTopK, metric: str) -> int:
    """Return the number of items, or say that `metric` needs the catalogue."""
    if judged.catalogue is None or not judged.catalogue.sized:
        raise MetricError(
            f"{metric} needs the catalogue's size, which lists do not tell; pass n_items=... or train=..."
        )
    return judged.catalogue.n_items


def limited_irrelevant(judged: JudgedTopK) -> DoubleArray | None:
    """Return the irrelevant candidates of each user, shape (m,), where a rule limits the candidates."""
    catalogue = judged.catalogue
    if catalogue is None or catalogue.irrelevant is None:
        return None
    return catalogue.irrelevant[judged.users].astype(np.float64)
