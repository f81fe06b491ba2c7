"""The ranking task of a run: who gets lists or full rankings, how they, chance and the best are valued."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from recgauge.candidates import CandidateItems
from recgauge.conventions import Definition
from recgauge.data.catalogue import Catalogue, for_outside
from recgauge.data.coverage import Coverage
from recgauge.data.dataset import Dataset
from recgauge.data.lists import Relevant, TopK
from recgauge.data.split import Split
from recgauge.errors import MetricError
from recgauge.evaluation import (
    Evaluation,
    MetricResult,
    mean_and_stderr,
    merge,
)
from recgauge.evaluation.queries import of_users
from recgauge.evaluation.values import EvaluationInputs, evaluate_or_refuse
from recgauge.judging import Policies
from recgauge.judging.ineligible import count_ineligible, with_misses
from recgauge.judging.ties import recommend_with_ties, shuffled
from recgauge.metrics.curves.full_ranking import FullRankingMetric, FullRankings, rank_block
from recgauge.models import Recommender
from recgauge.models.random import Random
from recgauge.models.recommend import recommend, serving
from recgauge.recorded.direction import Reversal
from recgauge.utils.checks import BoolArray, IntArray, read_only
from recgauge.utils.progress import Progress

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


def _values(suite: Mapping[str, Definition], measure: Evaluate) -> tuple[dict[str, float], dict[str, float]]:
    if not suite:
        return {}, {}
    try:
        evaluation, _ = evaluate_or_refuse(suite, measure)
    except MetricError:
        return {}, {}
    return evaluation.values(), evaluation.stderrs()


@dataclass(frozen=True, eq=False)
class RankingTask:
    """The task that every model of a run gets, and how its lists are measured.

    Parameters
    ----------
    dataset : Dataset
    split : Split
    relevant : Relevant
        Test items that are relevant.
    candidates : CandidateItems
    metrics : mapping of str to Definition
        Result name to definition, metrics of lists only.
    cutoffs : tuple of int
        The largest is the length of the lists.
    policies : Policies
    seed : int
        Of random orders of equal scores.
    memory_mib : int
        Memory for blocks of users, MiB; never changes a number.
    usual : mapping of str to str
        Policies that hold where lists from outside have such items; see `Convention.for_ineligible`.
    n_unknown : int or None
        Of lists from outside with ineligible items: how many items the data set does not have.
    """

    dataset: Dataset
    split: Split
    relevant: Relevant
    candidates: CandidateItems
    metrics: Mapping[str, Definition]
    cutoffs: tuple[int, ...]
    policies: Policies
    seed: int
    memory_mib: int
    usual: Mapping[str, str] = field(default_factory=dict)
    n_unknown: int | None = None

    @property
    def only_relevant(self) -> bool:
        """Whether only users with relevant items count, as ``Policies(no_relevant="skip")`` has it."""
        return self._without_relevant == "skip"

    @property
    def _without_relevant(self) -> str:
        """What happens to test users without relevant items."""
        # every test user has judged rows: those below relevant_from have grade 0
        judged = self.policies.no_positive_grade
        return self.policies.no_relevant if judged == "same" else judged

    @cached_property
    def users(self) -> IntArray:
        """Rising codes of the users who count, shape (m,)."""
        return self.relevant.users if self.only_relevant else self.split.test_users

    @cached_property
    def listed_users(self) -> IntArray:
        """Rising codes of the users who get a list: those who count, or all that a metric looks at."""
        wide = any(each.metric.needs_all_users for each in self.metrics.values())
        return self.split.test_users if wide else self.users

    def coverage(self, lists: TopK | None = None) -> Coverage:
        """Return whose values make the means, by the policies that hold for all metrics.

        Before there are lists, nobody is without one.
        """
        left_out = ("skip", "nan")
        coverage = self.split.coverage(self.relevant.users if self._without_relevant in left_out else None)
        if lists is None or self.policies.no_list not in left_out:
            return coverage
        return self.with_lists(lists, coverage)

    def with_lists(self, lists: TopK, coverage: Coverage) -> Coverage:
        """Return the coverage of those who have a list, whether or not the others count as misses."""
        empty = np.intersect1d(lists.users[lists.lengths == 0], self.relevant.users)
        n_rows = int(self.split.test.user_counts()[empty].sum())
        listed = self.split.users_of(np.setdiff1d(self.relevant.users, empty))
        n_users = len(self.split.users_of(self.relevant.users)) - len(listed)
        return coverage.without("no_list", users=n_users, rows=n_rows)

    @cached_property
    def catalogue(self) -> Catalogue:
        """What metrics know besides lists and relevance."""
        features = None if self.dataset.item_features is None else self.dataset.item_features.matrix
        split, test = self.split, self.split.test
        seen = split.seen if split.query_of is None else None
        catalogue = Catalogue.from_train(split.train, features, fold_in=split.fold_in, seen=seen)
        catalogue = replace(
            catalogue,
            seen=catalogue.seen if split.query_of is None else split.past,
            irrelevant=self.candidates.irrelevant(self.relevant, test.n_users, test.n_items),
        )
        if self.n_unknown is None:
            return catalogue
        parts = (split.train, split.fold_in, split.validation, test)
        in_data = np.logical_or.reduce([part.item_counts() > 0 for part in parts if part is not None])
        return for_outside(catalogue, in_data, self.candidates.excluded, self.n_unknown)

    def for_lists(self, lists: TopK, n_unknown: int) -> tuple["RankingTask", dict[str, int]]:
        """Return the task of judging whole lists from outside, and how many of their items are ineligible.

        The task is this one where none is. `lists` are those of `listed_users`, whose unknown items have the
        codes behind those of the data set.
        """
        task = replace(self, n_unknown=n_unknown)
        counts = count_ineligible(lists.items, lists.users, task.catalogue, self.policies.longest)
        if not counts:
            return self, counts
        usual: dict[str, Any] = {name: value for name, value in self.usual.items() if name in counts}
        metrics = {
            name: replace(each, policies=replace(each.policies, **usual))
            for name, each in self.metrics.items()
        }
        return replace(task, metrics=metrics, policies=replace(self.policies, **usual)), counts

    def reversal(self, lists: TopK) -> Reversal | None:
        """Return whether whole lists from outside, of candidates alone, are better from their end."""

        def eligible(users: IntArray, items: IntArray) -> BoolArray:
            held = items < self.split.test.n_items
            held[held] = self.candidates.holds(users[held], items[held])
            return held

        return Reversal.of_top_k(lists, self.relevant, eligible, self.split.test.n_items)

    def judged_lists(self, lists: TopK) -> TopK:
        """Return lists of this task as they were judged, down to the largest cutoff.

        A place that counts and hits nothing has a code behind those of the data set, another for each rank.
        """
        judged = with_misses(lists.items, lists.scores, lists.users, self.catalogue, self.policies)
        items, scores, missed = judged
        codes = self.split.test.n_items + np.arange(items.shape[1], dtype=np.int32)
        k = max(self.cutoffs)
        return TopK(lists.users, np.where(missed, codes, items)[:, :k], scores[:, :k])

    def recommend(self, model: Recommender, progress: Progress) -> TopK:
        """Return a model's lists for `listed_users`, with what ties with their last items."""
        chosen = self.metrics.values()
        draws = [1 for each in chosen if each.policies.ties == "random"]
        if self.policies.ties == "expected":
            draws += [each.policies.draws for each in chosen if not each.metric.has_expected]
        lists = recommend_with_ties(
            partial(
                recommend, serving(model, self.split), candidates=self.candidates, memory_mib=self.memory_mib
            ),
            self.listed_users,
            max(self.cutoffs),
            self.relevant,
            n_items=self.split.test.n_items,
            memory_mib=self.memory_mib,
            draws=max(draws, default=0),
            seed=self.seed,
            progress=progress,
        )
        return shuffled(lists, self.seed, 0) if self.policies.ties == "random" else lists

    def evaluate(self, metrics: Mapping[str, Definition], lists: TopK) -> Evaluation:
        """Return the values of metrics of `lists`, which are those of `listed_users`.

        A metric that looks at all test users has no per-user values where not all of them count.
        """
        how: dict[str, Any] = {"cutoffs": self.cutoffs, "policies": self.policies, "seed": self.seed}
        users, user_ids = None if self.only_relevant else self.users, self.split.test.user_ids
        inputs = EvaluationInputs(lists.of(self.users), self.relevant, user_ids, users, self.catalogue)
        evaluation = self._of_users(inputs.evaluate(metrics, **how))
        on_all = {name: each for name, each in metrics.items() if each.metric.needs_all_users}
        if len(lists.users) == len(self.users) or not on_all:
            return evaluation
        results = replace(inputs, top_k=lists, users=lists.users).evaluate(on_all, **how).results
        wide = replace(evaluation, results=tuple(replace(result, per_user=None) for result in results))
        return merge([evaluation, wide], [result.key for result in evaluation.results])

    def _of_users(self, evaluation: Evaluation) -> Evaluation:
        """Bring the queries of each user together, if users have several."""
        sequences = self.split.sequences
        if sequences is None or sequences.query_of is None:
            return evaluation
        owner, ids = sequences.query_of[self.users], sequences.rows.user_ids
        n_users = len(self.split.users_of(self.split.test_users))
        return of_users(evaluation, owner, ids, sequences.average, n_users)

    def sanity(self, random: Random) -> SanityRows:
        """Evaluate lists by chance and the best lists exactly as the model's.

        A metric whose definition refuses such lists is left out. The best lists are the best for metrics of
        relevance alone, so other metrics, such as novelty, have no oracle.
        """
        users, k = self.listed_users, max(self.cutoffs)
        chance = recommend(random, users, k, candidates=self.candidates, memory_mib=self.memory_mib)
        oracle = oracle_lists(self.relevant, users, k, self.candidates)
        of_relevance = {
            name: each
            for name, each in self.metrics.items()
            if each.metric.needs_relevant and not each.metric.needs & {"train", "features", "similarity"}
        }
        by_chance, stderrs = _values(self.metrics, partial(self.evaluate, lists=chance))
        best, _ = _values(of_relevance, partial(self.evaluate, lists=oracle))
        return SanityRows(by_chance, best, stderrs)


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
    blocks = []
    for first in range(0, len(relevant.users), step):
        users = relevant.users[first : first + step]
        start = relevant.start[first : first + len(users) + 1]
        items = relevant.items[start[0] : start[-1]]
        scores = np.asarray(model.score(users), np.float32)
        blocks.append(rank_block(scores, start - start[0], items, _barred(candidates, users, n_items)))
    return FullRankings.merge(blocks)


def add_full_rankings(
    evaluation: Evaluation,
    metrics: Mapping[str, Definition],
    rankings: FullRankings,
    user_ids: npt.NDArray[np.generic],
) -> tuple[Evaluation, dict[str, str]]:
    """Return an evaluation of lists with the metrics of full rankings added.

    Parameters
    ----------
    evaluation : Evaluation
        Of the lists of the same users and perhaps of others, whose values are NaN.
    metrics : mapping of str to Definition
        Result name to a `FullRankingMetric`.
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
    for name, definition in metrics.items():
        metric = definition.metric
        if not isinstance(metric, FullRankingMetric):
            raise TypeError(f"{name}: {metric.definition()} is no metric of full rankings.")
        per_user = np.full(len(rows), np.nan)
        per_user[rows] = metric.per_user(rankings)
        defined = per_user[~np.isnan(per_user)]
        if not len(defined):
            refused[name] = f"{metric.definition()} is undefined: no user has relevant and other candidates."
            continue
        stderr = mean_and_stderr(defined)[1] if metric.aggregate == "user" else None
        value, text, better = metric.value(rankings), metric.definition(), metric.higher_is_better
        per_user = read_only(per_user)
        results.append(MetricResult(name, name, None, value, stderr, per_user, text, better, len(defined)))
    return replace(evaluation, results=(*evaluation.results, *results)), refused


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
