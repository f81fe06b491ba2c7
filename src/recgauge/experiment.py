"""One run from data to numbers. The page to read first: `run_experiment` walks the rooms in order."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from recgauge.candidates import Candidates
from recgauge.catalogue import Catalogue
from recgauge.conventions import Definition
from recgauge.datasets import Dataset, DatasetSource
from recgauge.evaluation import evaluate_top_k
from recgauge.models import Recommender
from recgauge.policies import Policies
from recgauge.progress import NoProgress, Progress
from recgauge.randomness import stream
from recgauge.recommending import TopK, recommend
from recgauge.relevance import Relevant
from recgauge.results import Evaluation
from recgauge.splits import Split, Splitter, with_steps
from recgauge.splits.filters import Filter, apply_filters
from recgauge.timing import Timings


@dataclass(frozen=True, slots=True, eq=False)
class Experiment:
    """Everything that decides a run's numbers.

    Parameters
    ----------
    dataset : DatasetSource
    filters : tuple of Filter
        Run in their order before the split.
    splitter : Splitter
    candidates : Candidates
    model : Recommender
    metrics : mapping of str to Definition
        Result name to definition.
    cutoffs : tuple of int
        Every metric is computed at each; the largest is the length of the lists.
    policies : Policies
        What happens to users without relevant items and the like.
    seed : int
        Every stage draws from a stream of its own made from it.
    block_users : int
        Users scored at a time; bounds memory, never changes a number.
    """

    dataset: DatasetSource
    splitter: Splitter
    candidates: Candidates
    model: Recommender
    metrics: Mapping[str, Definition]
    cutoffs: tuple[int, ...]
    filters: tuple[Filter, ...] = ()
    policies: Policies = field(default_factory=Policies)
    seed: int = 0
    block_users: int = 1024


@dataclass(frozen=True, slots=True, eq=False)
class RunResult:
    """What a run leaves in memory: enough to store, show and recompute every number.

    Parameters
    ----------
    dataset : Dataset
        After the filters.
    split : Split
    top_k : TopK
        The lists of the evaluated users.
    evaluation : Evaluation
    seconds : mapping of str to float
        Wall-clock seconds of each stage.
    """

    dataset: Dataset
    split: Split
    top_k: TopK
    evaluation: Evaluation
    seconds: Mapping[str, float] = field(default_factory=dict)


def run_experiment(experiment: Experiment, progress: Progress | None = None) -> RunResult:
    """Load, filter, split, fit, recommend, judge, evaluate.

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
        dataset, steps = apply_filters(dataset, experiment.filters)
        split = experiment.splitter.split(dataset.interactions, rng=stream(seed, "split"))
        split = with_steps(split, steps)
        relevant = Relevant.from_interactions(split.test, dataset.relevant_from)
    with timings.stage("fit"):
        model = experiment.model.fit(split.train, rng=stream(seed, "fit"))
    with timings.stage("recommend") as reporter:
        top_k = recommend(
            model,
            relevant.users,
            max(experiment.cutoffs),
            excluded=experiment.candidates.excluded(split),
            block_users=experiment.block_users,
            progress=reporter,
        )
    with timings.stage("metrics"):
        features = None if dataset.item_features is None else dataset.item_features.matrix
        evaluation = evaluate_top_k(
            experiment.metrics,
            top_k,
            relevant,
            cutoffs=experiment.cutoffs,
            user_ids=dataset.interactions.user_ids,
            policies=experiment.policies,
            catalogue=Catalogue.from_train(split.train, features),
            users=None if experiment.policies.no_relevant == "skip" else split.test_users,
        )
    return RunResult(dataset, split, top_k, evaluation, timings.seconds)
