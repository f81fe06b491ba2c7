"""One run from data to numbers. The page to read first: `run_experiment` walks the rooms in order."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from recgauge.candidates import CandidateItems, Candidates
from recgauge.conventions import Definition
from recgauge.data.catalogue import Catalogue
from recgauge.data.dataset import Dataset
from recgauge.data.relevance import Relevant
from recgauge.data.split import Split
from recgauge.data.top_k import TopK
from recgauge.datasets import DatasetSource
from recgauge.errors import ConfigError
from recgauge.evaluation.evaluate import evaluate_top_k
from recgauge.evaluation.evaluate_ratings import evaluate_predictions
from recgauge.evaluation.full_ranking import rank_relevant
from recgauge.evaluation.measure import Measure, needs_all_users
from recgauge.evaluation.predict import predict_ratings
from recgauge.evaluation.refusals import evaluate_or_refuse
from recgauge.evaluation.sanity import SanityRows, oracle_lists, sanity_rows
from recgauge.evaluation.tied import ties_at_cutoffs
from recgauge.filters import Filter, apply_filters
from recgauge.guards import GuardResult, GuardSettings, enforce
from recgauge.guards.lists import check_candidates, check_selection
from recgauge.guards.sanity import check_sanity
from recgauge.guards.splits import check_split
from recgauge.guards.ties import check_ties
from recgauge.judging.beyond_list import Draws, recommend_with_ties, shuffled
from recgauge.judging.policies import Policies
from recgauge.metrics.rating import RatingMetric
from recgauge.models import RatingPredictor, Recommender
from recgauge.models.fitting import fit
from recgauge.models.random import Random
from recgauge.models.recommend import compile_kernels, recommend
from recgauge.runs.result import RankingResult, RatingResult, RunResult
from recgauge.splits import Splitter
from recgauge.utils.checks import IntArray
from recgauge.utils.progress import NoProgress, Progress
from recgauge.utils.randomness import stream
from recgauge.utils.timing import Timings


@dataclass(frozen=True, slots=True, eq=False)
class Experiment:
    """Everything that decides a run's numbers.

    Parameters
    ----------
    dataset : DatasetSource
    splitter : Splitter
    candidates : Candidates
    model : Recommender or RatingPredictor
        Metrics of lists need a recommender, rating metrics a rating predictor; a model may be both.
    metrics : mapping of str to Definition
        Result name to definition.
    cutoffs : tuple of int
        Every metric of lists is computed at each; the largest is the length of the lists.
    filters : tuple of Filter
        Run in their order before the split.
    policies : Policies
        What happens to users without relevant items, equal scores and the like.
    seed : int
        Every stage draws from a stream of its own made from it.
    fit_on : {"train", "all"}
        Rows that the model learns from; with ``all`` it sees the test rows, as in some articles.
    memory_mib : int
        Memory for blocks of users while lists are made, MiB; never changes a number.
    guards : GuardSettings
        Which guards may not stop the run, and what the settings were chosen by.
    sanity : bool
        Evaluate random and the best lists, too.
    curves : bool
        Place every relevant item among all candidates, for curves of full rankings, too.
    """

    dataset: DatasetSource
    splitter: Splitter
    candidates: Candidates
    model: Recommender | RatingPredictor
    metrics: Mapping[str, Definition]
    cutoffs: tuple[int, ...]
    filters: tuple[Filter, ...] = ()
    policies: Policies = field(default_factory=Policies)
    seed: int = 0
    fit_on: str = "train"
    memory_mib: int = 256
    guards: GuardSettings = field(default_factory=GuardSettings)
    sanity: bool = False
    curves: bool = False

    def __post_init__(self) -> None:
        if self.sanity and not self.list_metrics:
            raise ConfigError("sanity: chance and the best reachable are of lists; add metrics=ranking.")

    @property
    def list_metrics(self) -> dict[str, Definition]:
        """The metrics of ranked lists."""
        return {n: d for n, d in self.metrics.items() if not isinstance(d.metric, RatingMetric)}

    @property
    def rating_metrics(self) -> dict[str, RatingMetric]:
        """The metrics of predicted ratings."""
        return {n: d.metric for n, d in self.metrics.items() if isinstance(d.metric, RatingMetric)}

    @property
    def draws(self) -> Draws:
        """Random orders of equal scores that the lists must be drawn for."""
        ways = [definition.policies for definition in self.list_metrics.values()]
        drawn = [d.policies.draws for d in self.list_metrics.values() if not d.metric.has_expected]
        if self.policies.ties == "expected" and drawn:
            return Draws(max(drawn), self.seed)
        return Draws(int(any(way.ties == "random" for way in ways)), self.seed)


def run_experiment(experiment: Experiment, progress: Progress | None = None) -> RunResult:
    """Load, filter, split, guard, fit; then recommend, judge and evaluate lists, and predict ratings.

    Parameters
    ----------
    experiment : Experiment
    progress : Progress, optional
        Told about every stage.

    Returns
    -------
    RunResult

    Raises
    ------
    RecgaugeError
        If a stage cannot do its work; the message says which setting to change.
    """
    timings = Timings(progress or NoProgress())
    seed = experiment.seed
    with timings.stage("load") as reporter:
        dataset = experiment.dataset.load(reporter)
    with timings.stage("split"):
        dataset, steps = apply_filters(dataset, experiment.filters, seed=seed)
        splitter = experiment.splitter.for_dataset(dataset)
        # Pairs in train and test are the guard's to tell, so that the user can override it.
        split = splitter.split(dataset.interactions, rng=stream(seed, "split"), steps=steps, overlap=True)
        relevant = Relevant.from_interactions(split.test, dataset.relevant_from)
        guards = _guarded_split(experiment, split, relevant)
    candidates = None
    if experiment.list_metrics and isinstance(experiment.model, Recommender):
        with timings.stage("candidates"):
            candidates = experiment.candidates.choose(split, rng=stream(seed, "candidates"))
            guards += _guarded_candidates(experiment, split, relevant, candidates)
    with timings.stage("fit"):
        model = fit(experiment.model, split, experiment.fit_on, rng=stream(seed, "fit"))
    ranking = rating = None
    if candidates is not None and isinstance(model, Recommender):
        ranking = _rank(experiment, model, dataset, split, relevant, candidates, timings)
        guards += (check_ties(ranking.ties, ranking.evaluation, experiment.policies),)
        if experiment.curves:
            with timings.stage("curves"):
                sizes = {"n_items": split.test.n_items, "memory_mib": experiment.memory_mib}
                rankings = rank_relevant(model, relevant, candidates, **sizes)
                ranking = replace(ranking, rankings=rankings)
        if ranking.sanity is not None:
            guards += tuple(check_sanity(ranking.evaluation, ranking.sanity))
    if experiment.rating_metrics:
        rating = _predict(experiment, model, dataset.rating_scale(), split, timings)
    return RunResult(dataset, split, ranking, rating, timings.seconds, guards)


def _guarded_split(experiment: Experiment, split: Split, relevant: Relevant) -> tuple[GuardResult, ...]:
    splitter = experiment.splitter
    found = check_split(split, relevant, temporal=splitter.temporal, ties=splitter.tie_rule)
    return enforce([check_selection(experiment.guards), *found], experiment.guards)


def _guarded_candidates(
    experiment: Experiment, split: Split, relevant: Relevant, candidates: CandidateItems
) -> tuple[GuardResult, ...]:
    sizes = {"n_users": split.test.n_users, "n_items": split.test.n_items, "top_k": max(experiment.cutoffs)}
    return enforce(check_candidates(candidates, relevant, **sizes), experiment.guards)


def _rank(
    experiment: Experiment,
    model: Recommender,
    dataset: Dataset,
    split: Split,
    relevant: Relevant,
    candidates: CandidateItems,
    timings: Timings,
) -> RankingResult:
    # every test user has judged rows: those below relevant_from have grade 0
    only_relevant = experiment.policies.for_none_relevant == "skip"
    users = relevant.users if only_relevant else split.test_users
    asked = split.test_users if needs_all_users(experiment.list_metrics) else users
    compile_kernels(model, timings, given=candidates.per_user is not None)
    with timings.stage("recommend") as reporter:
        lists = _lists(experiment, model, asked, relevant, candidates, split.test.n_items, reporter)
    with timings.stage("metrics"):
        catalogue = _catalogue(dataset, split, relevant, candidates)
        evaluate = partial(
            evaluate_top_k,
            relevant=relevant,
            cutoffs=experiment.cutoffs,
            user_ids=dataset.interactions.user_ids,
            policies=experiment.policies,
            catalogue=catalogue,
            seed=experiment.seed,
        )
        measure = Measure(evaluate, users, only_relevant)
        on_lists, top_k = partial(measure, lists=lists), lists.of(users)
        evaluation, refused = evaluate_or_refuse(experiment.list_metrics, on_lists)
        suite, cutoffs = experiment.list_metrics, experiment.cutoffs
        ties = ties_at_cutoffs(suite, top_k, relevant, cutoffs=cutoffs, measure=on_lists)
    sanity = None
    if experiment.sanity:
        random = Random().fit(split.train, rng=stream(experiment.seed, "sanity"))
        compile_kernels(random, timings, given=candidates.per_user is not None)
        with timings.stage("sanity"):
            sanity = _sanity(experiment, random, relevant, candidates, asked, measure)
    return RankingResult(
        top_k,
        relevant,
        catalogue,
        evaluation,
        ties,
        refused,
        candidates.incomparable,
        candidates.sha256(),
        candidates.facts,
        sanity,
    )


def _catalogue(dataset: Dataset, split: Split, relevant: Relevant, candidates: CandidateItems) -> Catalogue:
    """Return what metrics know besides lists and relevance."""
    features = None if dataset.item_features is None else dataset.item_features.matrix
    catalogue = Catalogue.from_train(split.train, features, fold_in=split.fold_in)
    irrelevant = candidates.irrelevant(relevant, split.test.n_users, split.test.n_items)
    return replace(catalogue, irrelevant=irrelevant)


def _lists(
    experiment: Experiment,
    model: Recommender,
    users: IntArray,
    relevant: Relevant,
    candidates: CandidateItems,
    n_items: int,
    reporter: Progress,
) -> TopK:
    top_k = recommend_with_ties(
        partial(recommend, model, candidates=candidates, memory_mib=experiment.memory_mib),
        users,
        max(experiment.cutoffs),
        relevant,
        n_items=n_items,
        memory_mib=experiment.memory_mib,
        draws=experiment.draws,
        progress=reporter,
    )
    return shuffled(top_k, experiment.seed, 0) if experiment.policies.ties == "random" else top_k


def _sanity(
    experiment: Experiment,
    random: Random,
    relevant: Relevant,
    candidates: CandidateItems,
    users: IntArray,
    measure: Measure,
) -> SanityRows:
    """Evaluate chance and the best lists exactly as the model's."""
    k, memory = max(experiment.cutoffs), experiment.memory_mib
    chance = recommend(random, users, k, candidates=candidates, memory_mib=memory)
    oracle = oracle_lists(relevant, users, k, candidates)
    return sanity_rows(
        experiment.list_metrics, partial(measure, lists=chance), partial(measure, lists=oracle)
    )


def _predict(
    experiment: Experiment, model: object, scale: tuple[float, float], split: Split, timings: Timings
) -> RatingResult:
    with timings.stage("predict"):
        predictions = predict_ratings(model, split.test, scale)
    with timings.stage("metrics"):
        on_ratings = partial(evaluate_predictions, predictions=predictions, user_ids=split.test.user_ids)
        evaluation, refused = evaluate_or_refuse(experiment.rating_metrics, on_ratings)
    return RatingResult(predictions, evaluation, refused)
