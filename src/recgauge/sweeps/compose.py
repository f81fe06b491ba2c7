"""From settings to an `Experiment`: the only module that builds components from a configuration."""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeVar, cast, get_args

from recgauge.candidates import Candidates
from recgauge.conventions import Convention, Definition, get_convention, is_metric_name
from recgauge.data.split import EvaluateOn
from recgauge.datasets import DatasetSource
from recgauge.errors import ConfigError, MissingLibraryError, RecgaugeError
from recgauge.evaluation.learning import Learning
from recgauge.experiment import DataPlan, Experiment
from recgauge.filters import Filter
from recgauge.guards import GuardSettings
from recgauge.metrics import Metric
from recgauge.metrics.curves.full_ranking import FullRankingMetric
from recgauge.metrics.rating import RatingMetric
from recgauge.models import GivesLists, RatingPredictor, Recommender
from recgauge.models.recommend import FitOn
from recgauge.runs.settings import POLICIES, RunSettings, stores_model
from recgauge.runs.targets import TARGET, allowed_packages, check_component, find_class
from recgauge.splits import Splitter
from recgauge.studies import Study
from recgauge.tracking.store import Store
from recgauge.utils.checks import check_choice, check_cutoffs, check_int
from recgauge.utils.messages import print_note

Component = TypeVar("Component")

_GET_CONVENTION = "recgauge.conventions.get_convention"
"""The one function that a configuration may call; all else are classes."""


def compose(
    settings: RunSettings, *, leave_out: bool = False, tell: Callable[[str], None] = print_note
) -> Experiment:
    """Build every component of a run.

    With `leave_out`, metrics that the model cannot be measured by are left out with a note, not refused: the
    user wants every metric there is (``metrics=all``), or the same metrics of several models.
    """
    conventions, suite = compose_metrics(settings)
    if lacking := [name for name, node in settings.metrics.items() if _falls_back(node, conventions)]:
        tell(
            f"conventions: {conventions.name} has no {', '.join(lacking)}, so recgauge's own "
            f"{'definition counts' if len(lacking) == 1 else 'definitions count'} (conventions=standard)."
        )
    model = build_model(settings.model, settings.allowed_targets)
    check_ready(model)
    suite = _possible(model, suite, tell, leave_out=leave_out)
    if isinstance(model, GivesLists):
        _refuse_scores(type(model).__name__, settings, suite)
    if stores_model(settings) and not isinstance(model, Recommender):
        raise ConfigError(
            f"save_model: {type(model).__name__} only predicts ratings, and a saved model recommends items. "
            "Leave out save_model and tracking.log_model, or choose a model that ranks items."
        )
    if settings.seen in ("miss", "drop") and (settings.candidates or {}).get("seen") == "none":
        raise ConfigError(
            f"seen={settings.seen}: with candidates.seen=none seen items are candidates as any other. "
            "Leave out one of the two."
        )
    watched, plan, packages = settings.learning, compose_plan(settings), settings.allowed_targets
    return Experiment(
        **{each.name: getattr(plan, each.name) for each in fields(DataPlan)},
        candidates=build(settings.candidates, Candidates, "candidates", allowed_packages(packages)),
        model=model,
        metrics=suite,
        policies=conventions.policies,
        usual=conventions.for_ineligible({"repeats": settings.repeats, "seen": settings.seen}),
        cutoffs=check_cutoffs("cutoffs", settings.cutoffs),
        sanity=settings.sanity,
        learning=Learning(watched.metric, watched.every, watched.patience) if watched.watch else None,
        memory_mib=check_int("engine.memory_mib", settings.engine.memory_mib, minimum=1),
    )


def compose_plan(settings: RunSettings) -> DataPlan:
    """Build the components that decide the rows of a run."""
    packages, filters = allowed_packages(settings.allowed_targets), (settings.filters or {}).items()
    return DataPlan(
        dataset=build(settings.dataset, DatasetSource, "dataset", packages),
        filters=tuple(
            build(node, Filter, f"filters.{name}", packages) for name, node in filters if node is not None
        ),
        splitter=build(settings.split, Splitter, "split", packages),
        seed=check_int("seed", settings.seed, minimum=0),
        fit_on=check_choice("fit_on", settings.fit_on, get_args(FitOn)),
        evaluate_on=check_choice("evaluate_on", settings.evaluate_on, get_args(EvaluateOn)),
        guards=GuardSettings(tuple(settings.guards.override), settings.guards.selected_on),
    )


def compose_metrics(settings: RunSettings) -> tuple[Convention, dict[str, Definition]]:
    """Build the conventions and the metrics that settings name, by the results' names."""
    packages = allowed_packages(settings.allowed_targets)
    conventions = build(settings.conventions, Convention, "conventions", packages)
    conventions = conventions.with_policies({name: getattr(settings, name) for name in POLICIES})
    suite = {
        name: metric
        for name, node in (settings.metrics or {}).items()
        if (metric := _metric(name, node, conventions, packages)) is not None
    }
    return conventions, suite


def _falls_back(node: Any, conventions: Convention) -> bool:
    """Whether a metric of the suite has recgauge's definition although another convention is chosen."""
    return isinstance(node, str) and conventions.name != "standard" and not conventions.defines(node)


def _refuse_scores(model: str, settings: RunSettings, suite: Mapping[str, Definition]) -> None:
    """Refuse what needs the scores of all items, of a model that gives lists."""
    wrong = ["save_model"] if settings.save_model else []
    wrong += [f"metrics={name}" for name, each in suite.items() if isinstance(each.metric, FullRankingMetric)]
    if wrong:
        raise ConfigError(
            f"model: {model} gives lists, not the scores of all items, which {', '.join(wrong)} would need; "
            f"leave {'it' if len(wrong) == 1 else 'them'} out."
        )


def build_model(node: Any, allowed_targets: Sequence[str]) -> Recommender | RatingPredictor:
    """Build a model alone."""
    return build(node, (Recommender, RatingPredictor), "model", allowed_packages(allowed_targets))


def check_ready(model: Recommender | RatingPredictor) -> None:
    """Let a model say, before any data are read, what it lacks to be trained."""
    if isinstance(model, Recommender):
        try:
            model.check_ready()
        except MissingLibraryError:
            raise
        except ConfigError as error:
            raise ConfigError(f"model: {error}") from error


def build_dataset(node: Any, allowed_targets: Sequence[str]) -> DatasetSource:
    """Build a data set's source alone."""
    return build(node, DatasetSource, "dataset", allowed_packages(allowed_targets))


def build_study(node: Any, allowed_targets: Sequence[str]) -> Study | None:
    """Build the study of an experiment, or None."""
    study = None if node is None else build(node, Study, "study", allowed_packages(allowed_targets))
    if study is not None and re.fullmatch(r"\w[\w.-]*", study.name) is None:
        raise ConfigError(
            f"study.name: must be the name of a folder in experiments/, such as mine; got {study.name!r}."
        )
    return study


def build_store(node: Any) -> Store | None:
    """Build the store that gets the runs; None with ``tracking=off``."""
    if isinstance(node, Mapping) and node.get("uri") is None and set(node) <= {TARGET, "uri"}:
        return None
    return build(node, Store, "tracking", allowed_packages(()))


def _possible(
    model: Recommender | RatingPredictor,
    suite: Mapping[str, Definition],
    tell: Callable[[str], None],
    *,
    leave_out: bool,
) -> dict[str, Definition]:
    """Return the metrics that the model can be measured by; refuse or leave out others before any work."""
    name = type(model).__name__
    ratings = [key for key, definition in suite.items() if isinstance(definition.metric, RatingMetric)]
    lists = [key for key in suite if key not in ratings]
    wrong, why, remedy = [], "", ""
    if ratings and not isinstance(model, RatingPredictor):
        wrong, why = ratings, f"need predicted ratings, and {name} ranks items but predicts none."
        remedy = " Choose model=bias or model=biased_mf, or measure lists: metrics=ranking."
    elif lists and not isinstance(model, Recommender):
        wrong, why = lists, f"need ranked lists, and {name} only predicts ratings."
    if wrong and not (leave_out and len(wrong) < len(suite)):
        raise ConfigError(f"metrics: {', '.join(wrong)} {why}{remedy}")
    if wrong:
        tell(f"metrics: left out are {', '.join(wrong)}, which {why}")
    return {key: definition for key, definition in suite.items() if key not in wrong}


def build(
    node: Any, kind: type[Component] | tuple[type, ...], path: str, packages: Sequence[str]
) -> Component:
    """Build one component from its mapping of ``_target_`` and arguments."""
    if not isinstance(node, Mapping) or not isinstance(node.get(TARGET), str):
        raise ConfigError(f"{path}: expected a mapping with a {TARGET}, got {node!r}.")
    check_component(node, path, packages)
    target = node[TARGET]
    maker: Callable[..., Any] = get_convention
    made: type = Convention
    if target != _GET_CONVENTION:
        maker = made = find_class(target, f"{path}.{TARGET}", packages)
    if not issubclass(made, kind):
        kinds = " or ".join(each.__name__ for each in (kind if isinstance(kind, tuple) else (kind,)))
        raise ConfigError(f"{path}: {target} is not a {kinds}; choose another target.")
    arguments = {str(key): value for key, value in node.items() if key != TARGET}
    names = list(inspect.signature(maker).parameters)
    if unknown := [key for key in arguments if key not in names]:
        raise ConfigError(
            f"{path}: {maker.__name__} has no setting {', '.join(unknown)}; "
            f"it has {', '.join(names) or 'none'}."
        )
    try:
        # not Hydra's instantiate, which would build whatever else is among the arguments
        return cast("Component", maker(**arguments))
    except RecgaugeError as error:
        raise ConfigError(f"{path}: {error}") from error
    except Exception as error:  # whatever the constructor of a user's class raises
        raise ConfigError(f"{path}: cannot build {target}: {error}") from error


def _metric(name: str, node: Any, conventions: Convention, packages: Sequence[str]) -> Definition | None:
    """Return what a suite's line means: a name, a definition of its own, or null to leave it out."""
    path = f"metrics.{name}"
    if node is None:
        return None
    if not isinstance(node, str):
        return Definition(build(node, Metric, path, packages), conventions.policies)
    definition = conventions.definition(node)
    if is_metric_name(name) and type(conventions.metric(name)) is not type(definition.metric):
        raise ConfigError(
            f"{path}: {node} would be printed under the name {name}, which is another metric. For {node}: "
            f"metrics=[{node}]; under a name of yours: '+metrics.NAME={node}'; without {name}: {path}=null."
        )
    return definition
