"""The engine's one public function: exact top k against the whole catalogue, in bounded memory."""

import os
from collections.abc import Callable

from scipy import sparse

from recgauge.engine.sources import FactorSource, ItemWeights, Source
from recgauge.utils.checks import BoolArray, FloatArray, IntArray, LongArray, check_int

SeenRows = sparse.csr_array | sparse.csr_matrix | tuple[LongArray, IntArray]


def top_k(  # noqa: PLR0913
    source: Source,
    users: IntArray,
    k: int,
    *,
    seen: SeenRows | None = None,
    items: BoolArray | IntArray | None = None,
    memory_mib: int = 256,
    n_threads: int | None = None,
    on_progress: Callable[[int], None] | None = None,
    name: str | None = None,
) -> tuple[IntArray, FloatArray]:
    """Return each user's `k` best items, exactly as a full sort of all scores would.

    Parameters
    ----------
    source : FactorSource, ItemWeights, Scorer or callable
        Where scores come from. Factors (anything with ``user`` and ``item``, such as
        `recgauge.models.Factors`) are searched without computing most of the scores; item weights are summed
        in panels; anything else is asked for scores by ``source.score(users)`` or ``source(users)``.
    users : ndarray of int32, shape (m,)
        User codes, in any order.
    k : int
        Length of the lists, >= 1.
    seen : scipy.sparse CSR of shape (n_users, n_items), or (indptr, indices), optional
        Stored entries of a user's row are left out of the user's list.
    items : ndarray of bool, shape (n_items,), or of item codes, optional
        The only items that may be recommended to anybody.
    memory_mib : int, default 256
        Memory for blocks in MiB, beyond source, seen and result; never changes a list.
    n_threads : int, optional
        Threads; as many as this process may use if not given. Never changes a list.
    on_progress : callable, optional
        Called with the number of users done since the last call, after every block, from the calling thread.
    name : str, optional
        What error messages call the source; the name of its class if not given.

    Returns
    -------
    items : ndarray of int32, shape (m, k)
        Item codes, best first, equal scores by rising code; -1 pads lists with fewer candidates.
    scores : ndarray of float32, shape (m, k)
        Falling; -inf where padded.

    Raises
    ------
    ConfigError
        If `k`, `memory_mib` or `n_threads` is not a whole number >= 1.
    ScoreError
        If factors, weights or scores are not finite or so large that a score might overflow, or codes,
        masks or scores do not fit the shape of the source.

    Notes
    -----
    The score of a factor model is its product in float64, summed in a fixed order, rounded to float32: the
    same on every machine, for any number of threads, block size and order of users. Item weights are summed
    in float32 in a fixed order.

    References
    ----------
    .. [1] C. Teflioudi, R. Gemulla, O. Mykytiuk, "LEMP: fast retrieval of large entries in a matrix
       product", SIGMOD 2015.
    .. [2] H. Li et al., "FEXIPRO: fast and exact inner product retrieval in recommender systems",
       SIGMOD 2017.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.array([[0.1, 0.4, 0.4, 0.3]], dtype=np.float32)
    >>> items, best = top_k(lambda users: scores[users], np.array([0], dtype=np.int32), k=3)
    >>> items
    array([[1, 2, 3]], dtype=int32)
    """
    check_int("top_k: k", k, minimum=1)
    check_int("top_k: memory_mib", memory_mib, minimum=1)
    threads = (
        available_threads() if n_threads is None else check_int("top_k: n_threads", n_threads, minimum=1)
    )
    # the kernels, and numba with them, are imported at the first use
    from recgauge.engine import _arrays, _blocks, _factor_lane, _row_lanes

    name = type(source).__name__ if name is None else name
    lane: _blocks.Lane
    if isinstance(source, ItemWeights):
        lane = _row_lanes.ItemLane(source, seen, items, name)
    elif isinstance(source, FactorSource):
        lane = _factor_lane.FactorLane(source, seen, items, name)
    else:
        lane = _row_lanes.ScoreLane(source, seen, items, name, _arrays.checked_codes("users", users, None))
    return _blocks.run(lane, users, k, memory_mib << 20, threads, on_progress)


def available_threads() -> int:
    """Return the CPUs this process may use, which can be fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
