"""``recgauge evaluate``: lists from files measured and compared, without Hydra and MLflow."""

import argparse
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from math import comb
from pathlib import Path
from typing import Any, get_args

import numpy as np

from recgauge.errors import ConfigError, listed, message
from recgauge.evaluation import Evaluation
from recgauge.files.columns import Choice, Role
from recgauge.files.formats import FORMATS
from recgauge.recorded import FINDINGS, REFUSED, ListSettings, Order, RecordedRuns, describe, read_recorded
from recgauge.utils.files import user_path
from recgauge.utils.output_files import check_formats, write_files

DEFAULT_METRICS = "ndcg@10,recall@10,precision@10"
_ROLES: tuple[Role, ...] = ("user", "item", "rank", "score", "rating")
MOST_PAIRED = 50
"""Runs that are compared in pairs: the pairs of 300 runs, 44,850, take 6 GB and nobody reads them."""

_MORE = f"""findings that are refused unless kept: {", ".join(REFUSED)}.
counted and kept unless refused: {", ".join(name for name in FINDINGS if name not in REFUSED)}."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``evaluate``."""
    parser.epilog = _MORE
    default = "(default: %(default)s)"
    add = parser.add_argument
    files: dict[str, Any] = {"metavar": "FILE", "nargs": "+"}
    add("--run", **files, required=True, help="lists; each file or TREC tag is a run")
    add("--truth", **files, required=True, help="relevant items: user,item[,grade], or qrels")
    add("--train", **files, default=[], help="who had what in training: user,item")
    add("--metrics", metavar="NAMES", default=DEFAULT_METRICS, help=f"without @k: the whole list {default}")
    add("--conventions", metavar="NAME", default="standard", help=f"whose definitions {default}")
    add("--relevant-from", metavar="GRADE", type=float, help="lower grades of the truth are not relevant")
    add("--order", choices=get_args(Order), default="auto", help=f"what orders a list {default}")
    add("--keep", metavar="FINDING", nargs="+", default=[], help="do not stop at these, see below")
    add("--refuse", metavar="FINDING", nargs="+", default=[], help="stop at these, too")
    add("--n-items", metavar="N", type=int, help="size of the catalogue, for coverage and the like")
    for role in _ROLES:
        column = f"name or position of the column of the {role}; by default recognised by usual names"
        add(f"--{role}", type=_column, metavar="COLUMN", help=column)
    header = "whether text begins with column names, where nobody can tell"
    add("--header", choices=("true", "false"), help=header)
    for name in ("run", "truth", "train"):
        add(f"--{name}-format", choices=FORMATS, metavar="NAME", help=f"one of {', '.join(FORMATS)}")
    add("--only", metavar="RUN", nargs="+", default=[], help="of all runs in the files these, by their names")
    add("--baseline", metavar="RUN", help="compare all with this run instead of every pair")
    add("--seed", type=int, default=0, help=f"of resamples and random orders {default}")
    add("--out", **files, type=Path, default=[], help=".json: results; .parquet: per user")


def _column(text: str) -> Choice:
    """Return a column's name, or its position."""
    return int(text) if text.isdecimal() else text


def carry_out(options: argparse.Namespace) -> None:
    """Measure the lists that the command line names, print and write the results."""
    from recgauge.conventions import get_convention
    from recgauge.evaluation import recorded_runs  # both take long to import

    suite, convention = recorded_runs.parse_metrics(options.metrics), get_convention(options.conventions)
    check_formats(options.out, (".json", ".parquet"))
    cutoffs = [k for ks in suite.values() for k in ks if k is not None]
    settings = ListSettings(
        options.order,
        options.refuse,
        options.keep,
        longest=max(cutoffs, default=None),
        text_ids=convention.policies.ties == "id_descending",
    )
    formats = {"lists": options.run_format, "relevant": options.truth_format, "train": options.train_format}
    of_ratings = recorded_runs.measures_ratings(suite)
    if of_ratings and options.relevant_from is not None:
        raise ConfigError("--relevant-from is for lists; rating metrics take every row of the truth.")
    recorded = read_recorded(
        options.run,
        options.truth,
        options.train,
        settings=settings,
        formats={name: form for name, form in formats.items() if form is not None},  # type: ignore[misc]
        ratings=of_ratings,
        columns={role: getattr(options, role) for role in _ROLES},
        header=None if options.header is None else options.header == "true",
    )
    for line in recorded.understood:
        _say(f"read     {line}")
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
    _print(recorded, results, options.conventions)
    comparison = _compared(results, options) if len(results) > 1 else None
    writers: dict[str, Callable[[Path], None]] = {
        ".json": partial(_write_json, recorded, results, options, comparison),
        ".parquet": partial(_write_users, results),
    }
    write_files({user_path(str(file)): writers[file.suffix] for file in options.out})
    for file in options.out:
        _say(f"files    {file}")


def _say(text: str) -> None:
    print(message(text))  # noqa: T201 - the command's own output


def _print(recorded: RecordedRuns, results: Mapping[str, Evaluation], conventions: str) -> None:
    for run in recorded.runs:
        evaluation = results[run.name]
        counts = evaluation.counts
        many = f"{len(run.lists.users):,} lists, {counts['users_evaluated']:,} users evaluated"
        if "ratings_evaluated" in counts:
            many = f"{counts['ratings_evaluated']:,} ratings of {counts['users_evaluated']:,} users evaluated"
        left_out = f", {counts['users_left_out']:,} left out" if "users_left_out" in counts else ""
        _say(f"{run.name}: {many}{left_out}; conventions={conventions}")
        wide = max(len(result.key) for result in evaluation.results)
        for result in evaluation.results:
            error = "" if result.stderr is None else f" ± {result.stderr:.4f}"
            _say(f"    {result.key.replace('_at_', '@'):<{wide}}  {result.value:.4f}{error}")
        for line in describe(run.found):
            _say(f"    found  {line}")


def _compared(results: Mapping[str, Evaluation], options: argparse.Namespace) -> Any:
    """Compare the runs, print what `recgauge compare` prints, and return the comparison."""
    from recgauge.cli.commands.compare import print_comparison
    from recgauge.comparison import compare
    from recgauge.comparison.runs import ComparedRuns

    first = next(iter(results.values())).results
    usable = [entry.key for entry in first if entry.per_user is not None or entry.pooled is not None]
    if left := [entry.key for entry in first if entry.key not in usable]:
        _say(f"note     not compared: {', '.join(left)}; one value for all users, none of each to be paired")
    if not usable:
        return None
    if options.baseline is None and len(results) > MOST_PAIRED:
        _say(
            f"note     not compared: {len(results)} runs make {comb(len(results), 2):,} pairs; at most "
            f"{MOST_PAIRED} runs are compared in pairs. Choose some with --only RUN RUN ..., or compare all "
            "with one: --baseline RUN"
        )
        return None
    comparison = compare(results, metrics=usable, baseline=options.baseline, seed=options.seed)
    print_comparison(ComparedRuns(comparison, {}))
    return comparison


def _write_json(
    recorded: RecordedRuns,
    results: Mapping[str, Evaluation],
    options: argparse.Namespace,
    comparison: Any,
    file: Path,
) -> None:
    from recgauge._version import __version__

    runs = {
        run.name: {
            "values": results[run.name].values(),
            "stderrs": results[run.name].stderrs(),
            "definitions": results[run.name].definitions(),
            "counts": dict(results[run.name].counts),
            "policies": results[run.name].policies,
            "found": [{"name": each.name, "count": each.count, "first": each.first} for each in run.found],
        }
        for run in recorded.runs
    }
    files = {"run": options.run, "truth": options.truth, "train": options.train}
    content: dict[str, Any] = {"recgauge": __version__, "conventions": options.conventions}
    content |= {"files": files, "runs": runs}
    if comparison is not None:
        from recgauge.report.compared_runs import json_text

        content["comparison"] = json.loads(json_text(comparison))
    file.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _write_users(results: Mapping[str, Evaluation], file: Path) -> None:
    """Write a row per user and a column per metric; of several runs, a row per run, user and metric."""
    import pyarrow as pa
    from pyarrow import parquet

    by_run = [
        (name, evaluation.users.tolist(), entry.key, entry.per_user)
        for name, evaluation in results.items()
        for entry in evaluation.results
        if entry.per_user is not None
    ]
    if len(results) == 1:
        (evaluation,) = results.values()
        columns = {"user_id": evaluation.users.tolist()} | {key: values for _, _, key, values in by_run}
    else:  # also without a row, as of metrics over all ratings
        columns = {
            "run": pa.array([name for name, users, _, _ in by_run for _ in users], pa.string()),
            "user_id": pa.array([user for _, users, _, _ in by_run for user in users]),
            "metric": pa.array([key for _, users, key, _ in by_run for _ in users], pa.string()),
            "value": np.concatenate([np.empty(0), *(values for *_, values in by_run)]),
        }
    parquet.write_table(pa.table(columns), file)
