"""``recgauge evaluate``: lists from files measured and compared, without Hydra and MLflow."""

import argparse
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import comb
from pathlib import Path
from typing import Any, get_args

import numpy as np

from recgauge.cli.commands.evaluate_predictions import are_of_ratings, measured_predictions
from recgauge.errors import ConfigError, listed, message
from recgauge.evaluation import Evaluation
from recgauge.files.columns import Choice, Role
from recgauge.files.formats import FORMATS
from recgauge.recorded import (
    FINDINGS,
    REFUSED,
    ListSettings,
    Order,
    RecordedRuns,
    describe,
    read_recorded,
)
from recgauge.recorded.lists import RecordedLists
from recgauge.utils.files import user_path
from recgauge.utils.output_files import check_formats, text_writer, write_files

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


def parse_metrics(text: str) -> dict[str, tuple[int | None, ...]]:
    """Return the cutoffs of each metric of a text; None is the whole list.

    Examples
    --------
    >>> parse_metrics("ndcg@10,ndcg@5,map")
    {'ndcg': (10, 5), 'map': (None,)}
    """
    found: dict[str, tuple[int | None, ...]] = {}
    for part in (word.strip() for word in text.split(",")):
        match = re.fullmatch(r"([a-z][a-z0-9_]*?)(?:@([1-9][0-9]*))?", part)
        if match is None:
            from recgauge.conventions import meant_metric

            near, k = meant_metric(part)
            hint = "" if near is None else f"Did you mean {near if k is None else f'{near}@{k}'}? "
            raise ConfigError(
                f"--metrics: {part!r} is no metric. {hint}Write names such as ndcg@10,recall@20,map."
            )
        cutoff = None if match[2] is None else int(match[2])
        if cutoff in found.get(match[1], ()):
            raise ConfigError(f"--metrics: {part} is named twice.")
        found[match[1]] = (*found.get(match[1], ()), cutoff)
    return found


def carry_out(asked: argparse.Namespace) -> None:
    """Measure the lists that the command line names, print and write the results."""
    from recgauge.conventions import get_convention

    suite, convention = parse_metrics(asked.metrics), get_convention(asked.conventions)
    check_formats(asked.out, (".json", ".parquet"))
    cutoffs = [k for some in suite.values() for k in some if k is not None]
    settings = ListSettings(
        asked.order,
        asked.refuse,
        asked.keep,
        longest=max(cutoffs, default=None),
        text_ids=convention.policies.ties == "id_descending",
    )
    formats = {"lists": asked.run_format, "relevant": asked.truth_format, "train": asked.train_format}
    of_ratings = are_of_ratings(suite)
    if of_ratings and asked.relevant_from is not None:
        raise ConfigError("--relevant-from is for lists; rating metrics take every row of the truth.")
    recorded = read_recorded(
        asked.run,
        asked.truth,
        asked.train,
        settings=settings,
        formats={name: form for name, form in formats.items() if form is not None},  # type: ignore[misc]
        ratings=of_ratings,
        columns={role: getattr(asked, role) for role in _ROLES},
        header=None if asked.header is None else asked.header == "true",
    )
    for line in recorded.understood:
        _say(f"read     {line}")
    recorded = _chosen(recorded, asked.only)
    if of_ratings:
        recorded, found = measured_predictions(recorded, suite, convention, settings)
    else:
        recorded = _with_threshold(recorded, asked.relevant_from)
        found = {
            run.name: _measured(
                recorded, _needed(run, suite, convention), suite, asked.conventions, asked.n_items, asked.seed
            )
            for run in recorded.runs
        }
    _print(recorded, found, asked.conventions)
    comparison = _compared(found, asked) if len(found) > 1 else None
    write_json = text_writer(_json(recorded, found, asked, comparison))
    writers = {".json": write_json, ".parquet": partial(_write_users, found)}
    write_files({user_path(str(file)): writers[file.suffix] for file in asked.out})
    for file in asked.out:
        _say(f"files    {file}")


def _chosen(recorded: RecordedRuns, names: Sequence[str]) -> RecordedRuns:
    known = [run.name for run in recorded.runs]
    if unknown := [name for name in names if name not in known]:
        raise ConfigError(f"--only: there is no run {unknown[0]!r}; there are {listed(known)}.")
    return replace(recorded, runs=tuple(run for run in recorded.runs if not names or run.name in names))


def _with_threshold(recorded: RecordedRuns, relevant_from: float | None) -> RecordedRuns:
    grades = recorded.relevant.values
    if relevant_from is None:
        return recorded
    if grades is None:
        raise ConfigError("--relevant-from: the truth has no grades to compare with.")
    kept = np.where(grades >= relevant_from, grades, 0.0)
    return replace(recorded, relevant=replace(recorded.relevant, values=kept))


def _needed(run: RecordedLists, suite: Mapping[str, tuple[int | None, ...]], convention: Any) -> Any:
    """Return as much of the lists as can change a result: mostly a few items beyond the largest cutoff."""
    cutoffs = [k for some in suite.values() for k in some]
    of_hits = [one.needs_relevant and not one.needs for one in map(convention.metric, suite)]
    if None in cutoffs or not all(of_hits) or any(one.name == "ties" for one in run.found):
        return run.lists
    return run.lists.first(max(k for k in cutoffs if k is not None) + 1)


def _measured(
    recorded: RecordedRuns,
    lists: Any,
    suite: Mapping[str, tuple[int | None, ...]],
    conventions: str,
    n_items: int | None,
    seed: int,
) -> Evaluation:
    """Evaluate every metric at every cutoff at once; return the results asked for, in their order."""
    from recgauge.evaluation.evaluate import evaluate
    from recgauge.metrics.metric import metric_key

    cutoffs = {k for some in suite.values() for k in some}
    found = evaluate(
        lists,
        recorded.relevant,  # type: ignore[arg-type]
        metrics=tuple(suite),
        cutoffs=sorted(k for k in cutoffs if k is not None) + [None] * (None in cutoffs),
        conventions=conventions,
        train=recorded.train,  # type: ignore[arg-type]
        n_items=n_items if n_items is not None else _catalogue_size(recorded),
        seed=seed,
    )
    keys = [metric_key(name, k) for name, some in suite.items() for k in some]
    known = {result.key: result for result in found.results}
    return replace(found, results=tuple(known[key] for key in keys if key in known))


def _catalogue_size(recorded: RecordedRuns) -> int | None:
    """Return how many items the files name if training rows tell the catalogue, None if nobody knows."""
    return None if recorded.train is None else len(recorded.item_ids)


def _say(text: str) -> None:
    print(message(text))  # noqa: T201 - the command's own output


def _print(recorded: RecordedRuns, found: Mapping[str, Evaluation], conventions: str) -> None:
    for run in recorded.runs:
        evaluation = found[run.name]
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


def _compared(found: Mapping[str, Evaluation], asked: argparse.Namespace) -> Any:
    """Compare the runs, print what `recgauge compare` prints, and return the comparison."""
    from recgauge.cli.commands.compare import print_comparison
    from recgauge.comparison import compare
    from recgauge.comparison.runs import ComparedRuns

    results = next(iter(found.values())).results
    usable = [one.key for one in results if one.per_user is not None or one.pooled is not None]
    if left := [one.key for one in results if one.key not in usable]:
        _say(f"note     not compared: {', '.join(left)}; one value for all users, none of each to be paired")
    if not usable:
        return None
    if asked.baseline is None and len(found) > MOST_PAIRED:
        _say(
            f"note     not compared: {len(found)} runs make {comb(len(found), 2):,} pairs; at most "
            f"{MOST_PAIRED} runs are compared in pairs. Choose some with --only RUN RUN ..., or compare all "
            "with one: --baseline RUN"
        )
        return None
    comparison = compare(found, metrics=usable, baseline=asked.baseline, seed=asked.seed)
    print_comparison(ComparedRuns(comparison, {}))
    return comparison


def _json(
    recorded: RecordedRuns, found: Mapping[str, Evaluation], asked: argparse.Namespace, comparison: Any
) -> str:
    from recgauge._version import __version__

    runs = {
        run.name: {
            "values": found[run.name].values(),
            "stderrs": found[run.name].stderrs(),
            "definitions": found[run.name].definitions(),
            "counts": dict(found[run.name].counts),
            "policies": found[run.name].policies,
            "found": [{"name": one.name, "count": one.count, "first": one.first} for one in run.found],
        }
        for run in recorded.runs
    }
    files = {"run": asked.run, "truth": asked.truth, "train": asked.train}
    content: dict[str, Any] = {"recgauge": __version__, "conventions": asked.conventions}
    content |= {"files": files, "runs": runs}
    if comparison is not None:
        from recgauge.report.compared_runs import json_text

        content["comparison"] = json.loads(json_text(comparison))
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _write_users(found: Mapping[str, Evaluation], file: Path) -> None:
    """Write a row per user and a column per metric; of several runs, a row per run, user and metric."""
    import pyarrow as pa
    from pyarrow import parquet

    by_run = [
        (name, evaluation.users.tolist(), entry.key, entry.per_user)
        for name, evaluation in found.items()
        for entry in evaluation.results
        if entry.per_user is not None
    ]
    if len(found) == 1:
        (evaluation,) = found.values()
        columns = {"user_id": evaluation.users.tolist()} | {key: values for _, _, key, values in by_run}
    else:  # also without a row, as of metrics over all ratings
        columns = {
            "run": pa.array([name for name, users, _, _ in by_run for _ in users], pa.string()),
            "user_id": pa.array([user for _, users, _, _ in by_run for user in users]),
            "metric": pa.array([key for _, users, key, _ in by_run for _ in users], pa.string()),
            "value": np.concatenate([np.empty(0), *(values for *_, values in by_run)]),
        }
    parquet.write_table(pa.table(columns), file)
