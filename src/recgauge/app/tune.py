"""Tuning: validation rows choose settings; the final model learns from them, too, and meets test once."""

import json
from collections.abc import Collection
from dataclasses import asdict, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from recgauge._version import NUMERIC_VERSION
from recgauge.app.compose import build_model, build_search
from recgauge.app.settings import work_folder
from recgauge.errors import ConfigError
from recgauge.evaluation.learning import EpochPoint, Learning, watched_metric
from recgauge.experiment import Experiment, prepare, run_experiment
from recgauge.models import EpochModel
from recgauge.runs.facts import SearchFacts
from recgauge.runs.settings import RunSettings, free_settings
from recgauge.search.space import Space, parse_space
from recgauge.search.trials import Report, Search, run_search
from recgauge.utils.progress import NoProgress, Progress, Timings

NOT_SEARCHED = ("sanity", "conventions_table", "learning", "fit_on", "evaluate_on")
"""Settings of the final run that do not change a search."""


def check_tuning(typed: RunSettings) -> None:
    """Refuse settings that contradict a search, before any work.

    Raises
    ------
    ConfigError
        If there is one.
    """
    if typed.evaluate_on != "test" or typed.fit_on not in ("train", "train_validation"):
        raise ConfigError(
            "tune: a search chooses by validation rows, and its final model learns from train and validation "
            "rows and is evaluated once on test rows. Leave out evaluate_on and fit_on."
        )
    if typed.learning.watch:
        raise ConfigError("tune: learning.watch is for single runs; leave it out. Trials are watched anyway.")


def tune(
    typed: RunSettings, fixed: Collection[str], experiment: Experiment, progress: Progress
) -> SearchFacts:
    """Search the model's settings by validation rows; a search that was stopped goes on.

    Data, split and candidates are made once for all trials.

    Parameters
    ----------
    typed : RunSettings
    fixed : collection of str
        Settings of the model that the user gave, which are not searched.
    experiment : Experiment
        What the final run does.
    progress : Progress

    Raises
    ------
    RecgaugeError
        If there is nothing to search, there are no validation rows, or no trial finished.
    """
    search = build_search(typed.tune)
    space = _space(typed, fixed)
    key, definition, k = watched_metric(search.metric, experiment.metrics, experiment.cutoffs)
    looked_at = replace(
        experiment,
        metrics={definition.metric.name if k is None else key.rpartition("_at_")[0]: definition},
        cutoffs=experiment.cutoffs if k is None else (k,),
        evaluate_on="validation",
        fit_on="train",
        sanity=False,
        curves=False,
        learning=None,
    )
    timings = Timings(progress)
    ready = prepare(looked_at, timings)

    def measure(settings: dict[str, Any], report: Report) -> float:
        model = build_model(typed.model | settings, typed.allowed_targets)
        watched = Learning(key) if search.prune and isinstance(model, EpochModel) else None

        def watch(point: EpochPoint) -> None:
            if point.value is not None:
                report(point.epoch, point.value)

        trial = replace(looked_at, model=model, learning=watched)
        return run_experiment(trial, NoProgress(), ready, watch).results[0].value

    digest = _digest(typed, search, space, ready.dataset.sha256)
    maximize = definition.metric.higher_is_better
    with timings.stage("search"):
        trials = run_search(
            search, space, measure, _file(digest), maximize=maximize, first=typed.model, progress=progress
        )
    facts = SearchFacts(digest, key, maximize, search.sampler, search.budget, trials)
    _ = facts.chosen  # refuses a search without a finished trial
    return facts


def _space(typed: RunSettings, fixed: Collection[str]) -> Space:
    declared = {name: node for name, node in (typed.search or {}).items() if name not in fixed}
    if not declared:
        given = f" besides {', '.join(fixed)}" if fixed else ""
        raise ConfigError(
            f"tune: nothing is declared for this model{given} in conf/search. Say what to try: "
            "'+search.NAME={low: 1, high: 100, log: true}', or '+search.NAME=[a,b]'."
        )
    if unknown := [name for name in declared if name not in typed.model]:
        known = ", ".join(name for name in typed.model if name != "_target_")
        raise ConfigError(f"search: the model has no setting {', '.join(unknown)}; it has {known}.")
    return parse_space(declared)


def _digest(typed: RunSettings, search: Search, space: Space, data: str) -> str:
    """Return what tells searches apart: their data and every setting that can change a trial."""
    left_out = free_settings() | {"dataset", "model", *NOT_SEARCHED}
    kept = {name: value for name, value in asdict(typed).items() if name not in left_out}
    model = {name: value for name, value in typed.model.items() if name not in space}
    ranges = {name: str(distribution) for name, distribution in space.items()}
    how = {name: value for name, value in asdict(search).items() if name not in ("trials", "seconds")}
    parts = [NUMERIC_VERSION, data, kept, model, ranges, how]
    return sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


def _file(digest: str) -> Path:
    return work_folder() / "outputs" / "searches" / f"{digest[:32]}.json"
