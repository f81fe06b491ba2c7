"""Reads delimited text: CSV, TSV, ``::``, RecBole's atomic files, and TREC's columns between blanks."""

import csv
import io
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import IO, Any

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv

from recgauge.errors import SchemaError
from recgauge.files.columns import Columns, Role, Roles, are_flags, is_value
from recgauge.files.limits import BLOCK
from recgauge.files.opening import TableFile
from recgauge.files.rows import NUMBERS, Lines, Rows, broken_rows
from recgauge.utils.checks import shown

_UNIT_SEPARATOR = "\x1f"  # represents separators of several characters, which pyarrow and csv do not know
_BLOCK = 1 << 22  # each block has dictionaries of its own: fewer than with pyarrow's 1 MiB
_SAMPLE, _SAMPLE_ROWS = 1 << 16, 100  # bytes and rows that tell how a file is laid out
_SEPARATORS = ("::", "\t", ";", ",", "|")
_QUOTED = (",", ";")
_IDS: tuple[Role, ...] = ("user", "item", "tag", "event")
_ID = pa.dictionary(pa.int32(), pa.string())  # as exact as text, and nearly as fast as numbers
_PART = 1 << 16  # rows that are held as Python's objects


@dataclass(frozen=True)
class TextFormat:
    """How text is to be read; None means: taken from the first lines."""

    separator: str | None = None  # one or more characters
    header: bool | None = None
    quotes: bool | None = None  # by default with commas and semicolons, or if the first line has some


@dataclass(frozen=True)
class Layout:
    """How a text file is laid out."""

    columns: Columns
    separator: str  # empty: blanks, any number of them
    n_skipped: int  # lines before the first row
    quotes: bool = False  # whether fields may be in quotes
    dates: bool = False  # whether times are text


FindLayout = Callable[[TableFile, Roles, TextFormat], Layout]


def read_text(file: TableFile, roles: Roles, how: TextFormat, find: FindLayout | None = None) -> Rows:
    """Return the rows of a text file, numbers as such where all cells are; `find` lays it out."""
    layout = (find or find_layout)(file, roles, how)
    is_numeric = not roles.cells.missing and roles.cells.decimal == "."
    for texts in (False, True) if is_numeric else (True,):
        try:
            cells, n_lines = _cells(file, layout, _types(layout, roles, texts=texts))
        except pa.ArrowInvalid:  # a cell is no number, or a row is broken
            continue
        if n_lines == layout.n_skipped + len(cells) and not _lacks_ids(cells):
            return _rows(file, layout, cells, range(layout.n_skipped + 1, n_lines + 1))
        break
    return _read_row_by_row(file, layout, roles)


def _types(layout: Layout, roles: Roles, *, texts: bool) -> dict[str, pa.DataType]:
    """Return the types of columns, called by their positions."""
    types = dict.fromkeys(map(str, layout.columns.used), pa.string())
    for role, at in layout.columns.positions.items():
        if role in _IDS:
            types[str(at)] = _ID
        elif role == "time" and not (texts or layout.dates):
            types[str(at)] = pa.int64()
        elif role in NUMBERS and not texts:
            types[str(at)] = pa.float32() if role == "rating" and not roles.of_lists else pa.float64()
    return types | dict.fromkeys(map(str, layout.columns.further), _ID)


def _cells(file: TableFile, layout: Layout, types: Mapping[str, pa.DataType]) -> tuple[pa.Table, int]:
    """Return columns, called by their positions, and how many lines the file has."""
    options = (
        arrow_csv.ReadOptions(
            block_size=_BLOCK,
            skip_rows=layout.n_skipped,
            column_names=[str(position) for position in range(len(layout.columns.names))],
        ),
        arrow_csv.ParseOptions(
            delimiter=_sign(layout.separator),
            quote_char='"' if layout.quotes else False,
            newlines_in_values=layout.quotes,
        ),
        arrow_csv.ConvertOptions(
            include_columns=list(types),
            column_types=types,
            null_values=[],
            strings_can_be_null=False,
        ),
    )
    with file.open() as stream:
        return arrow_csv.read_csv(_separated(stream, layout), *options), stream.raw.n_lines  # type: ignore[attr-defined]


def _lacks_ids(cells: pa.Table) -> bool:
    """Whether a row has an empty cell where an id should be, as a row without any cell has."""
    chunks = (chunk for column in cells.columns if column.type == _ID for chunk in column.chunks)
    return any(chunk.dictionary.index("").as_py() >= 0 for chunk in chunks)


def _rows(file: TableFile, layout: Layout, cells: pa.Table, lines: Lines, **more: Any) -> Rows:
    """Return rows that have been read, with how the file is laid out in words."""
    sign = {"\t": "tab", "": "blanks"}.get(layout.separator, repr(layout.separator))
    header = "header" if layout.columns.header else "no header"
    columns = [cells.column(str(at)) for at in layout.columns.used]
    return Rows.of(file, layout.columns, columns, lines, header=header, layout=f"separator {sign}", **more)


def _read_row_by_row(file: TableFile, layout: Layout, roles: Roles) -> Rows:
    """Return the rows of a text file, cells as text, with the line of each and what cannot be split."""
    used, types, lines = layout.columns.used, _types(layout, roles, texts=True), list[int]()
    broken: list[tuple[int, str]] = []
    parts = [pa.table({str(at): pa.array([], types[str(at)]) for at in used})]
    with file.open() as stream:
        rows = _split_rows(file, layout, _separated(stream, layout), broken)
        while part := [*islice(rows, _PART)]:
            lines += [line for line, _ in part]
            columns = {str(at): pa.array([row[at] for _, row in part]) for at in used}
            parts.append(pa.table({name: cells.cast(types[name]) for name, cells in columns.items()}))
    problems = broken_rows(f"the row does not have {len(layout.columns.names)} columns", broken)
    return _rows(file, layout, pa.concat_tables(parts), np.array(lines, np.int64), problems=problems)


def _split_rows(
    file: TableFile, layout: Layout, stream: IO[bytes], broken: list[tuple[int, str]]
) -> Iterator[tuple[int, list[str]]]:
    """Yield the line and the cells of each row; of others the line and number of cells become `broken`.

    Text over several lines is usual in a column that is not read, such as a review. What is not: lines inside
    a field that have all columns, with numbers where numbers must be. Then a quote is not closed.
    """
    n_columns, sign = len(layout.columns.names), _sign(layout.separator)
    text = io.TextIOWrapper(stream, "utf-8", newline="\n")
    deque(islice(text, layout.n_skipped), 0)
    rows = csv.reader(text, delimiter=sign, quoting=csv.QUOTE_MINIMAL if layout.quotes else csv.QUOTE_NONE)
    line = layout.n_skipped + 1
    try:
        for row in rows:
            is_row, last = len(row) == n_columns, layout.n_skipped + rows.line_num
            if last > line and not (is_row and _is_whole(row, layout)):
                raise csv.Error(f"a quoted field goes on to line {last}")
            if any(cell.strip() for cell in row):
                if is_row:
                    yield line, row
                else:
                    broken.append((line, f"{len(row)} columns"))
            line = last + 1
    except csv.Error as error:
        raise SchemaError(
            f"{file}, line {line}: {error}, perhaps as a quote is not closed. Correct the line; where quotes "
            "are ordinary characters of a table, set dataset.quotes=false."
        ) from error


def _is_whole(row: Sequence[str], layout: Layout) -> bool:
    """Whether a row over several lines is one row."""
    positions = layout.columns.positions
    if any("\n" in row[at].strip() for role, at in positions.items() if role in _IDS):
        return False
    numbers = [at for role, at in positions.items() if role in (*NUMBERS, "time")]
    inside = (line.split(_sign(layout.separator)) for cell in row for line in cell.splitlines()[1:])
    rows = [cells for cells in inside if len(cells) == len(row)]
    return not any(all(is_value(cells[at]) for at in numbers) for cells in rows)


def find_layout(file: TableFile, roles: Roles, how: TextFormat) -> Layout:
    """Return the layout of a text file."""
    n_blank, lines = _first_lines(file)
    line = shown(lines[0][:200])
    separator = _separator_of(lines[0]) if how.separator is None else how.separator
    quotes = bool(separator) and (_has_quotes(lines[0], separator) if how.quotes is None else how.quotes)
    try:
        rows = _split(lines, separator, quotes=quotes)
    except csv.Error as error:
        raise SchemaError(
            f"{file}: its first lines cannot be read: {error}. If lines end in a single carriage return, "
            "write them again with line feeds."
        ) from error
    if roles.names and (len(rows[0]) == 1 or not (separator or roles.of_lists)):
        words = roles.setting.format
        users = f", or that each line is a user followed by items ({words('format', 'user_lines')})"
        raise SchemaError(
            f"{file}: cannot tell what separates the fields of its first line {line}. Say it "
            f"({words('separator', 'TEXT')}){'' if roles.of_lists else users}."
        )
    file.limits.check("columns", len(rows[0]), file)
    header = roles.has_header(rows, file, separator, how.header)
    names = rows[0] if header else [*map(str, range(len(rows[0])))]
    below = rows[1:] if header else rows
    samples = [[row[at] for row in below if len(row) > at and row[at].strip()] for at in range(len(names))]
    columns = roles.columns(
        names,
        str(file) if header else f"{file}, line {n_blank + 1} {line} (no header)",
        {at for at, cells in enumerate(samples) if cells and are_flags(map(str.strip, cells))},
        header=header,
    )
    time = columns.positions.get("time")
    dates = time is not None and not all(cell.strip().isdecimal() for cell in samples[time])
    return Layout(columns, separator, n_blank + header, quotes, dates)


def _first_lines(file: TableFile) -> tuple[int, list[str]]:
    """Return how many blank lines a file begins with, and the first lines behind them."""
    with file.open() as stream:
        lines = io.TextIOWrapper(stream, "utf-8-sig", newline="\n").readlines(_SAMPLE)
    for number, line in enumerate(lines):
        if line.strip():
            below = [row[:_SAMPLE].rstrip("\r\n") for row in lines[number + 1 : number + _SAMPLE_ROWS]]
            return number, [line.rstrip("\r\n"), *below]
    raise SchemaError(f"{file} is empty. Name a file with rows.")


def _separator_of(line: str) -> str:
    """Return what separates the cells of the first line; empty: blanks."""
    unquoted = re.sub('"[^"]*"', "", line)
    counts = {separator: unquoted.count(separator) for separator in _SEPARATORS}
    best = next((sign for sign in ("::", "\t") if counts[sign]), max(counts, key=lambda sign: counts[sign]))
    return best if counts[best] else "" if " " in line.strip() else ","


def _has_quotes(line: str, separator: str) -> bool:
    cells = line.split(separator)
    return separator in _QUOTED or any(len(cell) > 1 and cell[0] == cell[-1] == '"' for cell in cells)


def _split(lines: Iterable[str], separator: str, *, quotes: bool) -> list[list[str]]:
    """Return the cells of the lines that are not blank."""
    if not quotes:
        return [line.split(separator or None) for line in lines if line.strip()]
    sign = _sign(separator)
    return [*filter(None, csv.reader((line.replace(separator, sign) for line in lines), delimiter=sign))]


def _sign(separator: str) -> str:
    return separator if len(separator) == 1 else _UNIT_SEPARATOR


def _separated(stream: IO[bytes], layout: Layout) -> Any:
    """Return bytes in which one sign separates columns."""
    return stream if len(layout.separator) == 1 else _Separated(stream, layout.separator)


class _Separated(io.RawIOBase):
    """Hands bytes on with one sign for each separator of several characters, or for each run of blanks."""

    def __init__(self, stream: IO[bytes], separator: str) -> None:
        self._stream, self._separator, self._rest = stream, separator.encode(), b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if not self._rest:  # whole lines: no separator is cut in two
            self._rest = self._separated(self._stream.read(BLOCK) + self._stream.readline())
        block, self._rest = self._rest[:size], self._rest[size:]
        return block

    def _separated(self, lines: bytes) -> bytes:
        sign = _UNIT_SEPARATOR.encode()
        if self._separator:
            return lines.replace(self._separator, sign)
        return re.sub(rb"[ \t]+", sign, re.sub(rb"^[ \t]+|[ \t\r]+$", b"", lines, flags=re.MULTILINE))
