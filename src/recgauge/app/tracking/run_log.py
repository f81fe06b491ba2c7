"""One run in MLflow: its inputs, files, numbers and tags, in few calls."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, time
from typing import TYPE_CHECKING

from recgauge.app.files.artifacts import CHECKSUMS, MODEL, MODEL_FILES, file_digest
from recgauge.app.tracking.addresses import explained, share_files
from recgauge.app.tracking.inputs import dataset_inputs
from recgauge.app.tracking.page import curve_points, final_tags, metric_values
from recgauge.app.tracking.served import register
from recgauge.app.tracking.servers import time_for
from recgauge.app.tracking.tracker import FILES_TAG, RunLog
from recgauge.runs.record import RunRecord

if TYPE_CHECKING:
    from mlflow import MlflowClient

# the most that one call of MLflow takes: 1000 entries, of them 100 params or tags
MOST_METRICS, MOST_TEXTS = 900, 100


@dataclass
class MlflowRunLog(RunLog):
    """A run that is open.

    Parameters
    ----------
    client : MlflowClient
    uri : str
        Of the store, for messages.
    log_model : bool
        Whether to register the fitted model.
    opening_seconds : float
        What opening the run took.
    run_id : str
    """

    client: "MlflowClient"
    uri: str
    log_model: bool
    opening_seconds: float
    run_id: str

    def finish(self, record: RunRecord, files: Sequence[Path]) -> float:
        """Store inputs, files, then every number and tag in few calls."""
        begin = perf_counter()
        client, run_id = self.client, self.run_id
        with explained(self.uri, "store the results"):
            root = next(file.parent for file in files if file.name == CHECKSUMS)
            client.log_inputs(run_id, datasets=dataset_inputs(record))
            for file in files:
                with time_for(file):
                    client.log_artifact(run_id, str(file), _subfolder(file, root))
            if self.log_model and root / MODEL_FILES[0] in files:
                register(client, client.get_run(run_id), root / MODEL)
            seconds = self.opening_seconds + perf_counter() - begin
            self._log_numbers(record, record.seconds | {"tracking": seconds})
            for file in (file for file in files if file.name == CHECKSUMS):
                client.set_tag(run_id, FILES_TAG, file_digest(file))  # last: only whole runs can be reused
            share_files(files, root, client.get_run(run_id).info.artifact_uri)
        return seconds

    def conclude(self, note: str, values: Mapping[str, float], files: Sequence[Path]) -> None:
        """Store the summary of an experiment."""
        with explained(self.uri, "store the summary"):
            self.client.set_tag(self.run_id, "mlflow.note.content", note)
            for file in files:
                self.client.log_artifact(self.run_id, str(file))
            for key, value in values.items():
                self.client.log_metric(self.run_id, key, value, timestamp=_now())

    def _log_numbers(self, record: RunRecord, seconds: Mapping[str, float]) -> None:
        from mlflow.entities import Metric, RunTag

        now = _now()
        metrics = [Metric(key, value, now, 0) for key, value in metric_values(record).items()]
        metrics += [Metric(name, value, now, k) for name, k, value in curve_points(record)]
        tags = [RunTag(key, value) for key, value in final_tags(record, seconds).items()]
        while metrics or tags:
            self.client.log_batch(self.run_id, metrics=metrics[:MOST_METRICS], tags=tags[:MOST_TEXTS])
            metrics, tags = metrics[MOST_METRICS:], tags[MOST_TEXTS:]


def _subfolder(file: Path, root: Path) -> str | None:
    """Return the folder of a run's file as a folder of the store's, None for none."""
    folder = file.parent.relative_to(root).as_posix()
    return None if folder == "." else folder


def _now() -> int:
    """Return the time in milliseconds; MLflow refuses times before 1970, which wrong clocks show."""
    return max(0, int(time() * 1000))
