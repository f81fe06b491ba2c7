"""What is asked of a tracking store in MLflow.

Everything that comes in and goes out is plain (texts, numbers, lists and mappings of them), so that it can be
asked from another process; see `process`. Every error is a `TrackingError` that names the address.
"""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from time import time
from typing import Any
from urllib.parse import quote

from recgauge.app.tracking import views
from recgauge.app.tracking.addresses import (
    SQLITE,
    check_store,
    check_there,
    explained,
    local_folder,
    share_files,
)
from recgauge.app.tracking.alive import UNTIL_TAG, alive_tags, signs_of_life
from recgauge.app.tracking.claims import PASSED_TAG, ClaimedStore, ElsewhereError, StoredClaims, claim
from recgauge.app.tracking.once import despite_others, runs_of
from recgauge.app.tracking.searches import store_trials
from recgauge.app.tracking.servers import time_for
from recgauge.errors import TrackingError

MODEL_TRAINING = "workflowType=machine_learning"  # else MLflow 3 opens its pages for generative AI
PORT_TAG, DEFAULT_PORT = "recgauge.ui_port", 5000
LONGEST_PARAM = 6000  # MLflow cuts longer values with only a warning; config.yaml holds them whole
# the most that one call of MLflow takes: 1000 entries, of them 100 params or tags
MOST_METRICS, MOST_TEXTS = 900, 100
_open: dict[str, tuple["MlflowStore", ExitStack]] = {}
"""The runs that this process has open, by id: where, and their signs of life."""


def abandon(reason: str) -> None:
    """Mark all runs that this process has open as killed, as far as their stores allow."""
    for run_id in list(_open):
        with suppress(TrackingError):
            _open[run_id][0].end(run_id, "KILLED", reason)


class MlflowStore(ClaimedStore):
    """What is asked of an MLflow experiment in a store, which is opened when it is first asked."""

    def prepare(self) -> None:
        """Open the store, creating or migrating it, and make the experiment."""
        with explained(self.uri, "open the store"):
            _ = self.experiment_id

    def check_there(self) -> None:
        """Refuse a database that is gone, and a server or database that does not answer at once."""
        check_there(self.uri)

    def begin(self, name: str, params: Mapping[str, str], tags: Mapping[str, str], lease: float) -> str:
        """Open a run, which gives signs of life until it ends, and return its id."""
        check_store(self.uri)
        run_id = self.create(name, {**tags, **alive_tags(lease)})
        self._live(run_id, params, lease)
        return run_id

    def claim(
        self, name: str, params: Mapping[str, str], tags: Mapping[str, str], lease: float
    ) -> tuple[str, str, bool]:
        """Open a run that claims its job, as `begin` does.

        Returns
        -------
        run_id : str
            Of the run, or of another process's.
        elsewhere : str
            Why the job is another process's; empty if it is this one's.
        finished : bool
            Whether the other run has finished.
        """
        check_store(self.uri)
        board = StoredClaims(self, name, {**tags, **alive_tags(lease)})
        try:
            run_id = claim(board, tags.get(PASSED_TAG, "").split()).run_id
        except ElsewhereError as other:
            return other.run_id, str(other), other.finished
        self._live(run_id, params, lease)
        return run_id, "", False

    def _live(self, run_id: str, params: Mapping[str, str], lease: float) -> None:
        from mlflow.entities import Param

        life = ExitStack()
        life.enter_context(signs_of_life(partial(self._tag, run_id, UNTIL_TAG), lease))
        _open[run_id] = self, life
        entries = [Param(key, value[:LONGEST_PARAM]) for key, value in params.items()]
        try:
            with explained(self.uri, "open a run"):
                for first in range(0, len(entries), MOST_TEXTS):
                    self.client.log_batch(run_id, params=entries[first : first + MOST_TEXTS])
        except TrackingError as error:
            with suppress(TrackingError):
                self.end(run_id, "FAILED", str(error))
            raise

    def finish(self, run_id: str, claimed: bool) -> bool:
        """End a run as FINISHED; return False if it was a claim that has been given up meanwhile."""
        if claimed:
            with explained(self.uri, "finish the run"):
                if self.client.get_run(run_id).info.status != "RUNNING":
                    _open.pop(run_id, (self, ExitStack()))[1].close()
                    return False
        self.end(run_id, "FINISHED")
        return True

    def end(self, run_id: str, status: str, error: str = "") -> None:
        """End a run as FINISHED, FAILED or KILLED; an error becomes a tag."""
        _open.pop(run_id, (self, ExitStack()))[1].close()
        with explained(self.uri, "mark the run" if error else "finish the run"):
            if error:
                despite_others(lambda: self.client.set_tag(run_id, "error", error))
            self.client.set_terminated(run_id, status)

    def add_files(
        self, run_id: str, files: Sequence[str], root: str, inputs: Sequence[Mapping[str, Any]] = ()
    ) -> None:
        """Store a run's files, and its data as MLflow's inputs.

        Parameters
        ----------
        run_id : str
        files : sequence of str
            Absolute paths.
        root : str
            The folder that they are stored relative to.
        inputs : sequence of mapping
            ``name``, ``digest``, ``source_type``, ``source``, ``profile`` and ``context`` of each part.
        """
        from mlflow.entities import Dataset, DatasetInput, InputTag

        with explained(self.uri, "store the results"):
            parts = [
                DatasetInput(
                    Dataset(**{key: text for key, text in part.items() if key != "context"}),
                    tags=[InputTag("mlflow.data.context", part["context"])],
                )
                for part in inputs
            ]
            if parts:
                despite_others(lambda: self.client.log_inputs(run_id, datasets=parts))
            for file in files:
                folder = Path(file).parent.relative_to(root).as_posix()
                with time_for(Path(file)):
                    self.client.log_artifact(run_id, file, None if folder == "." else folder)
            location = self.client.get_run(run_id).info.artifact_uri
            if local_folder(location) is None:
                self._check_kept(run_id, {Path(file).relative_to(root).as_posix(): file for file in files})
            share_files(list(map(Path, files)), Path(root), location)

    def _check_kept(self, run_id: str, files: Mapping[str, str]) -> None:
        """Refuse a store that took files and has not kept them: a proxy's page has status 200, too."""
        kept: dict[str, int | None] = {}
        for folder in dict.fromkeys(name.rpartition("/")[0] for name in files):
            found = self.client.list_artifacts(run_id, folder or None)
            kept |= {entry.path: entry.file_size for entry in found if not entry.is_dir}
        for name, file in files.items():
            size = Path(file).stat().st_size
            if name not in kept or kept[name] not in (size, None):
                raise TrackingError(f"tracking.uri={self.uri}: the store has not kept {name} whole.")

    def add_values(
        self, run_id: str, metrics: Sequence[tuple[str, float, int]], tags: Mapping[str, str]
    ) -> None:
        """Store a run's numbers, each with its step, and tags, in as few calls as MLflow allows."""
        from mlflow.entities import Metric, RunTag

        now = max(0, int(time() * 1000))  # MLflow refuses times before 1970, which wrong clocks show
        values = [Metric(key, value, now, step) for key, value, step in metrics]
        texts = [RunTag(key, value) for key, value in tags.items()]
        with explained(self.uri, "store the results"):
            while values or texts:
                self.client.log_batch(run_id, metrics=values[:MOST_METRICS], tags=texts[:MOST_TEXTS])
                values, texts = values[MOST_METRICS:], texts[MOST_TEXTS:]

    def register(self, run_id: str, folder: str) -> None:
        """Register the fitted model in a folder as one that a run has made."""
        from recgauge.app.tracking.served import register

        with explained(self.uri, "store the model"):
            register(self.client, self.client.get_run(run_id), Path(folder))

    def add_trials(self, search: Mapping[str, Any]) -> None:
        """Store the trials of a search, those that are not stored yet; see `searches`."""
        with explained(self.uri, "store the trials"):
            store_trials(self.client, self.experiment_id, search)

    def find_delivered(self, delivery: str) -> str | None:
        """Return the id of the finished run with this `DELIVERY_TAG`; parts of it are deleted."""
        with explained(self.uri, "look for the run"):
            there = runs_of(self.client, self.experiment_id, delivery)
            finished = [str(one.info.run_id) for one in there if one.info.status == "FINISHED"]
            for one in there:
                if one.info.run_id not in finished[:1]:
                    self.delete(one.info.run_id, one.info.artifact_uri)
        return finished[0] if finished else None

    def tag(self, run_id: str, name: str) -> str | None:
        """Return a tag of a run, or None."""
        with explained(self.uri, f"read run {run_id}"):
            value = self.client.get_run(run_id).data.tags.get(name)
        return None if value is None else str(value)

    def mark(self, run_id: str, tag: str) -> None:
        """Give a run a tag with the value "true", unless it has it."""
        if self.tag(run_id, tag) is None:
            self._tag(run_id, tag, "true")

    def _tag(self, run_id: str, name: str, value: str) -> None:
        with explained(self.uri, f"mark run {run_id}"):
            despite_others(lambda: self.client.set_tag(run_id, name, value))

    def page(self, tag: str | None, value: str) -> str:
        """Return the deep link to the charts of all runs, or of those with one tag."""
        quoted = f'"{value}"' if "'" in value else f"'{value}'"
        search = "" if tag is None else f"tags.`{tag}` = {quoted}"
        page = f"{self._experiment_page()}/runs?compareRunsMode=CHART&{MODEL_TRAINING}"
        if key := views.share(self.client, self.uri, self.experiment_id, search):
            return f"{page}&viewStateShareKey={key}"
        return f"{page}&searchFilter={quote(search, safe='')}" if search else page

    def run_page(self, run_id: str) -> str:
        """Return the deep link to the page of one run."""
        return f"{self._experiment_page()}/runs/{run_id}?{MODEL_TRAINING}"

    def _experiment_page(self) -> str:
        with explained(self.uri, "look for the experiment"):
            server = self.uri.rstrip("/")
            if not self.uri.startswith("http"):
                tags = self.client.get_experiment(self.experiment_id).tags
                server = f"http://127.0.0.1:{tags.get(PORT_TAG, DEFAULT_PORT)}"
            return f"{server}/#/experiments/{self.experiment_id}"

    def serve_at(self, port: int) -> None:
        """Let links to a local store name the port that its page was last opened on."""
        if self.uri.startswith(SQLITE):
            with explained(self.uri, "remember the port"):
                self.client.set_experiment_tag(self.experiment_id, PORT_TAG, str(port))

    def download(self, run_id: str, names: Sequence[str], folder: str) -> None:
        """Copy those of a run's artifacts that exist into a folder."""
        with explained(self.uri, f"read run {run_id}"):
            stored = {entry.path for entry in self.client.list_artifacts(run_id)}
            for name in names:
                if name in stored:
                    self.client.download_artifacts(run_id, name, folder)

    def delete(self, run_id: str, location: str) -> None:
        """Delete a run and its files; MLflow keeps its row, marked as deleted, until ``mlflow gc``."""
        from mlflow.store.artifact.artifact_repository_registry import get_artifact_repository

        with explained(self.uri, f"delete run {run_id}"):
            files: Any = get_artifact_repository(location, tracking_uri=self.uri)
            files.delete_artifacts()
            self.client.delete_run(run_id)
