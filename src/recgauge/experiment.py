"""One run from data to numbers. The page to read first: `run_experiment` shows its steps in order."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from recgauge.candidates import Candidates
from recgauge.conventions import Definition
from recgauge.data.dataset import Dataset
from recgauge.data.relevance import Relevant
from recgauge.data.split import EvaluateOn, Split
from recgauge.datasets import DatasetSource
from recgauge.errors import ConfigError
from recgauge.evaluation import evaluate_or_refuse
from recgauge.evaluation.evaluate_ratings import evaluate_predictions, predict_ratings
from recgauge.evaluation.learning import EpochPoint, Learning, Watched, fit_watched, watched_metric
from recgauge.evaluation.ranking_task import RankingTask, add_full_rankings, rank_relevant
from recgauge.filters import Filter, apply_filters
from recgauge.guards import GuardResult, GuardSettings, enforce
from recgauge.guards.lists import (
    check_candidates,
    check_lengths,
    check_recorded,
    check_sanity,
    check_selection,
    check_ties,
)
from recgauge.guards.splits import check_split
from recgauge.judging import Policies
from recgauge.metrics.curves.full_ranking import FullRankingMetric
from recgauge.metrics.rating import RatingMetric
from recgauge.models import GivesLists, RatingPredictor, Recommender, TrainedElsewhere
from recgauge.models.fitting import FitOn, fit
from recgauge.models.random import Random
from recgauge.runs.record import RankingResult, RatingResult, RunResult
from recgauge.splits import Splitter
from recgauge.utils.memory import watch_peak
from recgauge.utils.progress import NoProgress, Progress, Timings
from recgauge.utils.randomness import stream


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
    fit_on : {"train", "train_validation", "all"}
        Rows that the model learns from; with ``all`` it sees the test rows, as in some articles.
    evaluate_on : {"test", "validation"}
        With ``validation``, for choosing models and settings, test rows are not looked at.
    memory_mib : int
        Memory for blocks of users while lists are made, MiB; never changes a number.
    guards : GuardSettings
        Which guards may not stop the run, and what the settings were chosen by.
    sanity : bool
        Evaluate random and the best lists, too.
    curves : bool
        Rank all candidates, for curves of full rankings, even if no metric needs that.
    learning : Learning or None
        What is watched on validation rows while a model learns in epochs, and when its training ends.
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
    fit_on: FitOn = "train"
    evaluate_on: EvaluateOn = "test"
    memory_mib: int = 256
    guards: GuardSettings = field(default_factory=GuardSettings)
    sanity: bool = False
    curves: bool = False
    learning: Learning | None = None

    def __post_init__(self) -> None:
        if self.sanity and not self.list_metrics:
            raise ConfigError("sanity: chance and the best reachable are of lists; add metrics=ranking.")
        if self.evaluate_on == "validation" and self.fit_on != "train":
            raise ConfigError(
                f"evaluate_on=validation: the model must not have seen these rows, so fit_on must be train, "
                f"got {self.fit_on}."
            )
        if self.full_ranking_metrics and not self.list_metrics:
            names = ", ".join(self.full_ranking_metrics)
            raise ConfigError(f"metrics: {names} need metrics of lists as well; add metrics=[ranking].")

    @property
    def list_metrics(self) -> dict[str, Definition]:
        """The metrics of ranked lists."""
        others = (RatingMetric, FullRankingMetric)
        return {n: d for n, d in self.metrics.items() if not isinstance(d.metric, others)}

    @property
    def full_ranking_metrics(self) -> dict[str, FullRankingMetric]:
        """The metrics of rankings of all candidates."""
        return {n: d.metric for n, d in self.metrics.items() if isinstance(d.metric, FullRankingMetric)}

    @property
    def rating_metrics(self) -> dict[str, RatingMetric]:
        """The metrics of predicted ratings."""
        return {n: d.metric for n, d in self.metrics.items() if isinstance(d.metric, RatingMetric)}


@dataclass(frozen=True, slots=True, eq=False)
class PreparedData:
    """What a run has before its model is trained; the same for every model and setting of a model.

    Parameters
    ----------
    dataset : Dataset
    split : Split
    guards : tuple of GuardResult
    task : RankingTask or None
        None without metrics of lists.
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
        What `prepare` gave for an experiment that differs in the model alone.
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
    timings = Timings(progress or NoProgress())
    ready = prepare(experiment, timings) if prepared is None else prepared
    split, guards = ready.split, ready.guards
    timings.time_compiling_apart()
    peak = watch_peak()
    with timings.stage("fit") as reporter:
        model, learned = _fit(experiment, ready, reporter, watch)
    ranking = rating = None
    if ready.task is not None and isinstance(model, Recommender):
        ranking = _rank(experiment, ready.task, model, timings)
        guards += (check_ties(ranking.ties, ranking.evaluation, experiment.policies),)
        if isinstance(model, GivesLists):
            guards += (check_lengths(ranking.top_k, ranking.candidates, split.test),)
        if ranking.sanity is not None:
            guards += tuple(check_sanity(ranking.evaluation, ranking.sanity))
    if experiment.rating_metrics:
        rating = _predict(experiment, model, ready.dataset.rating_scale(), split, timings)
    guards += check_recorded(model)
    most = peak()
    if isinstance(model, TrainedElsewhere):
        timings.measured_elsewhere(model.seconds)
        most = most and model.peak_bytes and most + model.peak_bytes
    return RunResult(ready.dataset, split, model, ranking, rating, timings.seconds, guards, learned, most)


def prepare(experiment: Experiment, timings: Timings) -> PreparedData:
    """Load, filter, split and guard the data, and choose the candidates.

    Raises
    ------
    RecgaugeError
        If a stage cannot do its work; the message says which setting to change.
    """
    seed = experiment.seed
    with timings.stage("load") as reporter:
        dataset = experiment.dataset.load(reporter)
    timings.data = f"{len(dataset.interactions):,} rows"  # for the message if memory runs out
    with timings.stage("split"):
        dataset, steps = apply_filters(dataset, experiment.filters, seed=seed)
        splitter = experiment.splitter.for_dataset(dataset)
        # a guard reports pairs in both train and test, so that the user can override it
        split = splitter.split(dataset.interactions, rng=stream(seed, "split"), steps=steps, overlap=True)
        if experiment.evaluate_on == "validation":
            split = split.on_validation()
        elif experiment.fit_on == "train_validation":
            split = split.with_validation_in_train()
        relevant = Relevant.from_interactions(split.test, dataset.relevant_from)
        found = check_split(split, relevant, temporal=splitter.temporal, ties=splitter.tie_rule)
        guards = enforce([check_selection(experiment.guards), *found], experiment.guards)
    task = None
    if experiment.list_metrics and isinstance(experiment.model, Recommender):
        with timings.stage("candidates"):
            task = _ranking_task(experiment, dataset, split, relevant)
            sizes = {"n_users": split.test.n_users, "n_items": split.test.n_items}
            found = check_candidates(task.candidates, relevant, **sizes, top_k=max(experiment.cutoffs))
            guards += enforce(found, experiment.guards)
    return PreparedData(dataset, split, guards, task)


def _ranking_task(experiment: Experiment, dataset: Dataset, split: Split, relevant: Relevant) -> RankingTask:
    return RankingTask(
        dataset,
        split,
        relevant,
        experiment.candidates.choose(split, rng=stream(experiment.seed, "candidates")),
        experiment.list_metrics,
        experiment.cutoffs,
        experiment.policies,
        experiment.seed,
        experiment.memory_mib,
    )


def _fit(
    experiment: Experiment,
    ready: PreparedData,
    reporter: Progress,
    watch: Callable[[EpochPoint], None] | None,
) -> tuple[Recommender | RatingPredictor, tuple[EpochPoint, ...]]:
    model, split, rng = experiment.model, ready.split, stream(experiment.seed, "fit")
    if experiment.learning is None:
        return fit(model, split, experiment.fit_on, rng=rng, progress=reporter), ()
    watched = _watched(experiment, ready, experiment.learning.metric)
    return fit_watched(model, split, experiment.learning, watched, rng=rng, progress=reporter, watch=watch)


def _watched(experiment: Experiment, ready: PreparedData, metric: str | None) -> Watched:
    """Return the metric that is taken between epochs, always on validation rows."""
    rates = isinstance(experiment.model, RatingPredictor)
    key, definition, k = watched_metric(metric, experiment.metrics, experiment.cutoffs, rates=rates)
    split, task = ready.split, ready.task
    if split.evaluated != "validation":
        split = split.on_validation()
        if task is not None:
            relevant = Relevant.from_interactions(split.test, ready.dataset.relevant_from)
            task = _ranking_task(experiment, ready.dataset, split, relevant)
    return Watched(key, definition, k, split, task, ready.dataset.rating_scale())


def _rank(experiment: Experiment, task: RankingTask, model: Recommender, timings: Timings) -> RankingResult:
    """Make the model's lists and measure them; if requested, chance and the best lists, and curves."""
    candidates = task.candidates
    with timings.stage("recommend") as reporter:
        lists = task.recommend(model, reporter)
    with timings.stage("metrics"):
        evaluation, refused = evaluate_or_refuse(task.metrics, partial(task.evaluate, lists=lists))
        ties = task.ties(lists)
    sanity = rankings = None
    if experiment.sanity:
        random = Random().fit(task.split.train, rng=stream(experiment.seed, "sanity"))
        with timings.stage("sanity"):
            sanity = task.sanity(random)
    if experiment.curves or experiment.full_ranking_metrics:
        with timings.stage("curves"):
            sizes = {"n_items": task.split.test.n_items, "memory_mib": experiment.memory_mib}
            rankings = rank_relevant(model, task.relevant, candidates, **sizes)
            ids = task.dataset.interactions.user_ids[task.relevant.users]
            evaluation, undefined = add_full_rankings(
                evaluation, experiment.full_ranking_metrics, rankings, ids
            )
            refused |= undefined
    about = (task.relevant, task.catalogue, evaluation, ties, refused, candidates, sanity, rankings)
    return RankingResult(lists.of(task.users), *about)


def _predict(
    experiment: Experiment, model: object, scale: tuple[float, float], split: Split, timings: Timings
) -> RatingResult:
    with timings.stage("predict"):
        predictions = predict_ratings(model, split.test, scale)
    with timings.stage("metrics"):
        on_ratings = partial(evaluate_predictions, predictions=predictions, user_ids=split.test.user_ids)
        evaluation, refused = evaluate_or_refuse(experiment.rating_metrics, on_ratings)
    return RatingResult(predictions, evaluation, refused)
