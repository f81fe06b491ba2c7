"""``recgauge sync``: runs that are complete on disk and not in their tracking store, delivered to it."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from recgauge.app.files.artifacts import CHECKSUMS, file_digest
from recgauge.app.places import store_of_user
from recgauge.app.terminal.messages import print_error
from recgauge.app.terminal.printing import output
from recgauge.app.terminal.secrets import HIDDEN, without_secrets
from recgauge.app.tracking.delivering import deliver_each
from recgauge.app.tracking.servers import be_patient
from recgauge.app.tracking.tracker import Tracker
from recgauge.app.tracking.untracked import Untracked, unreadable, waiting
from recgauge.errors import MissingDataError, RecgaugeError, TrackingError


def add_options(parser: ArgumentParser) -> None:
    """Add the arguments of ``sync``."""
    told = "output folders of runs or sweeps (default: all runs of this folder that wait for a store)"
    parser.add_argument("folders", metavar="FOLDER", nargs="*", type=Path, help=told)
    parser.add_argument("--list", action="store_true", help="show which runs wait, and deliver nothing")
    parser.add_argument("--uri", help="tracking store (default: the one that each run was to go to)")
    parser.add_argument("--experiment", help="MLflow experiment (default: that of each run)")


def carry_out(asked: Namespace) -> int:
    """Deliver the runs that wait; return 0 if none of them is left.

    Raises
    ------
    RecgaugeError
        If a folder has no run that waits.
    """
    chosen, console = _chosen(asked.folders), output()
    damaged = [] if asked.folders else unreadable()
    for file in damaged:
        print_error(f"{file} is damaged: it named a run that waits. Run the job again, and delete the file.")
    if not chosen and not damaged:
        console.print("no run waits for its tracking store")
    if asked.list:
        for one in chosen:
            console.print(f"{one.folder}: {one.name}, for {one.uri} ({one.experiment})", soft_wrap=True)
        return 0
    be_patient()
    stores: dict[tuple[str, str], list[Untracked]] = {}
    for one in chosen:
        stores.setdefault((one.uri, one.experiment), []).append(one)
    n_left = n_given_up = 0
    for (uri, experiment), some in stores.items():
        tracker = _tracker(asked.uri or _with_password(uri), asked.experiment or experiment)
        counts = _deliver(some, tracker, may_be_new=asked.uri is not None)
        n_left, n_given_up = n_left + counts[0], n_given_up + counts[1]
    if n_left:
        console.print(f"{n_left} of {len(chosen)} runs still wait; `recgauge sync` tries again")
    return int(n_left + n_given_up + len(damaged) > 0)


def _chosen(folders: list[Path]) -> list[Untracked]:
    """Return the runs that wait: all, or those in some folders, which may have been moved there."""
    found = waiting()
    if not folders:
        return found
    chosen: dict[Path, Untracked] = {}
    for folder in folders:
        inside = [one for one in found if Path(one.folder).is_relative_to(folder.resolve())]
        inside = inside or _moved(folder, found)
        if not inside:
            raise MissingDataError(f"{folder}: has no run that waits for its tracking store.")
        chosen |= {one.note: one for one in inside}
    return list(chosen.values())


def _moved(folder: Path, found: Sequence[Untracked]) -> list[Untracked]:
    """Return the runs whose files are in a folder that they were moved or copied to."""
    places = {file_digest(sums): sums.parent.resolve() for sums in folder.rglob(CHECKSUMS) if sums.is_file()}
    return [replace(one, folder=str(places[one.files_sha256])) for one in found if one.files_sha256 in places]


def _with_password(uri: str) -> str:
    """Return the address of a store with its password, which is not written down with the runs that wait."""
    usual = store_of_user()
    return usual if without_secrets(usual) == uri else uri


def _tracker(uri: str, experiment: str) -> Tracker:
    from recgauge.app.tracking.store import MlflowTracker

    return MlflowTracker(uri, experiment)


def _deliver(some: Sequence[Untracked], tracker: Tracker, *, may_be_new: bool) -> tuple[int, int]:
    """Deliver runs to one store, and return how many are left, and how many are given up."""
    try:
        if f":{HIDDEN}@" in tracker.uri:
            raise TrackingError(f"{tracker.uri}: its password is not kept. Give the address: --uri ADDRESS.")
        if not may_be_new:
            tracker.check_there()
        tracker.prepare()
    except TrackingError as error:
        print_error(f"{len(some)} runs wait: {error}" if len(some) > 1 else str(error))
        return len(some), 0
    n_given_up = 0

    def tell(one: Untracked, result: str | RecgaugeError) -> None:
        nonlocal n_given_up
        if isinstance(result, RecgaugeError):
            print_error(str(result))
            n_given_up += not one.note.exists()
        else:
            output().print(f"tracked  {one.name}: run {result}", soft_wrap=True)

    n_left = deliver_each(some, tracker, tell)
    if n_elsewhere := sum(one.note.exists() for one in some) - n_left:
        output().print(f"{n_elsewhere} of the runs are being tracked by another command")
    return n_left, n_given_up
