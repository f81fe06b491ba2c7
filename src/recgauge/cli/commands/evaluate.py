"""``recgauge evaluate``: lists from files measured and compared, without Hydra and MLflow."""

import argparse
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from recgauge.candidates.named import numbered_lines
from recgauge.cli.commands.compare import add_statistics, print_comparison, procedure_of
from recgauge.cli.commands.reading import (
    add_policy_options,
    add_reading_options,
    convention_of,
    reading_of,
    refused_findings,
)
from recgauge.errors import ConfigError, message
from recgauge.files.formats import FORMATS
from recgauge.files.stored import is_stored
from recgauge.metrics.names import without_label
from recgauge.recorded import read_recorded
from recgauge.recorded.findings import FINDINGS, REFUSED, ListSettings, Order
from recgauge.utils.checks import check_int
from recgauge.utils.files import check_formats, text_writer, user_path, write_files

if TYPE_CHECKING:
    from recgauge.comparison.results import Comparison
    from recgauge.conventions import Convention
    from recgauge.evaluation.measured import MeasuredRuns
    from recgauge.sweeps.engines import Engine

    Measured = tuple[MeasuredRuns, Callable[[Sequence[str]], Comparison]]

DEFAULT_METRICS = "ndcg@10,recall@10,precision@10"
MOST_PAIRED = 50
"""Runs that are compared in pairs: the pairs of 300 runs, 44,850, take 6 GB and nobody reads them."""

_OF_FILES = (
    *("train", "head", "header", "separator", "tag", "run_format", "truth_format", "train_format"),
    *("correction", "interval", "tests", "n_resamples"),
)
"""Options that lists judged in parts do not have."""
_MORE = f"""findings that are refused unless kept: {", ".join(REFUSED)}.
counted and kept unless refused: {", ".join(name for name in FINDINGS if name not in REFUSED)}."""


def add_evaluate_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``evaluate``."""
    parser.usage, parser.epilog = "%(prog)s --run FILE [FILE ...] --truth FILE [OPTION ...]", _MORE
    default = "(default: %(default)s)"
    add = parser.add_argument
    files: dict[str, Any] = {"metavar": "FILE", "nargs": "+"}
    help_run = "lists; each file or TREC tag is a run, and so is a folder or address of Parquet files"
    add("--run", **files, required=True, help=help_run)
    add("--truth", **files, required=True, help="relevant items: user,item[,grade], or qrels")
    add("--train", **files, default=[], help="who had what in training: user,item")
    add("--metrics", metavar="NAMES", default=DEFAULT_METRICS, help=f"without @k: the whole list {default}")
    add("--conventions", metavar="NAME", default="standard", help=f"whose definitions {default}")
    add("--relevant-from", metavar="GRADE", type=float, help="lower grades of the truth are not relevant")
    add("--order", choices=get_args(Order), default="auto", help=f"what orders a list {default}")
    add_policy_options(parser)
    add("--keep", metavar="FINDING", nargs="+", default=[], help="do not stop at these, see below")
    add("--refuse", metavar="FINDING", nargs="+", default=[], help="stop at these, too")
    add("--n-items", metavar="N", type=int, help="size of the catalogue, for coverage and the like")
    add("--head", metavar="FILE", help="items of the short head, an id a line")
    add_reading_options(parser)
    for name in ("run", "truth", "train"):
        add(f"--{name}-format", choices=FORMATS, metavar="NAME", help=f"one of {', '.join(FORMATS)}")
    add_statistics(parser)
    add("--seed", type=int, default=0, help=f"of resamples and random orders {default}")
    parts = "judge part by part and keep finished parts in this folder; with folders and addresses"
    add("--work", metavar="FOLDER", type=Path, help=f"{parts} outputs/parts")
    add("--memory-mib", metavar="MIB", type=int, default=1024, help=f"for each part {default}")
    add("--jobs", metavar="N", type=int, default=1, help=f"processes that judge parts {default}")
    launcher = "where they do so: ray, dask, submitit_slurm or submitit_local, as in sweeps, with settings "
    launcher += "such as hydra.launcher.address=HOST:PORT; all machines must see --work"
    add("--launcher", metavar=("NAME", "SETTING"), nargs="+", default=[], help=launcher)
    add("--out", **files, type=Path, default=[], help=".json: results; .parquet: per user")


def run_evaluate(options: argparse.Namespace) -> None:
    """Measure the lists that the command line names, print and write the results.

    Examples
    --------
    recgauge evaluate --run lists.csv --truth test.csv --metrics ndcg@10
        a file of user,item,score
    recgauge evaluate --run a.csv b.csv --truth test.csv --train train.csv
        two, with their training rows
    """
    from recgauge.evaluation.measured import list_settings, write_users  # these take long to import
    from recgauge.evaluation.recorded_runs import measures_ratings
    from recgauge.report.measured_lists import measured_json, result_lines

    metrics, convention = [without_label(name) for name in options.metrics.split(",")], convention_of(options)
    check_formats(options.out, (".json", ".parquet"))
    if measures_ratings(metrics) and options.relevant_from is not None:
        raise ConfigError("--relevant-from is for lists; rating metrics take every row of the truth.")
    findings = refused_findings(options), options.keep
    bounds = {"seen": options.seen, "relevant_from": options.relevant_from}
    settings = list_settings(metrics, convention, options.order, *findings, **bounds)
    in_parts = options.work or options.launcher or any(map(is_stored, [*options.run, *options.truth]))
    measure = _in_parts if in_parts else _in_memory
    measured, compare = measure(options, metrics, convention, settings)
    _say(*result_lines(measured, options.conventions))
    comparison = _compared(measured, compare, options)
    files = {"run": options.run, "truth": options.truth, "train": options.train}
    writers: dict[str, Callable[[Path], object]] = {
        ".json": text_writer(measured_json(measured, options.conventions, files, comparison)),
        ".parquet": partial(write_users, measured),
    }
    for file in write_files({user_path(str(file)): writers[file.suffix] for file in options.out}):
        _say(f"files    {file}")


def _in_memory(
    options: argparse.Namespace, metrics: Sequence[str], convention: "Convention", settings: ListSettings
) -> "Measured":
    """Measure lists that are read whole."""
    from recgauge.comparison import compare
    from recgauge.evaluation.measured import measure_recorded
    from recgauge.evaluation.recorded_runs import measures_ratings
    from recgauge.report.measured_lists import reading_lines

    formats = {"lists": options.run_format, "relevant": options.truth_format, "train": options.train_format}
    recorded = read_recorded(
        options.run,
        options.truth,
        options.train,
        settings=settings,
        formats={name: form for name, form in formats.items() if form is not None},  # type: ignore[misc]
        ratings=measures_ratings(metrics),
        relevant_from=options.relevant_from,
        **reading_of(options),
    )
    meetings = {"truth": recorded.meetings} | {run.name: run.meetings for run in recorded.runs}
    _say(*reading_lines(recorded.warnings, recorded.understood, meetings))
    head = options.head and [line.strip() for _, line in numbered_lines("--head", options.head)]
    measured = measure_recorded(
        recorded,
        metrics,
        convention,
        settings,
        relevant_from=options.relevant_from,
        n_items=options.n_items,
        head=head,
        seen=options.seen,
        seed=options.seed,
    )
    procedure = asdict(procedure_of(options))
    return measured, lambda keys: compare(measured.results, metrics=keys, **procedure)


def _in_parts(
    options: argparse.Namespace, metrics: Sequence[str], convention: "Convention", settings: ListSettings
) -> "Measured":
    """Measure lists that need not fit into memory."""
    from recgauge.comparison.comparing import USUAL, compare_parts
    from recgauge.comparison.part_values import PartValues
    from recgauge.evaluation.measured import measure_parts
    from recgauge.evaluation.parts import PartTask
    from recgauge.evaluation.recorded_parts import StoredRuns, find_tables
    from recgauge.evaluation.recorded_runs import whole_lists
    from recgauge.report.console import ConsoleProgress
    from recgauge.report.measured_lists import reading_lines, table_line

    _refuse_in_parts(options, metrics)
    task = PartTask(
        metrics=metrics,
        cutoffs=whole_lists(metrics),
        conventions=convention,
        n_items=options.n_items,
        relevant_from=options.relevant_from,
        per_user=len(options.run) > 1 or any(file.suffix == ".parquet" for file in options.out),
        settings=settings,
    )
    reading = reading_of(options)
    runs, truth = find_tables(options.run, options.truth[0], reading["columns"], reading["cells"])
    work = user_path(str(options.work or Path("outputs", "parts")))
    stored = StoredRuns(runs, truth, task, work, options.memory_mib)
    _say(*map(table_line, (*runs, truth)))
    with closing(_engine(options, stored.folder.absolute())) as engine:
        workers = [engine.worker() for _ in range(engine.n_workers)]
        task = stored.judge(workers, engine.call, ConsoleProgress())
    measured = measure_parts(task, stored.files)
    warnings = [f"{name}: {warning}" for name, run in measured.lists.items() for warning in run.warnings]
    meetings = {name: run.meetings for name, run in measured.lists.items()}
    _say(*reading_lines(warnings, [], meetings), f"parts    {stored.folder}")
    procedure = procedure_of(options, USUAL)
    higher = {entry.key: entry.higher_is_better for entry in next(iter(measured.results.values())).results}
    return measured, lambda keys: compare_parts(
        PartValues(stored.files, {key: higher[key] for key in keys}), procedure
    )


def _engine(options: argparse.Namespace, folder: Path) -> "Engine":
    """Return the engine for parts: this process, several of this machine, or a cluster."""
    from recgauge.sweeps.engines import make_engine

    name, settings = "here", dict[str, Any]()
    if options.launcher:
        from recgauge.cli.run_data import read_launcher  # imports Hydra

        name, settings = read_launcher(options.launcher[0], options.launcher[1:])
    return make_engine(name, settings, options.jobs, options.jobs, folder)


def _refuse_in_parts(options: argparse.Namespace, metrics: Sequence[str]) -> None:
    """Refuse options that lists judged in parts do not have."""
    from recgauge.evaluation.recorded_runs import measures_ratings

    for name in _OF_FILES:
        if getattr(options, name):
            option = f"--{name.removeprefix('n_').replace('_', '-')}"
            raise ConfigError(
                f"{option}: lists in folders, at addresses or with --work are Parquet and judged in parts, "
                f"where there is no {option}. Leave it out, or name files."
            )
    if measures_ratings(metrics):
        raise ConfigError("--metrics: rating metrics are not measured in parts. Name files.")
    if len(options.truth) > 1:
        raise ConfigError("--truth: name one folder or address where lists are judged in parts.")
    check_int("--memory-mib", options.memory_mib, minimum=16)
    check_int("--jobs", options.jobs, minimum=1)


def _compared(
    measured: "MeasuredRuns", compare: "Callable[[Sequence[str]], Comparison]", options: argparse.Namespace
) -> "Comparison | None":
    """Compare the runs as `recgauge compare` does, and print it; None if there are too few or too many."""
    n_runs, first = len(measured.results), next(iter(measured.results.values())).results
    if n_runs == 1:
        return None
    usable = [entry.key for entry in first if entry.stderr is not None or entry.pooled is not None]
    if left := [entry.key for entry in first if entry.key not in usable]:
        _say(f"note     not compared: {', '.join(left)}; one value for all users, none of each to be paired")
    if options.baseline is None and n_runs > MOST_PAIRED:
        _say(
            f"note     not compared: {n_runs} runs, at most {MOST_PAIRED} are compared in pairs. Compare all "
            "with one: --baseline RUN"
        )
        return None
    if not usable:
        return None
    comparison = compare(usable)
    print_comparison(comparison)
    return comparison


def _say(*lines: str) -> None:
    for line in lines:
        print(message(line))  # noqa: T201 - the command's own output
