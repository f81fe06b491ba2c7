"""Exact top k for every user against the whole catalogue, faster than the product of the factors.

`top_k` ranks the catalogue, `rank_candidates` the items that each user was given, in bounded memory.
Importing this package imports neither numba nor the kernels.
"""

from collections.abc import Callable

from recgauge.engine.sources import (
    Allowed,
    FactorSource,
    ItemWeights,
    ListMaker,
    Scorer,
    SeenRows,
    Source,
    checked_codes,
    make_lists,
)
from recgauge.utils.checks import FloatArray, IntArray, check_int
from recgauge.utils.resources import process_cpus

__all__ = [
    "FactorSource",
    "ItemWeights",
    "Scorer",
    "Source",
    "rank_candidates",
    "top_k",
]


def top_k(
    source: Source,
    users: IntArray,
    k: int,
    *,
    seen: SeenRows | None = None,
    items: Allowed | None = None,
    memory_mib: int = 256,
    n_threads: int | None = None,
    on_progress: Callable[[int], None] | None = None,
    name: str | None = None,
) -> tuple[IntArray, FloatArray]:
    """Return each user's `k` best items, exactly as a full sort of all scores would.

    Parameters
    ----------
    source : FactorSource, ItemWeights, Scorer or callable
        The source of scores. Factors (anything with ``user`` and ``item``, such as
        `recgauge.models.Factors`) are searched without computing most of the scores; item weights are summed
        in panels; any other source returns scores from ``source.score(users)`` or ``source(users)``.
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
    return _rank("top_k", source, users, k, seen, items, None, memory_mib, n_threads, on_progress, name)


def rank_candidates(
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
    return _rank(
        "rank_candidates", source, users, k, None, None, candidates, memory_mib, n_threads, on_progress, name
    )


def _rank(
    subject: str,
    source: Source,
    users: IntArray,
    k: int,
    seen: SeenRows | None,
    items: Allowed | None,
    candidates: SeenRows | None,
    memory_mib: int,
    n_threads: int | None,
    on_progress: Callable[[int], None] | None,
    name: str | None,
) -> tuple[IntArray, FloatArray]:
    check_int(f"{subject}: k", k, minimum=1)
    check_int(f"{subject}: memory_mib", memory_mib, minimum=1)
    threads = process_cpus() if n_threads is None else n_threads  # not all CPUs may be this process's
    check_int(f"{subject}: n_threads", threads, minimum=1)
    name = type(source).__name__ if name is None else name
    lists: ListMaker
    # kernels take a second to load: only those of the source's kind are imported
    if isinstance(source, ItemWeights):
        from recgauge.engine._rows import WeightLists

        lists = WeightLists(source, seen, items, candidates, name)
    elif isinstance(source, FactorSource):
        from recgauge.engine._factors import FactorLists

        lists = FactorLists(source, seen, items, candidates, name)
    else:
        from recgauge.engine._rows import ScoreLists

        codes = checked_codes("users", users, None)
        lists = ScoreLists(source, seen, items, candidates, name, codes)
    return make_lists(lists, users, k, memory_mib << 20, threads, on_progress)
