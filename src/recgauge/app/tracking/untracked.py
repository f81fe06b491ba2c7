"""Runs that are complete on disk and not in the store: noted before they are tracked, delivered later."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from filelock import FileLock, Timeout

from recgauge.app.files.artifacts import CHECKSUMS, file_digest, read_checksums
from recgauge.app.places import work_folder
from recgauge.app.sweep.outcome import FILE, read_outcome, write_outcome
from recgauge.app.terminal.messages import print_error
from recgauge.app.terminal.secrets import without_secrets
from recgauge.app.tracking.addresses import SQLITE, database_file
from recgauge.app.tracking.claims import CLAIM_TAG, FINGERPRINT_TAG, PASSED_TAG
from recgauge.app.tracking.tracker import DELIVERY_TAG, RunStart, Tracker, load_record
from recgauge.errors import IntegrityError, MissingDataError, RecgaugeError, TrackingError
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
    found = []
    for file in sorted((work_folder() / NOTES).glob("*.json")):
        try:
            found.append(Untracked(**json.loads(file.read_text(encoding="utf-8"))))
        except (OSError, ValueError, TypeError):
            continue  # not a note of ours
    return sorted(found, key=lambda one: one.folder)


@contextmanager
def owing(run: RunStart, tracker: Tracker, folder: Path) -> Iterator[Untracked]:
    """Note a complete run, and keep other processes from tracking it while this one does."""
    owed = untracked(run, tracker, folder)
    with owed.held():
        owed.remember()
        yield owed


def deliver(one: Untracked, tracker: Tracker) -> str | None:
    """Store a run from its folder, and return its id; None if another process does, or has done, so.

    Raises
    ------
    RecgaugeError
        If the folder is gone or damaged, or the store fails; the note stays then.
    """
    with one.held() as mine:
        if not mine or not one.note.exists():
            return None
        folder = Path(one.folder)
        files = _files(one)
        run_id = tracker.deliver(RunStart(one.name, one.params, one.tags), load_record(folder), files)
        if (outcome := read_outcome(folder / FILE)) is not None:
            write_outcome(replace(outcome, status="done", reason=None, run_id=run_id), folder)
        one.forget()
        return run_id


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


def deliver_each(
    waiting: Sequence[Untracked], tracker: Tracker, told: Callable[[Untracked, str | RecgaugeError], None]
) -> int:
    """Deliver runs until their store fails, and return how many are left.

    Parameters
    ----------
    waiting : sequence of Untracked
    tracker : Tracker
        Of the store.
    told : callable
        Is given each run, and its id or why it is not tracked.
    """
    n_left = 0
    for number, one in enumerate(waiting):
        try:
            if (run_id := deliver(one, tracker)) is not None:
                told(one, run_id)
        except RecgaugeError as error:
            told(one, error)
            n_left += 1
            if isinstance(error, TrackingError) and not _answers(tracker):
                return n_left + len(waiting) - number - 1
    return n_left


def _answers(tracker: Tracker) -> bool:
    try:
        tracker.check_there()
    except TrackingError:
        return False
    return True


def deliver_waiting(tracker: Tracker, progress: Progress) -> None:
    """Deliver the runs that wait for a store, unless other processes do so, and say what became of them.

    Parameters
    ----------
    tracker : Tracker
    progress : Progress
    """
    mine = [one for one in waiting() if one.belongs_to(tracker)] if tracker.uri else []
    n_delivered = 0

    def told(one: Untracked, result: str | RecgaugeError) -> None:
        nonlocal n_delivered
        if isinstance(result, RecgaugeError):
            progress.note(f"{one.folder} is still not tracked: {result}")
        else:
            n_delivered += 1

    n_left = deliver_each(mine, tracker, told)
    if n_delivered:
        progress.note(
            f"tracked now, since the store had not taken them before: {n_delivered} of {len(mine)}."
        )
    if n_left > 1:
        progress.note(f"{n_left} runs are still not tracked.")


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
