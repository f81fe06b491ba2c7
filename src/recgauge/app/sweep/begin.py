"""Before the first job of a sweep: its jobs are composed, its data looked at, its store opened."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from hydra import compose
from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from recgauge.app.compose import build_dataset, build_study, build_tracker
from recgauge.app.places import experiment_folder
from recgauge.app.sweep.composing import grid
from recgauge.app.sweep.estimates import Earlier, earlier_runs, estimates, finished_runs
from recgauge.app.sweep.outcome import SweepPlan, write_outcome
from recgauge.app.sweep.planned import (
    PlannedJob,
    as_key,
    named,
    planned_jobs,
    set_fingerprints,
    tell_problems,
)
from recgauge.app.terminal.messages import print_error
from recgauge.app.terminal.printing import ConsoleProgress
from recgauge.app.terminal.secrets import without_secrets
from recgauge.app.tracking.delivering import deliver_waiting
from recgauge.app.tracking.tracker import Tracker
from recgauge.errors import ConfigError, MissingDataError, RecgaugeError
from recgauge.runs.outcome import JobOutcome
from recgauge.runs.settings import data_settings
from recgauge.studies import Study
from recgauge.utils.checks import check_int
from recgauge.utils.memory import free_memory, in_units
from recgauge.utils.progress import Progress

MISSING = "missing.json"
_ABOUT_DATA = data_settings() | {"experiment"}


def begin(config: DictConfig) -> SweepPlan:
    """Find out what cannot work before any work is done, and write down what the sweep sets out to do.

    Jobs that are wrong, have no data or whose finished runs are reused are settled: they have their outcome.

    Parameters
    ----------
    config : DictConfig
        The composed configuration with Hydra's own part; Hydra must be initialized.

    Raises
    ------
    RecgaugeError
        If no job can run, no data set can be had, or the study or the store cannot be used.
    """
    folder = Path(config.hydra.sweep.dir)
    (folder / MISSING).unlink(missing_ok=True)  # of an earlier sweep in the same folder
    check_int("jobs", config.jobs, minimum=1)
    study, tracker = study_and_tracker(config)
    jobs = planned_jobs(config, grid_jobs(config))
    tell_problems(jobs, print_error)
    if study is not None:
        study.check(experiment_folder(study.name))
    _note_missing_data(jobs, folder)
    tracker.prepare()
    progress = ConsoleProgress()
    for line in tracker.close_dead():
        progress.note(f"marked as killed: {line}")
    deliver_waiting(tracker, progress)
    wanted = [one for one in jobs if one.waits and one.job is not None and one.job.may_reuse]
    with progress.stage("look for finished runs"):
        earlier = earlier_runs(jobs, all_of_them=bool(wanted))
    expected = estimates(jobs, earlier)
    _note_memory(jobs, [one.peak_bytes for one in expected], progress)
    labels = [job.label for job in jobs]
    plan = SweepPlan(labels, [one.seconds for one in expected], [one.peak_bytes for one in expected])
    plan.write(folder)
    _settle(jobs, plan)
    _reuse(wanted, earlier, plan)
    return plan


def _note_memory(jobs: Sequence[PlannedJob], peaks: Sequence[int | None], progress: ConsoleProgress) -> None:
    """Say which jobs may not fit into memory; an estimate refuses none."""
    free = free_memory()
    known = [(job, peak) for job, peak in zip(jobs, peaks, strict=True) if job.waits and peak is not None]
    if large := [(job, peak) for job, peak in known if free is not None and peak > free]:
        most = in_units(max(peak for _, peak in large))
        progress.note(
            f"{named([job for job, _ in large], jobs)} may need up to {most} of memory, "
            f"{in_units(free or 0)} can be had."
        )


def _settle(jobs: Sequence[PlannedJob], plan: SweepPlan) -> None:
    """Leave the outcome of each job that cannot run."""
    for one in jobs:
        outcome = _outcome(one, plan)
        if one.problem is not None:
            write_outcome(replace(outcome, status="failed", reason=one.problem), one.folder)
        elif one.no_data is not None:
            write_outcome(replace(outcome, status="no data", reason=one.no_data), one.folder)


def _reuse(wanted: Sequence[PlannedJob], earlier: Earlier, plan: SweepPlan) -> None:
    """Reuse finished runs for jobs, and leave these jobs' outcomes."""
    set_fingerprints(wanted)
    found = finished_runs(wanted, earlier)
    for one in wanted:
        if (runs := found.get(one.number)) and one.job is not None and one.fingerprint is not None:
            from recgauge.app.perform import reuse  # takes a second to import

            with suppress(RecgaugeError, OSError):  # the job itself tells it
                one.folder.mkdir(parents=True, exist_ok=True)
                ids = [run.run_id for run in runs]
                if (reused := reuse(one.job, _outcome(one, plan), one.fingerprint, ids)) is not None:
                    write_outcome(reused, one.folder)


def _outcome(one: PlannedJob, plan: SweepPlan) -> JobOutcome:
    outcome = JobOutcome(one.number, one.label, sweep=plan.id, folder=one.folder)
    return outcome if one.job is None else replace(outcome, names=one.job.names, settings=one.job.settings)


def study_and_tracker(config: DictConfig) -> tuple[Study | None, Tracker]:
    """Build the study of a sweep, if it has one, and its tracker."""
    study, tracking = (
        None if config[key] is None else OmegaConf.to_container(config[key], resolve=True)
        for key in ("study", "tracking")
    )
    return build_study(study, list(config.allowed_targets)), build_tracker(tracking)


def grid_jobs(config: DictConfig) -> list[list[str]]:
    """Return the overrides of every job of a grid; none if another sweeper than Hydra's own chooses them."""
    if not str(config.hydra.sweeper.get("_target_")).endswith(f".{BasicSweeper.__name__}"):
        return []
    params = OmegaConf.to_container(config.hydra.sweeper.get("params") or OmegaConf.create({}))
    words = [f"{key}={value}" for key, value in dict(params).items()]  # type: ignore[arg-type]
    parser = OverridesParser.create(GlobalHydra.instance().config_loader())  # glob(...) needs its options
    overrides = parser.parse_overrides([*words, *config.hydra.overrides.task])
    return [job for batch in grid(overrides, config.hydra.sweeper.get("max_batch_size")) for job in batch]


def grid_datasets(jobs: Iterable[Sequence[str]]) -> dict[str, dict[str, Any]]:
    """Return the settings of every data set that the jobs use, by the words that choose it.

    Hydra must be initialized.
    """
    found: dict[str, dict[str, Any]] = {}
    for words in _words_about(_ABOUT_DATA, jobs):
        try:
            node: Any = OmegaConf.to_container(compose("config", list(words)).dataset, resolve=True)
        except (HydraException, OmegaConfBaseException, ConfigError):
            continue  # the job itself says what is wrong with it
        found[" ".join(words)] = node
    return found


def missing_data(
    datasets: Mapping[str, Mapping[str, Any]], allowed: Sequence[str], progress: Progress
) -> dict[str, str]:
    """Return ``{settings as text: reason}`` of the data sets that cannot be had; fetch those that can.

    Parameters
    ----------
    datasets : mapping of str to mapping
        As returned by `grid_datasets`.
    allowed : sequence of str
        Packages whose classes may be built.
    progress : Progress

    Raises
    ------
    DataError
        If data are there but not what they should be, which no other data set makes up for.
    """
    missing = {}
    for key, node in {as_key(node): node for node in datasets.values()}.items():
        try:
            build_dataset(node, allowed).find(progress)
        except MissingDataError as error:
            missing[key] = str(error)
        except ConfigError:
            continue  # the job itself says what is wrong with it
    return missing


def known_missing(sweep: Path, dataset: Mapping[str, Any]) -> str | None:
    """Return why the data are missing, if that was found out at the start of the sweep."""
    file = sweep / MISSING
    if not file.is_file():
        return None
    found: dict[str, str] = json.loads(file.read_text(encoding="utf-8"))
    return found.get(as_key(dataset))


def _note_missing_data(jobs: Sequence[PlannedJob], folder: Path) -> None:
    """Print once which data sets are missing, and leave a note for the jobs that need them."""
    used = {as_key(job.typed.dataset): job.typed for one in jobs if one.needs_data and (job := one.job)}
    progress = ConsoleProgress()
    missing: dict[str, str] = {}
    with progress.stage("look for the data sets"):
        for key, typed in used.items():
            missing |= missing_data({key: typed.dataset}, typed.allowed_targets, progress)
    if missing and len(missing) == len(used):
        raise MissingDataError("\n".join(missing.values()))
    for reason in missing.values():
        progress.note(f"the jobs on this data set are left out. {reason}")
    for one in jobs:
        if one.needs_data and one.job is not None:
            one.no_data = missing.get(as_key(one.job.typed.dataset))
    if missing:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / MISSING).write_text(json.dumps(without_secrets(missing)), encoding="utf-8")


def _words_about(roots: Collection[str], jobs: Iterable[Sequence[str]]) -> list[tuple[str, ...]]:
    """Return the words of each job that set something under one of the roots, each combination once."""
    found = (
        tuple(word for word in job if word.lstrip("+~").split("=")[0].split(".")[0] in roots) for job in jobs
    )
    return list(dict.fromkeys(found))
