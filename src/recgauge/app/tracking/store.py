"""Tracks runs in MLflow, one flat run per job; `mlflow_store` asks MLflow, in a process beside this one."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from recgauge.app.terminal.secrets import without_secrets
from recgauge.app.tracking.addresses import SQLITE, check_store, check_there
from recgauge.app.tracking.alive import LEASE
from recgauge.app.tracking.claims import CLAIM_TAG, Claim, ElsewhereError
from recgauge.app.tracking.opening import check_experiment
from recgauge.app.tracking.process import later, store_of
from recgauge.app.tracking.run_log import MlflowRunLog
from recgauge.app.tracking.searches import plain_search
from recgauge.app.tracking.stored_runs import RunStore, StoredRun
from recgauge.app.tracking.tracker import DELIVERY_TAG, RunLog, RunStart, Tracker
from recgauge.errors import TrackingError, message
from recgauge.runs.facts import SearchFacts
from recgauge.runs.record import RunRecord
from recgauge.runs.settings import registers_model
from recgauge.utils.checks import check_bool, check_real

if TYPE_CHECKING:
    from recgauge.app.tracking.mlflow_store import MlflowStore


@dataclass(frozen=True)
class MlflowTracker(Tracker):
    """Tracks runs in an MLflow store.

    Parameters
    ----------
    uri : str
        Address of a server or a database, such as ``sqlite:///mlflow.db``.
    experiment : str
        Name of the MLflow experiment; made if it does not exist.
    log_model : bool
        Also register each run's fitted model, so that ``mlflow models serve`` finds it.
    lease : float
        Seconds without a sign of life after which a run's process counts as dead on other machines.
    """

    uri: str = "sqlite:///mlflow.db"
    experiment: str = "recgauge"
    log_model: bool = False
    lease: float = LEASE

    def __post_init__(self) -> None:
        check_bool("tracking.log_model", self.log_model)
        object.__setattr__(self, "experiment", str(self.experiment))  # settings read 2026 as a number
        check_real("tracking.lease", self.lease, low=3, high=86_400)

    @property
    def _store(self) -> "MlflowStore":
        # models are registered with pandas, which the other process does without
        return store_of(self.uri, self.experiment, here=self.log_model)

    def prepare(self) -> None:
        """Open the store, creating or migrating it, and make the experiment."""
        self.check()
        self._store.prepare()

    def check(self, *, write: bool = True) -> None:
        """Refuse what can be seen to be wrong without MLflow; without `write` nothing is made."""
        check_store(self.uri, connect=False, write=write)
        if not self.experiment:
            raise TrackingError("tracking.experiment: the name is empty; use tracking.experiment=NAME.")
        store = RunStore(self.uri)
        if self.uri.startswith(SQLITE) and store.exists:
            for stage, location in store.stage_and_location(self.experiment):
                check_experiment(self.uri, self.experiment, stage, location)

    def check_there(self) -> None:
        """Refuse an SQLite file that is gone, and a server or database that does not answer at once."""
        if self.uri.startswith(SQLITE):
            check_there(self.uri)
        else:
            self._store.check_there()

    @contextmanager
    def start(self, run: RunStart) -> Iterator[RunLog]:
        """Open a run; it ends FINISHED, FAILED with its error as a tag, or KILLED.

        An error that passes through gets a note about what became of the run.

        Notes
        -----
        An SQLite file in which nothing is seen to be wrong is not waited for: MLflow takes seconds to be
        imported, in which short runs are done. What else is wrong, `RunLog.check` and `RunLog.run_id` say.
        """
        begin, claims = perf_counter(), CLAIM_TAG in run.tags
        begun = self._claimed(run) if claims else self._begin(run)
        log = MlflowRunLog(self._store, begun, self.log_model, perf_counter() - begin)
        try:
            yield log
        except BaseException as error:
            self._end(log.begun, error)
            raise
        if not self._store.finish(log.run_id, claims):
            message = f"run {log.run_id} was silent for so long that it was given up"
            raise ElsewhereError(log.run_id, message)

    def _begin(self, run: RunStart) -> Future[str]:
        self.check()
        params, tags = dict(run.params), dict(run.tags)
        begun: Future[str] = later(self._store.begin, run.name, params, tags, self.lease)
        if not self.uri.startswith(SQLITE):
            begun.result()
        return begun

    def _claimed(self, run: RunStart) -> Future[str]:
        """Open a run that claims its job: nothing should be done before it is known whose job it is."""
        self.check()
        run_id, elsewhere, finished = self._store.claim(
            run.name, dict(run.params), dict(run.tags), self.lease
        )
        if elsewhere:
            raise ElsewhereError(run_id, elsewhere, finished=finished)
        begun: Future[str] = Future()
        begun.set_result(run_id)
        return begun

    def _end(self, begun: Future[str], error: BaseException) -> None:
        """Mark a run that did not finish; a store that fails, too, must not hide the reason."""
        status = "KILLED" if isinstance(error, KeyboardInterrupt) else "FAILED"
        try:
            run_id = begun.result()
        except TrackingError:  # there is no run
            return
        try:
            if isinstance(error, TrackingError):
                self.check_there()  # it may have failed for good: do not wait for it again
            reason = message(without_secrets(f"{type(error).__name__}: {error}"))
            self._store.end(run_id, status, reason[:5000])
        except TrackingError as failure:
            error.add_note(f"run {run_id} could not be marked {status}: {failure}")
        else:
            error.add_note(f"run {run_id} is marked {status}")

    def running(self) -> list[Claim]:
        """Return the runs that the store calls RUNNING."""
        return [Claim(*one) for one in self._store.running()]

    def close(self, run: Claim, reason: str) -> bool:
        """Mark a run as KILLED, unless it has ended or is alive by now; return whether it is marked."""
        return self._store.close(run.run_id, dict(run.tags), reason)

    def deliver(self, run: RunStart, record: RunRecord, files: Sequence[Path]) -> str:
        """Store a run that is complete on disk, unless the store has it; what it has of a part is deleted.

        Returns
        -------
        str
            Id of the run.
        """
        there = self._store.find_delivered(run.tags[DELIVERY_TAG])
        if there is not None:  # only the answer was lost
            return there
        if record.search is not None:
            self.store_search(record.names, record.search)
        try:
            with replace(self, log_model=registers_model(record.settings)).start(run) as log:
                log.finish(record, files)
        except ElsewhereError as other:
            if other.finished:  # while the store was away, another process has done the same job
                return other.run_id
            message = f"tracking.uri={self.uri}: the same job is under way elsewhere: {other}"
            raise TrackingError(message) from other
        return str(log.run_id)

    def delete(self, run_id: str, location: str) -> None:
        """Delete a run and its files; MLflow keeps its row, marked as deleted, until ``mlflow gc``."""
        self._store.delete(run_id, location)

    def store_search(self, names: Mapping[str, str], facts: SearchFacts) -> None:
        """Store the trials in an experiment next to that of the final runs."""
        beside = replace(self, experiment=f"{self.experiment} searches")
        beside._store.add_trials(plain_search(names, facts))

    def find(self, fingerprint: str) -> list[str]:
        """Return the ids of the newest runs that finished with this fingerprint; others never count."""
        return self._store.find(fingerprint)

    def finished(self, most: int | None = None) -> list[StoredRun]:
        """Return the finished runs of the experiment, newest first, by one search; nothing is made."""
        store = RunStore(self.uri)
        return store.finished(self.experiment, most) if store.exists else []

    def download(self, run_id: str, names: Sequence[str], folder: Path) -> None:
        """Copy those of a run's artifacts that exist into a folder."""
        self._store.download(run_id, list(names), str(folder.absolute()))

    def tag(self, run_id: str, name: str) -> str | None:
        """Return a tag of a run, or None."""
        return self._store.tag(run_id, name)

    def mark(self, run_id: str, tag: str) -> None:
        """Give a run a tag, unless it has it."""
        self._store.mark(run_id, tag)

    def address(self, tag: str | None = None, value: str = "true") -> str | None:
        """Return the deep link to the charts of all runs, or of those with one tag."""
        return self._store.page(tag, value)

    def run_address(self, run_id: str) -> str | None:
        """Return the deep link to the page of one run."""
        return self._store.run_page(run_id)

    def serve_at(self, port: int) -> None:
        """Let links to a local store name the port that its page was last opened on."""
        self._store.serve_at(port)
