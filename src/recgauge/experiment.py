"""One run from data to numbers. The page to read first: `run_experiment` walks the rooms in order."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

from recgauge.candidates import Candidates
from recgauge.catalogue import Catalogue
from recgauge.conventions import Definition
from recgauge.datasets import Dataset, DatasetSource
from recgauge.evaluation import evaluate_top_k
from recgauge.filters import Filter, apply_filters
from recgauge.fitting import fit
from recgauge.metrics.rating import RatingMetric
from recgauge.models import RatingPredictor, Recommender
from recgauge.policies import Policies
from recgauge.progress import NoProgress, Progress
from recgauge.randomness import stream
from recgauge.rating import predict_ratings
from recgauge.rating_evaluation import evaluate_predictions
from recgauge.recommending import compile_kernels, recommend
from recgauge.refusals import evaluate_or_refuse
from recgauge.relevance import Relevant
from recgauge.run_results import RankingResult, RatingResult, RunResult
from recgauge.splits import Split, Splitter
from recgauge.timing import Timings


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
        What happens to users without relevant items and the like.
    seed : int
        Every stage draws from a stream of its own made from it.
    fit_on : {"train", "all"}
        Rows that the model learns from; with ``all`` it sees the test rows, as in some articles.
    memory_mib : int
        Memory for blocks of users while lists are made, MiB; never changes a number.
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

    @property
    def list_metrics(self) -> dict[str, Definition]:
        """The metrics of ranked lists."""
        return {n: d for n, d in self.metrics.items() if not isinstance(d.metric, RatingMetric)}

    @property
    def rating_metrics(self) -> dict[str, RatingMetric]:
        """The metrics of predicted ratings."""
        return {n: d.metric for n, d in self.metrics.items() if isinstance(d.metric, RatingMetric)}


def run_experiment(experiment: Experiment, progress: Progress | None = None) -> RunResult:
    """Load, filter, split, fit; then recommend, judge and evaluate lists, and predict and evaluate ratings.

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
        split = splitter.split(dataset.interactions, rng=stream(seed, "split"), steps=steps)
        relevant = Relevant.from_interactions(split.test, dataset.relevant_from)
    with timings.stage("fit"):
        model = fit(experiment.model, split, experiment.fit_on, rng=stream(seed, "fit"))
    ranking = rating = None
    if experiment.list_metrics and isinstance(model, Recommender):
        ranking = _rank(experiment, model, dataset, split, relevant, timings)
    if experiment.rating_metrics:
        rating = _predict(experiment, model, dataset.rating_scale(), split, timings)
    return RunResult(dataset, split, ranking, rating, timings.seconds)


def _rank(
    experiment: Experiment,
    model: Recommender,
    dataset: Dataset,
    split: Split,
    relevant: Relevant,
    timings: Timings,
) -> RankingResult:
    counts_everybody = experiment.policies.no_relevant != "skip"
    compile_kernels(model, timings)
    with timings.stage("recommend") as reporter:
        top_k = recommend(
            model,
            split.test_users if counts_everybody else relevant.users,
            max(experiment.cutoffs),
            excluded=experiment.candidates.excluded(split),
            memory_mib=experiment.memory_mib,
            progress=reporter,
        )
    with timings.stage("metrics"):
        features = None if dataset.item_features is None else dataset.item_features.matrix
        catalogue = Catalogue.from_train(split.train, features, fold_in=split.fold_in)
        measure = partial(
            evaluate_top_k,
            top_k=top_k,
            relevant=relevant,
            cutoffs=experiment.cutoffs,
            user_ids=dataset.interactions.user_ids,
            policies=experiment.policies,
            catalogue=catalogue,
            users=split.test_users if counts_everybody else None,
        )
        evaluation, refused = evaluate_or_refuse(experiment.list_metrics, measure)
    return RankingResult(top_k, relevant, catalogue, evaluation, refused)


def _predict(
    experiment: Experiment, model: object, scale: tuple[float, float], split: Split, timings: Timings
) -> RatingResult:
    with timings.stage("predict"):
        predictions = predict_ratings(model, split.test, scale)
    with timings.stage("metrics"):
        evaluation = evaluate_predictions(experiment.rating_metrics, predictions, split.test.user_ids)
    return RatingResult(predictions, evaluation)
