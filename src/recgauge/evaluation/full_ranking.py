"""The ranks of relevant items among all candidates: AUC, average precision and whole curves."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from scipy import sparse

from recgauge.candidates import CandidateItems
from recgauge.data.relevance import Relevant
from recgauge.evaluation import Evaluation, MetricResult, mean_and_stderr
from recgauge.metrics.curves.full_ranking import FullRankingMetric, FullRankings, rank_block
from recgauge.models import Recommender
from recgauge.utils.checks import IntArray, read_only


def rank_relevant(
    model: Recommender, relevant: Relevant, candidates: CandidateItems, n_items: int, *, memory_mib: int = 256
) -> FullRankings:
    """Score all items for every user with relevant ones, block by block, and rank the relevant ones.

    Parameters
    ----------
    model : Recommender
        Fitted.
    relevant : Relevant
    candidates : CandidateItems
        Relevant items that are no candidates are not ranked.
    n_items : int
        Size of the catalogue.
    memory_mib : int
        Memory for a block's scores, MiB; never changes a rank.

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
        _rank(model, relevant, candidates, n_items, slice(first, first + step))
        for first in range(0, len(relevant.users), step)
    ]
    return FullRankings.merge(blocks)


def add_full_rankings(
    evaluation: Evaluation,
    metrics: Mapping[str, FullRankingMetric],
    rankings: FullRankings,
    user_ids: npt.NDArray[np.generic],
) -> tuple[Evaluation, dict[str, str]]:
    """Return an evaluation of lists with the metrics of full rankings added.

    Parameters
    ----------
    evaluation : Evaluation
        Of the lists of the same users and perhaps of others, whose values are NaN.
    metrics : mapping of str to FullRankingMetric
        Result name to definition.
    rankings : FullRankings
        As `rank_relevant` returns them.
    user_ids : ndarray, shape (m,)
        Ids of the users of `rankings`.

    Returns
    -------
    Evaluation
    dict of str to str
        ``{name: reason}`` of the metrics without a value for anybody.
    """
    rows = np.isin(evaluation.users, user_ids)  # both by rising code, and all of user_ids are in users
    results, refused = [], {}
    for name, metric in metrics.items():
        per_user = np.full(len(rows), np.nan)
        per_user[rows] = metric.per_user(rankings)
        defined = per_user[~np.isnan(per_user)]
        if not len(defined):
            refused[name] = f"{metric.definition()} is undefined: no user has relevant and other candidates."
            continue
        stderr = mean_and_stderr(defined)[1] if metric.aggregate == "user" else None
        results.append(
            MetricResult(
                key=name,
                name=name,
                k=None,
                value=metric.value(rankings),
                stderr=stderr,
                per_user=read_only(per_user),
                definition=metric.definition(),
                higher_is_better=metric.higher_is_better,
                n_users=len(defined),
            )
        )
    return replace(evaluation, results=(*evaluation.results, *results)), refused


def _rank(
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
