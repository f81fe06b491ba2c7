"""Exact top k for every user against the whole catalogue, faster than the product of the factors.

`top_k` ranks the catalogue, `rank_candidates` the items that each user was given.
Importing this package imports neither numba nor the kernels.
"""

from recgauge.engine.sources import FactorSource, ItemWeights, Scorer, Source
from recgauge.engine.topk import rank_candidates, top_k

__all__ = [
    "FactorSource",
    "ItemWeights",
    "Scorer",
    "Source",
    "rank_candidates",
    "top_k",
]
