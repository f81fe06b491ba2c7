"""Finds the finished run that has a job's fingerprint, so that only what is missing is computed."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from recgauge._version import NUMERIC_VERSION
from recgauge.app.files.artifacts import CHECKSUMS, file_digest, finish, read_checksums, unfinished
from recgauge.app.files.list_files import holds
from recgauge.app.tracking.stored import load_record
from recgauge.app.tracking.tracker import FILES_TAG, Tracker
from recgauge.errors import SchemaError
from recgauge.runs.fingerprint import fingerprint
from recgauge.runs.record import RunRecord
from recgauge.utils.progress import Progress


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
    names = ("record.json", *artifacts)
    for run_id in tracker.find(wanted):
        with unfinished(folder) as room:
            tracker.download(run_id, (CHECKSUMS, *names), room)
            problem = _damage(room, names, tracker.tag(run_id, FILES_TAG))
            record = None if problem else _record(room)
            problem = problem or _difference(record, wanted, settings)
            if record is not None and problem is None:
                finish([room / name for name in (*names, CHECKSUMS)], room, folder)
                return run_id, record
        progress.note(f"run {run_id} is the same but cannot be reused: {problem}.")
    return None


def _record(folder: Path) -> RunRecord | None:
    """Return a record whose digest is right, None if it is no record all the same."""
    try:
        return load_record(folder)
    except SchemaError:
        return None


def _difference(record: RunRecord | None, wanted: str, settings: Mapping[str, Any]) -> str | None:
    """Return why an undamaged record is not that of the job, None if it is."""
    if record is None:
        return "its record.json is no record of this version of recgauge"
    if record.fingerprint() != wanted or record.seed != settings["seed"]:
        return "its record is that of another configuration"
    lists = settings.get("artifacts", {}).get("lists", True)
    if not holds(record.settings, lists):
        return f"it has not stored the lists that artifacts.lists={str(lists).lower()} asks for"
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
