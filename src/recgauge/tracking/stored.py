"""Runs in a tracking store: found, listed, copied; nothing is made in a store that is not there."""

from atexit import register
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from recgauge.errors import IntegrityError, MissingDataError, TrackingError
from recgauge.runs.folder import CHECKSUMS, file_digest, finish, read_checksums, unfinished
from recgauge.tracking.delivering import local_folder, mark_delivered
from recgauge.tracking.page import FILES_TAG, FINGERPRINT_TAG, experiment_tag
from recgauge.tracking.store import Store, check_there, client_of, explained, open_store

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run as Run

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
        finish([hidden / name for name in wanted], hidden, folder)
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
    def exists(self) -> bool:
        """Whether there is a store; of a server, that it is assumed to be there."""
        file = Store(self.uri).file
        return file is None or (file.is_file() and file.stat().st_size > 0)

    def run(self, run_id: str) -> "Run | None":
        """Return the run with this id, None if there is none."""
        from mlflow.exceptions import MlflowException

        client = self.client()
        with explained(Store(self.uri), f"read run {run_id}"):
            try:
                return client.get_run(run_id)
            except MlflowException as error:
                if error.error_code in ("RESOURCE_DOES_NOT_EXIST", "INVALID_PARAMETER_VALUE"):
                    return None
                raise

    def experiments(self) -> list[str]:
        """Return the names of all experiments."""
        client = self.client()
        with explained(Store(self.uri), "look for experiments"):
            return [
                str(experiment.name) for experiment in client.search_experiments(order_by=["experiment_id"])
            ]

    def runs(self, experiment: str, where: str = "") -> "list[Run]":
        """Return the runs of an experiment, newest first, which `where` may choose in MLflow's language."""
        from mlflow.exceptions import MlflowException

        client = self.client()
        with explained(Store(self.uri), "look for runs"):
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
            with explained(Store(self.uri), f"read run {run_id}"):
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
                f"the tracking store {Store(self.uri).shown} does not exist. Run something first, such as "
                "recgauge run -m model=popularity,svd; or name the store of the runs, --uri=ADDRESS, or "
                "output folders."
            )
        check_there(Store(self.uri))
        with explained(Store(self.uri), "open the store"):
            return client_of(Store(self.uri))


def _copy(client: "MlflowClient", run_id: str, names: Sequence[str], folder: Path) -> None:
    """Copy those of a run's files that exist."""
    stored = {entry.path for entry in client.list_artifacts(run_id)}
    for name in names:
        if name in stored or name.partition("/")[0] in stored:
            client.download_artifacts(run_id, name, str(folder))
