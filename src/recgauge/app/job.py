"""One job: from configuration to stored and printed results."""

import traceback
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from recgauge.app.names import typed_words
from recgauge.app.settings import RunSettings
from recgauge.app.sweep.outcome import Outcome, sweep_id
from recgauge.app.terminal.explain import explain_config_error
from recgauge.app.terminal.messages import explain_os_error, print_error
from recgauge.app.terminal.secrets import learn_settings, without_secrets
from recgauge.errors import ConfigError, RecgaugeError, TrackingError
from recgauge.utils.progress import NoProgress, Progress, Timings

if TYPE_CHECKING:
    from recgauge.app.tracking.tracker import RunStart, Tracker
    from recgauge.experiment import Experiment
    from recgauge.runs.record import RunRecord
    from recgauge.runs.result import RunResult
    from recgauge.studies import Study


def run_job(cfg: DictConfig) -> None:
    """Run one job; what happened is left in outcome.json for the table at the end of a sweep.

    Raises
    ------
    SystemExit
        If the job failed and is not one of a sweep, which goes on with its other jobs.
    """
    job = HydraConfig.get()
    folder = Path(job.runtime.output_dir)
    sweeping = job.mode == RunMode.MULTIRUN
    outcome = Outcome(" ".join(without_secrets(typed_words(job))))
    if sweeping:
        outcome.number, outcome.sweep = job.job.num, sweep_id(Path(job.sweep.dir))
    try:
        _run(cfg, job, folder, outcome)
    except KeyboardInterrupt:
        outcome.error, outcome.stopped = "stopped", True
        _leave(outcome, folder)
        raise
    except (RecgaugeError, OmegaConfBaseException) as known:
        outcome.error = str(known) if isinstance(known, RecgaugeError) else explain_config_error(known)
        print_error(outcome.error)
    except OSError as error:
        outcome.error = explain_os_error(error, folder)
        print_error(outcome.error)
    except SystemExit as end:  # would end a sweep without its table, perhaps with exit code 0
        outcome.error = (
            f"a component ended the program with exit code {end.code}; let it raise an error instead."
        )
        print_error(outcome.error)
    except Exception as bug:
        outcome.error = f"{type(bug).__name__}: {bug}"
        traceback.print_exc()
        print_error("this is a bug of recgauge or of a component of yours; the traceback above shows where.")
    _leave(outcome, folder)
    if not sweeping and (outcome.error is not None or outcome.untracked is not None):
        raise SystemExit(1)


def _leave(outcome: Outcome, folder: Path) -> None:
    """Write outcome.json; where that fails, too, as on a full disk, the first error is the one to tell."""
    try:
        outcome.write(folder)
    except OSError as error:
        if outcome.error is None:
            outcome.error = explain_os_error(error, folder)
            print_error(outcome.error)


def _run(cfg: DictConfig, job: Any, folder: Path, outcome: Outcome) -> None:
    """Conclude a study without runs, reuse a finished run, or make a new one."""
    from recgauge.app.compose import build_study, build_tracker, compose
    from recgauge.app.files.list_files import check_study
    from recgauge.app.names import check_repeats, chosen_names
    from recgauge.app.sweep.needs import known_missing
    from recgauge.app.targets import allowed_packages, check_targets
    from recgauge.app.tracking.tracker import NoTracker

    check_repeats(job)
    settings = _settings(cfg)
    plain = cast("dict[str, Any]", OmegaConf.to_container(cfg, resolve=True))
    check_targets(plain, allowed_packages(settings.allowed_targets))
    learn_settings(plain)  # an error may show a password in another form
    plain = without_secrets(plain)  # for what is stored; components get the settings as they are
    outcome.settings = plain
    outcome.names = chosen_names(job, settings)
    study = build_study(settings.study, settings.allowed_targets)
    check_study(settings.artifacts.lists, () if study is None else study.artifacts)
    tracker = build_tracker(settings.tracking)
    if study is not None and not study.needs_runs:
        from recgauge.app.sweep.conclude import conclude

        conclude(study, [], tracker=tracker, hydra=job, folder=folder)
        return
    experiment = compose(settings, all_metrics="all" in outcome.names["metrics"].split("+"))
    outcome.names["dataset"] = experiment.dataset.label or outcome.names["dataset"]
    if job.mode == RunMode.MULTIRUN and (reason := known_missing(Path(job.sweep.dir), plain["dataset"])):
        outcome.error, outcome.no_data = reason, True
        return
    try:
        if job.mode == RunMode.MULTIRUN:
            tracker.check_there()
        reuse = settings.reuse and not settings.force
        if reuse and _reuse(experiment, tracker, study, job, folder, outcome):
            return
        _make(settings, experiment, tracker, job, folder, outcome)
    except TrackingError as error:
        if job.mode != RunMode.MULTIRUN:
            raise  # nothing has been computed yet, and the address may be a typing error
        outcome.untracked = str(error)
        _make(settings, experiment, NoTracker(), job, folder, outcome)
    if outcome.untracked is not None:
        print_error(f"not tracked: {outcome.untracked} The results lie complete in {folder}.")


def _reuse(
    experiment: "Experiment",
    tracker: "Tracker",
    study: "Study | None",
    job: Any,
    folder: Path,
    outcome: Outcome,
) -> bool:
    """Let a finished run stand for the job if there is one; the data are not loaded."""
    from recgauge.app.files.sources import read_beside
    from recgauge.app.terminal.console import ConsoleProgress
    from recgauge.app.terminal.printing import print_run
    from recgauge.app.tracking.stored import find_finished
    from recgauge.app.tracking.tracker import experiment_tag

    progress = ConsoleProgress()
    with progress.stage("look for a finished run"):
        # a sweep has fetched its data, and told about them, before its first job
        told = None if job.mode == RunMode.MULTIRUN else progress
        digest = experiment.dataset.digest(told)
        found = find_finished(
            outcome.settings,
            digest,
            read_beside(outcome.settings),
            tracker=tracker,
            artifacts=() if study is None else study.artifacts,
            folder=folder,
            progress=progress,
        )
    if found is None:
        return False
    run_id, record = found
    grid = job.runtime.choices.get("experiment")
    if grid is not None:
        tracker.mark(run_id, experiment_tag(grid))
    brief = job.mode == RunMode.MULTIRUN
    print_run(
        record, address=tracker.run_address(run_id), run_id=run_id, folder=folder, brief=brief, reused=True
    )
    outcome.reused = run_id
    return True


def _make(
    settings: RunSettings,
    experiment: "Experiment",
    tracker: "Tracker",
    job: Any,
    folder: Path,
    outcome: Outcome,
) -> None:
    """Do the work of a job: complete files first, then the store, whose failure costs no result.

    Raises
    ------
    TrackingError
        If the store fails before there is a result.
    """
    from recgauge.app.files.artifacts import finish, unfinished
    from recgauge.app.files.sources import read_beside
    from recgauge.app.names import run_again
    from recgauge.app.terminal.console import ConsoleProgress
    from recgauge.app.terminal.printing import print_run
    from recgauge.app.tracking.environment import environment
    from recgauge.experiment import run_experiment
    from recgauge.runs.record import RunRecord

    sweeping = job.mode == RunMode.MULTIRUN
    names, plain = outcome.names, outcome.settings
    command = run_again(job, sweeping=sweeping)
    facts = environment() | {"sources": read_beside(plain)}
    start = _run_start(job, names, plain, command, facts)
    record, seconds = None, None
    address, run_id = None, None
    progress = ConsoleProgress()
    with progress.stage("look for the data"):
        experiment.dataset.find(progress)  # missing data leave no failed run in the store
    try:
        with tracker.start(start) as log:
            result = run_experiment(experiment, progress)
            record = RunRecord.from_result(
                result, names=names, seed=settings.seed, command=command, settings=plain, environment=facts
            )
            yaml = OmegaConf.to_yaml(OmegaConf.create(plain))
            with unfinished(folder) as room:
                record, files = _write(result, record, settings, yaml, room, progress)
                files = finish(files, room, folder)
            seconds = record.seconds | {"tracking": log.finish(record, files)}
        run_id = log.run_id
        address = None if run_id is None else tracker.run_address(run_id)
    except TrackingError as error:
        if record is None:
            raise
        outcome.untracked = str(error)
    shown = replace(record, seconds=seconds or record.seconds)
    print_run(shown, address=address, run_id=run_id, folder=folder, brief=sweeping)


def _run_start(
    job: Any, names: dict[str, str], plain: dict[str, Any], command: str, facts: dict[str, Any]
) -> "RunStart":
    """Return what the tracker is told of a job before it does anything."""
    from recgauge.app.names import run_name
    from recgauge.app.tracking.page import run_start
    from recgauge.app.tracking.tracker import experiment_tag

    tags = {}
    if job.mode == RunMode.MULTIRUN:
        tags["recgauge.sweep"] = Path(job.sweep.dir).as_posix()
    if (grid := job.runtime.choices.get("experiment")) is not None:
        tags[experiment_tag(grid)] = "true"
    name = run_name(typed_words(job), names, plain)
    return run_start(name, plain, names, command=command, environment=facts, extra=tags)


def _write(
    result: "RunResult",
    record: "RunRecord",
    settings: RunSettings,
    config_yaml: str,
    folder: Path,
    progress: Progress,
) -> "tuple[RunRecord, list[Path]]":
    """Write all files of a run, the digests of the others last; the record gets the time that this took."""
    from recgauge.app.files.artifacts import (
        write_checksums,
        write_convention_table,
        write_record,
        write_tables,
    )
    from recgauge.app.files.list_files import which_lists
    from recgauge.app.files.run_card import draw_run, write_run_card

    files = write_tables(result, folder, which_lists(settings.artifacts.lists), progress)
    timings = Timings(NoProgress())
    with timings.stage("card"):
        files += write_run_card(result, record, folder)
    if settings.figures:
        with timings.stage("figures"):
            files += draw_run(result, record.names, folder)
    record = replace(record, seconds=record.seconds | timings.seconds)
    if settings.conventions_table:
        files += write_convention_table(result, settings.cutoffs, folder)
    files += write_record(record, config_yaml, folder)
    return record, [*files, write_checksums(files, folder)]


def _settings(cfg: DictConfig) -> RunSettings:
    known = [field.name for field in fields(RunSettings)]
    if unknown := [str(key) for key in cfg if key not in known]:
        raise ConfigError(f"{', '.join(unknown)}: there is no such setting. Settings: {', '.join(known)}.")
    settings = OmegaConf.to_object(cfg)
    if not isinstance(settings, RunSettings):
        raise ConfigError("conf/config.yaml: the defaults list must begin with run_schema.")
    return settings
