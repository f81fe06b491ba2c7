"""Exact top k for every user against the whole catalogue, faster than the product of the factors.

One function, `top_k`, and what it takes. Importing this package imports neither numba nor the kernels.
"""

from recgauge.engine.compiling import is_compiled, kind_of, warm_up
from recgauge.engine.sources import FactorSource, ItemWeights, Scorer, Source
from recgauge.engine.topk import top_k

__all__ = ["FactorSource", "ItemWeights", "Scorer", "Source", "is_compiled", "kind_of", "top_k", "warm_up"]
