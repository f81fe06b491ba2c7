"""From settings to an `Experiment`: the only place that builds components from a configuration."""

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, cast

from hydra.errors import InstantiationException
from hydra.utils import get_object, instantiate

from recgauge._checks import check_cutoffs, check_int
from recgauge.app.settings import RunSettings
from recgauge.app.tracker import Tracker
from recgauge.candidates import Candidates
from recgauge.conventions import Convention, Definition
from recgauge.datasets import DatasetSource
from recgauge.errors import ConfigError, RecgaugeError
from recgauge.experiment import Experiment
from recgauge.filters import Filter
from recgauge.fit_rows import check_fit_on
from recgauge.guards import GuardSettings
from recgauge.metrics import Metric
from recgauge.metrics.rating import RatingMetric
from recgauge.models import RatingPredictor, Recommender
from recgauge.splits import Splitter
from recgauge.studies import Study

Component = TypeVar("Component")


def compose(settings: RunSettings) -> Experiment:
    """Build every component of a run.

    Raises
    ------
    ConfigError
        If a component cannot be built; the message begins with its path in the configuration.
    """
    allowed = _prefixes(settings.allowed_targets)

    def part(node: Any, kind: type[Component] | tuple[type, ...], path: str) -> Component:
        return build(node, kind, path, allowed)

    conventions = part(settings.conventions, Convention, "conventions").with_ties(settings.ties)
    suite = {
        name: metric
        for name, node in (settings.metrics or {}).items()
        if (metric := _metric(node, conventions, f"metrics.{name}", allowed)) is not None
    }
    filters = (settings.filters or {}).items()
    model: Recommender | RatingPredictor = part(settings.model, (Recommender, RatingPredictor), "model")
    _check_lanes(model, suite)
    return Experiment(
        dataset=part(settings.dataset, DatasetSource, "dataset"),
        filters=tuple(part(node, Filter, f"filters.{name}") for name, node in filters if node is not None),
        splitter=part(settings.split, Splitter, "split"),
        candidates=part(settings.candidates, Candidates, "candidates"),
        model=model,
        metrics=suite,
        policies=conventions.policies,
        cutoffs=check_cutoffs("cutoffs", settings.cutoffs),
        seed=check_int("seed", settings.seed, minimum=0),
        fit_on=check_fit_on(settings.fit_on),
        guards=GuardSettings(tuple(settings.guards.override), settings.guards.selected_on),
        sanity=settings.sanity,
        curves=settings.figures,
        memory_mib=check_int("engine.memory_mib", settings.engine.memory_mib, minimum=1),
    )


def build_dataset(node: Any, allowed_targets: Sequence[str]) -> DatasetSource:
    """Build a data set's source alone."""
    return build(node, DatasetSource, "dataset", _prefixes(allowed_targets))


def build_study(node: Any, allowed_targets: Sequence[str]) -> Study | None:
    """Build the study of an experiment, None if there is none."""
    return None if node is None else build(node, Study, "study", _prefixes(allowed_targets))


def build_tracker(node: Any) -> Tracker:
    """Build the tracker."""
    return build(node, Tracker, "tracking", _prefixes(()))


def _prefixes(allowed_targets: Sequence[str]) -> tuple[str, ...]:
    return ("recgauge.", *(f"{package}." for package in allowed_targets))


def _check_lanes(model: Recommender | RatingPredictor, suite: Mapping[str, Definition]) -> None:
    """Say before any work is done that a metric needs another kind of model."""
    name = type(model).__name__
    ratings = [key for key, definition in suite.items() if isinstance(definition.metric, RatingMetric)]
    lists = [key for key in suite if key not in ratings]
    if ratings and not isinstance(model, RatingPredictor):
        raise ConfigError(
            f"metrics: {', '.join(ratings)} need predicted ratings, and {name} ranks items but predicts "
            "none. Choose model=bias or model=biased_mf, or leave out metrics=rating."
        )
    if lists and not isinstance(model, Recommender):
        raise ConfigError(f"metrics: {', '.join(lists)} need ranked lists, and {name} only predicts ratings.")


def build(
    node: Any, kind: type[Component] | tuple[type, ...], path: str, allowed: tuple[str, ...]
) -> Component:
    """Build one component from its mapping of ``_target_`` and arguments.

    Parameters
    ----------
    node : Any
        Plain mapping.
    kind : type or tuple of types
        What the component must be; one of several.
    path : str
        Where the mapping stands in the configuration, for messages.
    allowed : tuple of str
        Prefixes that ``_target_`` may have.

    Raises
    ------
    ConfigError
        If the mapping, its target or an argument cannot be used.
    """
    if not isinstance(node, Mapping) or not isinstance(node.get("_target_"), str):
        raise ConfigError(f"{path}: expected a mapping with a _target_, got {node!r}.")
    target = node["_target_"]
    if not target.startswith(allowed):
        raise ConfigError(
            f"{path}._target_: {target!r} is not one of {', '.join(f'{prefix}*' for prefix in allowed)}; "
            "name its package in allowed_targets if you trust it."
        )
    _check_arguments(node, target, path)
    try:
        component = instantiate(dict(node), _convert_="all")
    except InstantiationException as error:
        if isinstance(error.__cause__, RecgaugeError):
            raise ConfigError(f"{path}: {error.__cause__}") from error
        raise ConfigError(f"{path}: cannot build {target}: {error.__cause__ or error}") from error
    if not isinstance(component, kind):
        kinds = " or ".join(one.__name__ for one in (kind if isinstance(kind, tuple) else (kind,)))
        raise ConfigError(f"{path}: {target} is not a {kinds}; choose another target.")
    return cast("Component", component)


def _check_arguments(node: Mapping[str, Any], target: str, path: str) -> None:
    try:
        names = list(inspect.signature(get_object(target)).parameters)
    except Exception as error:
        raise ConfigError(f"{path}._target_: cannot import {target!r} ({error}).") from error
    unknown = [str(key) for key in node if key != "_target_" and key not in names]
    if unknown:
        raise ConfigError(
            f"{path}: {target.rsplit('.', 1)[-1]} has no setting {', '.join(unknown)}; "
            f"it has {', '.join(names) or 'none'}."
        )


def _metric(node: Any, conventions: Convention, path: str, allowed: tuple[str, ...]) -> Definition | None:
    """Return what a suite's line means: a name, a definition of its own, or null to leave it out."""
    if node is None:
        return None
    if isinstance(node, str):
        return conventions.definition(node)
    return Definition(build(node, Metric, path, allowed), conventions.policies)
