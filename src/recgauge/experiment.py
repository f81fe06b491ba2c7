"""One run from data to numbers. The page to read first: `run_experiment` shows its steps in order."""

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial

from recgauge.candidates import Candidates
from recgauge.conventions import Definition
from recgauge.data.dataset import Dataset
from recgauge.data.lists import Relevant
from recgauge.data.split import EvaluateOn, Split
from recgauge.datasets import DatasetSource
from recgauge.errors import ConfigError
from recgauge.evaluation.evaluate import check_measures_lists
from recgauge.evaluation.evaluate_ratings import evaluate_predictions, predict_ratings
from recgauge.evaluation.learning import EpochPoint, Learning, Watched, fit_watched, watched_metric
from recgauge.evaluation.outside import value_of_policies
from recgauge.evaluation.ranking_task import RankingTask, add_full_rankings, rank_relevant
from recgauge.evaluation.values import evaluate_or_refuse, ties_at_cutoffs
from recgauge.filters import Filter, apply_filters
from recgauge.guards import GuardResult, GuardSettings, enforce
from recgauge.guards.checks import (
    check_candidates,
    check_coverage,
    check_direction,
    check_filters,
    check_lengths,
    check_neighbours,
    check_recorded,
    check_sanity,
    check_selection,
    check_split,
    check_ties,
)
from recgauge.judging import Policies, check_longest
from recgauge.judging.ineligible import REASONS
from recgauge.metrics import Kind
from recgauge.models import GivesLists, KeepsNeighbours, RatingPredictor, Recommender
from recgauge.models.isolated import Isolated
from recgauge.models.random import Random
from recgauge.models.recommend import FitOn, fit, serving
from recgauge.models.recorded import Recorded
from recgauge.runs.record import RankingResult, RatingResult, RunResult
from recgauge.splits import Splitter
from recgauge.utils.progress import Progress, Timings
from recgauge.utils.randomness import stream
from recgauge.utils.resources import watch_peak


@dataclass(frozen=True, slots=True, eq=False)
class DataPlan:
    """What decides the rows of a run: those that a model learns from, and those that it is measured on.

    Parameters
    ----------
    dataset : DatasetSource
    splitter : Splitter
    filters : tuple of Filter
        Run in their order before the split.
    seed : int
        Every stage draws from a stream of its own made from it.
    fit_on : {"train", "train_validation", "all"}
        Rows that the model learns from; with ``all`` it sees the test rows, as in some articles.
    evaluate_on : {"test", "validation"}
        With ``validation``, for choosing models and settings, test rows are not looked at.
    guards : GuardSettings
        Which guards may not stop the run, and what the settings were chosen by.
    """

    dataset: DatasetSource
    splitter: Splitter
    _: KW_ONLY
    filters: tuple[Filter, ...] = ()
    seed: int = 0
    fit_on: FitOn = "train"
    evaluate_on: EvaluateOn = "test"
    guards: GuardSettings = field(default_factory=GuardSettings)

    def __post_init__(self) -> None:
        if self.evaluate_on == "validation" and self.fit_on != "train":
            raise ConfigError(
                f"evaluate_on=validation: the model must not have seen these rows, so fit_on must be train, "
                f"got {self.fit_on}."
            )


@dataclass(frozen=True, slots=True, eq=False)
class Experiment(DataPlan):
    """Everything that decides a run's numbers: a `DataPlan`, a model, and how it is measured.

    Parameters
    ----------
    candidates : Candidates
    model : Recommender or RatingPredictor
        Metrics of lists need a recommender, rating metrics a rating predictor; a model may be both.
    metrics : mapping of str to Definition
        Result name to definition.
    cutoffs : tuple of int
        Every metric of lists is computed at each; the largest is the length of the lists.
    policies : Policies
        What happens to users without relevant items, equal scores and the like.
    usual : mapping of str to str
        Policies that hold where recorded lists have repeated or seen items; see
        `Convention.for_ineligible`.
    memory_mib : int
        Memory for blocks of users while lists are made, MiB; never changes a number.
    sanity : bool
        Evaluate random and the best lists, too.
    learning : Learning or None
        What is watched on validation rows while a model learns in epochs, and when its training ends.
    """

    candidates: Candidates
    model: Recommender | RatingPredictor
    metrics: Mapping[str, Definition]
    cutoffs: tuple[int, ...]
    policies: Policies = field(default_factory=Policies)
    usual: Mapping[str, str] = field(default_factory=lambda: {"repeats": "miss"})
    memory_mib: int = 256
    sanity: bool = False
    learning: Learning | None = None

    def __post_init__(self) -> None:
        DataPlan.__post_init__(self)  # a class with slots has no super() without arguments
        check_longest(self.policies, self.cutoffs)
        if isinstance(self.model, Recorded):
            self.model.check_policies({name: getattr(self.policies, name) for name in REASONS})
        of_lists = self.metrics_of("lists")
        if self.sanity and not of_lists:
            raise ConfigError("sanity: chance and the best reachable are of lists; add metrics=ranking.")
        if (of_rankings := self.metrics_of("full rankings")) and not of_lists:
            names = ", ".join(of_rankings)
            raise ConfigError(f"metrics: {names} need metrics of lists as well; add metrics=[ranking].")
        if of_labels := self.metrics_of("class labels"):
            check_measures_lists(of_labels)

    def metrics_of(self, kind: Kind) -> dict[str, Definition]:
        """Return the metrics that measure lists, ratings, or rankings of all candidates."""
        return {name: each for name, each in self.metrics.items() if each.metric.kind == kind}


@dataclass(frozen=True, slots=True, eq=False)
class PreparedData:
    """The rows and the task of a run before its model is trained, the same for all models and their settings.

    Parameters
    ----------
    dataset : Dataset
    split : Split
    guards : tuple of GuardResult
    task : RankingTask or None
        None of a plan alone, and without metrics of lists.
    """

    dataset: Dataset
    split: Split
    guards: tuple[GuardResult, ...]
    task: RankingTask | None


def run_experiment(
    experiment: Experiment,
    progress: Progress | None = None,
    prepared: PreparedData | None = None,
    watch: Callable[[EpochPoint], None] | None = None,
) -> RunResult:
    """Load, filter, split, guard, fit; then recommend, judge and evaluate lists, and predict ratings.

    Parameters
    ----------
    experiment : Experiment
    progress : Progress, optional
        Notified about every stage.
    prepared : PreparedData, optional
        The result of `prepare` for an experiment that differs in the model alone.
    watch : callable, optional
        Called after every epoch if `learning` is set; an error that it raises ends the run.

    Returns
    -------
    RunResult

    Raises
    ------
    RecgaugeError
        If a stage cannot do its work; the message says which setting to change.
    """
    timings = Timings(progress or Progress())
    ready = prepare(experiment, timings) if prepared is None else prepared
    split, guards = ready.split, ready.guards
    timings.time_compiling_apart()
    peak = watch_peak()
    learned: tuple[EpochPoint, ...] = ()
    with timings.stage("fit") as reporter:
        model, rng = experiment.model, stream(experiment.seed, "fit")
        if experiment.learning is None:
            model = fit(model, split, experiment.fit_on, rng=rng, progress=reporter)
        else:
            watched = _watched(experiment, ready, experiment.learning)
            model, learned = fit_watched(
                model, split, experiment.learning, watched, rng=rng, progress=reporter, watch=watch
            )
    ranking = rating = None
    if isinstance(model, KeepsNeighbours):
        guards += (check_neighbours(model.tied_neighbours),)
    coverage = split.coverage()
    if ready.task is not None and isinstance(model, Recommender):
        ranking = _rank(experiment, ready.task, model, timings)
        coverage = ready.task.coverage(ranking.top_k)
        guards = _with_lists(experiment, ready.task, ranking, model, guards)
    if metrics := experiment.metrics_of("ratings"):
        with timings.stage("predict"):
            predictions = predict_ratings(model, split.test, ready.dataset.rating_scale())
        with timings.stage("metrics"):
            measure = partial(evaluate_predictions, predictions=predictions, user_ids=split.test.user_ids)
            rating = RatingResult(predictions, *evaluate_or_refuse(metrics, measure))
    if isinstance(model, Recorded):
        guards += check_recorded(model)
    most = peak()
    if isinstance(model, Isolated):
        timings.measured_elsewhere(model.worker.seconds)
        most = None  # most is held by the library's process
    about = (timings.seconds, guards, learned, most, coverage)
    return RunResult(ready.dataset, split, model, ranking, rating, *about)


def prepare(plan: DataPlan, timings: Timings) -> PreparedData:
    """Load, filter, split and guard the data; of an experiment that measures lists, choose the candidates.

    Raises
    ------
    RecgaugeError
        If a stage cannot do its work; the message says which setting to change.
    """
    with timings.stage("load") as reporter:
        attributes = [name for rule in plan.filters for name in rule.attributes]
        attributes += plan.splitter.attributes
        dataset = plan.dataset.with_attributes(attributes).load(reporter)
    timings.data = f"{len(dataset.interactions):,} rows"  # for the message if memory runs out
    with timings.stage("split"):
        dataset, steps = apply_filters(dataset, plan.filters, seed=plan.seed)
        splitter = plan.splitter.for_dataset(dataset)
        # a guard reports pairs in both train and test, so that the user can override it
        split = splitter.split(
            dataset.interactions, rng=stream(plan.seed, "split"), steps=steps, overlap=True
        )
        if plan.evaluate_on == "validation":
            split = split.on_validation()
        elif plan.fit_on == "train_validation":
            split = split.with_validation_in_train()
        relevant = Relevant.from_interactions(split.test, dataset.relevant_from)
        if isinstance(plan, Experiment):
            _check_queries(plan, split)
        checks = check_split(split, relevant, temporal=splitter.temporal, ties=splitter.tie_rule)
        checks += check_filters(plan.filters, dataset.interactions)
        guards = enforce([check_selection(plan.guards), *checks], plan.guards)
    task = None
    if isinstance(plan, Experiment) and plan.metrics_of("lists") and isinstance(plan.model, Recommender):
        with timings.stage("candidates"):
            task = _ranking_task(plan, dataset, split, relevant)
            sizes = {"n_users": split.test.n_users, "n_items": split.test.n_items}
            checks = check_candidates(task.candidates, relevant, **sizes, top_k=max(plan.cutoffs))
            guards += enforce(checks, plan.guards)
    coverage = split.coverage() if task is None else task.coverage()
    guards += enforce(check_coverage(coverage, split), plan.guards)
    return PreparedData(dataset, split, guards, task)


def _check_queries(experiment: Experiment, split: Split) -> None:
    """Refuse metrics that have no value for each of several queries of a user."""
    of_users = [name for name, each in experiment.metrics.items() if each.metric.kind != "lists"]
    if split.query_of is not None and of_users:
        raise ConfigError(
            f"metrics: {', '.join(of_users)} are of users, and split.target=successive asks for each row. "
            "Leave them out, as metrics=[ranking] does, or choose split.target=first, last or random."
        )


def _ranking_task(experiment: Experiment, dataset: Dataset, split: Split, relevant: Relevant) -> RankingTask:
    return RankingTask(
        dataset,
        split,
        relevant,
        experiment.candidates.choose(split, rng=stream(experiment.seed, "candidates")),
        experiment.metrics_of("lists"),
        experiment.cutoffs,
        experiment.policies,
        experiment.seed,
        experiment.memory_mib,
        experiment.usual,
    )


def _with_lists(
    experiment: Experiment,
    task: RankingTask,
    ranking: RankingResult,
    model: Recommender,
    guards: tuple[GuardResult, ...],
) -> tuple[GuardResult, ...]:
    """Return the guards with those of lists: equal scores, users without a list, chance and the best."""
    guards += (check_ties(ranking.ties, ranking.evaluation, experiment.policies),)
    if isinstance(model, GivesLists):
        guards += (check_lengths(ranking.top_k, ranking.candidates, task.split.test),)
        listed = task.with_lists(ranking.top_k, task.coverage())
        of_lists = enforce(check_coverage(listed, task.split, of_lists=True), experiment.guards)
        names = {guard.name for guard in of_lists}
        guards = (*(guard for guard in guards if guard.name not in names), *of_lists)
    if isinstance(model, Recorded):
        guards += (check_direction(ranking.reversal, model),)
    if ranking.sanity is not None:
        guards += tuple(check_sanity(ranking.evaluation, ranking.sanity))
    return guards


def _watched(experiment: Experiment, ready: PreparedData, learning: Learning) -> Watched:
    """Return the metric that is taken between epochs, always on validation rows."""
    rates = isinstance(experiment.model, RatingPredictor)
    key, definition, k = watched_metric(learning.metric, experiment.metrics, experiment.cutoffs, rates=rates)
    split, task = ready.split, ready.task
    if split.evaluated != "validation":
        split = split.on_validation()
        if task is not None:
            relevant = Relevant.from_interactions(split.test, ready.dataset.relevant_from)
            candidates = experiment.candidates.choose(split, rng=stream(experiment.seed, "candidates"))
            task = replace(task, split=split, relevant=relevant, candidates=candidates)
    scale = ready.dataset.rating_scale() if k is None else None
    return Watched(key, definition, k, split, task, scale)


def _rank(experiment: Experiment, task: RankingTask, model: Recommender, timings: Timings) -> RankingResult:
    """Make the model's lists and measure them; if requested, chance and the best lists, and all ranks."""
    counts, reversal = dict[str, int](), None
    with timings.stage("recommend") as reporter:
        if isinstance(model, Recorded):
            lists = model.whole_lists(task.listed_users, task.candidates)
            reversal = task.reversal(lists)
            task, counts = task.for_lists(lists, model.n_unknown)
        if not counts:
            lists = task.recommend(model, reporter)
    with timings.stage("metrics"):
        measure = partial(task.evaluate, lists=lists)
        top_k, relevant = lists.of(task.users), task.relevant
        evaluation, refused = evaluate_or_refuse(task.metrics, measure)
        ties = ties_at_cutoffs(task.metrics, top_k, relevant, cutoffs=task.cutoffs, measure=measure)
        n_listed = int((lists.items[:, : task.policies.longest] >= 0).sum())
        ineligible = value_of_policies(counts, n_listed, task.metrics, evaluation, measure)
        evaluation = replace(evaluation, ineligible=ineligible)
        if counts:
            top_k = task.judged_lists(top_k)
    sanity = rankings = None
    if experiment.sanity:
        random = Random().fit(task.split.train, rng=stream(experiment.seed, "sanity"))
        with timings.stage("sanity"):
            sanity = task.sanity(random)
    of_rankings = experiment.metrics_of("full rankings")
    if of_rankings:
        with timings.stage("curves"):
            sizes = {"n_items": task.split.test.n_items, "memory_mib": experiment.memory_mib}
            rankings = rank_relevant(serving(model, task.split), relevant, task.candidates, **sizes)
            ids = task.split.test.user_ids[relevant.users]
            evaluation, undefined = add_full_rankings(evaluation, of_rankings, rankings, ids)
            refused |= undefined
    return RankingResult(
        top_k,
        relevant,
        task.catalogue,
        evaluation,
        ties,
        refused=refused,
        candidates=task.candidates,
        sanity=sanity,
        rankings=rankings,
        reversal=reversal,
    )
