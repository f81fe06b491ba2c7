"""``recgauge sync``: runs that are complete on disk and not in their tracking store, delivered to it."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path

from recgauge.app.places import store_of_user
from recgauge.app.terminal.messages import print_error
from recgauge.app.terminal.printing import output
from recgauge.app.terminal.secrets import HIDDEN, without_secrets
from recgauge.app.tracking.servers import be_patient
from recgauge.app.tracking.tracker import Tracker
from recgauge.app.tracking.untracked import Untracked, deliver_each, waiting
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
    if not chosen:
        console.print("no run waits for its tracking store")
    if asked.list:
        for one in chosen:
            console.print(f"{one.folder}: {one.name}, for {one.uri} ({one.experiment})", soft_wrap=True)
        return 0
    be_patient()
    stores: dict[tuple[str, str], list[Untracked]] = {}
    for one in chosen:
        stores.setdefault((one.uri, one.experiment), []).append(one)
    n_left = 0
    for (uri, experiment), some in stores.items():
        tracker = _tracker(asked.uri or _with_password(uri), asked.experiment or experiment)
        n_left += _deliver(some, tracker, may_be_new=asked.uri is not None)
    if n_left:
        console.print(f"{n_left} of {len(chosen)} runs still wait; `recgauge sync` tries again")
    return int(n_left > 0)


def _chosen(folders: list[Path]) -> list[Untracked]:
    """Return the runs that wait: all, or those in some folders."""
    found = waiting()
    if not folders:
        return found
    asked = [folder.resolve() for folder in folders]
    for folder, absolute in zip(folders, asked, strict=True):
        if not any(Path(one.folder).is_relative_to(absolute) for one in found):
            raise MissingDataError(f"{folder}: has no run that waits for its tracking store.")
    return [one for one in found if any(Path(one.folder).is_relative_to(folder) for folder in asked)]


def _with_password(uri: str) -> str:
    """Return the address of a store with its password, which is not written down with the runs that wait."""
    usual = store_of_user()
    return usual if without_secrets(usual) == uri else uri


def _tracker(uri: str, experiment: str) -> Tracker:
    from recgauge.app.tracking.store import MlflowTracker

    return MlflowTracker(uri, experiment)


def _deliver(some: Sequence[Untracked], tracker: Tracker, *, may_be_new: bool) -> int:
    """Deliver runs to one store, and return how many are left."""
    try:
        if f":{HIDDEN}@" in tracker.uri:
            raise TrackingError(f"{tracker.uri}: its password is not kept. Give the address: --uri ADDRESS.")
        if not may_be_new:
            tracker.check_there()
        tracker.prepare()
    except TrackingError as error:
        print_error(f"{len(some)} runs wait: {error}" if len(some) > 1 else str(error))
        return len(some)
    n_left = deliver_each(some, tracker, _tell)
    if n_elsewhere := sum(one.note.exists() for one in some) - n_left:
        output().print(f"{n_elsewhere} of the runs are being tracked by another command")
    return n_left


def _tell(one: Untracked, result: str | RecgaugeError) -> None:
    if isinstance(result, RecgaugeError):
        print_error(f"{one.folder}: {result}")
    else:
        output().print(f"tracked  {one.name}: run {result}", soft_wrap=True)
