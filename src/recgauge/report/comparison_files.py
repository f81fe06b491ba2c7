"""A comparison as data: CSV and JSON, whose numbers are not rounded."""

import csv
import io
import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from recgauge.comparison import Comparison
from recgauge.report.comparison_tables import Costs


def run_rows(comparison: Comparison, costs: Costs | None = None) -> list[dict[str, Any]]:
    """Return a row for each data set, metric and run; numbers are not rounded."""
    rows = []
    for row in comparison.records("runs"):
        cost = (costs or {}).get((row["dataset"], row["run"]))
        rows.append(row | ({} if cost is None else asdict(cost)))
    return rows


def csv_text(rows: Sequence[dict[str, Any]]) -> str:
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
        "runs": run_rows(comparison, costs),
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
