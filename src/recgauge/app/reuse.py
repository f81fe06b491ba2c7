"""Finds the finished run that has a job's fingerprint, so that only what is missing is computed."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from recgauge._version import NUMERIC_VERSION
from recgauge.app.artifacts import CHECKSUMS, file_digest, read_checksums
from recgauge.app.stored import load_record
from recgauge.app.tracker import FILES_TAG, Tracker
from recgauge.errors import SchemaError
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
        Told why a run that was found is not used.

    Raises
    ------
    TrackingError
        If the store cannot be asked.
    """
    wanted = fingerprint(settings, data_sha256, NUMERIC_VERSION, sources)
    run_id = tracker.find(wanted)
    if run_id is None:
        return None
    names = ("record.json", *artifacts)
    tracker.download(run_id, (CHECKSUMS, *names), folder)
    problem = _damage(folder, names, tracker.tag(run_id, FILES_TAG))
    if problem is None:
        try:
            record = load_record(folder)
        except SchemaError as error:
            problem = str(error)
        else:
            if record.fingerprint() == wanted and record.seed == settings["seed"]:
                return run_id, record
            problem = "its record is that of another configuration"
    progress.note(f"run {run_id} is the same but cannot be reused, so it is made again: {problem}.")
    return None


def _damage(folder: Path, names: Sequence[str], digest: str | None) -> str | None:
    """Return what is wrong with a run's files, None if they are as they were stored."""
    if digest is None:
        return "it was stored without a digest of its files"
    sums = folder / CHECKSUMS
    missing = [name for name in (CHECKSUMS, *names) if not (folder / name).is_file()]
    if missing:
        return f"it has no {', '.join(missing)}"
    if file_digest(sums) != digest:
        return f"its {CHECKSUMS} has been changed"
    expected = read_checksums(sums)
    changed = [name for name in names if file_digest(folder / name) != expected.get(name)]
    return f"{', '.join(changed)} has been changed" if changed else None
