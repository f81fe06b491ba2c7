"""``recgauge evaluate``: lists from files measured and compared, without Hydra and MLflow."""

import argparse
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import chain
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from recgauge.cli.commands.reading import add_reading_options, reading_of
from recgauge.data.coverage import FEW_EVALUATED, FEW_USERS
from recgauge.data.lists import GradeCounts
from recgauge.data.meeting import Meeting
from recgauge.errors import ConfigError, listed, message
from recgauge.evaluation import Evaluation
from recgauge.files.formats import FORMATS
from recgauge.files.plausible import check_unused
from recgauge.files.stored import find_stored, is_stored
from recgauge.recorded import (
    FINDINGS,
    REFUSED,
    Found,
    ListSettings,
    Order,
    describe,
    read_recorded,
    refuse_unused,
    wanted,
)
from recgauge.utils.checks import check_int
from recgauge.utils.files import check_formats, text_writer, user_path, write_files

if TYPE_CHECKING:
    import pyarrow as pa

    from recgauge.comparison.results import Comparison
    from recgauge.conventions import Convention
    from recgauge.evaluation.recorded_runs import Suite
    from recgauge.sweeps.engines import Engine

_KEEP_MEMORY = {
    "MALLOC_MMAP_THRESHOLD_": str(1 << 32),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 32),
    "MIMALLOC_PURGE_DELAY": "-1",
}
"""With these, processes on Linux keep the memory of a part for the next, and nobody clears it again."""
DEFAULT_METRICS = "ndcg@10,recall@10,precision@10"
MOST_PAIRED = 50
"""Runs that are compared in pairs: the pairs of 300 runs, 44,850, take 6 GB and nobody reads them."""

_MORE = f"""findings that are refused unless kept: {", ".join(REFUSED)}.
counted and kept unless refused: {", ".join(name for name in FINDINGS if name not in REFUSED)}."""


def add_evaluate_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``evaluate``."""
    parser.epilog = _MORE
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
    add("--keep", metavar="FINDING", nargs="+", default=[], help="do not stop at these, see below")
    add("--refuse", metavar="FINDING", nargs="+", default=[], help="stop at these, too")
    add("--n-items", metavar="N", type=int, help="size of the catalogue, for coverage and the like")
    add_reading_options(parser)
    for name in ("run", "truth", "train"):
        add(f"--{name}-format", choices=FORMATS, metavar="NAME", help=f"one of {', '.join(FORMATS)}")
    add("--only", metavar="RUN", nargs="+", default=[], help="of all runs in the files these, by their names")
    add("--baseline", metavar="RUN", help="compare all with this run instead of every pair")
    add("--seed", type=int, default=0, help=f"of resamples and random orders {default}")
    parts = "judge part by part and keep finished parts in this folder; with folders and addresses"
    add("--work", metavar="FOLDER", type=Path, help=f"{parts} outputs/parts")
    add("--memory-mib", metavar="MIB", type=int, default=1024, help=f"for each part {default}")
    add("--jobs", metavar="N", type=int, default=1, help=f"processes that spread and judge parts {default}")
    launcher = "where they do so: ray, dask, submitit_slurm or submitit_local, as in sweeps, with settings "
    launcher += "such as hydra.launcher.address=HOST:PORT; all machines must see --work"
    add("--launcher", metavar=("NAME", "SETTING"), nargs="+", default=[], help=launcher)
    add("--out", **files, type=Path, default=[], help=".json: results; .parquet: per user")


@dataclass(frozen=True)
class _Measured:
    """What there is of each run, in memory or beside finished parts."""

    results: Mapping[str, Evaluation]
    found: Mapping[str, Sequence[Found]]
    meetings: Mapping[str, Sequence[Meeting]]  # of the users and items of each run
    n_lists: Mapping[str, int]
    compare: "Callable[[Sequence[str]], Comparison]"  # by some of the results
    users: "Callable[[], Iterator[tuple[str, pa.Table]]]"  # each run with values of users, once or often


def run_evaluate(options: argparse.Namespace) -> None:
    """Measure the lists that the command line names, print and write the results."""
    from recgauge.conventions import get_convention
    from recgauge.evaluation.recorded_runs import measures_ratings, parse_metrics  # both take long to import

    suite, convention = parse_metrics(options.metrics), get_convention(options.conventions)
    check_formats(options.out, (".json", ".parquet"))
    if measures_ratings(suite) and options.relevant_from is not None:
        raise ConfigError("--relevant-from is for lists; rating metrics take every row of the truth.")
    settings = ListSettings(
        options.order,
        options.refuse,
        options.keep,
        longest=max((k for ks in suite.values() for k in ks if k is not None), default=None),
        text_ids=convention.policies.ties == "id_descending",
    )
    in_parts = options.work or options.launcher or any(map(is_stored, [*options.run, *options.truth]))
    measured = (_in_parts if in_parts else _in_memory)(options, suite, convention, settings)
    _say_grades(next(iter(measured.results.values())).grades)
    for name, evaluation in measured.results.items():
        _print(name, measured.n_lists[name], evaluation, measured.found[name], options.conventions)
    comparison = _compared(measured, options)
    writers: dict[str, Callable[[Path], object]] = {
        ".json": text_writer(_json(measured, options, comparison)),
        ".parquet": partial(_write_users, measured),
    }
    for file in write_files({user_path(str(file)): writers[file.suffix] for file in options.out}):
        _say(f"files    {file}")


def _in_memory(
    options: argparse.Namespace, suite: "Suite", convention: "Convention", settings: ListSettings
) -> _Measured:
    """Measure lists that are read whole."""
    from recgauge.comparison import compare
    from recgauge.evaluation import recorded_runs
    from recgauge.utils.arrow import arrow_table

    of_ratings = recorded_runs.measures_ratings(suite)
    formats = {"lists": options.run_format, "relevant": options.truth_format, "train": options.train_format}
    recorded = read_recorded(
        options.run,
        options.truth,
        options.train,
        settings=settings,
        formats={name: form for name, form in formats.items() if form is not None},  # type: ignore[misc]
        ratings=of_ratings,
        relevant_from=options.relevant_from,
        **reading_of(options),
    )
    meetings = {run.name: run.meetings for run in recorded.runs}
    _say_first(recorded.warnings, recorded.understood, {"truth": recorded.meetings} | meetings)
    known = [run.name for run in recorded.runs]
    if unknown := [name for name in options.only if name not in known]:
        raise ConfigError(f"--only: there is no run {unknown[0]!r}; there are {listed(known)}.")
    if options.only:
        recorded = replace(recorded, runs=tuple(run for run in recorded.runs if run.name in options.only))
    if of_ratings:
        recorded, results = recorded_runs.evaluate_ratings_of_runs(recorded, suite, convention, settings)
    else:
        results = recorded_runs.evaluate_lists_of_runs(
            recorded,
            suite,
            convention,
            relevant_from=options.relevant_from,
            n_items=options.n_items,
            seed=options.seed,
        )

    def users() -> "Iterator[tuple[str, pa.Table]]":
        for name, evaluation in results.items():
            per_user = {one.key: one.per_user for one in evaluation.results if one.per_user is not None}
            yield name, arrow_table({"user_id": evaluation.users, **per_user})

    return _Measured(
        results,
        {run.name: run.found for run in recorded.runs},
        meetings,
        {run.name: len(run.lists.users) for run in recorded.runs},
        lambda keys: compare(results, metrics=keys, baseline=options.baseline, seed=options.seed),
        users,
    )


def _in_parts(
    options: argparse.Namespace, suite: "Suite", convention: "Convention", settings: ListSettings
) -> _Measured:
    """Measure lists that need not fit into memory."""
    from recgauge.comparison.comparing import USUAL, compare_parts
    from recgauge.comparison.stored_values import StoredValues
    from recgauge.evaluation.parts import PartTask, meetings_of, warnings_of
    from recgauge.evaluation.recorded_parts import StoredRuns, stored_parts
    from recgauge.metrics.metric import metric_key
    from recgauge.report.console import ConsoleProgress

    _refuse_in_parts(options, suite)
    cutoffs = {k for ks in suite.values() for k in ks}
    task = PartTask(
        metrics=tuple(suite),
        cutoffs=sorted(k for k in cutoffs if k is not None) + [None] * (None in cutoffs),
        conventions=convention,
        n_items=options.n_items,
        relevant_from=options.relevant_from,
        per_user=len(options.run) > 1 or any(file.suffix == ".parquet" for file in options.out),
        settings=settings,
    )
    reading = reading_of(options)
    columns, cells = reading["columns"], reading["cells"]
    runs = [find_stored(text, wanted("lists", columns, cells), "--run") for text in options.run]
    if len({run.name for run in runs}) < len(runs):
        runs = [replace(run, name=run.address) for run in runs]
    truth = find_stored(options.truth[0], wanted("relevant", columns, cells), "--truth")
    refuse_unused(columns, [*runs, truth], "--")
    for table in (*runs, truth):
        check_unused(table, table.wanted)
    work = user_path(str(options.work or Path("outputs", "parts")))
    stored = StoredRuns(runs, truth, task, work, options.memory_mib)
    for table in (*runs, truth):
        labels = ", ".join(f"{role}={label}" for role, label in table.labels.items())
        labels += f", not used: {listed(table.layout.unused, most=10)}" if table.layout.unused else ""
        files = "1 file" if len(table.paths) == 1 else f"{len(table.paths):,} files"
        _say(f"read     {table.address}: {files}, {table.n_rows:,} rows; {labels}")
    with closing(_engine(options, stored.folder.absolute())) as engine:
        workers = [] if engine.output == "program" else [engine.worker() for _ in range(engine.n_workers)]
        task, parts = stored.judge(ConsoleProgress(), workers, engine.call)
    keys = [metric_key(name, k) for name, ks in suite.items() for k in ks]
    results, found, meetings, n_lists = {}, {}, {}, {}
    warnings: list[str] = []
    for name, of_run in parts.items():
        evaluation, whole = task.merge_with_sums(stored_parts(of_run))
        known = {result.key: result for result in evaluation.results}
        results[name] = replace(evaluation, results=tuple(known[key] for key in keys if key in known))
        found[name], n_lists[name] = whole.found, whole.counts["lists"]
        meetings[name] = meetings_of(whole)
        warnings += [f"{name}: {warning}" for warning in warnings_of(whole)]
    _say_first(warnings, [], meetings)
    _say(f"parts    {stored.folder}")
    procedure = replace(USUAL, baseline=options.baseline, seed=options.seed)
    folder = [str(stored.folder)]
    return _Measured(
        results,
        found,
        meetings,
        n_lists,
        lambda usable: compare_parts(StoredValues.of(folder, usable), procedure),
        partial(_of_parts, parts, keys),
    )


def _engine(options: argparse.Namespace, folder: Path) -> "Engine":
    """Return what spreads and judges parts: this process, several of this machine, or a cluster."""
    from recgauge.sweeps.engines import make_engine

    name, settings = "here", dict[str, Any]()
    if options.jobs > 1 and not options.launcher:
        os.environ.update(_KEEP_MEMORY | os.environ)
    if options.launcher:
        from recgauge.cli.commands.run_data import read_launcher  # imports Hydra

        name, settings = read_launcher(options.launcher[0], options.launcher[1:])
    return make_engine(name, settings, options.jobs, options.jobs, folder)


def _refuse_in_parts(options: argparse.Namespace, suite: "Suite") -> None:
    """Refuse what lists that are judged in parts cannot have."""
    from recgauge.evaluation.recorded_runs import measures_ratings

    refused = {
        "--train": options.train,
        "--only": options.only,
        "--header": options.header,
        "--separator": options.separator,
        "--tag": options.tag,
        **{f"--{name}-format": getattr(options, f"{name}_format") for name in ("run", "truth", "train")},
    }
    if given := [name for name, value in refused.items() if value]:
        raise ConfigError(
            f"{given[0]}: lists in folders, at addresses or with --work are Parquet and judged in parts, "
            f"where there is no {given[0]}. Leave it out, or name files."
        )
    if measures_ratings(suite):
        raise ConfigError("--metrics: rating metrics are not measured in parts. Name files.")
    if len(options.truth) > 1:
        raise ConfigError("--truth: name one folder, pattern or address where lists are judged in parts.")
    check_int("--memory-mib", options.memory_mib, minimum=16)
    check_int("--jobs", options.jobs, minimum=1)


def _say(text: str) -> None:
    print(message(text))  # noqa: T201 - the command's own output


def _say_first(
    warnings: Sequence[str], understood: Sequence[str], meetings: Mapping[str, Sequence[Meeting]]
) -> None:
    """Say what must be known first, then how files were read and what met."""
    for warning in warnings:
        _say(f"warning  {warning}")
    for line in understood:
        _say(f"read     {line}")
    for name, of_name in meetings.items():
        if of_name:
            _say(f"met      {name}: {'; '.join(meeting.sentence for meeting in of_name)}")


def _say_grades(grades: GradeCounts | None) -> None:
    """Say which rows of the truth are relevant, where it has grades."""
    if grades is None:
        return
    if grades.warning:
        _say(f"warning  {grades.warning}")
    _say(f"relevant {grades.sentence}")


def _print(name: str, n_lists: int, evaluation: Evaluation, found: Sequence[Found], conventions: str) -> None:
    counts = evaluation.counts
    many = f"{n_lists:,} lists, {counts['users_evaluated']:,} users evaluated"
    if "ratings_evaluated" in counts:
        many = f"{counts['ratings_evaluated']:,} ratings of {counts['users_evaluated']:,} users evaluated"
    left_out = f", {counts['users_left_out']:,} left out" if "users_left_out" in counts else ""
    _say(f"{name}: {many}{left_out}; conventions={conventions}")
    for line in _few(counts):
        _say(f"    {line}")
    wide = max(len(result.key) for result in evaluation.results)
    for result in evaluation.results:
        error = "" if result.stderr is None else f" ± {result.stderr:.4f}"
        _say(f"    {result.key.replace('_at_', '@'):<{wide}}  {result.value:.4f}{error}")
    for line in describe([each for each in found if each.name != "unmet"]):  # which is said first
        _say(f"    found  {line}")


def _few(counts: Mapping[str, int]) -> list[str]:
    """Return warnings where numbers are of few users, or of few of those there are."""
    n_users = counts["users_evaluated"]
    n_all = n_users + counts.get("users_left_out", 0)
    told = []
    if n_users < FEW_EVALUATED * n_all:
        told.append(
            f"warning  coverage: {n_users:,} of {n_all:,} users are evaluated; the others have no relevant "
            "item, or no list"
        )
    if n_users < FEW_USERS:
        told.append(f"warning  few_users: fewer than {FEW_USERS}, so intervals and ± are too narrow")
    return told


def _compared(measured: _Measured, options: argparse.Namespace) -> "Comparison | None":
    """Compare the runs as `recgauge compare` does, and print it; None if there are too few or too many."""
    from recgauge.cli.commands.compare import print_comparison

    n_runs, first = len(measured.results), next(iter(measured.results.values())).results
    if n_runs == 1:
        return None
    usable = [entry.key for entry in first if entry.stderr is not None or entry.pooled is not None]
    if left := [entry.key for entry in first if entry.key not in usable]:
        _say(f"note     not compared: {', '.join(left)}; one value for all users, none of each to be paired")
    if options.baseline is None and n_runs > MOST_PAIRED:
        _say(
            f"note     not compared: {n_runs} runs make {comb(n_runs, 2):,} pairs; at most {MOST_PAIRED} "
            "runs are compared in pairs. Choose some with --only RUN RUN ..., or compare all with one: "
            "--baseline RUN"
        )
        return None
    if not usable:
        return None
    comparison = measured.compare(usable)
    print_comparison(comparison)
    return comparison


def _json(measured: _Measured, options: argparse.Namespace, comparison: "Comparison | None") -> str:
    from recgauge._version import __version__

    runs = {
        name: {
            "values": evaluation.values(),
            "stderrs": evaluation.stderrs(),
            "definitions": evaluation.definitions(),
            "counts": dict(evaluation.counts),
            "policies": evaluation.policies,
            "met": [asdict(meeting) | {"share": meeting.share} for meeting in measured.meetings[name]],
            "found": [
                {"name": each.name, "count": each.count, "first": each.first} for each in measured.found[name]
            ],
        }
        for name, evaluation in measured.results.items()
    }
    files = {"run": options.run, "truth": options.truth, "train": options.train}
    content: dict[str, Any] = {"recgauge": __version__, "conventions": options.conventions}
    content |= {"files": files, "runs": runs}
    if comparison is not None:
        from recgauge.report.comparison_tables import json_text

        content["comparison"] = json.loads(json_text(comparison))
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _write_users(measured: _Measured, file: Path) -> None:
    """Write a row per user and a column per metric; of several runs, a row per run, user and metric."""
    import pyarrow as pa
    from pyarrow import parquet

    from recgauge.evaluation import described

    first, is_alone = next(iter(measured.results.values())), len(measured.results) == 1
    about: dict[str, Any] = {
        "definitions": {key: f"{text}; {first.policies}" for key, text in first.definitions().items()},
        "higher_is_better": {entry.key: entry.higher_is_better for entry in first.results},
    }
    if is_alone:
        about["run"] = next(iter(measured.results))
    texts = [("run", pa.string()), ("user_id", pa.string()), ("metric", pa.string()), ("value", pa.float64())]
    nobody = pa.schema(texts).empty_table()  # of several runs without a value per user
    tables = (
        rows for name, table in measured.users() for rows in ([table] if is_alone else _long(name, table))
    )
    head = next(tables, nobody)
    schema = described(head.schema, about)
    with parquet.ParquetWriter(file, schema) as writer:
        for rows in chain([head], tables):
            writer.write_table(rows.cast(schema))


def _long(name: str, table: "pa.Table") -> "Iterator[pa.Table]":
    """Yield for each metric a table with a row for each user's value."""
    import pyarrow as pa

    for key in table.column_names[1:]:
        run, metric = (pa.repeat(pa.scalar(text), len(table)) for text in (name, key))
        columns = {"run": run, "user_id": table.column(0), "metric": metric, "value": table.column(key)}
        yield pa.table(columns)


def _of_parts(files: Mapping[str, Sequence[Path]], keys: Sequence[str]) -> "Iterator[tuple[str, pa.Table]]":
    """Yield each run with the values of its users, part after part."""
    from pyarrow import parquet

    from recgauge.evaluation import type_of_all
    from recgauge.evaluation.recorded_parts import values_of

    about = [parquet.read_metadata(values_of(part)) for of_run in files.values() for part in of_run]
    filled = [one for one in about if one.num_rows] or about[:1]
    kind = type_of_all(one.schema.to_arrow_schema().field("user").type for one in filled)
    for name, of_run in files.items():
        for part in of_run:
            values = parquet.read_table(values_of(part))
            chosen = [key for key in keys if key in values.column_names]
            rows = values.select(["user", *chosen]).rename_columns(["user_id", *chosen])
            yield name, rows.set_column(0, "user_id", rows.column(0).cast(kind))
