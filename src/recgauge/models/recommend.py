"""From a fitted model to ranked lists: candidates, mask, rank, ties; once, for all models."""

from typing import Any

from scipy import sparse

from recgauge.candidates import CandidateItems
from recgauge.data.top_k import TopK
from recgauge.engine import Source, rank_candidates, top_k
from recgauge.errors import ConfigError
from recgauge.models import GivesLists, Recommender
from recgauge.utils.checks import IntArray, check_int
from recgauge.utils.progress import NoProgress, Progress


def recommend(
    model: Recommender,
    users: IntArray,
    k: int,
    *,
    excluded: sparse.csr_array | None = None,
    candidates: CandidateItems | None = None,
    memory_mib: int = 256,
    n_threads: int | None = None,
    progress: Progress | None = None,
) -> TopK:
    """Return each user's `k` best items among the candidates.

    Parameters
    ----------
    model : Recommender
        Fitted.
    users : ndarray of int32, shape (m,)
        User codes.
    k : int
        Length of the lists, >= 1; lists are shorter where fewer items are left.
    excluded : scipy.sparse.csr_array, shape (n_users, n_items), optional
        Stored entries are left out, such as the training rows; short for candidates that only leave out.
    candidates : CandidateItems, optional
        What a candidate rule gives; everything if neither is given.
    memory_mib : int
        Memory for blocks of users, MiB; never changes a list.
    n_threads : int, optional
        As many as this process may use if not given; never changes a list.
    progress : Progress, optional

    Returns
    -------
    TopK

    Raises
    ------
    ConfigError
        If both `excluded` and `candidates` are given.
    ScoreError
        If the model's scores have a wrong shape or type, or are not finite.
    """
    check_int("recommend: k", k, minimum=1)
    check_int("recommend: memory_mib", memory_mib, minimum=1)
    if candidates is not None and excluded is not None:
        raise ConfigError("recommend: give either excluded or candidates, which can hold the excluded.")
    chosen = candidates or CandidateItems(excluded=excluded)
    if isinstance(model, GivesLists):
        return model.lists(users, k, chosen)
    with (progress or NoProgress()).step("recommend", len(users), "users") as advance:
        source, name = source_of(model), type(model).__name__
        settings: Any = {"memory_mib": memory_mib, "n_threads": n_threads, "on_progress": advance}
        if chosen.per_user is not None:
            items, scores = rank_candidates(source, users, k, chosen.per_user, name=name, **settings)
        else:
            seen, only = chosen.excluded, chosen.items
            items, scores = top_k(source, users, k, seen=seen, items=only, name=name, **settings)
    return TopK(users, items, scores, distinct=True)


def source_of(model: Recommender) -> Source:
    """Return what the engine makes a model's lists from: factors, item weights, or else its scores."""
    return model.factors() or model.item_weights() or model
