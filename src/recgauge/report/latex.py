"""Tables as LaTeX, for papers, with booktabs and siunitx."""

from collections.abc import Sequence

from recgauge.errors import printable
from recgauge.report.blocks import Cell, TableBlock

_SIGNS = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "†": r"\textdagger{}", "±": r"$\pm$", "·": r"\textperiodcentered{}", "<": "$<$", ">": "$>$",
    **{sign: f"\\{sign}" for sign in "&%$#_"},
}  # fmt: skip
PREAMBLE = (
    "% \\usepackage{booktabs} and \\usepackage{siunitx} with \\sisetup{detect-weight=true, "
    "table-align-text-before=false}"
)


def escaped(text: str) -> str:
    """Return a text as LaTeX prints it."""
    return "".join(_SIGNS.get(sign, sign) for sign in printable(" ".join(text.splitlines())))


def render_latex(tables: Sequence[TableBlock]) -> str:
    """Return tables as LaTeX: best values bold, second ones underlined."""
    return "\n\n".join([PREAMBLE, *map(_table, tables)]) + "\n"


def _table(table: TableBlock) -> str:
    rows = table.cells()
    header = table.header or ("",) * max(map(len, rows), default=0)
    kinds = [_kind([row[place] for row in rows], table.is_words(place)) for place in range(len(header))]
    ranked = any(cell.rank for row in rows for cell in row)
    caption = [f"{table.caption}.", table.note, "Best in bold, second underlined." if ranked else ""]
    heads = [
        f"\\multicolumn{{2}}{{c}}{{{escaped(name)}}}" if kind.startswith("S") else escaped(name)
        for name, kind in zip(header, kinds, strict=True)
    ]
    lines = [
        _line([text for cell, kind in zip(row, kinds, strict=True) for text in _cells(cell, kind)])
        for row in rows
    ]
    return "\n".join(
        [
            "\\begin{table}\n\\centering",
            f"\\caption{{{escaped(' '.join(filter(None, caption)))}}}",
            f"\\begin{{tabular}}{{{''.join(kinds)}}}\n\\toprule",
            *([_line(heads), "\\midrule"] if any(header) else []),
            *lines,
            "\\bottomrule\n\\end{tabular}\n\\end{table}",
        ]
    )


def _kind(cells: Sequence[Cell], is_words: bool) -> str:
    """Return the type of a column; values with something beside them take two."""
    values = [cell.order for cell in cells if cell.order is not None]
    if is_words or not values or not any(cell.parts or cell.rank for cell in cells):
        return "l" if is_words else "r"
    digits = max(len(str(int(abs(value)))) for value in values)
    return f"S[table-format={'-' if min(values) < 0 else ''}{digits}.4]l"


def _cells(cell: Cell, kind: str) -> list[str]:
    text = escaped(cell.text)
    if not kind.startswith("S"):
        return [text]
    if cell.rank:
        text = f"\\bfseries {text}" if cell.rank == "best" else f"{{\\underline{{{text}}}}}"
    first, *rest = (*map(escaped, cell.small), "")
    beside = " ".join([first + (f"\\,{cell.letters}" if cell.letters else ""), *filter(None, rest)])
    return [text, f"{{\\footnotesize {beside}}}" if beside else ""]


def _line(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"
