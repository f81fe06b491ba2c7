"""A comparison as blocks: leaderboards, pairs, ranks over data sets, claims and notes; and its files.

A column of a leaderboard or of the table of pairs is one entry of `BOARD_COLUMNS` or `PAIR_COLUMNS`:
terminal, Markdown, LaTeX and HTML show it.
"""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recgauge.errors import listed
from recgauge.metrics.names import label, split_key
from recgauge.models.recommend import leak_mark
from recgauge.report.blocks import Block, Cell, Rank, TableBlock, lines
from recgauge.report.latex import render_latex
from recgauge.report.run_tables import MARK, sweep_mark_lines
from recgauge.utils.files import csv_text, text_writer, write_files

if TYPE_CHECKING:
    from recgauge.comparison import Comparison, DatasetsResult, MetricComparison, Pair, Procedure, RunRow
    from recgauge.comparison.results import Cost
    from recgauge.comparison.run_groups import RunGroup

FORMATS = (".md", ".tex", ".csv", ".json")
MOST_PAIRS = 15  # of a metric where there is little room; files have all
CORRECTIONS = {
    "max_t": "corrected by the largest of all pairs' statistics (max-T)",
    "holm": "corrected by Holm's method",
    "bh": "corrected by Benjamini and Hochberg's method, which bounds the share of false findings",
    "none": "not corrected for the number of pairs",
}
INTERVALS = {
    "bca": "bootstrap over users, bias-corrected and accelerated",
    "percentile": "bootstrap over users, percentiles",
    "normal": "Student's t over users",
}


def number(value: float, *, sign: bool = False) -> str:
    """Return a value of a metric with four decimals, wherever it is written."""
    return f"{value:+.4f}" if sign else f"{value:.4f}"


def interval(values: "RunRow | Pair", *, sign: bool = False) -> str:
    """Return an interval in brackets."""
    return f"[{number(values.low, sign=sign)}, {number(values.high, sign=sign)}]"


def deviation(row: "RunRow") -> str:
    """Return what varies between seeds and folds; empty where nothing does."""
    if row.repeats is None or not row.repeats.deviation:
        return ""
    return f"±{number(row.repeats.deviation)} over {len(row.repeats.means)}"


def p_value(p: float) -> str:
    """Return a p-value with four decimals.

    Examples
    --------
    >>> p_value(0.0423), p_value(1e-9)
    ('0.0423', '<0.0001')
    """
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"


def seconds(value: float | None) -> str:
    """Return a time with two decimals; empty if it is not known."""
    return "" if value is None else f"{value:.2f}"


def megabytes(value: float | None) -> str:
    """Return a size in millions of bytes; empty if it is not known."""
    return "" if value is None else f"{value / 1e6:,.1f}"


def trials(n: float | None) -> str:
    """Return how many settings a search has tried; empty of a run that was not tuned."""
    return "" if n is None else f"{n:g} trial{'s' if n != 1 else ''}"


BOARD_COLUMNS: dict[str, Callable[["RunRow", "Cost"], str]] = {
    "tuned": lambda _, cost: trials(cost.n_trials),
    "fit s": lambda _, cost: seconds(cost.fit_seconds),
    "lists s": lambda _, cost: seconds(cost.recommend_seconds),
    "peak MB": lambda _, cost: megabytes(cost.peak_bytes),
    "model MB": lambda _, cost: megabytes(cost.model_bytes),
}
"""Columns of a leaderboard after the metrics, by a run's row of the first metric and its costs.

Columns that are empty for all runs are left out, and all of them where costs are not known."""

PAIR_COLUMNS: dict[str, Callable[["Pair"], str]] = {
    "difference": lambda pair: number(pair.difference, sign=True),
    "interval": lambda pair: interval(pair, sign=True),
    "corrected p": lambda pair: p_value(pair.p_adjusted),
    "better/equal/worse": lambda pair: (
        f"{100 * pair.better:.0f}/{100 * pair.equal:.0f}/{100 * pair.worse:.0f}%"
    ),
    "relative": lambda pair: "" if pair.relative is None else f"{100 * pair.relative:+.1f}%",
    "effect": lambda pair: "" if pair.effect_size is None else f"{pair.effect_size:+.2f}",
    "p": lambda pair: p_value(next(iter(pair.p.values()))) if pair.p else "",
    "detectable": lambda pair: "" if pair.detectable is None else number(pair.detectable),
    "users needed": lambda pair: "" if pair.users_needed is None else f"{pair.users_needed:,}",
}
"""Columns of a table of pairs; where there is little room the first ones are shown."""


PAIR_WORDS = (
    "interval: of this pair alone; corrected p counts all pairs.",
    "better/equal/worse: shares of users for whom a is.",
    "effect: the difference in standard deviations of the users' differences; .2 is small, .8 large.",
    "detectable: the smallest difference that so many users show in four of five samples.",
    "users needed: how many would show this difference at the corrected level.",
)
"""What the columns of a table of pairs mean."""


def comparison_blocks(comparison: "Comparison", *, brief: bool = False) -> list[Block]:
    """Return a comparison as blocks.

    `brief`: pairs and claims by the first metric alone, and not more than a screen has room for.
    """
    blocks: list[Block] = lines(comparison.warnings, "marks")
    blocks += lines(_apart(comparison))
    for dataset in comparison.datasets:
        results = on_dataset(comparison, dataset)
        blocks.append(leaderboard_table(results, comparison.costs, comparison.procedure))
        with_pairs = [result for result in (results[:1] if brief else results) if result.pairs]
        blocks += [(few_pairs(result) if brief else pair_table(result)) for result in with_pairs]
        blocks += lines(results[0].claims) if brief else []
    if brief:
        blocks += lines(claim for over in comparison.over_datasets[:1] for claim in over.claims)
    else:
        blocks += [*map(rank_table, comparison.over_datasets), *lines(comparison.claims)]
    first, *others = map(label, comparison.metrics)
    words = f"--metrics {others[0]}, in Python metrics=[{others[0]!r}]" if others else ""
    own = [f"pairs and answers are by {first}; by another metric: {words}"] if brief and others else []
    return [*blocks, *lines(marks_of(comparison), "marks"), *lines([*own, *comparison.notes], "notes")]


def _apart(comparison: "Comparison") -> list[str]:
    """Say that each of several data sets has a table of its own."""
    if len(comparison.datasets) < 2:
        return []
    sizes = {result.dataset: len(result.rows) for result in comparison.results}
    parts = listed(f"{dataset} ({n} runs)" for dataset, n in sizes.items())
    return [f"{len(sizes)} data sets, each compared by itself: {parts}."]


def leaderboard_table(
    results: "Sequence[MetricComparison]", costs: "Mapping[tuple[str, str], Cost]", procedure: "Procedure"
) -> TableBlock:
    """Return the runs of one data set, best by the first metric first, with intervals, letters and costs."""
    first = results[0]
    runs = [row.run for row in first.rows]
    costs_of_rows = [(row, costs.get((first.dataset, row.run))) for row in first.rows]
    columns = {
        name: texts
        for name, text_of in BOARD_COLUMNS.items()
        if any(texts := [text_of(row, cost) if cost else "" for row, cost in costs_of_rows])
    }
    rows = tuple(
        (run, *(_mean(result, result.row(run)) for result in results), *texts)
        for run, *texts in zip(runs, *columns.values(), strict=True)
    )
    header = ("run", *(label(result.metric) for result in results), *columns)
    note = explanation(procedure, results)
    return TableBlock(heading(results), header, rows, note=note, sortable=True, look="leaderboard")


def _mean(result: "MetricComparison", row: "RunRow") -> Cell:
    """Return a run's mean, its interval on the scale of the column, and what varies between repeats."""
    ends = [end for each in result.rows for end in (each.low, each.mean, each.high)]
    start, length = min(ends), (max(ends) - min(ends)) or 1.0
    low, middle, high = (100 * (end - start) / length for end in (row.low, row.mean, row.high))
    rank: Rank = "best" if row.is_best else "second" if row.is_second else ""
    small = tuple(text for text in (f"{interval(row)}{result.of_few}", deviation(row)) if text)
    return Cell(number(row.mean), small, rank, row.letters, (low, middle, high), order=row.mean)


def pair_table(
    result: "MetricComparison", pairs: "Sequence[Pair] | None" = None, note: str = ""
) -> TableBlock:
    """Return pairs of runs by one metric, all of them if not given."""
    rows = []
    for pair in result.pairs if pairs is None else pairs:
        texts = [pair.a, pair.b, *(text_of(pair) for text_of in PAIR_COLUMNS.values())]
        texts[3] += result.of_few  # the interval
        rows.append(tuple(Cell(text, look="" if pair.differs else "faint") for text in texts))
    dataset = f"{result.dataset}, " if result.dataset else ""
    legend = tuple(text.replace("users", result.unit) for text in PAIR_WORDS)
    return TableBlock(
        f"{dataset}{label(result.metric)}: a minus b",
        ("a", "b", *(name.replace("users", result.unit) for name in PAIR_COLUMNS)),
        tuple(rows),
        words=("b",),
        names=2,
        note=" ".join(filter(None, [note, *legend])),
        legend=legend,
        sortable=True,
        look="pairs",
        droppable=True,
    )


def few_pairs(result: "MetricComparison") -> TableBlock:
    """Return all pairs where a screen has room for them, else those of the best run."""
    best = result.rows[0].run
    if len(result.pairs) <= MOST_PAIRS:
        return pair_table(result)
    pairs = [pair for pair in result.pairs if best in (pair.a, pair.b)]
    return pair_table(result, pairs, f"{len(pairs)} of {len(result.pairs)} pairs, those of {best}.")


def rank_table(over: "DatasetsResult") -> TableBlock:
    """Return runs over data sets: mean rank, then the mean on each."""
    rows = tuple(
        (run, f"{over.mean_ranks[run]:.2f}", *(number(over.values[run][name]) for name in over.datasets))
        for run in over.runs
    )
    caption = f"Mean ranks over {len(over.datasets)} data sets, {label(over.metric)}"
    return TableBlock(caption, ("run", "mean rank", *over.datasets), rows, sortable=True)


def on_dataset(comparison: "Comparison", dataset: str) -> "list[MetricComparison]":
    """Return the comparisons by each metric on one data set."""
    return [result for result in comparison.results if result.dataset == dataset]


def heading(results: "Sequence[MetricComparison]") -> str:
    """Return which runs and users a table is of."""
    first = results[0]
    name = f"{first.dataset}: " if first.dataset else ""
    n_runs = sum(1 if row.repeats is None else len(row.repeats.means) for row in first.rows)
    if first.unit == "seeds":
        return f"{name}{n_runs} runs, seeds of {len(first.rows)} conditions"
    runs = f"{n_runs} runs" if n_runs == len(first.rows) else f"{n_runs} runs of {len(first.rows)} models"
    together = "" if n_runs == len(first.rows) else " with a value in at least one of them"
    return f"{name}{runs}, {first.users}{together}"


def explanation(procedure: "Procedure", results: "Sequence[MetricComparison]") -> str:
    """Return how intervals and letters came about, in one paragraph."""
    unit = results[0].unit
    how = INTERVALS[procedure.interval].replace("users", unit)
    kind = f"{100 * procedure.confidence:g} % interval ({how})"
    text = f"Mean over {unit} with its {kind}"
    if over_rows := [result.metric for result in results if result.over_rows]:
        rows = "queries" if split_key(over_rows[0])[1] else "ratings"
        text = f"Mean over users, {', '.join(map(label, over_rows))} over all {rows}, with {kind}"
    if unit == "seeds":
        text += "; ±: deviation over seeds; Welch's t-test, paired where both have the same seeds, "
        text += "too sure where seeds draw other splits of the same rows"
    elif any(row.repeats for row in results[0].rows):
        text += ", of several seeds or folds the mean of their means"
        text += "; ±: deviation of these means, which intervals leave out"
    if lower := [label(result.metric) for result in results if not result.higher_is_better]:
        text += f"; of {listed(lower)} less is better"
    n_pairs = len(results[0].pairs)
    pairs = f"{n_pairs} pair{'s' if n_pairs != 1 else ''}"
    if procedure.baseline is not None:
        pairs += f" with {procedure.baseline}"
    alike = "Runs that share a letter are not shown to differ; " if procedure.baseline is None else ""
    return f"{text}. {alike}{pairs}, {CORRECTIONS[procedure.correction]}."


def latex(comparison: "Comparison") -> str:
    """Return the tables in LaTeX, for papers; leaderboards have the marks in their captions."""
    marks = marks_of(comparison)
    tables = [block for block in comparison_blocks(comparison) if isinstance(block, TableBlock)]
    return render_latex(
        [
            replace(table, note=" ".join([table.note, *marks])) if table.look == "leaderboard" else table
            for table in tables
        ]
    )


def marks_of(comparison: "Comparison") -> tuple[str, ...]:
    """Return the marks of a comparison: guards, selection on test rows."""
    datasets = dict.fromkeys(dataset for dataset, _ in comparison.groups)
    lines: list[str] = []
    for dataset in datasets:
        named = {name: group for (own, name), group in comparison.groups.items() if own == dataset}
        lines += _warnings(named, f"{dataset}: " if len(datasets) > 1 else "")
    return tuple(lines)


def _warnings(named: "Mapping[str, RunGroup]", prefix: str) -> list[str]:
    records = [(name, record) for name, group in named.items() for record in group.records]

    def names(numbers: Iterable[int]) -> str:
        return prefix + listed(list(dict.fromkeys(records[number][0] for number in numbers)), most=3)

    leaks = {record.fit_on: leak_mark(record.fit_on) for _, record in records}
    lines = [
        f"{MARK} {mark} [{names(i for i, (_, record) in enumerate(records) if record.fit_on == fit_on)}]"
        for fit_on, mark in leaks.items()
        if mark
    ]
    return lines + sweep_mark_lines(list(enumerate(record for _, record in records)), names)


def write_comparison(comparison: "Comparison", files: Sequence[Path]) -> list[Path]:
    """Write a comparison to files by their suffix; return them and the pairs beside each CSV file."""
    texts: dict[Path, str] = {}
    for file in files:
        if file.suffix == ".csv":
            texts[file] = csv_text(_run_rows(comparison))
            texts[file.with_name(f"{file.stem}_pairs.csv")] = csv_text(comparison.records("pairs"))
        elif file.suffix == ".json":
            texts[file] = json_text(comparison)
        elif file.suffix == ".tex":
            texts[file] = latex(comparison)
        else:
            texts[file] = f"{comparison.to_markdown()}\n"
    return write_files({file: text_writer(text) for file, text in texts.items()})


def _run_rows(comparison: "Comparison") -> list[dict[str, Any]]:
    """Return a row for each data set, metric and run; numbers are not rounded."""
    rows, costs = [], comparison.costs
    for row in comparison.records("runs"):
        cost = costs.get((row["dataset"], row["run"]))
        columns = {} if cost is None else asdict(cost)
        if columns.get("n_trials", 0) is None:
            del columns["n_trials"]  # a column of tuned runs
        rows.append(row | columns)
    return rows


def json_text(comparison: "Comparison") -> str:
    """Return everything as JSON: the procedure, rows, pairs, ranks over data sets, claims and notes."""
    over = [
        asdict(result) | {"p_adjusted": [[*pair, p] for pair, p in result.p_adjusted.items()]}
        for result in comparison.over_datasets
    ]
    content = {
        "procedure": asdict(comparison.procedure),
        "runs": _run_rows(comparison),
        "pairs": comparison.records("pairs"),
        "over_datasets": over,
        "claims": list(comparison.claims),
        "notes": [*comparison.warnings, *marks_of(comparison), *comparison.notes],
    }
    return json.dumps(_finite(content), indent=1, ensure_ascii=False) + "\n"


def _finite(value: Any) -> Any:
    """Return a value without what JSON has no number for."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    return [_finite(part) for part in value] if isinstance(value, (list, tuple)) else value
