"""Finds the finished run that has a job's fingerprint, so that only what is missing is computed."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from recgauge._version import NUMERIC_VERSION
from recgauge.app.stored import load_record
from recgauge.app.tracker import Tracker
from recgauge.errors import SchemaError, TrackingError
from recgauge.fingerprints import fingerprint
from recgauge.progress import Progress
from recgauge.records import RunRecord


def find_finished(
    settings: Mapping[str, Any],
    data_sha256: str,
    sources: Mapping[str, str],
    *,
    tracker: Tracker,
    artifacts: Sequence[str],
    folder: Path,
    progress: Progress,
) -> tuple[str, RunRecord] | None:
    """Return id and record of a finished run with the same fingerprint, its files copied to the job's folder.

    Parameters
    ----------
    settings : mapping of str to Any
        The resolved configuration.
    data_sha256 : str
    sources : mapping of str to str
        Digests of what the run reads beside its data set.
    tracker : Tracker
        The store that is asked; runs that failed, were killed or are running do not count.
    artifacts : sequence of str
        Files that the run must have beside its record.
    folder : Path
        The job's output folder.
    progress : Progress
        Told why a run that was found cannot be reused.
    """
    run_id = tracker.find(fingerprint(settings, data_sha256, NUMERIC_VERSION, sources))
    if run_id is None:
        return None
    wanted = ("record.json", *artifacts)
    try:
        tracker.download(run_id, wanted, folder)
        missing = [name for name in wanted if not (folder / name).exists()]
        if not missing:
            return run_id, load_record(folder)
        reason = f"it has no {', '.join(missing)} in the store."
    except (TrackingError, SchemaError) as error:
        reason = str(error)
    progress.note(f"run {run_id} is the same but cannot be reused, so it is made again: {reason}")
    return None
