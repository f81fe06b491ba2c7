"""``recgauge runs``, ``show`` and ``sync``: runs of a tracking store, and runs that wait for it."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from recgauge.cli.commands.options import RUN, SEARCH, add_store, named, say, store_uri
from recgauge.errors import ConfigError, MissingDataError, RecgaugeError, TrackingError, listed, quantity
from recgauge.metrics import HEADLINE
from recgauge.metrics.names import as_key, label
from recgauge.report.blocks import TableBlock
from recgauge.report.console import output, print_run, render_terminal
from recgauge.runs.finished import FinishedRun
from recgauge.runs.folder import CHECKSUMS, RECORD
from recgauge.sweeps.places import store_of_user, work_folder
from recgauge.tracking.delivering import deliver, delivered, store_of, waiting
from recgauge.tracking.finding import check_experiment, chosen_runs, run_folder
from recgauge.tracking.page import COUNTS, SUMMARY_TAG
from recgauge.tracking.store import Store
from recgauge.utils.messages import print_error

if TYPE_CHECKING:
    from recgauge.tracking.finding import Run

N_METRICS = 3  # that are shown unless some are named


def add_runs_options(parser: ArgumentParser) -> None:
    """Add the arguments of ``runs``."""
    parser.description = "List tracked runs, newest first: ids (for other commands), settings, metrics."
    parser.add_argument("--where", metavar="SEARCH", default="", help=SEARCH)
    parser.add_argument(
        "--metrics", type=named, default="", help="metrics that are shown, such as ndcg@10,recall@20"
    )
    parser.add_argument("--last", type=int, metavar="N", help="only the newest N")
    add_store(parser)


def run_runs(options: Namespace) -> None:
    """List the runs, the newest first.

    Examples
    --------
    recgauge runs --metrics ndcg@10,recall@20 --last 5
        the newest five
    recgauge runs --where "params.model = 'svd' and metrics.ndcg@10 > 0.1"
        a search
    """
    store = Store(store_uri(options), options.experiment)
    if options.last is not None and options.last < 1:
        raise ConfigError(f"--last: must be at least 1, got {options.last}.")
    runs = [run for run in chosen_runs(store, options.where) if SUMMARY_TAG not in run.data.tags]
    if not runs:
        check_experiment(store)
        output().print("no run matches" if options.where else "there is no run yet")
        return
    chosen = runs[: options.last]
    render_terminal([_table(chosen, _keys(options.metrics, chosen))], output())
    all_runs = quantity(len(runs), "run")
    output().print(f"{len(chosen):,} of {all_runs}; `recgauge show RUN_ID` prints one again")


def _keys(metrics: Sequence[str], runs: "Sequence[Run]") -> list[str]:
    """Return the metrics to show: those that were named, else the first ones that most runs have."""
    stored = dict.fromkeys(key for run in runs for key in run.data.metrics if "/" not in key)
    keys = [as_key(name) for name in metrics]
    if unknown := [key for key in keys if key not in stored]:
        there = listed(map(label, stored), most=30)
        raise ConfigError(f"--metrics: no run has {listed(map(label, unknown))}. There are {there}.")
    at_ten = [key for name in HEADLINE for key in (f"{name}_at_10", name) if key in stored]
    shown = (at_ten or [key for key in stored if key not in COUNTS])[:N_METRICS]
    return keys or [*shown, *(key for key in COUNTS[:1] if key in stored)]


def _table(runs: "Sequence[Run]", keys: Sequence[str]) -> TableBlock:
    rows = []
    for run in runs:
        started = datetime.fromtimestamp((run.info.start_time or 0) / 1000).astimezone()
        values = run.data.metrics
        forms = (",.0f" if key in COUNTS else ".4f" for key in keys)
        cells = (
            f"{values[key]:{form}}" if key in values else "" for key, form in zip(keys, forms, strict=True)
        )
        about = (f"{started:%Y-%m-%d %H:%M}", run.info.run_id, run.info.status, run.info.run_name or "")
        rows.append((*about, *cells))
    header = ("started", "run", "status", "name", *map(label, keys))
    return TableBlock("", header, tuple(rows), words=("status", "name"))


def add_show_options(parser: ArgumentParser) -> None:
    """Add the arguments of ``show``."""
    parser.description = "Print the tables of stored runs again, from their files: nothing is computed."
    parser.add_argument("runs", metavar="RUN_ID", nargs="+", help=RUN)
    add_store(parser)


def run_show(options: Namespace) -> None:
    """Print the tables of the runs as they were printed when each ended.

    Examples
    --------
    recgauge show RUN_ID
        a tracked run
    recgauge show outputs/2026-01-01/12-00-00
        a run's folder
    """
    for run in options.runs:
        folder = run_folder(run, store_uri(options), [RECORD])
        shown = FinishedRun.read(folder, (delivered(folder) or {}).get("run_id"))
        print_run(shown)
        say(f"command  {shown.record.command}")


def add_sync_options(parser: ArgumentParser) -> None:
    """Add the arguments of ``sync``."""
    words = "output folders of runs or sweeps (default: all in outputs/ that wait for a store)"
    parser.add_argument("folders", metavar="FOLDER", nargs="*", type=Path, help=words)
    parser.add_argument("--uri", help="tracking store (default: the one that each run was to go to)")
    parser.add_argument("--experiment", help="MLflow experiment (default: that of each run)")


def run_sync(options: Namespace) -> int:
    """Deliver the folders that wait, those of each store until it fails; return 0 if none of them is left.

    Examples
    --------
    recgauge sync
        all runs that wait
    recgauge sync outputs/2026-01-01/12-00-00
        those of a sweep
    """
    from recgauge.cli.trust import check_addresses  # brings Hydra

    chosen = list(_chosen(options))
    words = [] if options.uri is None else [f"tracking.uri={options.uri}"]
    failed: set[Store] = set()
    n_left = len(chosen)
    for folder, store in chosen:
        if store in failed:
            continue
        try:
            check_addresses({"tracking.uri": store.uri}, words, owner=str(folder), option="--uri ")
            say(f"tracked  {folder}: run {deliver(folder, store)}")
            n_left -= 1
        except RecgaugeError as error:
            print_error(str(error))
            if isinstance(error, (ConfigError, TrackingError)):  # of the store, not of the folder
                failed.add(store)
    say(f"{n_left} of {len(chosen)} runs still wait" if chosen else "no run waits for its tracking store")
    return int(n_left > 0)


def _chosen(options: Namespace) -> Iterator[tuple[Path, Store]]:
    """Yield folders with their stores: all that wait, or those below the folders of the options."""
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
