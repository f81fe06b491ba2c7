"""Runs in a store, and what a user names as finished runs: folders, sweeps, ids, MLflow experiments."""

import re
from atexit import register
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from recgauge.errors import (
    ConfigError,
    MissingDataError,
    RecgaugeError,
    TrackingError,
    did_you_mean,
    listed,
)
from recgauge.runs.finished import FinishedRun
from recgauge.runs.folder import read_jobs
from recgauge.runs.stored import PER_USER, PREDICTIONS, RECORD
from recgauge.tracking.delivering import delivered
from recgauge.tracking.page import FILES_TAG, SUMMARY_TAG, TRIAL_TAG, experiment_tag
from recgauge.tracking.store import Store, check_there, client_of, explained, local_folder

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run as Run

NEEDED = (RECORD, PER_USER)
_ID = re.compile(r"[0-9a-f]{32}")
_OWN = "experiment="
FINISHED = "attributes.status = 'FINISHED'"
_NAME = re.compile(r"\b(param(?:eter)?|metric|tag)s?\.(`[^`]*`|\"[^\"]*\")?([\w./-]*)", re.IGNORECASE)
_VALUE = re.compile(r"'[^']*'|(?<!\.)\"[^\"]*\"")
_CUTOFF = re.compile(r"\b(metrics?\.[`\"]?\w+)@(\d+)", re.IGNORECASE)
_FIELDS = {"p": "params", "m": "metrics", "t": "tags"}
"""Names in a search of MLflow, and where a run has them."""
_PAGE = 1000  # runs that are asked for at a time


def stored_run(store: Store, run_id: str) -> "Run | None":
    """Return the run with this id, None if there is none."""
    from mlflow.exceptions import MlflowException

    client = reading(store)
    with explained(store, f"read run {run_id}"):
        try:
            return client.get_run(run_id)
        except MlflowException as error:
            if error.error_code in ("RESOURCE_DOES_NOT_EXIST", "INVALID_PARAMETER_VALUE"):
                return None
            raise


def experiments_of(store: Store) -> list[str]:
    """Return the names of a store's experiments."""
    client = reading(store)
    with explained(store, "look for experiments"):
        return [str(entry.name) for entry in client.search_experiments(order_by=["experiment_id"])]


def check_experiment(store: Store) -> None:
    """Refuse a store, or an experiment of it, that does not exist, before anything would make it."""
    if store.experiment not in (names := experiments_of(store)):
        raise no_experiment("--experiment", store.experiment, store, names)


def no_experiment(option: str, name: str, store: Store, names: Sequence[str]) -> ConfigError:
    """Return the error of an option that names an experiment which a store does not have."""
    return ConfigError(
        f"{option} {name}: there is no such experiment in {store.shown}. {did_you_mean(name, names)}"
        f"It has {listed(names)}."
    )


def runs_of(store: Store, where: str = "") -> "list[Run]":
    """Return the runs of the store's experiment, newest first, without trials of searches.

    `where` chooses, in MLflow's language.
    """
    from mlflow.exceptions import MlflowException

    client = reading(store)
    with explained(store, "look for runs"):
        experiment = client.get_experiment_by_name(store.experiment)
        runs: list[Run] = []
        token = None if experiment is None else ""
        while experiment is not None and token is not None:
            try:
                page = client.search_runs(
                    [experiment.experiment_id], where, max_results=_PAGE, page_token=token
                )
            except MlflowException as error:
                if not where or error.error_code != "INVALID_PARAMETER_VALUE":
                    raise
                reason = f"--where: {where!r} is no search of MLflow: {error.message}"
                raise TrackingError(reason) from error
            runs += [run for run in page if TRIAL_TAG not in run.data.tags]  # trials lie below their run
            token = page.token or None
    return runs


def chosen_runs(store: Store, where: str) -> "list[Run]":
    """Return the runs that a user's search chooses; a name that no run has is an error, not an empty list.

    Metrics may be written as everywhere: ``metrics.ndcg@10 > 0.2``.
    """
    where = _CUTOFF.sub(r"\1_at_\2", where)
    runs = runs_of(store, where)
    for kind, quoted, plain in _NAME.findall(_VALUE.sub("", where)):  # values may look like names
        field, name = _FIELDS[kind[0].lower()], quoted[1:-1] or plain
        if not any(name in getattr(run.data, field) for run in runs):
            names = dict.fromkeys(key for run in runs_of(store) for key in getattr(run.data, field))
            if names and name not in names:
                raise ConfigError(
                    f"--where: no run of the experiment {store.experiment} has {field[:-1]} {name!r}. "
                    f"{did_you_mean(name, names)}There are {listed(names)}."
                )
    return runs


def reading(store: Store) -> "MlflowClient":
    """Return MLflow's client of a store that is there: reading makes none."""
    if not store.exists:
        raise TrackingError(
            f"the tracking store {store.shown} does not exist. Run something first, such as "
            "recgauge run -m model=popularity,svd; or name the store of the runs, --uri=ADDRESS, or "
            "output folders."
        )
    check_there(store)
    with explained(store, "open the store"):
        return client_of(store)


def _run_by_id(store: Store, run_id: str) -> "Run":
    """Return a run that a user names."""
    run = stored_run(store, run_id) if store.exists else None
    if run is None:
        problem = "has no such run" if store.exists else "does not exist"
        raise MissingDataError(
            f"{run_id}: is no folder, and the tracking store {store.shown} {problem}. Name the store that "
            "has the run, --uri=ADDRESS, or give the run's output folder."
        )
    return run


def run_files(store: Store, run: "Run", names: Sequence[str]) -> Path:
    """Return a folder with the named files of a run that exist; copies of remote files are temporary."""
    run_id, folder = run.info.run_id, local_folder(run.info.artifact_uri)
    if folder is not None and not folder.is_dir() and store.files is not None:
        beside = store.files / run_id / "artifacts"  # of a project that was moved
        folder = beside if beside.is_dir() else folder
    if run.info.status != "FINISHED":
        reason = f": {run.data.tags['error']}" if "error" in run.data.tags else ""
        raise MissingDataError(f"{run_id}: the run is {run.info.status}, so it has no results{reason}.")
    if folder is None:
        folder = Path(mkdtemp(prefix="recgauge-"))
        register(rmtree, folder, ignore_errors=True)
        with explained(store, f"read run {run_id}"):
            _copy(reading(store), run_id, names, folder)
    elif not folder.is_dir():
        raise MissingDataError(
            f"run {run_id}: its files are not in {folder}, where the tracking store says they are. "
            "Put them back, or name the run's output folder instead."
        )
    return folder


def run_folder(run: str, uri: str, names: Sequence[str]) -> Path:
    """Return a folder with the named files of a run that exist: an output folder, or one by its id."""
    store = Store(uri)
    return Path(run) if Path(run).is_dir() else run_files(store, _run_by_id(store, run), names)


def require_stored(run: str, folder: Path, names: Sequence[str]) -> None:
    """Refuse a run that has not stored what is needed, and say how to run it again."""
    if missing := [name for name in names if not (folder / name).is_file()]:
        raise MissingDataError(
            f"{run}: the run has stored no {', '.join(missing)}. Finished runs with metrics of lists and "
            "whole lists have them: run again with metrics=ranking artifacts.lists=true."
        )


def _copy(client: "MlflowClient", run_id: str, names: Sequence[str], folder: Path) -> None:
    """Copy those of a run's files that exist."""
    stored = {entry.path for entry in client.list_artifacts(run_id)}
    for name in names:
        if name in stored or name.partition("/")[0] in stored:
            client.download_artifacts(run_id, name, str(folder))


def find_runs(
    sources: Sequence[str],
    uri: str,
    *,
    experiment: str = "recgauge",
    where: str = "",
    files: Sequence[str] = (),
) -> tuple[list[FinishedRun], list[str]]:
    """Return the finished runs that a user names, the newest of those with equal settings, and notes.

    Parameters
    ----------
    sources : sequence of str
        Output folders of runs or sweeps, ids of runs, names of MLflow experiments, or ``experiment=NAME``,
        recgauge's own; empty: the runs of `experiment`.
    uri : str
        Tracking store.
    experiment : str
        MLflow experiment of ids and of ``experiment=NAME``.
    where : str
        Which of an experiment's runs, in MLflow's language.
    files : sequence of str
        Files that are copied from a remote store beside those that every comparison needs.

    Returns
    -------
    list of FinishedRun
        Each with a per_user.parquet in its folder.
    list of str
        Which runs are left out, and why.

    Raises
    ------
    RecgaugeError
        If a source is unknown, a run that is named alone has no results, or there is no finished run.
    """
    names = list(sources) or [experiment]
    if where and all(Path(name).is_dir() or _ID.fullmatch(name) for name in names):
        raise ConfigError(
            "--where chooses among the runs of an MLflow experiment, and only folders and ids are given."
        )
    query = _RunQuery(Store(uri, experiment), where, (*NEEDED, PREDICTIONS, *files))
    distinct: dict[str, FinishedRun] = {}
    for run in (run for name in names for run in query.runs(name)):
        distinct.setdefault(run.run_id or str(run.folder.resolve()), run)
    runs = list(distinct.values())
    alike: dict[str, list[FinishedRun]] = {}
    for run in sorted(runs, key=_started, reverse=True):
        alike.setdefault(run.record.settings_digest(), []).append(run)
    if not alike:
        chosen = f" with --where {where!r}" if where else ""
        left_out = f" ({'; '.join(query.notes)})" if query.notes else ""
        hint = " `recgauge experiments` lists what there is." if str(names).count(_OWN) else ""
        raise MissingDataError(f"{listed(names)}: there is no finished run{chosen}{left_out}.{hint}")
    for newest, *older in alike.values():
        if older:
            model, dataset = (newest.record.names[name] for name in ("model", "dataset"))
            query.notes.append(
                f"{model} on {dataset} was run {1 + len(older)} times with equal settings; the newest "
                f"counts: {newest.label}"
            )
    kept = {newest for newest, *_ in alike.values()}
    return [run for run in runs if run in kept], query.notes


def _started(run: FinishedRun) -> float:
    job = run.record.job
    return (run.folder / RECORD).stat().st_mtime if job is None else job.started


_Location = tuple[Path, str | None, str]
"""The folder of a run, its id in a store, and how messages name it."""


def _location(folder: Path) -> _Location:
    return folder, (delivered(folder) or {}).get("run_id"), str(folder)


def _read(folder: Path, run_id: str | None, label: str) -> FinishedRun:
    if missing := [name for name in NEEDED if not (folder / name).is_file()]:
        raise MissingDataError(
            f"{label}: has stored no {' and no '.join(missing)}, so its users cannot be compared. "
            "Run it again."
        )
    return FinishedRun.read(folder, run_id, label)


@dataclass(frozen=True)
class _RunQuery:
    """Where runs are looked for, with which files, and notes on what was left out."""

    store: Store
    where: str
    files: tuple[str, ...]
    notes: list[str] = field(default_factory=list)

    def runs(self, source: str) -> Iterator[FinishedRun]:
        """Yield the runs of a source; of several, one that has stored too little is left out."""
        folder, alone = Path(source), True
        if (folder / RECORD).is_file():
            locations = [_location(folder)]
        elif folder.is_dir():
            locations, alone = self._in_folder(folder), False
        elif _ID.fullmatch(source):
            locations = [self._stored(_run_by_id(self.store, source))]
        else:
            locations, alone = self._in_experiment(source), False
        for location in locations:
            try:
                yield _read(*location)
            except RecgaugeError as error:
                if alone:
                    raise
                self.notes.append(f"left out: {error}")

    def _in_folder(self, folder: Path) -> list[_Location]:
        """Return the finished jobs of a sweep."""
        jobs = read_jobs(folder)
        # the folder of a failed job may have an older run
        kept = [job for job in jobs if job.status != "failed" and (job.folder / RECORD).is_file()]
        finished = [(job.folder, job.run_id, str(job.folder)) for job in kept]
        if not jobs:  # a sweep that was killed, copied folders
            finished = [_location(path.parent) for path in sorted(folder.rglob(RECORD))]
        if not finished:
            reason = f"; its first job: {jobs[0].short_reason.removesuffix('.')}" if jobs else ""
            raise MissingDataError(
                f"{folder}: there is no finished run in this folder (no {RECORD}){reason}."
            )
        if (n_left := len(jobs) - len(finished)) > 0:
            self.notes.append(f"{folder}: {n_left} jobs without results are left out")
        return finished

    def _in_experiment(self, source: str) -> list[_Location]:
        """Return the finished runs of an experiment, without summaries of sweeps."""
        own = source.startswith(_OWN)
        store = self.store if own else replace(self.store, experiment=source)
        stored = chosen_runs(store, self.where)
        if not stored and store.experiment not in (names := experiments_of(store)):
            raise ConfigError(
                f"{source}: is no folder, no run's id, and no experiment of the tracking store "
                f"{store.shown}. {did_you_mean(store.experiment, names)}Experiments there: {listed(names)}."
            )
        runs = [run for run in stored if SUMMARY_TAG not in run.data.tags]
        if own:
            tag = experiment_tag(source.removeprefix(_OWN))
            runs = [run for run in runs if tag in run.data.tags]
        finished = [run for run in runs if run.info.status == "FINISHED" and FILES_TAG in run.data.tags]
        if len(finished) < len(runs):
            self.notes.append(f"{source}: {len(runs) - len(finished)} runs that did not finish are left out")
        return [self._stored(run) for run in finished]

    def _stored(self, run: "Run") -> _Location:
        run_id = run.info.run_id
        return run_files(self.store, run, self.files), run_id, f"run {run_id}"
