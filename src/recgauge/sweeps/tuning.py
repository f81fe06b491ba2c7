"""Tuning: validation rows choose settings; the final model learns from them, too, and meets test once."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from hashlib import sha256
from typing import Any

from recgauge._version import NUMERIC_VERSION
from recgauge.errors import ConfigError, FitError
from recgauge.evaluation.learning import EpochPoint, Learning, watched_metric
from recgauge.experiment import Experiment, prepare, run_experiment
from recgauge.metrics.names import split_key
from recgauge.models import EpochModel, RatingPredictor
from recgauge.runs.environment import read_beside
from recgauge.runs.record import SearchFacts
from recgauge.runs.settings import RunSettings, fingerprint, search_settings
from recgauge.runs.targets import TARGET, allowed_packages
from recgauge.search.space import Space, ends, flat, holds, parse_space, value_of, with_settings
from recgauge.search.trials import Report, Search, read_trials, run_search
from recgauge.sweeps.compose import build, build_model, check_ready
from recgauge.sweeps.places import work_folder
from recgauge.utils.progress import Progress, Timings


def check_tuning(typed: RunSettings) -> None:
    """Refuse settings that contradict a search, before any work."""
    if typed.evaluate_on != "test" or typed.fit_on not in ("train", "train_validation"):
        raise ConfigError(
            "tune: a search chooses by validation rows, and its final model learns from train and validation "
            "rows and is evaluated once on test rows. Leave out evaluate_on and fit_on."
        )
    if typed.learning.watch:
        raise ConfigError("tune: learning.watch is for single runs; leave it out. Trials are watched anyway.")


def searched(typed: RunSettings, words: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """Return what is declared to be searched and the command line does not give, and what it gives.

    Examples
    --------
    >>> typed = RunSettings(search={"l2": [1, 2], "settings": {"alpha": [1, 2]}})
    >>> searched(typed, ["model=ease", "model.settings.alpha=5", "+search.l2=[1,2]"])
    ({'l2': [1, 2]}, ['settings.alpha'])
    """
    keys = [word.lstrip("+").partition("=")[0] for word in words if word[:1] != "~"]
    fixed = {key.removeprefix("model.") for key in keys if key.startswith("model.")}
    declared = flat(typed.search or {})
    named = [name for name in declared if {name, name.partition(".")[0]} & fixed]
    return {name: node for name, node in declared.items() if name not in named}, named


def nothing_left(names: Sequence[str]) -> str:
    """Return why nothing is left to search."""
    if names:
        return f"the command line gives {', '.join(names)}"
    return "conf/search declares nothing to try for this model"


def _checked_space(typed: RunSettings, words: Sequence[str]) -> Space:
    """Return what is to be searched."""
    declared, fixed = searched(typed, words)
    if not declared:
        raise ConfigError(
            f"tune: there is nothing to search: {nothing_left(fixed)}. {_way_on(typed.model, fixed)}"
        )
    if unknown := [name for name in (*declared, *fixed) if not _is_setting(name, typed.model)]:
        settings = ", ".join(name for name in typed.model if name != TARGET)
        raise ConfigError(f"search: the model has no setting {', '.join(unknown)}; it has {settings}.")
    space = parse_space(declared)
    check_space(space, typed.model, typed.allowed_targets)
    return space


def _way_on(model: Mapping[str, Any], fixed: Sequence[str]) -> str:
    """Return how to search a setting of a model; recgauge's own without conf/search have none."""
    if fixed:
        return (
            f"To search these, leave out {', '.join(f'model.{name}' for name in fixed)}; else leave out tune."
        )
    own = not str(model.get(TARGET)).startswith("recgauge.")
    numbers = [name for name, value in model.items() if own and type(value) in (int, float)]
    if not numbers:
        return "Leave out tune."
    name, value = numbers[0], model[numbers[0]]
    low, high = (value / 10, value * 10) if isinstance(value, float) else (1, max(value, 1) * 10)
    ends = f"low: {low}, high: {high}, log: true" if 0 < low < high else "low: 0.0, high: 1.0"
    return (
        f"Say what to try, such as '+search.{name}={{{ends}}}', or in FOLDER/search/NAME.yaml where "
        "FOLDER/model/NAME.yaml is the model; or leave out tune."
    )


def _is_setting(name: str, model: Mapping[str, Any]) -> bool:
    """Whether a model has a setting; those inside a mapping are the model's own affair."""
    first, _, rest = name.partition(".")
    return first in model and first != TARGET and (not rest or isinstance(model[first], Mapping))


def check_space(space: Space, model: Mapping[str, Any], allowed_targets: Sequence[str]) -> None:
    """Refuse a space with values that the model does not take, and ends that leave out its fractions."""
    for name, distribution in space.items():
        low, own = getattr(distribution, "low", None), value_of(model, name)
        if isinstance(low, int) and isinstance(own, float):
            high = ends(distribution)[1]
            raise ConfigError(
                f"search.{name}: {low} to {high} are whole numbers, and the model's {name} is {own}. "
                f"Write {low:.1f} and {high:.1f}."
            )
        for value in ends(distribution):
            try:
                check_ready(build_model(with_settings(model, {name: value}), allowed_targets))
            except ConfigError as error:
                raise ConfigError(f"search.{name}: {value} is no value for it. {error}") from error


def tune(typed: RunSettings, words: Sequence[str], final: Experiment, progress: Progress) -> SearchFacts:
    """Search the model's settings by validation rows; a search that was stopped goes on.

    What needs no data is checked first. Data, split and candidates are made once for all trials.
    """
    search = build(typed.tune, Search, "tune", allowed_packages(()))
    space = _checked_space(typed, words)
    rates = isinstance(final.model, RatingPredictor)
    key, definition, k = watched_metric(search.metric, final.metrics, final.cutoffs, rates=rates)
    alike = replace(
        final,
        metrics={definition.metric.name if k is None else split_key(key)[0]: definition},
        cutoffs=final.cutoffs if k is None else (k,),
        evaluate_on="validation",
        fit_on="train",
        sanity=False,
        learning=None,
    )
    first = {name: value_of(typed.model, name) for name in space}
    if not holds(space, first):
        own_words = ", ".join(f"{name}={value}" for name, value in first.items())
        progress.note(f"no trial has the model's own settings, {own_words}: the ranges do not hold them.")
    if fixed := searched(typed, words)[1]:
        progress.note(f"not searched, since the command line gives it: {', '.join(fixed)}.")
    maximize = definition.metric.higher_is_better
    with progress.stage("look for the data"):
        final.dataset.find(progress)
    timings = Timings(progress)
    ready = prepare(alike, timings)

    def measure(settings: dict[str, Any], report: Report) -> float:
        try:
            model = build_model(with_settings(typed.model, settings), typed.allowed_targets)
        except ConfigError as error:  # settings that only together are not possible
            raise FitError(str(error)) from error
        watched = Learning(key) if search.prune and isinstance(model, EpochModel) else None

        def watch(point: EpochPoint) -> None:
            if point.value is not None:
                report(point.epoch, point.value)

        trial = replace(alike, model=model, learning=watched)
        return run_experiment(trial, Progress(), ready, watch).results[0].value

    digest = _digest(typed, search, space, ready.dataset.sha256)
    file = work_folder() / "outputs" / "searches" / f"{digest[:32]}.json"
    stored = () if typed.force else read_trials(file)
    with timings.stage("search"):
        trials = run_search(
            search,
            space,
            measure,
            file,
            maximize=maximize,
            first=first,
            progress=progress,
            metric=key,
            anew=typed.force,
        )
    own_first, n_stored = trials[0].settings == first, min(len(stored), len(trials))
    facts = SearchFacts(
        digest, key, maximize, search.sampler, search.budget, trials, own_first=own_first, n_stored=n_stored
    )
    _ = facts.chosen  # refuses a search without a finished trial
    return facts


def _digest(typed: RunSettings, search: Search, space: Space, data: str) -> str:
    """Return what tells searches apart: their data and every setting that can change a trial."""
    kept = search_settings(asdict(typed))
    first = {name: value_of(typed.model, name) for name in space}
    model = with_settings(typed.model, dict.fromkeys(space))
    kept["model"] = {name: value for name, value in model.items() if name not in space}
    ranges = {name: str(distribution) for name, distribution in space.items()}
    how = {name: value for name, value in asdict(search).items() if name not in ("trials", "seconds")}
    parts = [fingerprint(kept, data, NUMERIC_VERSION, read_beside(kept)), first, ranges, how]
    return sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()
