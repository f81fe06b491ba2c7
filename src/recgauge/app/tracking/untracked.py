"""Runs that are complete on disk and not in the store: noted before they are tracked, delivered later."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from filelock import FileLock, Timeout

from recgauge.app.files.artifacts import CHECKSUMS, file_digest, read_checksums
from recgauge.app.places import work_folder
from recgauge.app.sweep.outcome import FILE, read_outcome, write_outcome
from recgauge.app.terminal.secrets import without_secrets
from recgauge.app.tracking.addresses import SQLITE, database_file
from recgauge.app.tracking.tracker import DELIVERY_TAG, RunStart, Tracker, load_record
from recgauge.errors import IntegrityError, MissingDataError, RecgaugeError
from recgauge.utils.progress import Progress

NOTES = "untracked"
"""The folder, beside the user's output folders, with a note for each run that its store does not have yet."""


@dataclass(frozen=True)
class Untracked:
    """A run that is to be tracked.

    Parameters
    ----------
    folder : str
        Absolute path of its files.
    files_sha256 : str
        Digest of their SHA256SUMS: another run may have come into the folder.
    uri, experiment : str
        Of its store, without passwords.
    name : str
    params, tags : dict of str to str
        As of `RunStart`.
    """

    folder: str
    files_sha256: str
    uri: str
    experiment: str
    name: str
    params: dict[str, str]
    tags: dict[str, str]

    @property
    def note(self) -> Path:
        """The file that says so."""
        return work_folder() / NOTES / f"{self.tags[DELIVERY_TAG]}.json"

    def remember(self) -> None:
        """Write the note, whole or not at all."""
        self.note.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self.note.with_suffix(".unfinished")
        unfinished.write_text(json.dumps(asdict(self)), encoding="utf-8")
        unfinished.replace(self.note)

    def forget(self) -> None:
        """Remove the note, and the folder of notes with the last one."""
        self.note.unlink(missing_ok=True)
        notes = self.note.parent
        if notes.is_dir() and not any(notes.glob("*.json")):
            for file in notes.iterdir():
                file.unlink(missing_ok=True)
            notes.rmdir()

    def belongs_to(self, tracker: Tracker) -> bool:
        """Whether it is to be tracked there."""
        return (self.uri, self.experiment) == _place(tracker)


def _place(tracker: Tracker) -> tuple[str, str]:
    uri = tracker.uri
    if uri.startswith(SQLITE):  # whatever folder it is named from
        uri = f"{SQLITE}{database_file(uri).absolute()}"
    return str(without_secrets(uri)), tracker.experiment


def untracked(run: RunStart, tracker: Tracker, folder: Path) -> Untracked:
    """Return the note of a run whose files are complete.

    Parameters
    ----------
    run : RunStart
    tracker : Tracker
        Of the store that is to have it.
    folder : Path
    """
    uri, experiment = _place(tracker)
    sums = file_digest(folder / CHECKSUMS)
    return Untracked(str(folder.resolve()), sums, uri, experiment, run.name, dict(run.params), dict(run.tags))


def waiting() -> list[Untracked]:
    """Return the runs that wait, those of one folder in their order."""
    found = []
    for file in sorted((work_folder() / NOTES).glob("*.json")):
        try:
            found.append(Untracked(**json.loads(file.read_text(encoding="utf-8"))))
        except (OSError, ValueError, TypeError):
            continue  # not a note of ours
    return sorted(found, key=lambda one: one.folder)


def deliver(one: Untracked, tracker: Tracker) -> str:
    """Store a run from its folder, and return its id.

    Raises
    ------
    RecgaugeError
        If the folder is gone or damaged, or the store fails; the note stays then.
    """
    folder = Path(one.folder)
    run = RunStart(one.name, one.params, one.tags)
    files = _files(one)
    run_id = tracker.deliver(run, load_record(folder), files)
    if (outcome := read_outcome(folder / FILE)) is not None:
        write_outcome(replace(outcome, status="done", reason=None, run_id=run_id), folder)
    one.forget()
    return run_id


def deliver_waiting(tracker: Tracker, progress: Progress) -> None:
    """Deliver the runs that wait for a store, unless another process does so, and say what became of them.

    Parameters
    ----------
    tracker : Tracker
    progress : Progress
    """
    mine = [one for one in waiting() if one.belongs_to(tracker)] if tracker.uri else []
    if not mine:
        return
    try:
        with FileLock(work_folder() / NOTES / ".lock", timeout=0):
            n_delivered = sum(_is_delivered(one, tracker, progress) for one in mine if one.note.exists())
    except Timeout:
        return
    if n_delivered:
        progress.note(f"tracked now, left over from earlier commands: {n_delivered} of {len(mine)}.")


def _is_delivered(one: Untracked, tracker: Tracker, progress: Progress) -> bool:
    try:
        deliver(one, tracker)
    except RecgaugeError as error:
        progress.note(f"{one.folder} is still not tracked: {error}")
        return False
    return True


def _files(one: Untracked) -> Sequence[Path]:
    """Return the files of a run, complete and as they were written; if they are gone, forget the run.

    Raises
    ------
    MissingDataError, IntegrityError
        If they are not.
    """
    folder = Path(one.folder)
    sums = folder / CHECKSUMS
    if not sums.is_file() or file_digest(sums) != one.files_sha256:
        one.forget()
        raise MissingDataError(f"{folder}: the run {one.name} is not there any more, so it is given up.")
    digests = read_checksums(sums)
    for name, digest in digests.items():
        if not (folder / name).is_file() or file_digest(folder / name) != digest:
            raise IntegrityError(f"{folder / name} is missing or changed, so the run cannot be tracked.")
    return [*(folder / name for name in digests), sums]
