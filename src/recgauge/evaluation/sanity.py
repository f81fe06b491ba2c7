"""Sanity rows: what chance reaches and what the best lists reach, under the same split and candidates."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from recgauge.candidates import CandidateItems
from recgauge.conventions import Definition
from recgauge.data.relevance import Relevant
from recgauge.data.top_k import TopK
from recgauge.errors import MetricError
from recgauge.evaluation.results import Evaluation, evaluate_or_refuse
from recgauge.utils.checks import IntArray

Evaluate = Callable[[Mapping[str, Definition]], Evaluation]


@dataclass(frozen=True, slots=True, eq=False)
class SanityRows:
    """Values of two models that everybody understands.

    Parameters
    ----------
    chance : mapping of str to float
        Result key to the value of random lists.
    oracle : mapping of str to float
        Result key to the value of the best lists that candidates allow; metrics of relevance only.
    chance_stderr : mapping of str to float
    """

    chance: Mapping[str, float]
    oracle: Mapping[str, float]
    chance_stderr: Mapping[str, float] = field(default_factory=dict)


def oracle_lists(relevant: Relevant, users: IntArray, k: int, candidates: CandidateItems) -> TopK:
    """Return the best lists: each user's relevant items that are candidates, highest gain first.

    Parameters
    ----------
    relevant : Relevant
    users : ndarray of int32, shape (m,)
        Who gets a list; it is empty for users without relevant items.
    k : int
        Length of the lists.
    candidates : CandidateItems

    Examples
    --------
    >>> relevant = Relevant(
    ...     np.array([0], np.int32), np.array([0, 2]), np.array([3, 7], np.int32), np.array([1.0, 2.0]), 0
    ... )
    >>> oracle_lists(relevant, np.array([0, 1], np.int32), 3, CandidateItems()).items
    array([[ 7,  3, -1],
           [-1, -1, -1]], dtype=int32)
    """
    owner = np.repeat(relevant.users, np.diff(relevant.start)).astype(np.int32)
    held = candidates.holds(owner, relevant.items)
    owner, item, gain = owner[held], relevant.items[held], relevant.gains[held]
    order = np.lexsort((item, -gain, owner))
    owner, item, gain = owner[order], item[order], gain[order]
    column = np.arange(len(owner)) - np.searchsorted(owner, owner)
    row_of = np.full(int(max(users.max(initial=0), owner.max(initial=0))) + 1, -1)
    row_of[users] = np.arange(len(users))
    kept = (column < k) & (row_of[owner] >= 0)
    items = np.full((len(users), k), -1, np.int32)
    scores = np.full((len(users), k), -np.inf, np.float32)
    items[row_of[owner[kept]], column[kept]] = item[kept]
    scores[row_of[owner[kept]], column[kept]] = gain[kept]
    return TopK(users, items, scores)


def sanity_rows(
    suite: Mapping[str, Definition], measure_chance: Evaluate, measure_oracle: Evaluate
) -> SanityRows:
    """Evaluate random lists and the best lists as a model's are.

    Parameters
    ----------
    suite : mapping of str to Definition
        The run's metrics of lists.
    measure_chance, measure_oracle : callable
        Evaluate a suite on the random and on the best lists.

    Notes
    -----
    A metric that its definition refuses for such lists is left out. The best lists are the best for metrics
    of relevance alone, so other metrics, such as novelty, have no oracle.
    """
    of_relevance = {
        name: definition
        for name, definition in suite.items()
        if definition.metric.needs_relevant
        and not definition.metric.needs & {"train", "features", "similarity"}
    }
    chance, stderr = _values(suite, measure_chance)
    return SanityRows(chance, _values(of_relevance, measure_oracle)[0] if of_relevance else {}, stderr)


def _values(suite: Mapping[str, Definition], measure: Evaluate) -> tuple[dict[str, float], dict[str, float]]:
    try:
        evaluation, _ = evaluate_or_refuse(suite, measure)
    except MetricError:
        return {}, {}
    return evaluation.values(), evaluation.stderrs()
