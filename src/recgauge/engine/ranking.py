"""The engine's other public function: the exact order of items that each user was given."""

from collections.abc import Callable

from recgauge.engine.sources import FactorSource, ItemWeights, Source
from recgauge.engine.topk import SeenRows, available_threads
from recgauge.utils.checks import FloatArray, IntArray, check_int


def rank_candidates(  # noqa: PLR0913
    source: Source,
    users: IntArray,
    k: int,
    candidates: SeenRows,
    *,
    memory_mib: int = 256,
    n_threads: int | None = None,
    on_progress: Callable[[int], None] | None = None,
    name: str | None = None,
) -> tuple[IntArray, FloatArray]:
    """Return the `k` best of each user's own candidates, exactly as a full sort of their scores would.

    Parameters
    ----------
    source : FactorSource, ItemWeights, Scorer or callable
        As in `top_k`. Factors cost one product a candidate, whatever the catalogue's size; item weights and
        scores cost what all items cost.
    users : ndarray of int32, shape (m,)
        User codes, in any order.
    k : int
        Length of the lists, >= 1.
    candidates : scipy.sparse CSR of shape (n_users, n_items), or (indptr, indices)
        Stored entries of a user's row are the only items that may enter the user's list.
    memory_mib, n_threads, on_progress, name
        As in `top_k`.

    Returns
    -------
    items : ndarray of int32, shape (m, k)
        Item codes, best first, equal scores by rising code; -1 pads lists with fewer candidates.
    scores : ndarray of float32, shape (m, k)
        Falling, the same numbers that `top_k` gives; -inf where padded.

    Raises
    ------
    ConfigError
        If `k`, `memory_mib` or `n_threads` is not a whole number >= 1.
    ScoreError
        If factors, weights, scores or candidates cannot be used; see `top_k`.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> scores = np.array([[0.1, 0.4, 0.4, 0.9]], dtype=np.float32)
    >>> given = sparse.csr_array(np.array([[1, 1, 1, 0]]))
    >>> items, best = rank_candidates(lambda users: scores[users], np.array([0], dtype=np.int32), 4, given)
    >>> items
    array([[ 1, 2, 0, -1]], dtype=int32)
    """
    check_int("rank_candidates: k", k, minimum=1)
    check_int("rank_candidates: memory_mib", memory_mib, minimum=1)
    threads = (
        available_threads()
        if n_threads is None
        else check_int("rank_candidates: n_threads", n_threads, minimum=1)
    )
    # the kernels, and numba with them, are imported at the first use
    from recgauge.engine import _arrays, _blocks, _gather_lanes

    name = type(source).__name__ if name is None else name
    lane: _blocks.Lane
    if isinstance(source, ItemWeights):
        lane = _gather_lanes.GivenWeights(source, candidates, name)
    elif isinstance(source, FactorSource):
        lane = _gather_lanes.GivenFactors(source, candidates, name)
    else:
        codes = _arrays.checked_codes("users", users, None)
        lane = _gather_lanes.GivenScores(source, candidates, name, codes)
    return _blocks.run(lane, users, k, memory_mib << 20, threads, on_progress)
