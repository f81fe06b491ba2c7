"""``recgauge sync``: complete folders that their tracking store lacks, delivered to it."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from recgauge.cli.settings import check_hosts
from recgauge.errors import MissingDataError, RecgaugeError, TrackingError
from recgauge.report.console import output
from recgauge.runs.folder import CHECKSUMS
from recgauge.sweeps.places import store_of_user, work_folder
from recgauge.tracking import Store, deliver, delivered, store_of, waiting
from recgauge.utils.messages import print_error


def add_options(parser: ArgumentParser) -> None:
    """Add the arguments of ``sync``."""
    words = "output folders of runs or sweeps (default: all in outputs/ that wait for a store)"
    parser.add_argument("folders", metavar="FOLDER", nargs="*", type=Path, help=words)
    parser.add_argument("--list", action="store_true", help="show which runs wait, and deliver nothing")
    parser.add_argument("--uri", help="tracking store (default: the one that each run was to go to)")
    parser.add_argument("--experiment", help="MLflow experiment (default: that of each run)")


def carry_out(options: Namespace) -> int:
    """Deliver the folders that wait; return 0 if none of them is left."""
    chosen, console = list(_chosen(options)), output()
    if not chosen:
        console.print("no run waits for its tracking store")
    if options.list:
        for folder, store in chosen:
            console.print(f"{folder}: for {store.shown} ({store.experiment})", soft_wrap=True)
        return 0
    words = [] if options.uri is None else [f"tracking.uri={options.uri}"]
    n_left = len(chosen) - _deliver_each(chosen, words)
    if n_left:
        console.print(f"{n_left} of {len(chosen)} runs still wait; `recgauge sync` tries again")
    return int(n_left > 0)


def _deliver_each(chosen: Sequence[tuple[Path, Store]], words: Sequence[str]) -> int:
    """Deliver folders, those of each store until it fails, and return how many were delivered."""
    failed: set[Store] = set()
    n_delivered = 0
    for folder, store in chosen:
        if store in failed:
            continue
        try:
            check_hosts({"tracking.uri": store.uri}, words)
            run_id = deliver(folder, store)
        except RecgaugeError as error:
            print_error(str(error))
            if isinstance(error, TrackingError):
                failed.add(store)
        else:
            output().print(f"tracked  {folder}: run {run_id}", soft_wrap=True)
            n_delivered += 1
    return n_delivered


def _chosen(options: Namespace) -> Iterator[tuple[Path, Store]]:
    """Yield folders with the stores that are to have them: all that wait, or those of some folders."""
    if not options.folders:
        yield from _with_stores(waiting(work_folder() / "outputs"), options)
    for below in options.folders:
        folders = [sums.parent for sums in sorted(below.rglob(CHECKSUMS))]
        pairs = [pair for pair in _with_stores(folders, options) if delivered(*pair) is None]
        if not pairs:
            raise MissingDataError(f"{below}: has no run that waits for its tracking store.")
        yield from pairs


def _with_stores(folders: Sequence[Path], options: Namespace) -> Iterator[tuple[Path, Store]]:
    for folder in folders:
        try:
            store = store_of(folder, [store_of_user()])
        except RecgaugeError as error:  # what is half written, or of something else
            print_error(str(error))
            continue
        if options.uri is not None:
            store = Store(options.uri) if store is None else replace(store, uri=options.uri)
        if store is not None:
            yield folder, replace(store, experiment=options.experiment or store.experiment)
