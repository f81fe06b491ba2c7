"""``recgauge runs``: the runs of a tracking store, listed or deleted with their files."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from rich.table import Table

from recgauge.cli.commands.options import SEARCH, add_store, named, store_uri
from recgauge.errors import ConfigError, MissingDataError
from recgauge.metrics import HEADLINE
from recgauge.report.console import output, print_table
from recgauge.tracking import RunStore, StoredRun
from recgauge.tracking.page import SUMMARY_TAG

STATUSES = ("FINISHED", "FAILED", "KILLED", "RUNNING")
N_METRICS = 3  # that are shown unless some are named


def add_options(parser: ArgumentParser) -> None:
    """Add the arguments of ``runs``."""
    parser.add_argument("--where", metavar="SEARCH", default="", help=SEARCH)
    parser.add_argument("--status", choices=STATUSES, metavar="NAME", help=f"one of {', '.join(STATUSES)}")
    parser.add_argument("--metrics", default="", help="metrics that are shown, such as ndcg@10,recall@20")
    parser.add_argument("--last", type=int, metavar="N", help="only the newest N")
    told = "delete these runs with their files"
    parser.add_argument("--delete", metavar="RUN_ID", nargs="+", default=[], help=told)
    parser.add_argument("--yes", action="store_true", help="do not ask before deleting")
    add_store(parser)


def carry_out(asked: Namespace) -> None:
    """List the runs, the newest first, or delete some."""
    store = RunStore(store_uri(asked))
    if asked.delete:
        _delete(asked.delete, store, ask=not asked.yes)
        return
    if asked.last is not None and asked.last < 1:
        raise ConfigError(f"--last: must be at least 1, got {asked.last}.")
    runs = [run for run in store.runs(asked.experiment, asked.where) if SUMMARY_TAG not in run.tags]
    found = [run for run in runs if asked.status in (None, run.status)][: asked.last]
    if not runs and asked.experiment not in (known := store.experiments()):
        raise ConfigError(
            f"--experiment {asked.experiment}: there is none in {store.uri}. It has {', '.join(known)}."
        )
    if not found:
        output().print("no run matches" if runs or asked.where else "there is no run yet")
        return
    keys = _keys(asked.metrics, found)
    print_table(output(), _table(found, keys))
    output().print(f"{len(found):,} of {len(runs):,} runs; `recgauge show RUN_ID` prints one again")


def _keys(wanted: str, runs: Sequence[StoredRun]) -> list[str]:
    """Return the metrics to show: those that were named, else the first ones that most runs have."""
    there = dict.fromkeys(key for run in runs for key in run.metrics)
    asked: list[str] = [str(name).replace("@", "_at_") for name in named(wanted)]
    if unknown := [key for key in asked if key not in there]:
        shown = ", ".join(key.replace("_at_", "@") for key in list(there)[:30])
        raise ConfigError(
            f"--metrics: no run has {', '.join(unknown).replace('_at_', '@')}. There are {shown}."
        )
    if asked:
        return asked
    at_ten = [key for name in HEADLINE for key in (f"{name}_at_10", name) if key in there]
    return (at_ten or list(there))[:N_METRICS]


def _table(runs: Sequence[StoredRun], keys: Sequence[str]) -> Table:
    table = Table(pad_edge=False, box=None)
    for name in ("run", "started", "status", "name"):
        table.add_column(name, no_wrap=name != "name")
    for key in keys:
        table.add_column(key.replace("_at_", "@"), justify="right", no_wrap=True)
    for run in runs:
        started = datetime.fromtimestamp(run.started / 1000).astimezone().strftime("%Y-%m-%d %H:%M")
        cells = [f"{run.metrics[key]:.4f}" if key in run.metrics else "" for key in keys]
        table.add_row(run.run_id, started, run.status, run.name, *cells)
    return table


def _delete(run_ids: Sequence[str], store: RunStore, *, ask: bool) -> None:
    found: list[Any] = [(run_id, store.run(run_id)) for run_id in dict.fromkeys(run_ids)]
    if missing := [run_id for run_id, run in found if run is None]:
        raise MissingDataError(f"{', '.join(missing)}: no run of {store.uri}. Nothing is deleted.")
    for run_id, run in found:
        output().print(f"{run_id}  {run.status}  {run.name}")
    if ask and not _agreed(f"Delete {len(found)} with all their files?"):
        output().print("nothing is deleted")
        return
    for _, run in found:
        store.delete(run)
    output().print(f"deleted {len(found)}; `mlflow gc` removes the rows that MLflow keeps of them")


def _agreed(question: str) -> bool:
    if not sys.stdin.isatty():
        raise ConfigError("--delete: nobody can be asked here; add --yes. Nothing is deleted.")
    return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")
