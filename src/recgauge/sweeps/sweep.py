"""A sweep from its jobs to its table: composed, checked, reused, run and summed up."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from shutil import rmtree
from time import monotonic
from typing import Any

from recgauge.datasets import DatasetSource
from recgauge.errors import (
    ConfigError,
    DataError,
    MissingDataError,
    RecgaugeError,
    TrackingError,
)
from recgauge.report.blocks import TableBlock
from recgauge.report.console import ConsoleProgress, output, render_terminal
from recgauge.runs.environment import fingerprint_of
from recgauge.runs.folder import CHECKSUMS, JobOutcome
from recgauge.sweeps.engines import Engine, Processes, WorkerDiedError
from recgauge.sweeps.jobs import LOG, Job, find_finished, leave_failure, run_job
from recgauge.sweeps.places import experiment_folder, work_folder
from recgauge.sweeps.tables import print_job_line, reason_lines
from recgauge.tracking.delivering import delivered, waiting
from recgauge.tracking.outbox import Deliveries
from recgauge.tracking.store import Store
from recgauge.utils.messages import print_error
from recgauge.utils.secrets import without_secrets


@dataclass
class Sweep:
    """The jobs of a command, what they share, and how those that have ended did."""

    folder: Path  # absolute
    store: Store | None
    jobs: list[Job] = field(default_factory=list)  # those whose settings can be used
    outcomes: dict[int, JobOutcome] = field(default_factory=dict)  # of what has ended or cannot begin
    words: Sequence[str] = ()  # the overrides as they were typed
    experiment: str = ""  # as in experiment=NAME
    alone: bool = False  # a single run

    @property
    def waiting(self) -> list[Job]:
        """The jobs that have not ended."""
        return [job for job in self.jobs if job.number not in self.outcomes]

    @property
    def all_outcomes(self) -> list[JobOutcome]:
        """How all jobs ended, in their order; ``done`` and without a record as long as nothing is known."""
        outcomes = {job.number: job.outcome for job in self.jobs} | self.outcomes
        return [outcomes[number] for number in sorted(outcomes)]

    @cached_property
    def labels(self) -> dict[int, str]:
        """The words of each job without those that all share; an experiment's own parts without its name."""
        words = {outcome.number: outcome.label.split(" ") for outcome in self.all_outcomes}
        shared = set.intersection(*map(set, words.values())) if len(words) > 1 else set()
        labels = {}
        for number, own in words.items():
            parts = [word for word in own if word not in shared] or own
            parts = [word.partition("=")[2] if word.startswith("+experiment/") else word for word in parts]
            labels[number] = " ".join(parts)
        return labels


def run_sweep(
    sweep: Sweep, make_engine: Callable[[], Engine], end: Callable[[Sweep, Deliveries], bool]
) -> bool:
    """Check, reuse, run and sum up the jobs of a command; `end` says whether all went well.

    KeyboardInterrupt if the user has stopped it, after it has been summed up.
    """
    store = sweep.store
    check(sweep)
    engine = make_engine()
    look_for_data(sweep)
    with Deliveries(store) as deliveries:

        def deliver(folder: Path, experiment: str = "") -> None:
            if store is not None and (folder / CHECKSUMS).is_file():
                deliveries.submit(folder, store, experiment)

        for folder in () if store is None else waiting(work_folder() / "outputs", store):
            deliver(folder)
        check_folders(sweep)
        for folder in {outcome.folder for outcome in sweep.all_outcomes if outcome.status == "reused"}:
            deliver(folder, sweep.experiment)
        lines, workers = JobLines(sweep, engine), Workers(sweep, engine)
        with suppress(KeyboardInterrupt), closing(engine):
            for outcome in workers.run():
                sweep.outcomes[outcome.number] = outcome
                lines.ended(outcome)
                deliver(outcome.folder)
        workers.mark_stopped()
        for job in sweep.waiting:
            sweep.outcomes[job.number] = replace(job.outcome, status="stopped", reason="stopped")
            deliver(job.folder)  # which says so where it was at work on this machine
        deliveries.finish()
        sweep.outcomes = {outcome.number: _tracked(outcome, deliveries) for outcome in sweep.all_outcomes}
        ended_well = end(sweep, deliveries)
    if any(outcome.status == "stopped" for outcome in sweep.all_outcomes):
        raise KeyboardInterrupt
    return ended_well


def _tracked(outcome: JobOutcome, deliveries: Deliveries) -> JobOutcome:
    """Return the outcome with its run in the store or the reason why the store lacks it, without secrets."""
    result = deliveries.results.get(outcome.folder)
    if outcome.run_id is None and isinstance(result, str):
        outcome = replace(outcome, run_id=result)
    elif outcome.run_id is None and result is not None and outcome.record is not None:
        outcome = replace(outcome, status="not tracked", reason=str(result))
    return replace(outcome, reason=without_secrets(outcome.reason or "") or None)


class Workers:
    """Workers of an engine, and the jobs that wait for them.

    A worker is given a job that needs the rows that it has, or else rows that nobody has. A job whose worker
    dies is tried once more.
    """

    def __init__(self, sweep: Sweep, engine: Engine) -> None:
        self._engine, self._waiting = engine, sweep.waiting
        self._busy: dict[Future[JobOutcome], tuple[Job, Executor, float]] = {}
        self._idle: list[tuple[Executor, str]] = []  # with the rows that they have
        self._tried: set[int] = set()

    def run(self) -> Iterator[JobOutcome]:
        """Run all jobs, and yield how each ended."""
        while self._waiting or self._busy:
            while self._waiting and len(self._busy) < self._engine.n_workers:
                self._start_job()
            for future in wait(self._busy, return_when=FIRST_COMPLETED).done:
                yield from self._end_job(future)

    def mark_stopped(self) -> None:
        """Say in the folders of jobs whose processes have been ended that they were stopped."""
        for job, _, began in self._busy.values() if isinstance(self._engine, Processes) else ():
            if not (job.folder / CHECKSUMS).exists():
                for hidden in job.folder.glob(".unfinished-*"):
                    rmtree(hidden, ignore_errors=True)
                leave_failure(job, began, "stopped", killed=True)

    def _start_job(self) -> None:
        """Give a job to a worker."""
        kept = self._idle[-1][1] if self._idle else ""
        running = {job.rows for job, *_ in self._busy.values()}
        job = min(self._waiting, key=lambda job: (job.rows != kept, job.rows in running))
        self._waiting.remove(job)
        worker = self._idle.pop()[0] if self._idle else self._engine.worker()
        sent = replace(job, dataset=None, output=self._engine.output)
        began = time.time()
        self._busy[worker.submit(self._engine.call, run_job, sent)] = job, worker, began

    def _end_job(self, future: Future[JobOutcome]) -> Iterator[JobOutcome]:
        """Yield how a job ended, unless its worker has died and it is tried once more."""
        job, worker, _ = self._busy.pop(future)
        try:
            outcome = future.result()
        except RecgaugeError:
            raise
        except Exception as error:  # the worker has died, in whatever way its engine says so
            worker.shutdown(wait=False)
            reason = str(error) if isinstance(error, WorkerDiedError) else ""
            if not reason and job.number not in self._tried:
                self._tried.add(job.number)
                self._waiting.insert(0, job)
                return
            reason = reason or "its process died twice"
            leave_failure(job, time.time(), reason)
            yield replace(job.outcome, status="failed", reason=reason)
        else:
            self._idle.append((worker, job.rows))
            yield outcome


def check(sweep: Sweep) -> None:
    """Name the jobs that cannot run; those that cannot for one reason share a message.

    It is an error if none can, or if the study or the store of the sweep cannot be used.
    """
    outcomes = sweep.all_outcomes
    wrong = [replace(each, label=sweep.labels[each.number]) for each in outcomes if each.status == "failed"]
    if wrong and len(wrong) == len(outcomes):
        raise ConfigError("\n".join(dict.fromkeys(str(outcome.reason) for outcome in wrong)))
    for line in reason_lines(wrong):
        print_error(line)
    studies = [study for job in sweep.jobs if (study := job.study()) is not None]
    for place, study in enumerate(studies):
        if study not in studies[:place]:
            study.check(experiment_folder(study.name))
    file = None if sweep.store is None else sweep.store.file
    if file is not None and not file.absolute().parent.is_dir():
        raise TrackingError(f"tracking.uri: the folder {file.absolute().parent} does not exist.")


def check_folders(sweep: Sweep) -> None:
    """Refuse to replace finished runs before any job begins.

    Only a job that may turn out to be one of them, once its settings have been searched, is not asked here.
    """
    for job in sweep.waiting:
        if not (job.may_reuse and job.typed.tune):
            job.check_folder()


def look_for_data(sweep: Sweep, *, fetch_them: bool = True) -> None:
    """Look once for each data set, and for finished runs on it that may be reused.

    The jobs whose data cannot be had are left out, an error if all are.
    """
    progress = ConsoleProgress()
    on_data: dict[str, list[Job]] = {}
    for job in sweep.waiting:
        if job.dataset is not None:
            on_data.setdefault(repr(job.dataset), []).append(job)
    missing = []
    for jobs in on_data.values():
        dataset: Any = jobs[0].dataset
        may_fetch = not getattr(dataset, "offline", True)
        try:
            (dataset if fetch_them or not may_fetch else replace(dataset, offline=True)).find(progress)
        except MissingDataError as error:
            if fetch_them or not may_fetch:
                missing.append(str(error))
                lacking = [replace(job.outcome, status="no data", reason=str(error)) for job in jobs]
                sweep.outcomes |= {outcome.number: outcome for outcome in lacking}
            continue
        sweep.outcomes |= {outcome.number: outcome for outcome in _finished(jobs, dataset, sweep.store)}
    if missing and len(missing) == len(on_data):
        raise MissingDataError("\n".join(missing))
    for reason in missing:
        progress.note(f"the jobs on this data set are left out. {reason}")


def _finished(jobs: Sequence[Job], dataset: DatasetSource, store: Store | None) -> list[JobOutcome]:
    """Return the outcomes of jobs that finished runs on this disk take the place of."""
    reusing = [job for job in jobs if job.may_reuse and not job.typed.tune]
    try:
        digest = dataset.digest() if reusing else ""
        outcomes = [find_finished(job, fingerprint_of(job.settings, digest)) for job in reusing]
    except (DataError, ConfigError):  # the jobs themselves say what is wrong
        return []
    finished = [outcome for outcome in outcomes if outcome is not None]
    if store is None:
        return finished
    notes = [delivered(outcome.folder, store) or {} for outcome in finished]
    return [replace(each, run_id=note.get("run_id")) for each, note in zip(finished, notes, strict=True)]


class JobLines:
    """Prints a line for each job that ended."""

    def __init__(self, sweep: Sweep, engine: Engine) -> None:
        self._sweep, self._n_todo = sweep, len(sweep.waiting)
        self._elsewhere = engine.output == "log"
        self._ended = self._failed = 0
        self._began, self._reasons = monotonic(), set[str]()
        for outcome in sweep.all_outcomes:
            if outcome.status == "reused":
                self._print(outcome)

    def ended(self, outcome: JobOutcome) -> None:
        """Print how a job ended; a reason for which many fail is printed once."""
        self._ended += 1
        self._failed += outcome.status == "failed"
        if outcome.record is not None:
            self._print(outcome)
        elif (reason := str(outcome.reason)) not in self._reasons:
            self._reasons.add(reason)
            label = "" if self._sweep.alone else f"{self._sweep.labels[outcome.number]}: "
            log = outcome.folder / LOG
            printed = f"; what it printed is in {log}" if self._elsewhere and log.exists() else ""
            print_error(f"{label}{reason}{printed}")

    def _print(self, outcome: JobOutcome) -> None:
        if self._sweep.alone:
            return
        progress = "" if outcome.status == "reused" else f"({self})"
        print_job_line(outcome, self._sweep.labels[outcome.number], progress)

    def __str__(self) -> str:
        parts = [f"{self._ended} of {self._n_todo} jobs done"]
        parts += [f"{self._failed} failed"] if self._failed else []
        if self._ended < self._n_todo:
            left = (monotonic() - self._began) / self._ended * (self._n_todo - self._ended)
            parts.append(f"about {timedelta(seconds=round(left))} left")
        return ", ".join(parts)


def show_plan(sweep: Sweep) -> bool:
    """Print what a command would do, and do nothing; return whether all jobs can run, as far as is known."""
    check(sweep)
    look_for_data(sweep, fetch_them=False)
    check_folders(sweep)
    to_run, outcomes = {job.number: job for job in sweep.waiting}, sweep.all_outcomes
    rows = tuple(
        (str(number), label or "as configured", _plan_of(outcome, to_run.get(number)))
        for outcome, (number, label) in zip(outcomes, sweep.labels.items(), strict=True)
    )
    console = output()
    render_terminal([TableBlock("", ("job", "settings", "plan"), rows, words=("settings", "plan"))], console)
    counts = Counter(outcome.status for outcome in sweep.outcomes.values())
    console.print(
        f"\n{len(outcomes)} job{'s' * (len(outcomes) > 1)}: {len(to_run)} to run, {counts['reused']} reused, "
        f"{counts['no data']} left out, {counts['failed']} cannot run"
    )
    return not counts["failed"] and not counts["no data"]


def _plan_of(outcome: JobOutcome, job: Job | None) -> str:
    """Return what becomes of a job, in a few words; `job` is None of those that will not run."""
    if job is not None:
        return "conclude the study" if job.dataset is None else "run"
    reused = f"reuse run {outcome.run_id}" if outcome.run_id else "reuse"
    return {"failed": "cannot run", "no data": "left out: no data"}.get(outcome.status, reused)
