"""Reads delimited text: CSV, TSV, fields separated by ``::``, and RecBole's atomic files."""

import csv
import io
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from recgauge.datasets._table.columns import Layout, Role, Roles, TextFormat, find_layout
from recgauge.datasets._table.files import TableFile
from recgauge.datasets._table.rows import Part, Problem
from recgauge.errors import SchemaError
from recgauge.utils.checks import LongArray

if TYPE_CHECKING:
    import pyarrow as pa

_UNIT_SEPARATOR = "\x1f"  # represents separators of several characters, which pyarrow and csv do not know

_BLOCK = 1 << 22  # each block has dictionaries of its own: fewer than with pyarrow's 1 MiB


def read_text(file: TableFile, roles: Roles, how: TextFormat, *, careful: bool) -> Part:
    """Return the rows of a text file.

    Parameters
    ----------
    file : TableFile
    roles : Roles
        Which columns to take.
    how : TextFormat
    careful : bool
        False: read fast and fail at the first cell that is no number. True: keep cells as text, collect
        broken rows and know the line of each row.

    Raises
    ------
    SchemaError
        If the layout cannot be recognised, or a quote that is not closed swallows rows.
    pyarrow.ArrowInvalid
        If a row or cell cannot be read.
    """
    layout = find_layout(file, roles, how)
    if careful:
        broken: list[Any] = []

        def keep_broken(row: Any) -> str:
            broken.append(row)
            return "skip"

        columns = _columns(file, layout, how, keep_broken=keep_broken)
        part = _with_lines(file, columns, layout, broken)
        if layout.quotes and part.unit == "row":
            refuse_swallowed_rows(file, layout)
        return part
    if not layout.quotes:
        return Part(file, _columns(file, layout, how), layout.labels)
    try:
        # Without a quote in the file, looking for quoted fields would cost half as much time again.
        plain = replace(layout, quotes=False)
        return Part(file, _columns(file, plain, how, refuse_quotes=True), layout.labels)
    except _QuoteFoundError:
        columns = _columns(file, layout, how)
    n_more = _count_line_ends(file) - layout.n_skipped - len(columns["user"])
    if n_more > 0:
        refuse_swallowed_rows(file, layout)
    remark = f"{n_more:,} lines are blank or go on with a quoted field" if n_more > 0 else ""
    return Part(file, columns, layout.labels, remark=remark)


def _columns(
    file: TableFile,
    layout: Layout,
    how: TextFormat,
    *,
    keep_broken: Callable[[Any], str] | None = None,
    refuse_quotes: bool = False,
) -> dict[Role, "pa.ChunkedArray"]:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    careful = keep_broken is not None
    # Ids become a dictionary while they are read: as exact as text, and nearly as fast as numbers.
    ids = pa.dictionary(pa.int32(), pa.string())
    types = {
        "user": ids,
        "item": ids,
        "rating": pa.string() if careful else pa.float32(),
        "time": pa.string() if careful or how.dates else pa.int64(),
    }
    wanted = {str(position): types[role] for role, position in layout.positions.items()}
    options = (
        arrow_csv.ReadOptions(
            use_threads=not careful,  # only then are broken rows given with their numbers
            block_size=_BLOCK,
            skip_rows=layout.n_skipped,
            column_names=[str(position) for position in range(layout.n_columns)],
        ),
        arrow_csv.ParseOptions(
            delimiter=layout.separator if len(layout.separator) == 1 else _UNIT_SEPARATOR,
            quote_char='"' if layout.quotes else False,
            newlines_in_values=layout.quotes,
            ignore_empty_lines=not careful,
            invalid_row_handler=keep_broken,
        ),
        arrow_csv.ConvertOptions(
            include_columns=list(wanted), column_types=wanted, null_values=[], strings_can_be_null=False
        ),
    )
    with file.open() as stream:
        source = _Source(stream, layout.separator, layout.n_skipped if refuse_quotes else None)
        table = arrow_csv.read_csv(source, *options)
    return {role: table.column(str(position)) for role, position in layout.positions.items()}


def _with_lines(
    file: TableFile, columns: dict[Role, "pa.ChunkedArray"], layout: Layout, broken: list[Any]
) -> Part:
    """Give each row its line, take out blank ones, and list broken ones."""
    n_rows = len(columns["user"])
    first = layout.n_skipped + 1
    numbers = np.arange(first, first + n_rows + len(broken), dtype=np.int64)
    bad = np.array([row.number for row in broken], dtype=np.int64)
    lines = np.delete(numbers, bad - first)
    n_lines, blank = _count_lines(file)
    # Fewer rows than lines: quoted fields span lines, so that only rows can be counted.
    unit = "line" if len(numbers) == n_lines - layout.n_skipped else "row"
    if unit == "line":
        kept = np.flatnonzero(~np.isin(lines, blank))
        columns = {role: column.take(kept) for role, column in columns.items()}
        lines = lines[kept]
    reason = f"the row does not have {layout.n_columns} columns"
    problems = (Problem(reason, bad, f"{broken[0].actual_columns} columns"),) if broken else ()
    return Part(file, columns, layout.labels, lines, unit, problems)


def _count_line_ends(file: TableFile) -> int:
    with file.open() as stream:
        return sum(block.count(b"\n") for block in iter(lambda: stream.read(1 << 20), b""))


def _count_lines(file: TableFile) -> tuple[int, LongArray]:
    """Return how many lines there are, and which are blank."""
    number, blank = 0, []
    with file.open() as stream:
        for number, line in enumerate(stream, start=1):
            if not line.strip(b"\r\n"):
                blank.append(number)
    return number, np.array(blank, dtype=np.int64)


class _QuoteFoundError(Exception):
    """A file has quotes, so that its fields may be quoted."""


class _Source(io.RawIOBase):
    """Hands bytes on and replaces separators of several characters.

    With `quoteless_after`, a quote after so many lines, which must fit into the first block, is an error.
    """

    def __init__(self, stream: IO[bytes], separator: str, quoteless_after: int | None = None) -> None:
        self._stream = stream
        self._separator = separator.encode() if len(separator) > 1 else b""
        self._quoteless_after = quoteless_after

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if not self._separator:
            block = self._stream.read(size)
        else:
            block = self._stream.read(max(size - 64, 1))
            while block[-1:] in self._separator and len(block) < size and (more := self._stream.read(1)):
                block += more  # a block must not end inside a separator
            block = block.replace(self._separator, _UNIT_SEPARATOR.encode())
        if self._quoteless_after is not None:
            if b'"' in block.split(b"\n", self._quoteless_after)[-1]:
                raise _QuoteFoundError
            self._quoteless_after = 0
        return block


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
    separator = layout.separator if len(layout.separator) == 1 else _UNIT_SEPARATOR
    rows = csv.reader(_lines(file, layout.separator, separator), delimiter=separator)
    first = 1
    try:
        for row in rows:
            if rows.line_num > first and first > layout.n_skipped:
                _refuse_if_swallowing(row, layout, separator, f"{file}, line {first}")
            first = rows.line_num + 1
    except csv.Error as error:  # a field of more than 128 KiB
        raise SchemaError(_message(f"{file}, line {first}", "over more than 128 KiB")) from error


def _lines(file: TableFile, old: str, new: str) -> Iterator[str]:
    """Yield lines as text with another separator; bytes that are no text do not matter here."""
    with file.open() as stream:
        for line in stream:
            yield line.decode("utf-8", "replace").replace("\0", " ").replace(old, new)


def _refuse_if_swallowing(row: list[str], layout: Layout, separator: str, location: str) -> None:
    broken = len(row) != layout.n_columns  # nobody can say how many rows it should have been
    for position, field in enumerate(row):
        if broken or _swallows(field, position, layout, separator):
            n_lines = 1 + sum(field.count("\n") for field in row)
            raise SchemaError(_message(location, f"over {n_lines:,} lines"))


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


def _message(location: str, length: str) -> str:
    return (
        f"{location}: a quoted field that begins here goes on {length} and swallows rows, so a quote may "
        "not be closed. Correct the line, or set dataset.quotes=false if quotes are ordinary characters."
    )
