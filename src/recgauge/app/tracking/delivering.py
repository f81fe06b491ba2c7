"""Delivers runs that are complete on disk and not in their store, each once."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from recgauge.app.files.artifacts import CHECKSUMS, file_digest, read_checksums
from recgauge.app.sweep.outcome import FILE, read_outcome, write_outcome
from recgauge.app.tracking.tracker import RunStart, Tracker, load_record
from recgauge.app.tracking.untracked import Untracked, waiting
from recgauge.errors import IntegrityError, MissingDataError, RecgaugeError, TrackingError
from recgauge.utils.progress import Progress


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
    n_left = 0  # those that are given up are no longer among them
    for number, one in enumerate(waiting):
        try:
            if (run_id := deliver(one, tracker)) is not None:
                told(one, run_id)
        except RecgaugeError as error:
            told(one, error)
            n_left += one.note.exists()
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
    """Return the files of a run, complete and as they were written.

    Raises
    ------
    MissingDataError, IntegrityError
        If they are not. If another run is in their place, theirs is forgotten; else it goes on to wait.
    """
    folder = Path(one.folder)
    sums, remedy = folder / CHECKSUMS, f"Put it back, or delete {one.note} to give the run up."
    if not folder.is_dir():
        raise MissingDataError(
            f"{folder} is not there; the run {one.name} still waits. Name its new place, "
            f"`recgauge sync FOLDER`, or delete {one.note} to give it up."
        )
    other = not sums.is_file() or file_digest(sums) != one.files_sha256
    digests = read_checksums(sums) if sums.is_file() else {}
    wrong = [
        name
        for name, digest in digests.items()
        if not (folder / name).is_file() or file_digest(folder / name) != digest
    ]
    if other and digests and not wrong:
        one.forget()
        raise MissingDataError(
            f"{folder} has another run by now; the run {one.name} is not there any more, so it is given up."
        )
    if other or wrong:
        file = CHECKSUMS if other else wrong[0]
        raise IntegrityError(f"{folder / file} is missing or changed, so the run cannot be tracked. {remedy}")
    return [*(folder / name for name in digests), sums]
