"""Runs in a store, and what a user names as finished runs: folders, sweeps, ids, MLflow experiments."""

import re
from atexit import register
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from recgauge.errors import (
    ConfigError,
    IntegrityError,
    MissingDataError,
    RecgaugeError,
    TrackingError,
    did_you_mean,
    listed,
)
from recgauge.runs.folder import (
    CHECKSUMS,
    JobOutcome,
    file_digest,
    read_checksums,
    read_jobs,
    unfinished,
)
from recgauge.runs.stored import PER_USER, PREDICTIONS, RECORD, RunFolder
from recgauge.tracking.delivering import delivered, mark_delivered
from recgauge.tracking.page import FILES_TAG, FINGERPRINT_TAG, SUMMARY_TAG, experiment_tag
from recgauge.tracking.store import Store, check_there, client_of, explained, local_folder, open_store

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run as Run

NEEDED = (RECORD, PER_USER)
_ID = re.compile(r"[0-9a-f]{32}")
_OWN = "experiment="
FINISHED = "attributes.status = 'FINISHED'"
_NAME = re.compile(r"\b(param(?:eter)?|metric|tag)s?\.(`[^`]*`|\"[^\"]*\")?([\w./-]*)", re.IGNORECASE)
_VALUE = re.compile(r"'[^']*'|(?<!\.)\"[^\"]*\"")
_FIELDS = {"p": "params", "m": "metrics", "t": "tags"}
"""Names in a search of MLflow, and where a run has them."""
_PAGE = 1000  # runs that are asked for at a time
_FEW = 20
"""More fingerprints than these are looked for in one walk over all finished runs."""


def find(store: Store, fingerprints: Collection[str]) -> dict[str, list[str]]:
    """Return the ids of the finished runs with each of these fingerprints, newest first."""
    ids: dict[str, list[str]] = {fingerprint: [] for fingerprint in fingerprints}
    if not store.exists or not ids:
        return ids
    searches = [FINISHED]
    if len(ids) <= _FEW:
        searches = [f"{FINISHED} and tags.`{FINGERPRINT_TAG}` = '{fingerprint}'" for fingerprint in ids]
    for search in searches:
        for run in runs_of(store, search):
            if (fingerprint := run.data.tags.get(FINGERPRINT_TAG)) in ids:
                ids[fingerprint].append(run.info.run_id)
    return ids


def fetch(store: Store, run_id: str, names: Sequence[str], folder: Path) -> None:
    """Copy a stored run's files to `folder`, which then counts as delivered; they are as they were stored."""
    wanted = (*names, CHECKSUMS)
    opened = open_store(store)
    with unfinished(folder) as hidden:
        with explained(store, f"read run {run_id}"):
            digest = opened.client.get_run(run_id).data.tags.get(FILES_TAG)
            _copy(opened.client, run_id, wanted, hidden)
        sums = read_checksums(hidden / CHECKSUMS) | {CHECKSUMS: digest}
        wrong = [
            name
            for name in wanted
            if not (hidden / name).is_file() or file_digest(hidden / name) != sums.get(name)
        ]
        if wrong:
            raise IntegrityError(f"{', '.join(wrong)} is missing or not as it was stored")
    mark_delivered(folder, store, run_id, opened.experiment_id)


def mark(store: Store, run_id: str, experiment: str) -> None:
    """Count a run among those of an experiment, as in ``experiment=NAME``."""
    opened = open_store(store)
    with explained(store, f"mark run {run_id}"):
        opened.client.set_tag(run_id, experiment_tag(experiment), "true")


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
        return [str(found.name) for found in client.search_experiments(order_by=["experiment_id"])]


def check_experiment(store: Store) -> None:
    """Refuse a store, or an experiment of it, that does not exist, before anything would make it."""
    if store.experiment not in (known := experiments_of(store)):
        raise ConfigError(
            f"--experiment {store.experiment}: there is none in {store.shown}. "
            f"{did_you_mean(store.experiment, known)}It has {listed(known)}."
        )


def runs_of(store: Store, where: str = "") -> "list[Run]":
    """Return the runs of the store's experiment, newest first; `where` chooses, in MLflow's language."""
    from mlflow.exceptions import MlflowException

    client = reading(store)
    with explained(store, "look for runs"):
        known = client.get_experiment_by_name(store.experiment)
        runs: list[Run] = []
        token = None if known is None else ""
        while known is not None and token is not None:
            try:
                page = client.search_runs([known.experiment_id], where, max_results=_PAGE, page_token=token)
            except MlflowException as error:
                if not where or error.error_code != "INVALID_PARAMETER_VALUE":
                    raise
                reason = f"--where: {where!r} is no search of MLflow: {error.message}"
                raise TrackingError(reason) from error
            runs += page
            token = page.token or None
    return runs


def chosen_runs(store: Store, where: str) -> "list[Run]":
    """Return the runs that a user's search chooses; a name that no run has is an error, not an empty list."""
    runs = runs_of(store, where)
    for kind, quoted, plain in _NAME.findall(_VALUE.sub("", where)):  # values may look like names
        field, name = _FIELDS[kind[0].lower()], quoted[1:-1] or plain
        if not any(name in getattr(run.data, field) for run in runs):
            known = dict.fromkeys(key for run in runs_of(store) for key in getattr(run.data, field))
            if known and name not in known:
                raise ConfigError(
                    f"--where: no run of the experiment {store.experiment} has {field[:-1]} {name!r}. "
                    f"{did_you_mean(name, known)}There are {listed(known)}."
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


def _named_run(store: Store, run_id: str) -> "Run":
    """Return a run that a user names."""
    run = stored_run(store, run_id) if store.exists else None
    if run is None:
        problem = "has no such run" if store.exists else "does not exist"
        raise MissingDataError(
            f"{run_id}: is no folder, and the tracking store {store.shown} {problem}. Name the store that "
            "has the run, --uri=ADDRESS, or give the run's output folder."
        )
    return run


def _files_of(store: Store, run: "Run", names: Sequence[str]) -> Path:
    """Return a folder with those of a run's files that there are; copies of remote ones are temporary."""
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
    """Return a folder with those of a run's files that there are: an output folder, or one by its id."""
    store = Store(uri)
    return Path(run) if Path(run).is_dir() else _files_of(store, _named_run(store, run), names)


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
    search: str = "",
    wanted: Sequence[str] = (),
) -> tuple[list[JobOutcome], list[str]]:
    """Return the finished runs that a user names, the newest of those with equal settings, and notes.

    `sources` are output folders of runs or sweeps, ids of runs, names of MLflow experiments, or
    ``experiment=NAME``, recgauge's own; without any, `experiment` is meant. `search` chooses among an
    experiment's runs, in MLflow's language. `wanted` are files that are copied from a remote store beside
    those that every comparison needs. Each run has its record, and a folder with its per_user.parquet; the
    notes say what was left out. It is an error if a source is unknown, if a run that is named alone has no
    results, or if nothing is found.
    """
    names = list(sources) or [experiment]
    if search and all(Path(name).is_dir() or _ID.fullmatch(name) for name in names):
        raise ConfigError(
            "--where chooses among the runs of an MLflow experiment, and only folders and ids are given."
        )
    sought = _Sought(Store(uri, experiment), search, (*NEEDED, PREDICTIONS, *wanted))
    distinct: dict[str, JobOutcome] = {}
    for run in (run for name in names for run in sought.named(name)):
        distinct.setdefault(run.run_id or str(run.folder.resolve()), run)
    runs = [replace(run, number=number) for number, run in enumerate(distinct.values())]
    alike: dict[str, list[JobOutcome]] = {}
    for run in sorted(runs, key=_started, reverse=True):
        if run.record is not None:
            alike.setdefault(run.record.settings_digest(), []).append(run)
    if not alike:
        chosen = f" with --where {search!r}" if search else ""
        left_out = f" ({'; '.join(sought.notes)})" if sought.notes else ""
        known = " `recgauge experiments` lists what there is." if str(names).count(_OWN) else ""
        raise MissingDataError(f"{listed(names)}: there is no finished run{chosen}{left_out}.{known}")
    for newest, *older in alike.values():
        if older and newest.record is not None:
            model, dataset = (newest.record.names[name] for name in ("model", "dataset"))
            sought.notes.append(
                f"{model} on {dataset} was run {1 + len(older)} times with equal settings; the newest "
                f"counts: {newest.label}"
            )
    kept = sorted((newest for newest, *_ in alike.values()), key=lambda run: run.number)
    return [replace(run, number=number) for number, run in enumerate(kept)], sought.notes


def _started(run: JobOutcome) -> float:
    job = None if run.record is None else run.record.job
    return (run.folder / RECORD).stat().st_mtime if job is None else job.started


@dataclass(frozen=True)
class _Sought:
    """Where runs are looked for, with which files, and what was left out."""

    store: Store
    search: str
    files: tuple[str, ...]
    notes: list[str] = field(default_factory=list)

    def named(self, source: str) -> Iterator[JobOutcome]:
        """Yield the runs that one source names; of several, one that has stored too little is left out."""
        folder, alone = Path(source), True
        if (folder / RECORD).is_file():
            runs = [_of_folder(folder)]
        elif folder.is_dir():
            runs, alone = self._in_folder(folder), False
        elif _ID.fullmatch(source):
            runs = [self._stored(_named_run(self.store, source))]
        else:
            runs, alone = self._in_experiment(source), False
        for run in runs:
            try:
                yield _with_record(run)
            except RecgaugeError as error:
                if alone:
                    raise
                self.notes.append(f"left out: {error}")

    def _in_folder(self, folder: Path) -> list[JobOutcome]:
        """Return the finished jobs of a sweep."""
        jobs = read_jobs(folder)
        own = [job for job in jobs if job.status != "failed"]  # whose folder may have an older run
        finished = [replace(job, label=str(job.folder)) for job in own if (job.folder / RECORD).is_file()]
        if not jobs:  # a sweep that was killed, folders that somebody has copied here
            finished = [_of_folder(path.parent) for path in sorted(folder.rglob(RECORD))]
        if not finished:
            reason = f"; its first job: {jobs[0].short_reason.removesuffix('.')}" if jobs else ""
            raise MissingDataError(
                f"{folder}: there is no finished run in this folder (no {RECORD}){reason}."
            )
        if (lacking := len(jobs) - len(finished)) > 0:
            self.notes.append(f"{folder}: {lacking} jobs without results are left out")
        return finished

    def _in_experiment(self, source: str) -> list[JobOutcome]:
        """Return the finished runs of an experiment, without summaries of sweeps."""
        own = source.startswith(_OWN)
        store = self.store if own else replace(self.store, experiment=source)
        every = chosen_runs(store, self.search)
        if not every and store.experiment not in (known := experiments_of(store)):
            raise ConfigError(
                f"{source}: is no folder, no run's id, and no experiment of the tracking store "
                f"{store.shown}. {did_you_mean(store.experiment, known)}Experiments there: {listed(known)}."
            )
        runs = [run for run in every if SUMMARY_TAG not in run.data.tags]
        if own:
            tag = experiment_tag(source.removeprefix(_OWN))
            runs = [run for run in runs if tag in run.data.tags]
        finished = [run for run in runs if run.info.status == "FINISHED" and FILES_TAG in run.data.tags]
        if len(finished) < len(runs):
            self.notes.append(f"{source}: {len(runs) - len(finished)} runs that did not finish are left out")
        return [self._stored(run) for run in finished]

    def _stored(self, run: "Run") -> JobOutcome:
        run_id = run.info.run_id
        folder = _files_of(self.store, run, self.files)
        return JobOutcome(0, f"run {run_id}", run_id=run_id, folder=folder)


def _with_record(run: JobOutcome) -> JobOutcome:
    if missing := [name for name in NEEDED if not (run.folder / name).is_file()]:
        raise MissingDataError(
            f"{run.label}: has stored no {' and no '.join(missing)}, so its users cannot be compared. "
            "Run it again."
        )
    return replace(run, record=RunFolder.read(run.folder).record)


def _of_folder(folder: Path) -> JobOutcome:
    run_id = (delivered(folder) or {}).get("run_id")
    return JobOutcome(0, str(folder), run_id=run_id, folder=folder)
