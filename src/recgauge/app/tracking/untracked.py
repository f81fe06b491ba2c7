"""Notes of runs that are complete on disk and not in the store yet; `delivering` delivers them."""

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from recgauge.app.files.artifacts import CHECKSUMS, file_digest
from recgauge.app.places import work_folder
from recgauge.app.terminal.messages import print_error
from recgauge.app.terminal.secrets import without_secrets
from recgauge.app.tracking.addresses import SQLITE, database_file
from recgauge.app.tracking.claims import CLAIM_TAG, FINGERPRINT_TAG, PASSED_TAG
from recgauge.app.tracking.tracker import DELIVERY_TAG, RunStart, Tracker
from recgauge.errors import TrackingError
from recgauge.utils.files import irregular
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

    def is_sound(self, delivery: str) -> bool:
        """Whether all fields are of their types, and the run that of this `DELIVERY_TAG`."""
        texts = [self.folder, self.files_sha256, self.uri, self.experiment, self.name]
        for some in (self.params, self.tags):
            texts += [*some, *some.values()] if isinstance(some, dict) else [None]
        return all(isinstance(text, str) for text in texts) and self.tags.get(DELIVERY_TAG) == delivery

    def remember(self) -> None:
        """Write the note, whole or not at all."""
        self.note.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self.note.with_suffix(".unfinished")
        unfinished.write_text(json.dumps(asdict(self)), encoding="utf-8")
        unfinished.replace(self.note)

    def forget(self) -> None:
        """Remove the note."""
        self.note.unlink(missing_ok=True)

    @contextmanager
    def held(self) -> Iterator[bool]:
        """Keep other processes from tracking the run meanwhile; the value is whether that could be done.

        The system frees the run when its holder ends, however it ends.
        """
        file = self.note.with_suffix(".lock")
        if (lock := _locked(file)) is None:
            yield False
            return
        try:
            yield True
        finally:
            # A run that is not waiting any more needs no lock: who opens another one finds no note.
            if not self.note.exists():
                file.unlink(missing_ok=True)
            lock.release()
            with suppress(OSError):  # there are other notes
                file.parent.rmdir()

    def belongs_to(self, tracker: Tracker) -> bool:
        """Whether it is to be tracked there."""
        return (self.uri, self.experiment) == _place(tracker)


def _locked(file: Path) -> FileLock | None:
    """Return a lock that this process holds now, None if another one does."""
    lock = FileLock(file, thread_local=False)
    while True:
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            return None
        except FileNotFoundError:  # the last note of another process went meanwhile, and the folder with it
            continue
        return lock


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
    return sorted(filter(None, map(_read, _notes())), key=lambda one: one.folder)


def unreadable() -> list[Path]:
    """Return the files among the notes that are none, so that nobody knows which runs they were of."""
    return [file for file in _notes() if file.exists() and _read(file) is None]


def _notes() -> list[Path]:
    return sorted((work_folder() / NOTES).glob("*.json"))


def _read(file: Path) -> Untracked | None:
    try:
        one = None if irregular(file) else Untracked(**json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    return one if one is not None and one.is_sound(file.stem) else None


@contextmanager
def owing(run: RunStart, tracker: Tracker, folder: Path) -> Iterator[Untracked]:
    """Note a complete run, and keep other processes from tracking it while this one does."""
    owed = untracked(run, tracker, folder)
    with owed.held():
        owed.remember()
        yield owed


def stored_all_the_same(one: Untracked, fingerprint: str, tracker: Tracker, progress: Progress) -> str | None:
    """Return the run in which the store has a job that could not be tracked; None if it has none, or fails.

    Another process has delivered the run from its folder, or has done the same claimed job; or the store had
    all of it and only its last answer was lost.
    """
    passed_over = one.tags.get(PASSED_TAG, "").split()
    try:
        tracker.check_there()
        for run_id in tracker.find(fingerprint):
            mine = tracker.tag(run_id, DELIVERY_TAG) == one.tags[DELIVERY_TAG]
            if mine or (CLAIM_TAG in one.tags and run_id not in passed_over):
                progress.note(
                    f"the store has it, run {run_id}" if mine else f"done by another process, run {run_id}"
                )
                one.forget()
                return run_id
    except TrackingError:
        pass
    return None


def done_by(run_id: str | None, fingerprint: str, folder: Path, progress: Progress) -> None:
    """Forget a run that was given up while it was silent, and whose files another one's have replaced."""
    for one in waiting():
        if one.tags.get(FINGERPRINT_TAG) == fingerprint and one.folder == str(folder.resolve()):
            one.forget()
            progress.note(f"done by another process, run {run_id}; this one was silent for too long")


def tell_untracked(error: TrackingError, folder: Path, *, of_sweep: bool) -> None:
    """Say that the store lacks the results in a folder; jobs of a sweep that fail alike say so once."""
    if of_sweep and str(error) in _told:  # the table at the end has the others
        return
    _told.add(str(error))
    goes_on = "The sweep goes on. " if of_sweep else ""
    told = f"The complete results are in {folder}; `recgauge sync`, or the next run, tracks them."
    print_error(f"not tracked: {error} {goes_on}{told}")


_told: set[str] = set()
"""Why this process's jobs could not be tracked."""
