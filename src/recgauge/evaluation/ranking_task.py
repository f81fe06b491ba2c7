"""The ranking task of a run: who gets lists, from which candidates, and how lists are measured."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial

from recgauge.candidates import CandidateItems
from recgauge.conventions import Definition
from recgauge.data.catalogue import Catalogue
from recgauge.data.dataset import Dataset
from recgauge.data.relevance import Relevant
from recgauge.data.split import Split
from recgauge.data.top_k import TopK
from recgauge.evaluation.results import Evaluation, merge
from recgauge.evaluation.sanity import SanityRows, oracle_lists, sanity_rows
from recgauge.evaluation.tied import Ties, ties_at_cutoffs
from recgauge.evaluation.values import evaluate_top_k
from recgauge.judging.policies import Policies
from recgauge.judging.ties import Ask, Draws, recommend_with_ties, shuffled
from recgauge.models import Recommender
from recgauge.models.random import Random
from recgauge.models.recommend import recommend
from recgauge.utils.checks import IntArray
from recgauge.utils.progress import Progress


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

    @property
    def only_relevant(self) -> bool:
        """Whether only users with relevant items count, as ``Policies(no_relevant="skip")`` has it."""
        # every test user has judged rows: those below relevant_from have grade 0
        return self.policies.for_none_relevant == "skip"

    @cached_property
    def users(self) -> IntArray:
        """Rising codes of the users who count, shape (m,)."""
        return self.relevant.users if self.only_relevant else self.split.test_users

    @cached_property
    def listed_users(self) -> IntArray:
        """Rising codes of the users who get a list: those who count, or all that a metric looks at."""
        return self.split.test_users if _all_users(self.metrics) else self.users

    @cached_property
    def catalogue(self) -> Catalogue:
        """What metrics know besides lists and relevance."""
        features = None if self.dataset.item_features is None else self.dataset.item_features.matrix
        catalogue = Catalogue.from_train(self.split.train, features, fold_in=self.split.fold_in)
        test = self.split.test
        return replace(
            catalogue, irrelevant=self.candidates.irrelevant(self.relevant, test.n_users, test.n_items)
        )

    def recommend(self, model: Recommender, progress: Progress) -> TopK:
        """Return a model's lists for `listed_users`, with what ties with their last items."""
        lists = recommend_with_ties(
            self._asked(model),
            self.listed_users,
            max(self.cutoffs),
            self.relevant,
            n_items=self.split.test.n_items,
            memory_mib=self.memory_mib,
            draws=self._draws(),
            progress=progress,
        )
        return shuffled(lists, self.seed, 0) if self.policies.ties == "random" else lists

    def _asked(self, model: Recommender) -> Ask:
        return partial(recommend, model, candidates=self.candidates, memory_mib=self.memory_mib)

    def _draws(self) -> Draws:
        """Return the random orders of equal scores that the lists must be drawn for."""
        chosen = self.metrics.values()
        drawn = [each.policies.draws for each in chosen if not each.metric.has_expected]
        if self.policies.ties == "expected" and drawn:
            return Draws(max(drawn), self.seed)
        return Draws(int(any(each.policies.ties == "random" for each in chosen)), self.seed)

    def evaluate(self, metrics: Mapping[str, Definition], lists: TopK) -> Evaluation:
        """Return the values of metrics of `lists`, which are those of `listed_users`.

        A metric that looks at all test users has no per-user values where not all of them count.
        """
        measure = partial(
            evaluate_top_k,
            relevant=self.relevant,
            cutoffs=self.cutoffs,
            user_ids=self.dataset.interactions.user_ids,
            policies=self.policies,
            catalogue=self.catalogue,
            seed=self.seed,
        )
        counted = measure(metrics, lists.of(self.users), users=None if self.only_relevant else self.users)
        on_all = {name: each for name, each in metrics.items() if each.metric.needs_all_users}
        if len(lists.users) == len(self.users) or not on_all:
            return counted
        results = measure(on_all, lists, users=lists.users).results
        wide = replace(counted, results=tuple(replace(result, per_user=None) for result in results))
        return merge([counted, wide], [result.key for result in counted.results])

    def ties(self, lists: TopK) -> Ties:
        """Return what equal scores do to the values of `lists`."""
        return ties_at_cutoffs(
            self.metrics,
            lists.of(self.users),
            self.relevant,
            cutoffs=self.cutoffs,
            measure=partial(self.evaluate, lists=lists),
        )

    def sanity(self, random: Random) -> SanityRows:
        """Evaluate lists by chance and the best lists exactly as the model's."""
        users, k = self.listed_users, max(self.cutoffs)
        chance = self._asked(random)(users, k)
        oracle = oracle_lists(self.relevant, users, k, self.candidates)
        return sanity_rows(
            self.metrics, partial(self.evaluate, lists=chance), partial(self.evaluate, lists=oracle)
        )


def _all_users(metrics: Mapping[str, Definition]) -> bool:
    return any(each.metric.needs_all_users for each in metrics.values())
