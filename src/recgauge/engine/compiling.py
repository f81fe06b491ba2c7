"""Kernels are compiled at their first use and kept: whether that is still to come, and doing it now.

Imports numba only inside its functions.
"""

import time
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from recgauge.engine.sources import Source

Kind = Literal[
    "factors",
    "scores",
    "dense_weights",
    "sparse_weights",
    "per_user_factors",
    "per_user_scores",
    "per_user_dense_weights",
    "per_user_sparse_weights",
]

_ENTRIES: dict[Kind, str] = {
    "factors": "top_factors",
    "scores": "top_rows",
    "dense_weights": "top_dense",
    "sparse_weights": "top_sparse",
    "per_user_factors": "gather_factors",
    "per_user_scores": "gather_rows",
    "per_user_dense_weights": "gather_dense",
    "per_user_sparse_weights": "gather_sparse",
}
_PER_USER: dict[Kind, Kind] = {
    "factors": "per_user_factors",
    "scores": "per_user_scores",
    "dense_weights": "per_user_dense_weights",
    "sparse_weights": "per_user_sparse_weights",
}


def kind_of(source: "Source", *, per_user: bool = False) -> Kind:
    """Return the kind of a source; `per_user`: each user has candidates of their own."""
    from recgauge.engine.sources import FactorSource, ItemWeights

    kind: Kind = "factors" if isinstance(source, FactorSource) else "scores"
    if isinstance(source, ItemWeights):
        kind = "sparse_weights" if sparse.issparse(source.weights) else "dense_weights"
    return _PER_USER[kind] if per_user else kind


def is_compiled(kind: Kind = "factors") -> bool:
    """Return whether `top_k` can load the kernel of a kind of source instead of compiling it (some seconds).

    Parameters
    ----------
    kind : {"factors", "scores", "dense_weights", "sparse_weights"}, default "factors"
        What lists are made from; with ``per_user_`` before it where each user has candidates of their own.
    """
    from recgauge.engine._jit import is_cached

    return is_cached(_ENTRIES[kind])


def warm_up(kind: Kind = "factors") -> float:
    """Compile the kernel of a kind of source, or load it, and return the seconds that took.

    Parameters
    ----------
    kind : {"factors", "scores", "dense_weights", "sparse_weights"}, default "factors"
        What lists are made from; with ``per_user_`` before it where each user has candidates of their own.
    """
    from recgauge.engine import ItemWeights, rank_candidates, top_k

    start = time.perf_counter()
    one = np.ones((1, 1), np.float32)
    rows = sparse.csr_array(one)
    sources: dict[Kind, Source] = {
        "factors": _OneFactor(),
        "scores": lambda _users: one,
        "dense_weights": ItemWeights(rows, one),
        "sparse_weights": ItemWeights(rows, rows),
    }
    user = np.zeros(1, np.int32)
    if kind in sources:
        top_k(sources[kind], user, 1, n_threads=1)
    else:
        plain = next(plain for plain, own in _PER_USER.items() if own == kind)
        rank_candidates(sources[plain], user, 1, rows, n_threads=1)
    return time.perf_counter() - start


class _OneFactor:
    user = item = np.ones((1, 1), np.float32)
