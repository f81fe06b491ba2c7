"""Finished runs compared: what a reader of the numbers must know, and the files of a comparison."""

import csv
import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from recgauge.comparison import Comparison
from recgauge.comparison.runs import ComparedRuns, records_of
from recgauge.comparison.series import Series
from recgauge.errors import listed
from recgauge.models.fitting import leak_mark
from recgauge.report.comparison_tables import Costs, comparison_blocks, latex
from recgauge.report.markdown import render_markdown
from recgauge.report.run_tables import MARK
from recgauge.report.sweep_tables import sweep_mark_lines
from recgauge.utils.files import text_writer, write_files

FORMATS = (".md", ".tex", ".csv", ".json")


def marks_of(compared: ComparedRuns) -> tuple[str, ...]:
    """Return what a reader must know: in what marked runs differ, guards, selection on test rows."""
    datasets = dict.fromkeys(dataset for dataset, _ in compared.series)
    lines = list(compared.different)
    for dataset in datasets:
        named = {name: series for (other, name), series in compared.series.items() if other == dataset}
        lines += _warnings(named, f"{dataset}: " if len(datasets) > 1 else "")
    return tuple(lines)


def _warnings(named: Mapping[str, Series], place: str) -> list[str]:
    records = [(name, record) for name, series in named.items() for record in records_of(series)]

    def names(numbers: Iterable[int]) -> str:
        return place + listed(list(dict.fromkeys(records[number][0] for number in numbers)), most=3)

    leaks = {record.fit_on: leak_mark(record.fit_on) for _, record in records}
    lines = [
        f"{MARK} {mark} [{names(i for i, (_, record) in enumerate(records) if record.fit_on == fit_on)}]"
        for fit_on, mark in leaks.items()
        if mark
    ]
    return lines + sweep_mark_lines(list(enumerate(record for _, record in records)), names, advise=False)


def write_comparison(compared: ComparedRuns, files: Sequence[Path]) -> list[Path]:
    """Write a comparison to files by their suffix; return them and the pairs beside each CSV file."""
    comparison, costs, marks = compared.comparison, compared.costs, marks_of(compared)
    texts: dict[Path, str] = {}
    for file in files:
        if file.suffix == ".csv":
            texts[file] = _csv(_run_rows(comparison, costs))
            texts[file.with_name(f"{file.stem}_pairs.csv")] = _csv(comparison.records("pairs"))
        elif file.suffix == ".json":
            texts[file] = json_text(comparison, costs, [*marks, *compared.notes])
        elif file.suffix == ".tex":
            texts[file] = latex(comparison, costs, marks=marks)
        else:
            blocks = comparison_blocks(comparison, costs, marks=marks, notes=compared.notes)
            texts[file] = f"{render_markdown(blocks)}\n"
    return write_files({file: text_writer(text) for file, text in texts.items()})


def _run_rows(comparison: Comparison, costs: Costs) -> list[dict[str, Any]]:
    """Return a row for each data set, metric and run; numbers are not rounded."""
    rows = []
    for row in comparison.records("runs"):
        cost = costs.get((row["dataset"], row["run"]))
        rows.append(row | ({} if cost is None else asdict(cost)))
    return rows


def _csv(rows: Sequence[dict[str, Any]]) -> str:
    """Return rows as CSV; what a row lacks is empty."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    file = io.StringIO()
    writer = csv.DictWriter(file, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


def json_text(comparison: Comparison, costs: Costs | None = None, notes: Sequence[str] = ()) -> str:
    """Return everything as JSON: the procedure, rows, pairs, ranks over data sets, claims and notes."""
    over = [
        asdict(result) | {"p_adjusted": [[*pair, p] for pair, p in result.p_adjusted.items()]}
        for result in comparison.over_datasets
    ]
    content = {
        "procedure": asdict(comparison.procedure),
        "runs": _run_rows(comparison, costs or {}),
        "pairs": comparison.records("pairs"),
        "over_datasets": over,
        "claims": list(comparison.claims),
        "notes": [*comparison.notes, *notes],
    }
    return json.dumps(_finite(content), indent=1, ensure_ascii=False) + "\n"


def _finite(value: Any) -> Any:
    """Return a value without what JSON has no number for."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    return [_finite(part) for part in value] if isinstance(value, (list, tuple)) else value
