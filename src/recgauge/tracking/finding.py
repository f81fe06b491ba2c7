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
from recgauge.runs.record import RunRecord
from recgauge.runs.stored import LISTS, PER_USER, PREDICTIONS, RECORD, RunFolder
from recgauge.tracking.delivering import delivered, local_folder, mark_delivered
from recgauge.tracking.page import FILES_TAG, FINGERPRINT_TAG, SUMMARY_TAG, experiment_tag
from recgauge.tracking.store import Store, check_there, client_of, explained, open_store

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run as Run

NEEDED = (RECORD, PER_USER)
_ID = re.compile(r"[0-9a-f]{32}")
_OWN = "experiment="
_REMEDY = "or give the run's output folder."
FINISHED = "attributes.status = 'FINISHED'"
_PAGE = 1000  # runs that are asked for at a time
_FEW = 20
"""More fingerprints than these are looked for in one walk over all finished runs."""


def find(store: Store, fingerprints: Collection[str]) -> dict[str, list[str]]:
    """Return the ids of the finished runs with each of these fingerprints, newest first."""
    ids: dict[str, list[str]] = {fingerprint: [] for fingerprint in fingerprints}
    runs = RunStore(store.uri)
    if not runs.exists or not ids:
        return ids
    searches = [FINISHED]
    if len(ids) <= _FEW:
        searches = [f"{FINISHED} and tags.`{FINGERPRINT_TAG}` = '{fingerprint}'" for fingerprint in ids]
    for search in searches:
        for run in runs.runs(store.experiment, search):
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
        if digest is None:
            raise IntegrityError("it was stored without a digest of its files")
        if missing := [name for name in wanted if not (hidden / name).is_file()]:
            raise IntegrityError(f"it has no {', '.join(missing)}")
        if file_digest(hidden / CHECKSUMS) != digest:
            raise IntegrityError(f"its {CHECKSUMS} has been changed")
        sums = read_checksums(hidden / CHECKSUMS)
        if changed := [name for name in names if file_digest(hidden / name) != sums.get(name)]:
            raise IntegrityError(f"{', '.join(changed)} has been changed")
    mark_delivered(folder, store, run_id, opened.experiment_id)


def mark(store: Store, run_id: str, experiment: str) -> None:
    """Count a run among those of an experiment, as in ``experiment=NAME``."""
    opened = open_store(store)
    with explained(store, f"mark run {run_id}"):
        opened.client.set_tag(run_id, experiment_tag(experiment), "true")


@dataclass(frozen=True)
class RunStore:
    """Looks for runs in a store."""

    uri: str

    @property
    def _store(self) -> Store:
        return Store(self.uri)

    @property
    def exists(self) -> bool:
        """Whether there is a store; of a server, that it is assumed to be there."""
        file = self._store.file
        return file is None or (file.is_file() and file.stat().st_size > 0)

    def run(self, run_id: str) -> "Run | None":
        """Return the run with this id, None if there is none."""
        from mlflow.exceptions import MlflowException

        client = self.client()
        with explained(self._store, f"read run {run_id}"):
            try:
                return client.get_run(run_id)
            except MlflowException as error:
                if error.error_code in ("RESOURCE_DOES_NOT_EXIST", "INVALID_PARAMETER_VALUE"):
                    return None
                raise

    def experiments(self) -> list[str]:
        """Return the names of all experiments."""
        client = self.client()
        with explained(self._store, "look for experiments"):
            return [
                str(experiment.name) for experiment in client.search_experiments(order_by=["experiment_id"])
            ]

    def runs(self, experiment: str, where: str = "") -> "list[Run]":
        """Return the runs of an experiment, newest first, which `where` may choose in MLflow's language."""
        from mlflow.exceptions import MlflowException

        client = self.client()
        with explained(self._store, "look for runs"):
            known = client.get_experiment_by_name(experiment)
            runs: list[Run] = []
            token = None
            while known is not None:
                try:
                    page = client.search_runs(
                        [known.experiment_id], where, max_results=_PAGE, page_token=token
                    )
                except MlflowException as error:
                    if not where or error.error_code != "INVALID_PARAMETER_VALUE":
                        raise
                    reason = f"--where: {where!r} is no search of MLflow: {error.message}"
                    raise TrackingError(reason) from error
                runs += page
                token = page.token
                if not token:
                    break
        return runs

    def folder(self, run: "Run", names: Sequence[str]) -> Path:
        """Return a folder with those of a run's files that there are; copies of remote ones are temporary."""
        run_id, status = run.info.run_id, run.info.status
        folder = local_folder(run.info.artifact_uri)
        if folder is None:
            folder = Path(mkdtemp(prefix="recgauge-"))
            register(rmtree, folder, ignore_errors=True)
            with explained(self._store, f"read run {run_id}"):
                _copy(self.client(), run_id, names, folder)
        elif status != "FINISHED":
            reason = f": {run.data.tags['error']}" if "error" in run.data.tags else ""
            raise MissingDataError(
                f"run {run_id} is {status} and has no results{reason}\n"
                "`recgauge runs --status FINISHED` lists runs that have."
            )
        elif not folder.is_dir():
            raise MissingDataError(
                f"run {run_id}: its files are not in {folder}, where the tracking store says they are. "
                "Put them back, or name the run's output folder instead."
            )
        return folder

    def client(self) -> "MlflowClient":
        """Return MLflow's client of a store that is there."""
        if not self.exists:
            raise TrackingError(
                f"the tracking store {self._store.shown} does not exist. Run something first, such as "
                "recgauge run -m model=popularity,svd; or name the store of the runs, --uri=ADDRESS, or "
                "output folders."
            )
        check_there(self._store)
        with explained(self._store, "open the store"):
            return client_of(self._store)


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
    sought = _Sought(RunStore(uri), experiment, search, (*NEEDED, PREDICTIONS, *wanted))
    named = [run for name in names for run in sought.named(name)]
    distinct = {run.run_id or str(run.folder.resolve()): run for run in named}.values()
    order = {run.label: place for place, run in reversed(list(enumerate(named)))}
    newest: dict[str, list[JobOutcome]] = {}
    for run in sorted(distinct, key=lambda run: run.time, reverse=True):
        if (record := sought.record(run)) is not None:
            place = order[run.label]
            outcome = JobOutcome(place, run.label, run_id=run.run_id, record=record, folder=run.folder)
            newest.setdefault(record.fingerprint(), []).append(outcome)
    if not newest:
        chosen = f" with --where {search!r}" if search else ""
        left_out = f" ({'; '.join(sought.notes)})" if sought.notes else ""
        known = " `recgauge experiments` lists what there is." if str(names).count(_OWN) else ""
        raise MissingDataError(f"{listed(names)}: there is no finished run{chosen}{left_out}.{known}")
    for runs in newest.values():
        if len(runs) > 1 and (record := runs[0].record) is not None:
            sought.notes.append(
                f"{record.names['model']} on {record.names['dataset']} was run {len(runs)} times with equal "
                f"settings; the newest counts: {runs[0].label}"
            )
    kept = sorted((runs[0] for runs in newest.values()), key=lambda run: run.number)
    return [replace(run, number=number) for number, run in enumerate(kept)], sought.notes


@dataclass(frozen=True)
class _Named:
    """A run that was named (alone), or one of a sweep or an experiment; its record is read later."""

    label: str
    time: float
    folder: Path
    run_id: str | None
    alone: bool = True


@dataclass(frozen=True)
class _Sought:
    """Where runs are looked for, with which files, and what was left out."""

    store: RunStore
    experiment: str
    search: str
    files: tuple[str, ...]
    notes: list[str] = field(default_factory=list)

    def named(self, source: str) -> Iterator[_Named]:
        """Yield the runs that one source names."""
        if Path(source).is_dir():
            yield from self._in_folder(Path(source))
        elif _ID.fullmatch(source):
            yield self._with_id(source)
        else:
            yield from self._in_experiment(source)

    def _with_id(self, run_id: str) -> _Named:
        run = self.store.run(run_id)
        if run is None:
            raise MissingDataError(
                f"{run_id}: the tracking store {self.store.uri} has no run with this id. Name the store "
                f"that has it, --uri=ADDRESS, {_REMEDY}"
            )
        if run.info.status != "FINISHED":
            reason = f": {run.data.tags['error']}" if run.data.tags.get("error") else ""
            raise MissingDataError(f"{run_id}: the run is {run.info.status}, so it has no results{reason}.")
        return self._stored(run)

    def _in_experiment(self, source: str) -> Iterator[_Named]:
        """Yield the finished runs of an experiment, without summaries of sweeps."""
        own = source.startswith(_OWN)
        name = self.experiment if own else source
        every = self.store.runs(name, self.search)
        if not every and name not in (known := self.store.experiments()):
            raise ConfigError(
                f"{source}: is no folder, no run's id, and no experiment of the tracking store "
                f"{self.store.uri}. {did_you_mean(name, known)}Experiments there: {listed(known)}."
            )
        runs = [run for run in every if SUMMARY_TAG not in run.data.tags]
        if own:
            tag = experiment_tag(source.removeprefix(_OWN))
            runs = [run for run in runs if tag in run.data.tags]
        finished = [run for run in runs if run.info.status == "FINISHED" and FILES_TAG in run.data.tags]
        if len(finished) < len(runs):
            self.notes.append(f"{source}: {len(runs) - len(finished)} runs that did not finish are left out")
        yield from (self._stored(run, alone=False) for run in finished)

    def _stored(self, run: "Run", *, alone: bool = True) -> _Named:
        run_id, started = run.info.run_id, (run.info.start_time or 0) / 1000
        return _Named(f"run {run_id}", started, self.store.folder(run, self.files), run_id, alone)

    def _in_folder(self, folder: Path) -> Iterator[_Named]:
        """Yield the run whose folder it is, or the finished jobs of a sweep."""
        if (folder / RECORD).is_file():
            yield self._of_folder(folder, _run_id(folder), alone=True)
            return
        jobs = read_jobs(folder)
        finished = {job.folder: job.run_id for job in jobs if (job.folder / RECORD).is_file()}
        if not jobs:  # a sweep that was killed, folders that somebody has copied here
            finished = {path.parent: _run_id(path.parent) for path in sorted(folder.rglob(RECORD))}
        if not finished:
            reason = f"; its first job: {jobs[0].short_reason.removesuffix('.')}" if jobs else ""
            raise MissingDataError(
                f"{folder}: there is no finished run in this folder (no {RECORD}){reason}."
            )
        if (lacking := len(jobs) - len(finished)) > 0:
            self.notes.append(f"{folder}: {lacking} jobs without results are left out")
        yield from (self._of_folder(place, run_id, alone=False) for place, run_id in finished.items())

    def _of_folder(self, folder: Path, run_id: str | None, *, alone: bool) -> _Named:
        """Return the run of a folder; one that was reused has its files in the store alone."""
        place = folder
        if not (folder / PER_USER).is_file() and run_id is not None and self.store.exists:
            run = self.store.run(run_id)
            place = folder if run is None else self.store.folder(run, self.files)
        return _Named(str(folder), (folder / RECORD).stat().st_mtime, place, run_id, alone)

    def record(self, run: _Named) -> RunRecord | None:
        """Read a run's record; one of many that has stored too little is left out with a note."""
        try:
            if missing := [name for name in NEEDED if not (run.folder / name).is_file()]:
                raise MissingDataError(
                    f"{run.label}: has stored no {' and no '.join(missing)}, so its users cannot be "
                    "compared. Run it again."
                )
            return RunFolder.read(run.folder).record
        except RecgaugeError as error:
            if run.alone:
                raise
            self.notes.append(f"left out: {error}")
            return None


def _run_id(folder: Path) -> str | None:
    delivery = delivered(folder)
    return None if delivery is None else str(delivery["run_id"])


def run_folder(run: str, uri: str, names: Sequence[str]) -> Path:
    """Return a folder with those of a run's files that there are: an output folder, or one by its id."""
    if Path(run).is_dir():
        return Path(run)
    store, remedy = RunStore(uri), f"Name the store that has the run, --uri=ADDRESS, {_REMEDY}"
    if not store.exists:
        raise TrackingError(f"{run}: is no folder, and the tracking store {uri} does not exist. {remedy}")
    stored = store.run(run)
    if stored is None:
        raise TrackingError(f"{run}: is no folder, and no run of the tracking store {uri}. {remedy}")
    return store.folder(stored, names)


def require_stored(run: str, folder: Path, names: Sequence[str]) -> None:
    """Refuse a run that has not stored what is needed, and say how to run it again."""
    missing = [name for name in names if not (folder / name).is_file()]
    if missing == [LISTS]:
        stored = str(RunFolder.read(folder).record.settings.get("artifacts", {}).get("lists", True)).lower()
        if stored != "true":
            raise MissingDataError(
                f"{run}: the run has stored no whole lists, since it was run with artifacts.lists={stored}. "
                "Run it again with artifacts.lists=true."
            )
    if missing:
        raise MissingDataError(
            f"{run}: the run has stored no {', '.join(missing)}. Only finished runs with metrics of lists "
            "have them: run again with metrics=ranking."
        )
