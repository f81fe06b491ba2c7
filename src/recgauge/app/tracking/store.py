"""Stores runs in MLflow, one flat run per job; only this folder imports mlflow."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from recgauge.app.terminal.secrets import without_secrets
from recgauge.app.tracking import views
from recgauge.app.tracking.addresses import (
    SQLITE,
    artifact_folder,
    check_artifact_folder,
    check_store,
    check_there,
    create_database,
    explained,
    store_lock,
)
from recgauge.app.tracking.alive import UNTIL_TAG, alive_tags, signs_of_life, why_dead
from recgauge.app.tracking.once import create, create_once, runs_of
from recgauge.app.tracking.run_log import MOST_TEXTS, MlflowRunLog
from recgauge.app.tracking.searches import store_trials
from recgauge.app.tracking.servers import give_defaults
from recgauge.app.tracking.stored_runs import RunStore, StoredRun
from recgauge.app.tracking.tracker import DELIVERY_TAG, RunLog, RunStart, Tracker
from recgauge.errors import TrackingError
from recgauge.runs.facts import SearchFacts
from recgauge.runs.record import RunRecord
from recgauge.runs.settings import registers_model
from recgauge.utils.checks import check_bool

if TYPE_CHECKING:
    from mlflow import MlflowClient

KIND = ("mlflow.experimentKind", "custom_model_development")
"""Tag of the experiment that lets MLflow 3 open its pages for model training."""
MODEL_TRAINING = "workflowType=machine_learning"  # else MLflow 3 opens its pages for generative AI
PORT_TAG, DEFAULT_PORT = "recgauge.ui_port", 5000
LONGEST_PARAM = 6000  # MLflow cuts longer values with only a warning; config.yaml holds them whole


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
    """

    uri: str = "sqlite:///mlflow.db"
    experiment: str = "recgauge"
    log_model: bool = False

    def __post_init__(self) -> None:
        check_bool("tracking.log_model", self.log_model)

    def prepare(self) -> None:
        """Open the store, creating or migrating it, and make the experiment."""
        with explained(self.uri, "open the store"):
            _ = self._experiment_id

    def check_there(self) -> None:
        """Refuse an SQLite file that is gone, and a server or database that does not answer at once."""
        check_there(self.uri)

    @contextmanager
    def start(self, run: RunStart) -> Iterator[RunLog]:
        """Open a run; it ends FINISHED, FAILED with its error as a tag, or KILLED.

        An error that passes through gets a note about what became of the run.
        """
        begin = perf_counter()
        with explained(self.uri, "open a run"):
            run_id = self._open(replace(run, tags={**run.tags, **alive_tags()}))
        log = MlflowRunLog(self.client, self.uri, self.log_model, perf_counter() - begin, run_id)
        try:
            with signs_of_life(partial(self._tag, run_id, UNTIL_TAG)):
                yield log
        except BaseException as error:
            error.add_note(self._end(log.run_id, error))
            raise
        with explained(self.uri, "finish the run"):
            self.client.set_terminated(log.run_id, "FINISHED")

    def _end(self, run_id: str, error: BaseException) -> str:
        """Mark a run that did not finish; a store that fails, too, must not hide the reason."""
        status = "FAILED" if isinstance(error, Exception) else "KILLED"
        try:
            if isinstance(error, TrackingError):
                self.check_there()  # it may have failed for good: do not wait for it again
            with explained(self.uri, "mark the run"):
                message = without_secrets(f"{type(error).__name__}: {error}")[:5000]
                self.client.set_tag(run_id, "error", message)
                self.client.set_terminated(run_id, status)
        except TrackingError as failure:
            return f"run {run_id} could not be marked {status}: {failure}"
        return f"run {run_id} is marked {status}"

    def store_search(self, names: Mapping[str, str], facts: SearchFacts) -> None:
        """Store the trials in an experiment next to that of the final runs."""
        beside = replace(self, experiment=f"{self.experiment} searches")
        with explained(self.uri, "store the trials"):
            store_trials(beside.client, beside._experiment_id, names, facts)

    def find(self, fingerprint: str) -> list[str]:
        """Return the ids of the newest runs that finished with this fingerprint; others never count."""
        with explained(self.uri, "look for finished runs"):
            found = self.client.search_runs(
                [self._experiment_id],
                f"tags.`recgauge.fingerprint` = '{fingerprint}' and attributes.status = 'FINISHED'",
                max_results=10,
                order_by=["attributes.start_time DESC"],
            )
        return [str(run.info.run_id) for run in found]

    def finished(self, most: int | None = None) -> list[StoredRun]:
        """Return the finished runs of the experiment, newest first, by one search; nothing is made."""
        store = RunStore(self.uri)
        return store.finished(self.experiment, most) if store.exists else []

    def tag(self, run_id: str, name: str) -> str | None:
        """Return a tag of a run, or None."""
        with explained(self.uri, f"read run {run_id}"):
            value = self.client.get_run(run_id).data.tags.get(name)
        return None if value is None else str(value)

    def _tag(self, run_id: str, name: str, value: str) -> None:
        with explained(self.uri, f"mark run {run_id}"):
            self.client.set_tag(run_id, name, value)

    def close_dead(self) -> list[str]:
        """Mark runs as KILLED that are called RUNNING and have no process any more; say which, and why."""
        closed = []
        with explained(self.uri, "look for runs that died"):
            running = self.client.search_runs([self._experiment_id], "attributes.status = 'RUNNING'")
            for run in running:
                if (reason := why_dead(run.data.tags)) is not None:
                    self.client.set_tag(run.info.run_id, "error", reason)
                    self.client.set_terminated(run.info.run_id, "KILLED")
                    closed.append(f"run {run.info.run_id} ({run.info.run_name}): {reason}")
        return closed

    def mark(self, run_id: str, tag: str) -> None:
        """Give a run a tag, unless it has it."""
        with explained(self.uri, f"mark run {run_id}"):
            if tag not in self.client.get_run(run_id).data.tags:
                self.client.set_tag(run_id, tag, "true")

    def address(self, tag: str | None = None, value: str = "true") -> str | None:
        """Return the deep link to the charts of all runs, or of those with one tag."""
        quoted = f'"{value}"' if "'" in value else f"'{value}'"
        search = "" if tag is None else f"tags.`{tag}` = {quoted}"
        with explained(self.uri, "look for the experiment"):
            page = f"{self._experiment_page()}/runs?compareRunsMode=CHART&{MODEL_TRAINING}"
        if key := views.share(self.client, self.uri, self._experiment_id, search):
            return f"{page}&viewStateShareKey={key}"
        return f"{page}&searchFilter={quote(search, safe='')}" if search else page

    def run_address(self, run_id: str) -> str | None:
        """Return the deep link to the page of one run."""
        with explained(self.uri, "look for the experiment"):
            return f"{self._experiment_page()}/runs/{run_id}?{MODEL_TRAINING}"

    def serve_at(self, port: int) -> None:
        """Let links to a local store name the port that its page was last opened on."""
        if self.uri.startswith(SQLITE):
            with explained(self.uri, "remember the port"):
                self.client.set_experiment_tag(self._experiment_id, PORT_TAG, str(port))

    def _experiment_page(self) -> str:
        if self.uri.startswith("http"):
            server = self.uri.rstrip("/")
        else:
            tags = self.client.get_experiment(self._experiment_id).tags
            server = f"http://127.0.0.1:{tags.get(PORT_TAG, DEFAULT_PORT)}"
        return f"{server}/#/experiments/{self._experiment_id}"

    def download(self, run_id: str, names: Sequence[str], folder: Path) -> None:
        """Copy those of a run's artifacts that exist into a folder."""
        with explained(self.uri, f"read run {run_id}"):
            stored = {entry.path for entry in self.client.list_artifacts(run_id)}
            for name in names:
                if name in stored:
                    self.client.download_artifacts(run_id, name, str(folder))

    def deliver(self, run: RunStart, record: RunRecord, files: Sequence[Path]) -> str:
        """Store a run that is complete on disk, unless the store has it; what it has of a part is deleted.

        Returns
        -------
        str
            Id of the run.
        """
        with explained(self.uri, "look for the run"):
            there = runs_of(self.client, self._experiment_id, run.tags[DELIVERY_TAG])
            finished = [one.info.run_id for one in there if one.info.status == "FINISHED"]
            for one in there:
                if one.info.run_id not in finished[:1]:
                    self.delete(one.info.run_id, one.info.artifact_uri)
            if finished:  # only the answer was lost
                return str(finished[0])
        if record.search is not None:
            self.store_search(record.names, record.search)
        with replace(self, log_model=registers_model(record.settings)).start(run) as log:
            log.finish(record, files)
        return str(log.run_id)

    def delete(self, run_id: str, location: str) -> None:
        """Delete a run and its files; MLflow keeps its row, marked as deleted, until ``mlflow gc``."""
        from mlflow.store.artifact.artifact_repository_registry import get_artifact_repository

        with explained(self.uri, f"delete run {run_id}"):
            files: Any = get_artifact_repository(location, tracking_uri=self.uri)
            files.delete_artifacts()
            self.client.delete_run(run_id)

    def _open(self, run: RunStart) -> str:
        from mlflow.entities import Param

        served = self.uri.startswith("http")
        created = (create_once if served else create)(self.client, self._experiment_id, run)
        params = [Param(key, value[:LONGEST_PARAM]) for key, value in run.params.items()]
        for first in range(0, len(params), MOST_TEXTS):
            self.client.log_batch(created.info.run_id, params=params[first : first + MOST_TEXTS])
        return str(created.info.run_id)

    @cached_property
    def client(self) -> "MlflowClient":
        """MLflow's own client of the store, which is created or migrated if necessary."""
        check_store(self.uri)
        give_defaults()
        from mlflow import MlflowClient

        # a failing store is reported in our own message; importing mlflow sets its own levels
        for name in ("alembic", "mlflow"):
            logging.getLogger(name).setLevel(logging.CRITICAL)

        def opened(uri: str) -> MlflowClient:
            client = MlflowClient(tracking_uri=uri)
            client.search_experiments(max_results=1)  # creates or migrates the tables
            return client

        with store_lock(self.uri):  # two first runs would race in creating the tables
            create_database(self.uri, opened)
            return opened(self.uri)

    @cached_property
    def _experiment_id(self) -> str:
        from mlflow.exceptions import MlflowException

        if not self.experiment:
            raise TrackingError("tracking.experiment: the name is empty; use tracking.experiment=NAME.")
        found = self.client.get_experiment_by_name(self.experiment)
        if found is None:
            folder = artifact_folder(self.uri)
            try:
                return str(self.client.create_experiment(self.experiment, folder, dict([KIND])))
            except MlflowException:  # another job made it in the meantime
                found = self.client.get_experiment_by_name(self.experiment)
        if found is None or found.lifecycle_stage != "active":
            raise TrackingError(
                f"tracking.experiment: {self.experiment!r} was deleted in {self.uri}. "
                "Restore it, or choose another name with tracking.experiment=NAME."
            )
        check_artifact_folder(found.artifact_location)
        if found.tags.get(KIND[0]) != KIND[1]:
            self.client.set_experiment_tag(found.experiment_id, *KIND)
        return str(found.experiment_id)
