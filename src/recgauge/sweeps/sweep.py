"""A sweep from its jobs to its table: composed, checked, reused, run and summed up."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from shutil import rmtree
from time import monotonic
from typing import Any

from filelock import FileLock, Timeout
from rich import progress as bars
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from recgauge.datasets import DatasetSource
from recgauge.errors import (
    ConfigError,
    DataError,
    IntegrityError,
    MissingDataError,
    RecgaugeError,
    TrackingError,
    listed,
)
from recgauge.report.blocks import TableBlock
from recgauge.report.console import ConsoleProgress, output, render_terminal
from recgauge.runs.environment import fingerprint_of
from recgauge.runs.finished import FinishedRun
from recgauge.runs.folder import CHECKSUMS, JobOutcome
from recgauge.sweeps.engines import Engine, Processes, WorkerDiedError
from recgauge.sweeps.jobs import LOG, Job, find_finished, fits, leave_failure, run_job
from recgauge.sweeps.places import experiment_folder, work_folder
from recgauge.sweeps.tables import print_job_line
from recgauge.tracking import Deliveries, Store, delivered, fetch, find, mark, waiting
from recgauge.utils.messages import print_error
from recgauge.utils.secrets import without_secrets

_NAMED = 3  # jobs whose words are shown where many are wrong for one reason
_LOOK = 0.5  # seconds between two looks at jobs that another sweep is at


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
    batch: bool = False  # of a sweeper that may give out more jobs, which can run where these cannot
    fetched: set[int] = field(default_factory=set)  # jobs whose data would have to be downloaded
    fingerprints: dict[int, str] = field(default_factory=dict)  # known without a search or missing data

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

        def deliver(folder: Path) -> None:
            if store is not None and (folder / CHECKSUMS).is_file():
                deliveries.submit(folder, store)

        for folder in () if store is None else waiting(work_folder() / "outputs", store):
            deliver(folder)
        reuse(sweep)
        check_folders(sweep)
        for folder in {outcome.folder for outcome in sweep.all_outcomes if outcome.status == "reused"}:
            deliver(folder)
        watching, workers = Watching(sweep, engine), Workers(sweep, engine)
        with watching.bar or nullcontext(), suppress(KeyboardInterrupt), closing(engine):
            for outcome in workers.run():
                sweep.outcomes[outcome.number] = outcome
                watching.ended(outcome)
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
    dies is tried once more. One that another sweep of this folder is at comes back when there is nothing else
    to do: then it is finished, or free.
    """

    def __init__(self, sweep: Sweep, engine: Engine) -> None:
        self._fingerprints, self._engine = sweep.fingerprints, engine
        self._waiting, self._elsewhere = sweep.waiting, list[Job]()
        self._busy: dict[Future[JobOutcome], tuple[Job, Executor, FileLock | None, float]] = {}
        self._idle: list[tuple[Executor, str]] = []  # with the rows that they have
        self._tried: set[int] = set()

    def run(self) -> Iterator[JobOutcome]:
        """Run all jobs, and yield how each ended."""
        while self._waiting or self._busy or self._elsewhere:
            if not self._waiting:
                self._waiting, self._elsewhere = self._elsewhere, []
            while self._waiting and len(self._busy) < self._engine.n_workers:
                yield from self._give_out()
            if self._elsewhere and not self._busy:
                time.sleep(_LOOK)
            elif self._busy:
                for future in wait(self._busy, _LOOK if self._elsewhere else None, FIRST_COMPLETED).done:
                    yield from self._take_back(future)

    def mark_stopped(self) -> None:
        """Say in the folders of jobs whose processes have been ended that they were stopped."""
        for job, _, _, began in self._busy.values() if isinstance(self._engine, Processes) else ():
            if not (job.folder / CHECKSUMS).exists():
                for hidden in job.folder.glob(".unfinished-*"):
                    rmtree(hidden, ignore_errors=True)
                leave_failure(job, began, "stopped", killed=True)

    def _give_out(self) -> Iterator[JobOutcome]:
        """Give a job to a worker; yield its outcome if another sweep has finished it meanwhile."""
        kept = self._idle[-1][1] if self._idle else ""
        running = {job.rows for job, *_ in self._busy.values()}
        job = min(self._waiting, key=lambda job: (job.rows != kept, job.rows in running))
        self._waiting.remove(job)
        fingerprint = self._fingerprints.get(job.number, "")
        lock = _lock(job, fingerprint) if fingerprint else None
        if lock is not None and not lock.is_locked:
            self._elsewhere.append(job)
        elif lock is not None and (done := find_finished(job, fingerprint)) is not None:
            lock.release()
            yield done
        else:
            worker = self._idle.pop()[0] if self._idle else self._engine.worker()
            sent = replace(job, dataset=None, output=self._engine.output)
            began = time.time()
            self._busy[worker.submit(self._engine.call, run_job, sent)] = job, worker, lock, began

    def _take_back(self, future: Future[JobOutcome]) -> Iterator[JobOutcome]:
        """Yield how a job ended, unless its worker has died and it is tried once more."""
        job, worker, lock, _ = self._busy.pop(future)
        if lock is not None:
            lock.release()
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


def _lock(job: Job, fingerprint: str) -> FileLock | None:
    """Return the lock of a job, held unless another sweep is at it; the system frees those of the dead."""
    try:
        job.index.mkdir(parents=True, exist_ok=True)
        lock = FileLock(job.index / f"{fingerprint}.lock", thread_local=False)
        lock.acquire(timeout=0)
    except Timeout:
        pass
    except OSError:  # a disk that takes nothing: the job is done here
        return None
    return lock


def check(sweep: Sweep) -> None:
    """Name the jobs that cannot run; those that cannot for one reason share a message.

    It is an error if none can, or if the study or the store of the sweep cannot be used.
    """
    wrong: dict[str, list[int]] = {}
    for outcome in sweep.all_outcomes:
        if outcome.status == "failed":
            wrong.setdefault(str(outcome.reason), []).append(outcome.number)
    if wrong and sum(map(len, wrong.values())) == len(sweep.all_outcomes) and not sweep.batch:
        raise ConfigError("\n".join(wrong))
    for reason, numbers in wrong.items():
        names = listed([f"{number} ({sweep.labels[number]})" for number in numbers], most=_NAMED)
        print_error(f"job{'s' * (len(numbers) > 1)} {names} cannot run. {reason}")
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
    """Look once for each data set, and fingerprint the jobs on it that may reuse a run, but tuned ones.

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
            if may_fetch and not fetch_them:
                sweep.fetched |= {job.number for job in jobs}
                continue
            missing.append(str(error))
            lacking = [replace(job.outcome, status="no data", reason=str(error)) for job in jobs]
            sweep.outcomes |= {outcome.number: outcome for outcome in lacking}
            continue
        sweep.fingerprints |= _fingerprints(jobs, dataset)
    if missing and len(missing) == len(on_data) and not sweep.batch:
        raise MissingDataError("\n".join(missing))
    for reason in missing:
        progress.note(f"the jobs on this data set are left out. {reason}")


def _fingerprints(jobs: Sequence[Job], dataset: DatasetSource) -> dict[int, str]:
    reusing = [job for job in jobs if job.may_reuse and not job.typed.tune]
    try:
        digest = dataset.digest() if reusing else ""
        return {job.number: fingerprint_of(job.settings, digest) for job in reusing}
    except (DataError, ConfigError):  # the jobs themselves say what is wrong
        return {}


def reuse(sweep: Sweep, *, copy: bool = True) -> None:
    """Find finished runs for jobs with a fingerprint: on this disk, else in the store, which is asked once.

    `copy` says whether the files of stored runs are needed here.
    """
    store, fingerprints = sweep.store, sweep.fingerprints
    reusing = [job for job in sweep.waiting if job.number in fingerprints]
    for job in reusing:
        if (done := find_finished(job, fingerprints[job.number])) is not None:
            delivery = None if store is None else delivered(done.folder, store)
            run_id = None if delivery is None else delivery["run_id"]
            sweep.outcomes[job.number] = replace(done, run_id=run_id)
    if store is not None and reusing:
        _reuse_stored(reusing, sweep, store, copy=copy)


def _reuse_stored(jobs: Sequence[Job], sweep: Sweep, store: Store, *, copy: bool) -> None:
    fingerprints, stored = sweep.fingerprints, dict[str, list[str]]()
    in_store = {number for number, done in sweep.outcomes.items() if done.run_id}
    try:
        stored = find(store, {fingerprints[job.number] for job in jobs if job.number not in in_store})
    except TrackingError as error:
        ConsoleProgress().note(f"finished runs are only looked for on this disk: {error}")
    for job in jobs:
        outcome = sweep.outcomes.get(job.number)
        is_here = outcome is not None and outcome.folder == job.folder
        if job.number not in in_store and not is_here and (run_ids := stored.get(fingerprints[job.number])):
            job.check_folder()
            there = replace(job.outcome, status="reused", run_id=run_ids[0])
            outcome = (_fetched(job, fingerprints[job.number], run_ids, store) if copy else there) or outcome
        if outcome is None:
            continue
        sweep.outcomes[job.number] = outcome
        if copy and outcome.run_id and job.experiment not in ("", _experiment(outcome)):
            mark(store, outcome.run_id, job.experiment)


def _experiment(outcome: JobOutcome) -> str:
    """Return the experiment that a run was made for, which the store counts it among from the start."""
    facts = None if outcome.record is None else outcome.record.job
    return "" if facts is None else facts.experiment


def _fetched(job: Job, fingerprint: str, run_ids: Sequence[str], store: Store) -> JobOutcome | None:
    """Copy the first of these runs that can take the place of the job."""
    study = job.study()
    names = dict.fromkeys(["record.json", "per_user.parquet", *(() if study is None else study.artifacts)])
    for run_id in run_ids:
        problem = "its files have been changed, or lack what the job asks for"
        try:
            fetch(store, run_id, list(names), job.folder)
        except (IntegrityError, TrackingError) as error:
            problem = str(error)
        else:
            if fits(job, fingerprint, job.folder):
                record = FinishedRun.read(job.folder).record
                return replace(job.outcome, status="reused", run_id=run_id, record=record)
            (job.folder / CHECKSUMS).unlink(missing_ok=True)  # no finished run of the user's: a copy
        ConsoleProgress().note(f"run {run_id} is the same but cannot be reused: {problem}.")
    return None


class Watching:
    """Shows a line for each job that ended, and a bar over all where they run elsewhere."""

    def __init__(self, sweep: Sweep, engine: Engine) -> None:
        self._sweep, self._n_workers, self._n_todo = sweep, engine.n_workers, len(sweep.waiting)
        self._elsewhere = engine.output == "log"
        self._ended = self._failed = 0
        self._began, self._said = monotonic(), set[str]()
        console = output(stderr=True)
        self.bar: bars.Progress | None = None
        if console.is_terminal and self._elsewhere and self._n_todo:
            times = (TimeElapsedColumn(), TimeRemainingColumn())
            columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"), *times)
            self.bar = bars.Progress(*columns, console=console, transient=True)
            self._task = self.bar.add_task(self._state(), total=self._n_todo)
        for outcome in sweep.all_outcomes:
            if outcome.status == "reused":
                self._print(outcome)

    def ended(self, outcome: JobOutcome) -> None:
        """Print how a job ended; many may fail for one reason, which is said once."""
        self._ended += 1
        self._failed += outcome.status == "failed"
        if self.bar is not None:
            self.bar.update(self._task, advance=1, description=self._state())
        if outcome.record is not None:
            self._print(outcome)
        elif (reason := str(outcome.reason)) not in self._said:
            self._said.add(reason)
            label = "" if self._sweep.alone else f"{self._sweep.labels[outcome.number]}: "
            log = outcome.folder / LOG
            seen = f"; what it printed is in {log}" if self._elsewhere and log.exists() else ""
            print_error(f"{label}{reason}{seen}")

    def _print(self, outcome: JobOutcome) -> None:
        if self._sweep.alone:
            return
        progress = "" if self.bar is not None or outcome.status == "reused" else f"({self})"
        n_jobs = len(self._sweep.labels)
        print_job_line(outcome, self._sweep.labels[outcome.number], n_jobs, progress)

    def __str__(self) -> str:
        parts = [f"{self._ended} of {self._n_todo} jobs done"]
        parts += [f"{self._failed} failed"] if self._failed else []
        if self._ended < self._n_todo:
            left = (monotonic() - self._began) / self._ended * (self._n_todo - self._ended)
            parts.append(f"about {timedelta(seconds=round(left))} left")
        return ", ".join(parts)

    def _state(self) -> str:
        running = min(self._n_workers, self._n_todo - self._ended)
        return f"{running} running" + (f", {self._failed} failed" if self._failed else "")


def show_plan(sweep: Sweep) -> bool:
    """Print what a command would do, and do nothing; return whether all jobs can run, as far as is known."""
    check(sweep)
    look_for_data(sweep, fetch_them=False)
    reuse(sweep, copy=False)
    check_folders(sweep)
    to_run, outcomes = {job.number: job for job in sweep.waiting}, sweep.all_outcomes
    rows = tuple(
        (str(number), label or "as configured", _becomes(outcome, to_run.get(number), sweep))
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


def _becomes(outcome: JobOutcome, job: Job | None, sweep: Sweep) -> str:
    """Return what becomes of a job, in a few words; `job` is None of those that will not run."""
    if job is None:
        reused = f"reuse run {outcome.run_id}" if outcome.run_id else "reuse"
        return {"failed": "cannot run", "no data": "left out: no data"}.get(outcome.status, reused)
    if job.dataset is None:
        return "conclude the study"
    return "download data, run" if job.number in sweep.fetched else "run"
