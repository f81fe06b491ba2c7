"""Tables as LaTeX, for papers, with booktabs."""

from collections.abc import Iterable, Sequence

from recgauge.errors import printable
from recgauge.report.blocks import Cell, TableBlock

_SIGNS = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "†": r"\textdagger{}", "±": r"$\pm$", "·": r"\textperiodcentered{}", "<": "$<$", ">": "$>$",
    **{sign: f"\\{sign}" for sign in "&%$#_"},
}  # fmt: skip
PREAMBLE = "% \\usepackage{booktabs}"


def escaped(text: str) -> str:
    """Return a text as LaTeX prints it."""
    return "".join(_SIGNS.get(sign, sign) for sign in printable(" ".join(text.splitlines())))


def render_latex(tables: Sequence[TableBlock]) -> str:
    """Return tables as LaTeX: best values bold, second ones underlined."""
    return "\n\n".join([PREAMBLE, *map(_table, tables)]) + "\n"


def _table(table: TableBlock) -> str:
    rows = table.cells()
    header = table.header or ("",) * max(map(len, rows), default=0)
    columns = "".join("l" if table.is_words(place) else "r" for place in range(len(header)))
    ranked = any(cell.rank for row in rows for cell in row)
    caption = [f"{table.caption}.", table.note, "Best in bold, second underlined." if ranked else ""]
    return "\n".join(
        [
            "\\begin{table}\n\\centering",
            f"\\caption{{{escaped(' '.join(filter(None, caption)))}}}",
            f"\\begin{{tabular}}{{{columns}}}\n\\toprule",
            *([_line(map(escaped, header)), "\\midrule"] if any(header) else []),
            *(_line(map(_cell, row)) for row in rows),
            "\\bottomrule\n\\end{tabular}\n\\end{table}",
        ]
    )


def _cell(cell: Cell) -> str:
    """Return a value with what stands beside it in a smaller font."""
    signs = {"best": "\\textbf", "second": "\\underline", "": ""}
    text = f"{signs[cell.rank]}{{{escaped(cell.text)}}}" if cell.rank else escaped(cell.text)
    beside = " ".join(map(escaped, cell.parts))
    return f"{text} {{\\footnotesize {beside}}}" if beside else text


def _line(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"
