"""Runs in a tracking store, found quickly: an SQLite store is read without importing MLflow."""

import sqlite3
from atexit import register
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from recgauge.app.tracking.addresses import SQLITE, database_file, explained, has_database, local_folder
from recgauge.errors import MissingDataError, TrackingError

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run

SUMMARY_TAG = "recgauge.summary"
"""Tag of a run that sums up others; it has no results of its own."""
_RUNS = """
    SELECT runs.run_uuid, runs.name, runs.status, runs.start_time, runs.artifact_uri, tags.key, tags.value,
        runs.end_time
    FROM runs JOIN experiments USING (experiment_id)
    LEFT JOIN tags ON tags.run_uuid = runs.run_uuid AND (tags.key LIKE 'recgauge.%' OR tags.key = 'error')
    WHERE runs.lifecycle_stage = 'active' AND experiments.lifecycle_stage = 'active' AND {} = ?
    ORDER BY runs.start_time DESC, runs.run_uuid
"""
_NAMES = """
    SELECT run_uuid, key, value
    FROM params JOIN runs USING (run_uuid) JOIN experiments USING (experiment_id)
    WHERE experiments.name = ? AND key IN ('model', 'dataset')
"""
_VALUES = """
    SELECT run_uuid, key, value
    FROM latest_metrics JOIN runs USING (run_uuid) JOIN experiments USING (experiment_id)
    WHERE experiments.name = ? AND key NOT LIKE '%/%' AND is_nan = 0
"""
_PAGE = 1000  # runs that a server is asked for at a time


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run as its store describes it.

    Parameters
    ----------
    run_id, name, status : str
        The status is MLflow's, such as ``FINISHED``.
    started : int
        Milliseconds since 1970.
    location : str
        Address of its files.
    tags : mapping of str to str
        recgauge's own, and ``error``.
    seconds : float
        What it took; 0 if it has not ended.
    names : mapping of str to str
        Of its model and data set; only from `RunStore.finished`.
    """

    run_id: str
    name: str
    status: str
    started: int
    location: str
    tags: Mapping[str, str]
    seconds: float = 0.0
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class RunStore:
    """Looks for runs in a store.

    Parameters
    ----------
    uri : str
        As for MLflow.
    """

    uri: str

    @property
    def exists(self) -> bool:
        """Whether there is a store; of a server, that it is assumed to be there."""
        return has_database(self.uri)

    def run(self, run_id: str) -> StoredRun | None:
        """Return the run with this id, None if there is none."""
        if self._is_file:
            return next(iter(self._query("runs.run_uuid", run_id)), None)
        from mlflow.exceptions import MlflowException

        with explained(self.uri, f"read run {run_id}"):
            client = self._client()
            try:
                return _stored(client.get_run(run_id))
            except MlflowException as error:
                if error.error_code in ("RESOURCE_DOES_NOT_EXIST", "INVALID_PARAMETER_VALUE"):
                    return None
                raise

    def experiments(self) -> list[str]:
        """Return the names of all experiments."""
        if self._is_file:
            text = "SELECT name FROM experiments WHERE lifecycle_stage = 'active' ORDER BY experiment_id"
            return [str(name) for (name,) in self._rows(text, ())]
        with explained(self.uri, "look for experiments"):
            return [str(one.name) for one in self._client().search_experiments()]

    def stage_and_location(self, experiment: str) -> list[tuple[str, ...]]:
        """Return, of a file with MLflow's tables, an experiment's state and the folder of its files."""
        told = "SELECT name FROM sqlite_master WHERE name = 'experiments'"
        text = "SELECT lifecycle_stage, artifact_location FROM experiments WHERE name = ?"
        return self._rows(text, (experiment,)) if self._rows(told, ()) else []

    def runs(self, experiment: str, where: str = "", most: int | None = None) -> list[StoredRun]:
        """Return the runs of an experiment, newest first.

        Parameters
        ----------
        experiment : str
        where : str
            Which ones, in MLflow's language: ``params.dataset = 'ml_1m' and metrics.ndcg_at_10 > 0.3``.
        most : int, optional
            Of the newest.

        Raises
        ------
        TrackingError
            If the store, or `where`, cannot be read.
        """
        if self._is_file and not where:
            return self._query("experiments.name", experiment)
        from mlflow.exceptions import MlflowException

        with explained(self.uri, "look for runs"):
            client = self._client()
            found = client.get_experiment_by_name(experiment)
            runs: list[StoredRun] = []
            token: str | None = ""
            while token is not None and found is not None:
                try:
                    page = client.search_runs(
                        [found.experiment_id], where, max_results=_PAGE, page_token=token or None
                    )
                except MlflowException as error:
                    if not where:
                        raise
                    raise TrackingError(
                        f"--where: {where!r} is no search of MLflow: {error.message}"
                    ) from error
                runs += [_stored(run) for run in page]
                token = page.token if most is None or len(runs) < most else None
                token = token or None
        return runs

    def finished(self, experiment: str, most: int | None = None) -> list[StoredRun]:
        """Return the finished runs of an experiment with what they were about, newest first.

        Parameters
        ----------
        experiment : str
        most : int, optional
            A server is asked for so many; a file is read as a whole.
        """
        if not self._is_file:
            return self.runs(experiment, "attributes.status = 'FINISHED'", most)
        found = [run for run in self.runs(experiment) if run.status == "FINISHED"]
        names: dict[str, dict[str, str]] = {}
        for run_id, key, value in self._rows(_NAMES, (experiment,)):
            names.setdefault(run_id, {})[key] = value
        return [replace(run, names=names.get(run.run_id, {})) for run in found]

    def values(self, experiment: str, runs: Sequence[StoredRun]) -> dict[str, dict[str, float]]:
        """Return the results of runs of an experiment, ``{run id: {"ndcg_at_10": ...}}``."""
        found: dict[str, dict[str, float]] = {run.run_id: {} for run in runs}
        if self._is_file:
            for run_id, key, value in self._rows(_VALUES, (experiment,)):
                if run_id in found:
                    found[run_id][key] = float(value)
            return found
        with explained(self.uri, "read the results"):
            client = self._client()
            for run_id in found:
                results = client.get_run(run_id).data.metrics
                found[run_id] = {key: value for key, value in results.items() if "/" not in key}
        return found

    def folder(self, run: StoredRun, names: Sequence[str]) -> Path:
        """Return a folder with those of a run's files that there are; copies of remote ones are temporary.

        Raises
        ------
        MissingDataError
            If the folder of a local store is gone, or the run has not come to its end.
        """
        folder = local_folder(run.location)
        if folder is None:
            from recgauge.app.tracking.store import MlflowTracker

            folder = Path(mkdtemp(prefix="recgauge-"))
            register(rmtree, folder, ignore_errors=True)
            MlflowTracker(self.uri).download(run.run_id, names, folder)
        elif not folder.is_dir() and run.status != "FINISHED":
            reason = f": {run.tags['error']}" if "error" in run.tags else ""
            raise MissingDataError(
                f"run {run.run_id} is {run.status} and has no files{reason}\n"
                "`recgauge runs --status FINISHED` lists runs that have."
            )
        elif not folder.is_dir():
            raise MissingDataError(
                f"run {run.run_id}: its files are not in {folder}, where the tracking store says they are. "
                "Put them back, or name the run's output folder instead."
            )
        return folder

    @property
    def _is_file(self) -> bool:
        if not self.exists:
            raise TrackingError(
                f"the tracking store {self.uri} does not exist. Name the store that has the runs, "
                "--uri=ADDRESS, or give output folders."
            )
        return self.uri.startswith(SQLITE)

    def _query(self, column: str, value: str) -> list[StoredRun]:
        found: dict[str, StoredRun] = {}
        for run_id, name, status, started, location, key, text, ended in self._rows(
            _RUNS.format(column), (value,)
        ):
            seconds = _seconds(int(started or 0), int(ended or 0))
            plain = StoredRun(run_id, name or "", status, int(started or 0), location or "", {}, seconds)
            run = found.setdefault(run_id, plain)
            if key is not None:
                found[run_id] = replace(run, tags={**run.tags, key: text})
        return list(found.values())

    def _rows(self, text: str, values: tuple[str, ...]) -> list[tuple[str, ...]]:
        file = f"{database_file(self.uri).absolute().as_uri()}?mode=ro"
        with explained(self.uri, "read the store"), closing(sqlite3.connect(file, uri=True)) as base:
            return base.execute(text, values).fetchall()

    def _client(self) -> "MlflowClient":
        from recgauge.app.tracking.opening import OpenedStore

        return OpenedStore(self.uri, "").client


def _stored(run: "Run") -> StoredRun:
    info, tags = run.info, run.data.tags
    own = {key: value for key, value in tags.items() if key == "error" or key.startswith("recgauge.")}
    name, started = str(info.run_name or ""), int(info.start_time or 0)
    return StoredRun(
        str(info.run_id),
        name,
        str(info.status),
        started,
        info.artifact_uri,
        own,
        _seconds(started, int(info.end_time or 0)),
        {key: run.data.params[key] for key in ("model", "dataset") if key in run.data.params},
    )


def _seconds(started: int, ended: int) -> float:
    return max(0, ended - started) / 1000
