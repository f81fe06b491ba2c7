"""What a run gives its store: inputs, files, numbers and tags, in few requests."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from recgauge.app.files.artifacts import CHECKSUMS, MODEL, MODEL_FILES, file_digest
from recgauge.app.tracking.inputs import dataset_inputs
from recgauge.app.tracking.page import curve_points, final_tags, metric_values
from recgauge.app.tracking.tracker import FILES_TAG, RunLog
from recgauge.runs.record import RunRecord

if TYPE_CHECKING:
    from recgauge.app.tracking.mlflow_store import MlflowStore


@dataclass
class MlflowRunLog(RunLog):
    """A run that is open, or about to be.

    Parameters
    ----------
    store : MlflowStore
    begun : Future of str
        The run's id, once the store has opened it.
    log_model : bool
        Whether to register the fitted model.
    opening_seconds : float
        What this process has waited for so far.
    """

    store: "MlflowStore"
    begun: Future[str]
    log_model: bool
    opening_seconds: float

    @property
    def run_id(self) -> str:
        """The run's id; waits until the store has opened it.

        Raises
        ------
        TrackingError
            If it could not.
        """
        return self.begun.result()

    def check(self) -> None:
        """Raise the error of a store that could not open the run; do not wait for one that is at it."""
        if self.begun.done():
            self.begun.result()

    def finish(self, record: RunRecord, files: Sequence[Path]) -> float:
        """Store inputs, files, then every number and tag."""
        begin, run_id = perf_counter(), self.run_id
        sums = next(file for file in files if file.name == CHECKSUMS)
        root = sums.parent
        self.store.add_files(run_id, _absolute(files), str(root.absolute()), dataset_inputs(record))
        if self.log_model and root / MODEL_FILES[0] in files:
            self.store.register(run_id, str((root / MODEL).absolute()))
        values = [(key, value, 0) for key, value in metric_values(record).items()]
        values += [(name, value, k) for name, k, value in curve_points(record)]
        seconds = self.opening_seconds + perf_counter() - begin
        tags = final_tags(record, record.seconds | {"tracking": seconds})
        # the last tag: only whole runs can be reused
        self.store.add_values(run_id, values, {**tags, FILES_TAG: file_digest(sums)})
        return seconds

    def conclude(self, note: str, values: Mapping[str, float], files: Sequence[Path]) -> None:
        """Store the summary of an experiment."""
        tags = {"mlflow.note.content": note}
        for file in files:
            self.store.add_files(self.run_id, _absolute([file]), str(file.absolute().parent))
        self.store.add_values(self.run_id, [(key, value, 0) for key, value in values.items()], tags)


def _absolute(files: Sequence[Path]) -> list[str]:
    """Return paths that mean the same in another process."""
    return [str(file.absolute()) for file in files]
