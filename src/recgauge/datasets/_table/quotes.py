"""Finds rows that a quote swallowed which nobody closed: they would be lost without a word."""

import csv
import math
from collections.abc import Iterator
from dataclasses import dataclass

from recgauge.datasets._table.files import TableFile
from recgauge.datasets._table.layout import Layout
from recgauge.errors import SchemaError

_ONE_SIGN = "\x1f"  # stands for separators of several signs, which the csv module does not know


def refuse_swallowed_rows(file: TableFile, layout: Layout) -> None:
    """Refuse a file in which a quoted field holds what are rows, or goes on over lines in an id.

    Text over several lines is usual in a column that is not read, such as a review. What is not: an id with a
    line break, a row over several lines without the right number of columns, or lines inside a field that
    have all columns and numbers where numbers must be.

    Parameters
    ----------
    file : TableFile
        In which quoted fields may span lines.
    layout : Layout

    Raises
    ------
    SchemaError
        With the line where the quoted field begins.
    """
    lines = _Lines(file, layout)
    rows = csv.reader(iter(lines), delimiter=lines.separator)
    first = 1
    try:
        for row in rows:
            if rows.line_num > first and first > layout.n_skipped:
                _refuse_if_swallowing(row, layout, lines.separator, f"{file}, line {first}")
            first = rows.line_num + 1
    except csv.Error as error:  # a field of more than 128 KiB
        raise SchemaError(_message(f"{file}, line {first}", "over more than 128 KiB")) from error


@dataclass(frozen=True)
class _Lines:
    """The lines of a file as text; bytes that are no text do not matter here."""

    file: TableFile
    layout: Layout

    @property
    def separator(self) -> str:
        return self.layout.separator if len(self.layout.separator) == 1 else _ONE_SIGN

    def __iter__(self) -> Iterator[str]:
        with self.file.open() as stream:
            for line in stream:
                text = line.decode("utf-8", "replace").replace("\0", " ")
                yield text.replace(self.layout.separator, self.separator)


def _refuse_if_swallowing(row: list[str], layout: Layout, separator: str, place: str) -> None:
    broken = len(row) != layout.n_columns  # nobody can say how many rows it was meant to be
    for position, field in enumerate(row):
        if broken or _swallows(field, position, layout, separator):
            n_lines = 1 + sum(field.count("\n") for field in row)
            raise SchemaError(_message(place, f"over {n_lines:,} lines"))


def _swallows(field: str, position: int, layout: Layout, separator: str) -> bool:
    if "\n" not in field.strip():
        return False
    if position in (layout.positions["user"], layout.positions["item"]):
        return True
    return any(_is_row(line.split(separator), layout) for line in field.splitlines()[1:])


def _is_row(cells: list[str], layout: Layout) -> bool:
    numbers = [layout.positions[role] for role in ("rating", "time") if role in layout.positions]
    # Without a number to look at, text with as many separators could be anything.
    return len(cells) == layout.n_columns and bool(numbers) and all(_is_number(cells[at]) for at in numbers)


def _is_number(cell: str) -> bool:
    try:
        return math.isfinite(float(cell))
    except ValueError:
        return False


def _message(place: str, length: str) -> str:
    return (
        f"{place}: a quoted field that begins here goes on {length} and swallows rows, so a quote may not be "
        "closed. Correct the line, or set dataset.quotes=false if quotes are ordinary signs."
    )
