"""Hydra callback around a multirun: store and data before the jobs, one table and the study after them."""

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydra.experimental.callback import Callback
from omegaconf import DictConfig, OmegaConf

if TYPE_CHECKING:
    from recgauge.app.sweep.outcome import Outcome, SweepPlan
    from recgauge.app.tracking.tracker import Tracker
    from recgauge.report.series import JobOutcome
    from recgauge.studies import Study, StudyRun


class SweepSummary(Callback):
    """Prepares the tracking store before parallel jobs race for it, and sums up when all have ended."""

    def on_multirun_start(self, config: DictConfig, **_: Any) -> None:
        """Open the store and look at the data; what cannot work stops the sweep before any work is done."""
        from recgauge.app.terminal.messages import print_error
        from recgauge.errors import RecgaugeError

        try:
            _begin(config)
        except (RecgaugeError, OSError) as error:
            # Hydra turns exceptions of callbacks into warnings, but lets an exit pass
            print_error(str(error))
            raise SystemExit(1) from error

    def on_job_start(self, config: DictConfig, **_: Any) -> None:
        """Take secrets out of the file that Hydra has just written about the sweep."""
        from recgauge.app.terminal.secrets import without_secrets

        file = Path(config.hydra.sweep.dir) / "multirun.yaml"
        if file.is_file():
            text = file.read_text(encoding="utf-8")
            if (clean := without_secrets(text)) != text:
                file.write_text(clean, encoding="utf-8")

    def on_multirun_end(self, config: DictConfig, **_: Any) -> None:
        """Print one table over all jobs; the exit code tells whether all of them finished."""
        del config
        if not conclude_sweep():
            raise SystemExit(1)


_running: "list[tuple[DictConfig, SweepPlan]]" = []
"""The sweep of this process, if there is one: Hydra tells a callback of its end, not of an interruption."""


def interrupted_sweep() -> bool:
    """Whether this process has begun a sweep and not yet told its end."""
    return bool(_running)


def conclude_sweep(*, stopped: bool = False) -> bool:
    """Print and store what the sweep of this process has come to; return whether all of it went well.

    Parameters
    ----------
    stopped : bool
        Whether the sweep was interrupted; what it had finished is told all the same.
    """
    from recgauge.app.terminal.messages import print_error

    if not _running:
        return True
    config, plan = _running.pop()
    try:
        return _conclude(config, plan, stopped=stopped)
    except KeyboardInterrupt:
        raise
    except Exception as error:  # Hydra would turn it into a warning, and the exit code into 0
        print_error(f"the sweep cannot be summed up: {type(error).__name__}: {error}")
        return False


def _begin(config: DictConfig) -> None:
    from recgauge.app.sweep.needs import FILE, grid_jobs
    from recgauge.app.sweep.outcome import SweepPlan

    folder = Path(config.hydra.sweep.dir)
    (folder / FILE).unlink(missing_ok=True)  # of an earlier sweep in the same folder
    if config.reuse:
        _check_needs(config)
    _tracker(config).prepare()
    jobs = grid_jobs(config)
    plan = SweepPlan([" ".join(word for word in job if not word.startswith("hydra.")) for job in jobs])
    plan.write(folder)
    _running[:] = [(config, plan)]


def _conclude(config: DictConfig, plan: "SweepPlan", *, stopped: bool) -> bool:
    from recgauge.app.sweep.files import write_summary
    from recgauge.app.sweep.outcome import read_outcomes
    from recgauge.app.terminal.messages import print_error
    from recgauge.app.terminal.printing import print_sweep
    from recgauge.errors import RecgaugeError, TrackingError

    folder = Path(config.hydra.sweep.dir)
    outcomes = read_outcomes(folder, plan, stopped=stopped)
    jobs = _short_labels([_job(path, outcome) for path, outcome in outcomes])
    address = None
    try:
        _tracker(config).check_there()
        address = _address(config, folder)
    except TrackingError as error:
        print_error(str(error))
    write_summary(jobs, folder)
    print_sweep(jobs, address=address, folder=folder)
    ended_well = not any(job.status in ("failed", "stopped", "not tracked") for job in jobs)
    if (study := _study(config)) is None or stopped:
        return ended_well and all(job.record is not None for job in jobs)
    from recgauge.app.sweep.conclude import conclude

    runs = [_study_run(job, path, one) for job, (path, one) in zip(jobs, outcomes, strict=True)]
    try:
        conclude(study, runs, tracker=_tracker(config), hydra=config.hydra, folder=folder)
    except RecgaugeError as error:
        print_error(str(error))
        return False
    return ended_well


def _check_needs(config: DictConfig) -> None:
    """Read the study's inputs and fetch the data of all jobs; note what is missing for those that need it."""
    from recgauge.app.settings import experiments_folder
    from recgauge.app.sweep.needs import FILE, grid_datasets, missing_data
    from recgauge.app.terminal.console import ConsoleProgress
    from recgauge.app.terminal.secrets import without_secrets
    from recgauge.errors import MissingDataError

    if (study := _study(config)) is not None:
        study.check(experiments_folder() / study.name)
    datasets = grid_datasets(config)
    progress = ConsoleProgress()
    with progress.stage("look for the data sets"):
        missing = missing_data(datasets, list(config.allowed_targets), progress)
    if len(missing) == len({json.dumps(node, sort_keys=True) for node in datasets.values()}):
        raise MissingDataError("\n".join(missing.values()))
    if missing:
        for reason in missing.values():
            progress.note(f"the jobs on this data set are left out. {reason}")
        folder = Path(config.hydra.sweep.dir)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / FILE).write_text(json.dumps(without_secrets(missing)), encoding="utf-8")


def _tracker(config: DictConfig) -> "Tracker":
    from recgauge.app.compose import build_tracker

    return build_tracker(OmegaConf.to_container(config.tracking, resolve=True))


def _study(config: DictConfig) -> "Study | None":
    from recgauge.app.compose import build_study

    node = None if config.study is None else OmegaConf.to_container(config.study, resolve=True)
    return build_study(node, list(config.allowed_targets))


def _address(config: DictConfig, folder: Path) -> str | None:
    """Return the page of the experiment's runs, reused ones among them, else of the sweep's."""
    from recgauge.app.tracking.tracker import experiment_tag

    experiment = config.hydra.runtime.choices.get("experiment")
    if experiment is not None:
        return _tracker(config).address(experiment_tag(experiment))
    return _tracker(config).address("recgauge.sweep", folder.as_posix())


def _job(folder: Path, outcome: "Outcome") -> "JobOutcome":
    from recgauge.app.tracking.stored import load_record
    from recgauge.errors import SchemaError
    from recgauge.report.series import JobOutcome

    record, error = None, outcome.error
    if error is None:
        try:
            record = load_record(folder)
        except (OSError, SchemaError) as damage:
            error = f"{folder / 'record.json'}: cannot be read: {damage}"
    return JobOutcome(
        number=outcome.number,
        label=outcome.label,
        record=record,
        error=error,
        reused=outcome.reused,
        no_data=outcome.no_data,
        untracked=outcome.untracked,
        stopped=outcome.stopped,
        folder=folder,
    )


def _study_run(job: "JobOutcome", folder: Path, outcome: "Outcome") -> "StudyRun":
    from recgauge.studies import StudyRun

    return StudyRun(outcome.names, outcome.settings, job.record, folder, job.error)


def _short_labels(jobs: "list[JobOutcome]") -> "list[JobOutcome]":
    """Leave out of the labels what all jobs share, and name an experiment's own parts without its name."""
    words = [job.label.split(" ") for job in jobs]
    shared = set.intersection(*map(set, words)) if len(jobs) > 1 else set()
    return [
        replace(job, label=" ".join(_short(word) for word in own if word not in shared) or job.label)
        for job, own in zip(jobs, words, strict=True)
    ]


def _short(word: str) -> str:
    return word.partition("=")[2] if word.startswith("+experiment/") else word
