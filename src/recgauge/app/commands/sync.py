"""``recgauge sync``: runs that are complete on disk and not in their tracking store, delivered to it."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from recgauge.app.commands.options import add_store, store_uri
from recgauge.app.terminal.messages import print_error
from recgauge.app.terminal.printing import output
from recgauge.app.tracking.tracker import Tracker
from recgauge.app.tracking.untracked import Untracked, deliver, waiting
from recgauge.errors import MissingDataError, RecgaugeError


def add_options(parser: ArgumentParser) -> None:
    """Add the arguments of ``sync``."""
    told = "output folders of runs or sweeps (default: all runs of this folder that wait for the store)"
    parser.add_argument("folders", metavar="FOLDER", nargs="*", type=Path, help=told)
    parser.add_argument("--list", action="store_true", help="show which runs wait, and deliver nothing")
    add_store(parser)


def carry_out(asked: Namespace) -> int:
    """Deliver the runs that wait; return 0 if none of them is left.

    Raises
    ------
    RecgaugeError
        If a folder has no run that waits.
    """
    from recgauge.app.tracking.store import MlflowTracker

    tracker = MlflowTracker(store_uri(asked), asked.experiment)
    chosen, console = _chosen(asked.folders), output()
    if not chosen:
        console.print("no run waits for its tracking store")
    if asked.list:
        for one in chosen:
            console.print(f"{one.folder}: {one.name}, for {one.uri} ({one.experiment})", soft_wrap=True)
        return 0
    mine = [one for one in chosen if asked.folders or one.belongs_to(tracker)]
    n_left = sum(not _is_delivered(one, tracker) for one in mine)
    others = {(one.uri, one.experiment) for one in chosen if one not in mine}
    for uri, experiment in sorted(others):
        more = f"recgauge sync --uri {uri} --experiment {experiment}"
        console.print(f"more     runs wait for another store: {more}", soft_wrap=True)
    return int(n_left > 0)


def _chosen(folders: list[Path]) -> list[Untracked]:
    """Return the runs that wait: all, or those in some folders."""
    found = waiting()
    if not folders:
        return found
    chosen = []
    for folder in folders:
        inside = [one for one in found if Path(one.folder).is_relative_to(folder.resolve())]
        if not inside:
            raise MissingDataError(f"{folder}: has no run that waits for its tracking store.")
        chosen += inside
    return chosen


def _is_delivered(one: Untracked, tracker: Tracker) -> bool:
    try:
        run_id = deliver(one, tracker)
    except RecgaugeError as error:
        print_error(f"{one.folder}: {error}")
        return False
    output().print(f"tracked  {one.name}: run {run_id}", soft_wrap=True)
    return True
