"""Every relevant item's place among all candidates of its user: what whole curves are made from."""

import numpy as np
from scipy import sparse

from recgauge.candidates import CandidateItems
from recgauge.data.relevance import Relevant
from recgauge.metrics.curves.full_ranking import FullRankings, rank_block
from recgauge.models import Recommender
from recgauge.utils.checks import IntArray


def rank_relevant(
    model: Recommender, relevant: Relevant, candidates: CandidateItems, n_items: int, *, memory_mib: int = 256
) -> FullRankings:
    """Score all items for every user with relevant ones, block by block, and place the relevant ones.

    Parameters
    ----------
    model : Recommender
        Fitted.
    relevant : Relevant
    candidates : CandidateItems
        Relevant items that are no candidates have no place.
    n_items : int
        Size of the catalogue.
    memory_mib : int
        Memory for a block's scores, MiB; never changes a place.

    Returns
    -------
    FullRankings
        Of the users of `relevant`, in its order.

    Examples
    --------
    >>> from recgauge.data.interactions import Interactions
    >>> from recgauge.models.popularity import Popularity
    >>> train = Interactions.from_ids([1, 1, 2, 3], ["a", "b", "b", "c"])
    >>> model = Popularity().fit(train, rng=np.random.default_rng(0))
    >>> relevant = Relevant(np.array([2]), np.array([0, 1]), np.array([0]), np.ones(1), 0)
    >>> rankings = rank_relevant(model, relevant, CandidateItems(excluded=train.to_csr()), 3)
    >>> rankings.above.tolist(), rankings.n_negative.tolist()
    ([1], [1])
    """
    step = max(1, memory_mib * 2**20 // (16 * n_items))
    blocks = [
        _place(model, relevant, candidates, n_items, slice(first, first + step))
        for first in range(0, len(relevant.users), step)
    ]
    return FullRankings.merge(blocks)


def _place(
    model: Recommender, relevant: Relevant, candidates: CandidateItems, n_items: int, rows: slice
) -> FullRankings:
    users = relevant.users[rows]
    start = relevant.start[rows.start : rows.start + len(users) + 1]
    items = relevant.items[start[0] : start[-1]]
    scores = np.asarray(model.score(users), np.float32)
    return rank_block(scores, start - start[0], items, _barred(candidates, users, n_items))


def _barred(candidates: CandidateItems, users: IntArray, n_items: int) -> sparse.csr_array | None:
    """Return the items that are no candidates of each user as stored entries, shape (b, n_items)."""
    seen = None if candidates.excluded is None else candidates.excluded[users]
    if not candidates.limited:
        return seen
    barred = np.ones((len(users), n_items), np.bool_)
    if candidates.per_user is not None:
        own = candidates.per_user[users]
        barred[np.repeat(np.arange(len(users)), np.diff(own.indptr)), own.indices] = False
        return sparse.csr_array(barred)
    barred[:, candidates.items] = False
    if seen is not None:
        barred[np.repeat(np.arange(len(users)), np.diff(seen.indptr)), seen.indices] = True
    return sparse.csr_array(barred)
