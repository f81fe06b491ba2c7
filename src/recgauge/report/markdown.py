"""Blocks as Markdown, and tables of texts that are Markdown already."""

import re
from collections.abc import Sequence

from recgauge.errors import printable
from recgauge.report.blocks import Block, Cell, Heading, Lines, TableBlock


def render_markdown(blocks: Sequence[Block]) -> str:
    """Return blocks as Markdown: best values in bold, second ones in italics."""
    parts: list[str] = []
    for block in blocks:
        match block:
            case Heading(text):
                parts.append(f"### {escaped(text)}")
            case Lines(texts, look):
                note = "Note: " if look == "notes" else ""
                parts.append("\n".join(f"- {note}{escaped(text)}" for text in texts))
            case TableBlock():
                parts += [f"**{escaped(block.caption)}**"] if block.caption else []
                parts += [_table(block)]
                parts += [escaped(block.note)] if block.note else []
    return "\n\n".join(parts)


def _table(table: TableBlock) -> str:
    header = table.header or ("",) * max(map(len, table.rows), default=0)
    right = [escaped(name) for place, name in enumerate(header) if not table.is_words(place)]
    rows = [list(map(_cell, row)) for row in table.cells()]
    return markdown_table(rows, list(map(escaped, header)), right)


def _cell(cell: Cell) -> str:
    sign = {"best": "**", "second": "_"}.get(cell.rank, "")
    return " ".join([f"{sign}{escaped(cell.text)}{sign}", *map(escaped, cell.parts)])


def escaped(text: str) -> str:
    r"""Return a text as Markdown shows it: on one line, no markup, HTML or link, and nothing hidden.

    Examples
    --------
    >>> print(escaped("a*b\n# <b>`c` [0, 1]* p < .05"))
    a\*b # &lt;b>\`c\` [0, 1]* p < .05
    """
    line = markdown_line(re.sub(r"&(?=#?\w+;)", "&amp;", text))
    marks = r"[\\`]|\*(?=\S)|^\*|~(?=~)|(?<!\w)_(?=\S)|(?<=\S)_(?!\w)|\](?=[(\[:])"
    return re.sub(f"({marks})", r"\\\1", line)


def markdown_table(rows: Sequence[Sequence[str]], header: Sequence[str], right: Sequence[str] = ()) -> str:
    """Return a table in Markdown; columns named in `right` are aligned to the right.

    Cells may hold Markdown. Texts of users, such as names of runs, can neither end a cell nor a line, nor
    begin HTML.

    Examples
    --------
    >>> print(markdown_table([["svd", "0.93"]], ["model", "RMSE"], right=["RMSE"]))
    | model | RMSE |
    | --- | ---: |
    | svd | 0.93 |
    """
    bar = "\\|"
    lines = [header, ["---:" if name in right else "---" for name in header], *rows]
    return "\n".join(
        f"| {' | '.join(markdown_line(text).replace('|', bar) for text in line)} |" for line in lines
    )


def markdown_line(text: str) -> str:
    """Return a text for Markdown that ends no line, begins no HTML and hides nothing."""
    return re.sub(r"<(?=[a-zA-Z/!?])", "&lt;", one_line(text))


def one_line(text: str) -> str:
    r"""Return a text on one line, its control characters and those that turn text round as escapes.

    Examples
    --------
    >>> print(one_line("svd\n\x1b[31m"))
    svd \x1b[31m
    """
    return printable(" ".join(text.splitlines()))
