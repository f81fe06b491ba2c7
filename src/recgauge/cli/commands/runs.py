"""``recgauge runs``: the runs of a tracking store."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from recgauge.cli.commands.options import SEARCH, add_store, named, store_uri
from recgauge.errors import ConfigError
from recgauge.metrics import HEADLINE
from recgauge.report.blocks import TableBlock
from recgauge.report.console import output, render_terminal
from recgauge.tracking import RunStore
from recgauge.tracking.page import SUMMARY_TAG

if TYPE_CHECKING:
    from recgauge.tracking.finding import Run

STATUSES = ("FINISHED", "FAILED", "KILLED", "RUNNING")
N_METRICS = 3  # that are shown unless some are named


def add_options(parser: ArgumentParser) -> None:
    """Add the arguments of ``runs``."""
    parser.add_argument("--where", metavar="SEARCH", default="", help=SEARCH)
    parser.add_argument("--status", choices=STATUSES, metavar="NAME", help=f"one of {', '.join(STATUSES)}")
    parser.add_argument("--metrics", default="", help="metrics that are shown, such as ndcg@10,recall@20")
    parser.add_argument("--last", type=int, metavar="N", help="only the newest N")
    add_store(parser)


def carry_out(options: Namespace) -> None:
    """List the runs, the newest first."""
    store, experiment = RunStore(store_uri(options)), options.experiment
    if options.last is not None and options.last < 1:
        raise ConfigError(f"--last: must be at least 1, got {options.last}.")
    runs = [run for run in store.runs(experiment, options.where) if SUMMARY_TAG not in run.data.tags]
    chosen = [run for run in runs if options.status in (None, run.info.status)][: options.last]
    if not runs and experiment not in (known := store.experiments()):
        raise ConfigError(
            f"--experiment {experiment}: there is none in {store.uri}. It has {', '.join(known)}."
        )
    if not chosen:
        output().print("no run matches" if runs or options.where else "there is no run yet")
        return
    render_terminal([_table(chosen, _keys(options.metrics, chosen))], output())
    output().print(f"{len(chosen):,} of {len(runs):,} runs; `recgauge show RUN_ID` prints one again")


def _keys(wanted: str, runs: "Sequence[Run]") -> list[str]:
    """Return the metrics to show: those that were named, else the first ones that most runs have."""
    known = dict.fromkeys(key for run in runs for key in run.data.metrics if "/" not in key)
    keys: list[str] = [str(name).replace("@", "_at_") for name in named(wanted)]
    if unknown := [key for key in keys if key not in known]:
        there = ", ".join(list(known)[:30])
        reason = f"--metrics: no run has {', '.join(unknown)}. There are {there}."
        raise ConfigError(reason.replace("_at_", "@"))
    at_ten = [key for name in HEADLINE for key in (f"{name}_at_10", name) if key in known]
    return keys or (at_ten or list(known))[:N_METRICS]


def _table(runs: "Sequence[Run]", keys: Sequence[str]) -> TableBlock:
    rows = []
    for run in runs:
        info, values = run.info, run.data.metrics
        started = datetime.fromtimestamp((info.start_time or 0) / 1000).astimezone()
        cells = [f"{values[key]:.4f}" if key in values else "" for key in keys]
        rows.append((f"{started:%Y-%m-%d %H:%M}", info.run_id, info.status, info.run_name or "", *cells))
    header = ("started", "run", "status", "name", *(key.replace("_at_", "@") for key in keys))
    return TableBlock("", header, tuple(rows), words=("status", "name"))
