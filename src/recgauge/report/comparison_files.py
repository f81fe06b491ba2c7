"""A comparison as files: LaTeX, CSV and JSON, of the same numbers as the other tables."""

import csv
import io
import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from recgauge.comparison import Comparison, MetricComparison, RunRow
from recgauge.report import one_line
from recgauge.report.comparison_tables import (
    PAIR_COLUMNS,
    Costs,
    deviation,
    explanation,
    heading,
    interval,
    leaderboard,
    number,
    on_dataset,
    pair_cells,
    rank_grid,
    shown,
)

_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "†": r"\textdagger{}", "±": r"$\pm$", "·": r"\textperiodcentered{}", "<": "$<$", ">": "$>$",
    **{sign: f"\\{sign}" for sign in "&%$#_"},
}  # fmt: skip


def escaped(text: str) -> str:
    r"""Return a text as LaTeX prints it.

    Examples
    --------
    >>> print(escaped("bm25_k1=1.2 & 50%"))
    bm25\_k1=1.2 \& 50\%
    """
    return "".join(_LATEX.get(sign, sign) for sign in one_line(text))


def latex(comparison: Comparison, marks: Sequence[str] = ()) -> str:
    r"""Return leaderboards and pairs in LaTeX.

    Needs the packages booktabs and siunitx. Best values are bold, second ones underlined.

    Parameters
    ----------
    comparison : Comparison
    marks : sequence of str
        What a reader must know; part of the captions.
    """
    parts = [
        "% \\usepackage{booktabs} and \\usepackage{siunitx} with \\sisetup{detect-weight=true, "
        "table-align-text-before=false}"
    ]
    for dataset in comparison.datasets:
        some = on_dataset(comparison, dataset)
        told = f"{heading(some)}. {explanation(comparison.procedure, some)}"
        told = " ".join([f"{told} Best in bold, second underlined.", *marks])
        parts.append(_table(told, _leaderboard(some)))
        place = f"{dataset}, " if dataset else ""
        with_pairs = [one for one in some if one.pairs]
        parts += [_table(f"{place}{shown(one.metric)}: pairs.", _pairs(one)) for one in with_pairs]
    for over in comparison.over_datasets:
        header, rows = rank_grid(over)
        columns = "l" + "S[table-format=2.2]" + "S[table-format=1.4]" * len(over.datasets)
        body = [_line([header[0], *(f"{{{escaped(name)}}}" for name in header[1:])])]
        body += ["\\midrule", *(_line([escaped(row[0]), *row[1:]]) for row in rows)]
        parts.append(_table(f"Mean ranks over data sets, {shown(over.metric)}.", (columns, body)))
    return "\n\n".join(parts) + "\n"


def _table(caption: str, content: tuple[str, list[str]]) -> str:
    columns, lines = content
    return "\n".join(
        [
            "\\begin{table}\n\\centering",
            f"\\caption{{{escaped(caption)}}}",
            f"\\begin{{tabular}}{{{columns}}}\n\\toprule",
            *lines,
            "\\bottomrule\n\\end{tabular}\n\\end{table}",
        ]
    )


def _line(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _leaderboard(some: Sequence[MetricComparison]) -> tuple[str, list[str]]:
    columns = "l" + "".join(f"S[table-format={_digits([row.mean for row in one.rows])}.4]l" for one in some)
    heads = [f"\\multicolumn{{2}}{{c}}{{{escaped(shown(one.metric))}}}" for one in some]
    rows = [
        _line([escaped(run), *(cell for row in rows for cell in (_mean(row), _beside(row)))])
        for run, rows in leaderboard(some)
    ]
    return columns, [_line(["run", *heads]), "\\midrule", *rows]


def _digits(values: Sequence[float]) -> str:
    """Return the digits before the point that siunitx makes room for, with the sign if there is one."""
    wide = max(len(str(int(abs(value)))) for value in values)
    return f"{'-' if min(values) < 0 else ''}{wide}"


def _mean(row: RunRow) -> str:
    if row.is_best:
        return f"\\bfseries {number(row.mean)}"
    return f"{{\\underline{{{number(row.mean)}}}}}" if row.is_second else number(row.mean)


def _beside(row: RunRow) -> str:
    letters = f"\\,{row.letters}" if row.letters else ""
    return f"{{\\footnotesize {interval(row)}{letters} {escaped(deviation(row))}}}".replace(" }", "}")


def _pairs(one: MetricComparison) -> tuple[str, list[str]]:
    rows = [_line([escaped(text) for text in (pair.a, pair.b, *pair_cells(pair))]) for pair in one.pairs]
    header = _line([escaped(name) for name in ("a", "b", *PAIR_COLUMNS)])
    return "ll" + "r" * len(PAIR_COLUMNS), [header, "\\midrule", *rows]


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
        asdict(one) | {"p_adjusted": [[*pair, p] for pair, p in one.p_adjusted.items()]}
        for one in comparison.over_datasets
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
        return {key: _finite(one) for key, one in value.items()}
    return [_finite(one) for one in value] if isinstance(value, (list, tuple)) else value
