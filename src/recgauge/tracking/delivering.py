"""The only way into MLflow: complete folders are delivered, each once, however often it is tried."""

import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recgauge.errors import IntegrityError, MissingDataError, SchemaError, TrackingError
from recgauge.metrics import HEADLINE
from recgauge.runs.folder import (
    CHECKSUMS,
    MODEL,
    MODEL_FILES,
    Failure,
    Summary,
    file_digest,
    read_checksums,
    read_folder,
)
from recgauge.runs.record import RunRecord
from recgauge.runs.settings import registers_model
from recgauge.tracking.description import describe, linked
from recgauge.tracking.page import (
    FILES_TAG,
    FINGERPRINT_TAG,
    NOTE_TAG,
    PARENT_TAG,
    TRIAL_TAG,
    Entry,
    entry_of,
    experiment_tag,
    shortened,
    trial_entries,
)
from recgauge.tracking.store import Opened, Store, check_still_there, explained, open_store
from recgauge.tracking.writing import NOTHING, write
from recgauge.utils.files import exclusive, read_own, written_whole

if TYPE_CHECKING:
    from mlflow.entities import Run

DELIVERED = "delivered.json"
"""Says which run of which store a folder is in; written last, and not among the folder's digests."""
LOCK = ".delivery.lock"
REPORT = "report.html"
"""The page of a comparison."""


def deliver(folder: Path, store: Store) -> str:
    """Store the run, the failure or the summary of a complete folder, unless the store has it.

    A delivery that was torn, at whatever step, is completed: its run is found by the digest of the folder's
    SHA256SUMS, and each step can be repeated.
    """
    if not (folder / CHECKSUMS).is_file():
        raise MissingDataError(f"{folder}: is not the complete folder of a job: it has no {CHECKSUMS}.")
    try:
        with exclusive(folder / LOCK):
            note = delivered(folder, store)
            if note is not None:
                run_id = str(note["run_id"])
            else:
                files, content = _files(folder), read_folder(folder)
                opened = open_store(store)
                with explained(store, f"store {folder}"):
                    run_id = _store(opened, folder, files, content)
                    if isinstance(content, Summary) and content.text:
                        describe(opened, content, run_id, REPORT if folder / REPORT in files else "")
                check_still_there(store)
                note = store.plain() | {"run_id": run_id, "experiment_id": opened.experiment_id}
                note["files_sha256"] = file_digest(folder / CHECKSUMS)
                with written_whole(folder / DELIVERED) as hidden:
                    hidden.write_text(json.dumps(note, indent=2) + "\n", encoding="utf-8")
            with suppress(OSError):  # who waits for it finds the folder delivered
                (folder / LOCK).unlink()
    except OSError as error:
        raise TrackingError(f"{folder}: cannot be delivered: {error}. It stays as it is.") from error
    return run_id


def mark(store: Store, run_id: str, experiment: str) -> None:
    """Count a stored run among those of an experiment, as in ``experiment=NAME``."""
    opened = open_store(store)
    with explained(store, f"mark run {run_id}"):
        opened.client.set_tag(run_id, experiment_tag(experiment), "true")


def store_of(folder: Path, named: Collection[str] = ()) -> Store | None:
    """Return the store that a complete folder is for, None if it is for none.

    What is recorded has no login: that of an address of the user's, one of `named`, is taken.
    """
    job = read_folder(folder).job
    if job is None or not job.store.get("uri"):
        return None
    names = ("uri", "experiment", "log_model")
    return Store(**{name: job.store[name] for name in names if name in job.store}).with_login(named)


def waiting(outputs: Path, store: Store | None = None) -> list[Path]:
    """Return the complete folders below `outputs` that are for a store and were not delivered to any.

    Folders of earlier versions do not say when they ran, and do not count; `deliver` takes them all the same.
    """
    folders = []
    for folder in (file.parent for file in sorted(outputs.rglob(CHECKSUMS))):
        if not folder.name.startswith(".unfinished-") and delivered(folder) is None:
            with suppress(SchemaError):
                job = read_folder(folder).job
                if job is not None and job.store and (store is None or _names(job.store, store)):
                    folders.append(folder)
    return folders


def _names(recorded: Mapping[str, Any], store: Store) -> bool:
    plain = store.plain()
    return all(recorded.get(name) == plain[name] for name in ("uri", "experiment"))


def delivered(folder: Path, store: Store | None = None) -> dict[str, Any] | None:
    """Return what delivered.json says of the folder as it is now: ``uri``, ``experiment``, ``run_id``.

    None if no store has it, or if it is not in the one that is named.
    """
    try:
        note: dict[str, Any] = json.loads(read_own(folder / DELIVERED))
        is_now = note["files_sha256"] == file_digest(folder / CHECKSUMS)
        return note if is_now and (store is None or _names(note, store)) else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError, SchemaError):
        return None


def _files(folder: Path) -> list[Path]:
    """Return the files of a folder, which must be as they were written."""
    names = read_checksums(folder / CHECKSUMS)
    for name, digest in names.items():
        file = folder / name
        if (
            not file.resolve().is_relative_to(folder.resolve())
            or not file.is_file()
            or file_digest(file) != digest
        ):
            raise IntegrityError(
                f"{file}: is missing or changed since the job ended, so its run cannot be tracked."
            )
    return [*(folder / name for name in names), folder / CHECKSUMS]


def _store(
    opened: Opened,
    folder: Path,
    files: Sequence[Path],
    content: RunRecord | Failure | Summary,
) -> str:
    from recgauge.report.figures.metrics import plot_results

    entry, digest = entry_of(content), file_digest(folder / CHECKSUMS)
    run = _find(opened, content, digest)
    if run is not None and run.info.status != "RUNNING":
        return str(run.info.run_id)
    tags = {FILES_TAG: digest}
    if isinstance(content, Summary):
        tags[NOTE_TAG] = shortened(linked(opened, content.note).split("\n"), f"{content.subject}.md")
    run_id = _begin(opened, entry, tags) if run is None else str(run.info.run_id)
    if isinstance(content, RunRecord):
        _store_trials(opened, run_id, trial_entries(content, run_id))
        title = f"{content.names['model']} on {content.names['dataset']}, seed {content.seed}"
        if (figure := plot_results(content.results, HEADLINE, title)) is not None:
            opened.client.log_figure(run_id, figure, "metrics.png")
        if folder / MODEL_FILES[0] in files and registers_model(content.settings):
            from recgauge.tracking.served import register

            register(opened.client, run_id, folder / MODEL)
    _finish(opened, run_id, entry, {file: file.parent.relative_to(folder).as_posix() for file in files})
    return run_id


def _find(opened: Opened, content: RunRecord | Failure | Summary, digest: str) -> "Run | None":
    """Return the run of a folder, a whole one if there is; a summary is known by its content."""
    tag = (FINGERPRINT_TAG, content.fingerprint) if isinstance(content, Summary) else (FILES_TAG, digest)
    runs = opened.client.search_runs([opened.experiment_id], f"tags.`{tag[0]}` = '{tag[1]}'")
    return min(runs, key=lambda run: run.info.status == "RUNNING", default=None)


def _store_trials(opened: Opened, parent: str, entries: Mapping[str, Entry]) -> None:
    """Store each trial of a search as a run below the one that it led to, once."""
    where = f"tags.`{PARENT_TAG}` = '{parent}'"
    runs = opened.client.search_runs([opened.experiment_id], where, max_results=50_000) if entries else []
    stored = {run.data.tags[TRIAL_TAG]: run.info for run in runs}
    for number, entry in entries.items():
        info = stored.get(number)
        if info is None or info.status == "RUNNING":
            _finish(opened, _begin(opened, entry) if info is None else str(info.run_id), entry)


def _begin(opened: Opened, entry: Entry, more: Mapping[str, str] = NOTHING) -> str:
    started, tags = int(1000 * entry.job.started), {**entry.tags, **more}
    return str(opened.client.create_run(opened.experiment_id, started, tags, entry.job.name).info.run_id)


def _finish(opened: Opened, run_id: str, entry: Entry, files: Mapping[Path, str] = NOTHING) -> None:
    values, at = entry.metrics, entry.job.ended
    write(opened.client, run_id, values, at=at, params=entry.params, inputs=entry.inputs, files=files)
    opened.client.set_terminated(run_id, entry.status, int(1000 * at))
