"""A sweep from its jobs to its table: composed, checked, reused, run and summed up."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout

from recgauge.errors import (
    ConfigError,
    DataError,
    IntegrityError,
    MissingDataError,
    RecgaugeError,
    TrackingError,
)
from recgauge.experiment import Experiment
from recgauge.report.console import ConsoleProgress
from recgauge.runs.environment import fingerprint_of
from recgauge.runs.folder import CHECKSUMS, load_record
from recgauge.runs.outcome import JobOutcome
from recgauge.sweeps.engines import Engine, WorkerDiedError
from recgauge.sweeps.jobs import LOG, Job, find_finished, labels_of, leave_failure, why_not
from recgauge.sweeps.places import experiment_folder
from recgauge.sweeps.watching import Watching
from recgauge.tracking import Deliveries, Store, delivered, fetch, find, mark, waiting
from recgauge.utils.messages import print_error
from recgauge.utils.progress import Progress
from recgauge.utils.secrets import without_secrets

if TYPE_CHECKING:
    from recgauge.studies import Study

_NAMED = 3  # jobs whose words are shown where many are wrong for one reason
_LOOK = 0.5  # seconds between two looks at jobs that another sweep is at


@dataclass
class Planned:
    """A job before it runs, and what is known of its end by then."""

    outcome: JobOutcome
    job: Job | None = None
    experiment: Experiment | None = None
    fetched: bool = False
    fingerprint: str = ""

    @property
    def waits(self) -> bool:
        """Whether it is to be run."""
        return self.job is not None and self.outcome.status == "done"


@dataclass(frozen=True)
class Sweep:
    """What the jobs of a sweep share."""

    folder: Path
    store: Store | None
    outputs: Path
    alone: bool = False


def run_sweep(
    planned: Sequence[Planned], sweep: Sweep, engine: Engine, deliveries: Deliveries
) -> list[JobOutcome]:
    """Run the jobs of a sweep, and return how each ended, in their order."""

    def deliver(folder: Path) -> None:
        if sweep.store is not None and (folder / CHECKSUMS).is_file():
            deliveries.submit(folder, sweep.store)

    for folder in () if sweep.store is None else waiting(sweep.outputs, sweep.store):
        deliver(folder)
    set_fingerprints([one for one in planned if one.job is not None and one.job.may_reuse])
    reuse(planned, sweep)
    outcomes = {one.outcome.number: one.outcome for one in planned}
    for folder in {one.folder for one in outcomes.values() if one.status == "reused"}:
        deliver(folder)
    todo = [one for one in planned if one.waits]
    with Watching(planned, todo, engine, alone=sweep.alone) as watching:

        def ended(outcome: JobOutcome) -> None:
            outcomes[outcome.number] = outcome
            watching.ended(outcome)
            deliver(outcome.folder)

        outcomes |= {one.outcome.number: _stopped(one.outcome) for one in todo}
        with suppress(KeyboardInterrupt):
            Line(list(todo), engine, watching.begun, ended).run()
    # what was stopped in this process has left a folder that says so
    for folder in {one.folder for one in outcomes.values() if one.status == "stopped"}:
        deliver(folder)
    deliveries.finish()
    return [_for_files(_tracked(outcome, deliveries)) for outcome in outcomes.values()]


def _for_files(outcome: JobOutcome) -> JobOutcome:
    """Return the outcome without the secrets of its reason: tables, summaries and studies are stored."""
    return replace(outcome, reason=without_secrets(outcome.reason or "") or None)


def _stopped(outcome: JobOutcome) -> JobOutcome:
    return replace(outcome, status="stopped", reason="stopped")


def _tracked(outcome: JobOutcome, deliveries: Deliveries) -> JobOutcome:
    """Return the outcome with its run in the store, or with the reason why the store lacks it."""
    result = deliveries.results.get(outcome.folder)
    if result is None or outcome.run_id is not None:
        return outcome
    if isinstance(result, str):
        return replace(outcome, run_id=result)
    if outcome.record is None:
        return outcome
    return replace(outcome, status="not tracked", reason=str(result))


@dataclass
class Line:
    """Jobs that wait for workers of an engine, and those that workers are at.

    A worker is given a job that needs the rows that it has, or else rows that nobody has. A job whose worker
    dies is tried once more. One that another sweep of this folder is at comes back when there is nothing else
    to do: then it is finished, or free.
    """

    waiting: list[Planned]
    engine: Engine
    begun: Callable[[], None]
    ended: Callable[[JobOutcome], None]
    _elsewhere: list[Planned] = field(default_factory=list)
    _busy: dict[Future[JobOutcome], tuple[Planned, Executor, FileLock | None]] = field(default_factory=dict)
    _idle: list[tuple[Executor, str]] = field(default_factory=list)
    _tried: set[int] = field(default_factory=set)

    def run(self) -> None:
        """Run all jobs; an interruption ends the workers."""
        try:
            while self.waiting or self._busy or self._elsewhere:
                if not self.waiting:
                    self.waiting, self._elsewhere = self._elsewhere, []
                while self.waiting and len(self._busy) < self.engine.n_workers:
                    self._give_out()
                if self._elsewhere and not self._busy:
                    time.sleep(_LOOK)
                elif self._busy:
                    for future in wait(self._busy, _LOOK if self._elsewhere else None, FIRST_COMPLETED).done:
                        self._take_back(future)
        finally:
            self.engine.end()

    def _give_out(self) -> None:
        kept = self._idle[-1][1] if self._idle else ""
        running = {_rows(one) for one, _, _ in self._busy.values()}
        one = min(self.waiting, key=lambda one: (_rows(one) != kept, _rows(one) in running))
        self.waiting.remove(one)
        assert one.job is not None
        lock = _lock(one)
        if lock is not None and not lock.is_locked:
            self._elsewhere.append(one)
        elif lock is not None and (done := find_finished(one.job, one.fingerprint)) is not None:
            lock.release()
            self.ended(done)
        else:
            worker = self._idle.pop()[0] if self._idle else self.engine.worker()
            self.begun()
            self._busy[worker.submit(self.engine.run, one.job)] = one, worker, lock

    def _take_back(self, future: Future[JobOutcome]) -> None:
        one, worker, lock = self._busy.pop(future)
        if lock is not None:
            lock.release()
        try:
            outcome = future.result()
        except RecgaugeError:
            raise
        except Exception as error:  # the worker has died, in whatever way its engine says so
            worker.shutdown(wait=False)
            reason = str(error) if isinstance(error, WorkerDiedError) else ""
            if not reason and one.outcome.number not in self._tried:
                self._tried.add(one.outcome.number)
                self.waiting.insert(0, one)
            else:
                self.ended(_died(one, reason or "its process died twice"))
        else:
            self._idle.append((worker, _rows(one)))
            self.ended(outcome)


def _rows(one: Planned) -> str:
    return "" if one.job is None else one.job.rows


def _died(one: Planned, reason: str) -> JobOutcome:
    assert one.job is not None
    log = one.job.folder / LOG
    reason = f"{reason}; what it printed is in {log}" if log.exists() else reason
    leave_failure(one.job, time.time(), reason)
    return replace(one.outcome, status="failed", reason=reason)


def _lock(one: Planned) -> FileLock | None:
    """Return the lock of a job, held unless another sweep is at it; the system frees those of the dead."""
    if one.job is None or one.job.index is None or not one.fingerprint:
        return None
    try:
        one.job.index.mkdir(parents=True, exist_ok=True)
        lock = FileLock(one.job.index / f"{one.fingerprint}.lock", thread_local=False)
        lock.acquire(timeout=0)
    except Timeout:
        pass
    except OSError:  # a disk that takes nothing: the job is done here
        return None
    return lock


def check(planned: Sequence[Planned], sweep: Sweep) -> None:
    """Name the jobs that cannot run; those that cannot for one reason share a message."""
    found: dict[str, list[JobOutcome]] = {}
    for one in planned:
        if one.outcome.status == "failed":
            found.setdefault(str(one.outcome.reason), []).append(one.outcome)
    if found and sum(map(len, found.values())) == len(planned):
        raise ConfigError("\n".join(found))
    for reason, some in found.items():
        print_error(f"{named(some, [one.outcome for one in planned])} cannot run. {reason}")
    studies: list[Study] = []
    for one in planned:
        study = None if one.job is None else one.job.study()
        if study is not None and study not in studies:
            study.check(experiment_folder(study.name))
            studies.append(study)
    if (
        sweep.store is not None
        and sweep.store.file is not None
        and not sweep.store.file.absolute().parent.is_dir()
    ):
        raise TrackingError(f"tracking.uri: the folder {sweep.store.file.absolute().parent} does not exist.")


def named(some: Sequence[JobOutcome], jobs: Sequence[JobOutcome]) -> str:
    """Name some of all jobs, by what only they have in common if there is such a thing."""
    labels = dict(zip((job.number for job in jobs), labels_of(jobs), strict=True))
    first = labels[some[0].number]
    if len(some) == 1:
        return f"job {some[0].number} ({first})"
    numbers = {job.number for job in some}
    own = set.intersection(*(set(labels[number].split(" ")) for number in numbers))
    own -= {word for number, label in labels.items() if number not in numbers for word in label.split(" ")}
    if own:
        return f"the jobs with {' '.join(word for word in first.split(' ') if word in own)}"
    shown = ", ".join(f"{job.number} ({labels[job.number]})" for job in some[:_NAMED])
    return f"jobs {shown}" + (f" and {len(some) - _NAMED} more" if len(some) > _NAMED else "")


def look_for_data(planned: Sequence[Planned], *, fetch_them: bool = True) -> None:
    """Look once for each data set; the jobs whose data cannot be had are left out."""
    progress = ConsoleProgress()
    looked: dict[str, tuple[str | None, bool]] = {}
    for one in planned:
        if one.experiment is not None:
            key = repr(one.experiment.dataset)
            if key not in looked:
                looked[key] = _look(one.experiment.dataset, progress, fetch_them=fetch_them)
            reason, one.fetched = looked[key]
            if reason is not None:
                one.outcome = replace(one.outcome, status="no data", reason=reason)
    missing = [reason for reason, _ in looked.values() if reason is not None]
    if missing and len(missing) == len(looked):
        raise MissingDataError("\n".join(missing))
    for reason in missing:
        progress.note(f"the jobs on this data set are left out. {reason}")


def _look(dataset: Any, progress: Progress, *, fetch_them: bool) -> tuple[str | None, bool]:
    """Return why a data set cannot be had, None if it can, and whether it would have to be downloaded."""
    may_fetch = not getattr(dataset, "offline", True)
    try:
        (dataset if fetch_them or not may_fetch else replace(dataset, offline=True)).find(progress)
    except MissingDataError as error:
        return (None, True) if may_fetch and not fetch_them else (str(error), False)
    return None, False


def set_fingerprints(planned: Sequence[Planned]) -> None:
    """Give jobs their fingerprints, those of tuned ones excepted; each data set is read at most once."""
    digests: dict[str, str] = {}
    for one in planned:
        if one.job is None or one.experiment is None or not one.waits or one.job.typed.tune is not None:
            continue
        source, key = one.experiment.dataset, repr(one.experiment.dataset)
        try:
            digests[key] = digests.get(key) or source.digest()
        except (DataError, ConfigError):  # the job itself says what is wrong
            continue
        one.fingerprint = fingerprint_of(one.job.settings, digests[key])


def reuse(planned: Sequence[Planned], sweep: Sweep, *, copy: bool = True) -> None:
    """Find finished runs for jobs that may reuse one: in the store, which is asked once, or on this disk."""
    wanted = [one for one in planned if one.fingerprint and one.waits]
    stored: Mapping[str, Sequence[str]] = {}
    if sweep.store is not None and wanted:
        try:
            stored = find(sweep.store, {one.fingerprint for one in wanted})
        except TrackingError as error:
            ConsoleProgress().note(f"finished runs are only looked for on this disk: {error}")
    for one in wanted:
        run_ids = stored.get(one.fingerprint, ())
        done = _stored_and_here(one, run_ids)
        if done is None and run_ids:
            done = (
                _fetched(one, run_ids, sweep)
                if copy
                else replace(one.outcome, status="reused", run_id=run_ids[0])
            )
        if done is None and one.job is not None:
            done = find_finished(one.job, one.fingerprint)
        one.outcome = done or one.outcome
        if (
            copy
            and sweep.store is not None
            and one.job is not None
            and one.job.experiment
            and one.outcome.run_id
        ):
            mark(sweep.store, one.outcome.run_id, one.job.experiment)


def _stored_and_here(one: Planned, run_ids: Collection[str]) -> JobOutcome | None:
    """Return the outcome of a job that one of these runs has done, if its folder is on this disk."""
    done = None if one.job is None else find_finished(one.job, one.fingerprint)
    told = None if done is None else delivered(done.folder)
    return replace(done, run_id=told["run_id"]) if done and told and told["run_id"] in run_ids else None


def _fetched(one: Planned, run_ids: Sequence[str], sweep: Sweep) -> JobOutcome | None:
    """Copy the first of these runs that can take the place of the job."""
    assert one.job is not None
    assert sweep.store is not None
    study = one.job.study()
    for run_id in run_ids:
        try:
            names = dict.fromkeys(
                ["record.json", "per_user.parquet", *(() if study is None else study.artifacts)]
            )
            fetch(sweep.store, run_id, list(names), one.job.folder)
            problem = why_not(one.job, one.fingerprint, one.job.folder)
        except (IntegrityError, TrackingError) as error:
            problem = str(error)
        if problem is None:
            record = load_record(one.job.folder)
            return replace(one.outcome, status="reused", run_id=run_id, record=record)
        ConsoleProgress().note(f"run {run_id} is the same but cannot be reused: {problem}.")
    return None
