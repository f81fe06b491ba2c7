"""Reads delimited text: CSV, TSV, ``::``, RecBole's atomic files, and TREC's columns between blanks."""

import codecs
import csv
import io
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import IO, Any

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv

from recgauge.errors import SchemaError, said
from recgauge.files.columns import Columns, Role, Roles, are_flags, is_value
from recgauge.files.limits import BLOCK
from recgauge.files.opening import TableFile, limited
from recgauge.files.rows import NUMBERS, Lines, Problem, Rows
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
    texts: bool = False  # whether numbers are read as text
    dates: bool = False  # whether times are text


FindLayout = Callable[[TableFile, Roles, TextFormat], Layout]


def read_text(file: TableFile, roles: Roles, how: TextFormat, find: FindLayout | None = None) -> Rows:
    """Return the rows of a text file, numbers as such where all cells are; `find` lays it out."""
    layout = (find or find_layout)(file, roles, how)
    for texts in sorted({layout.texts, True}):
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
        return arrow_csv.read_csv(_separated(stream, layout), *options), limited(stream).n_lines


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
    broken: list[tuple[int, int]] = []
    parts = [pa.table({str(at): pa.array([], types[str(at)]) for at in used})]
    with file.open() as stream:
        rows = _split_rows(file, layout, _separated(stream, layout), broken)
        while part := [*islice(rows, _PART)]:
            lines += [line for line, _ in part]
            columns = {str(at): pa.array([row[at] for _, row in part]) for at in used}
            parts.append(pa.table({name: cells.cast(types[name]) for name, cells in columns.items()}))
    n_columns = len(layout.columns.names)
    problems = ()
    if broken:
        reason, example = f"the row does not have {n_columns} columns", f"{broken[0][1]} columns"
        problems = (Problem(reason, np.array([line for line, _ in broken], np.int64), example),)
    return _rows(file, layout, pa.concat_tables(parts), np.array(lines, np.int64), problems=problems)


def _split_rows(
    file: TableFile, layout: Layout, stream: IO[bytes], broken: list[tuple[int, int]]
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
                raise csv.Error(f"a quoted field goes on to line {last}; is a quote not closed?")
            if any(cell.strip() for cell in row):
                if is_row:
                    yield line, row
                else:
                    broken.append((line, len(row)))
            line = last + 1
    except csv.Error as error:
        raise SchemaError(
            f"{file}, line {line}: {said(error)} Correct the line; where quotes are ordinary characters of a "
            "table, set dataset.quotes=false."
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
    number, line, more = _first_lines(file)
    separator = how.separator or _separator_of(file, line, roles)
    quotes = bool(separator) and (_has_quotes(line, separator) if how.quotes is None else how.quotes)
    try:
        first = _split([line], separator, quotes=quotes)[0]
    except csv.Error as error:
        raise SchemaError(
            f"{file}: its first line {shown(line[:200])} cannot be read: {error}. If lines end in a single "
            "carriage return, write them again with line feeds."
        ) from error
    file.limits.check("columns", len(first), file)
    below: list[list[str]] = []
    with suppress(csv.Error):  # the reading of the rows says where
        below = _split(more, separator, quotes=quotes)
    if len(first) == 1 and roles.names:
        raise _no_separator(file, line, roles)
    header = roles.has_header([first, *below], file, separator, how.header)
    rows = below if header else [first, *below]
    samples = [
        [row[at].strip() for row in rows if len(row) > at and row[at].strip()] for at in range(len(first))
    ]
    columns = roles.columns(
        first if header else [*map(str, range(len(first)))],
        str(file) if header else f"{file}, line {number} {shown(line[:200])} (no header)",
        {at for at, cells in enumerate(samples) if cells and are_flags(cells)},
        header=header,
    )
    time = columns.positions.get("time")
    return Layout(
        columns,
        separator,
        number if header else number - 1,
        quotes,
        bool(roles.cells.missing or roles.cells.decimal != "."),
        time is not None and not all(cell.isdecimal() for cell in samples[time]),
    )


def _split(lines: Iterable[str], separator: str, *, quotes: bool) -> list[list[str]]:
    """Return the cells of the lines that are not blank."""
    if not quotes:
        return [line.split(separator or None) for line in lines if line.strip()]
    sign = _sign(separator)
    return [*filter(None, csv.reader((line.replace(separator, sign) for line in lines), delimiter=sign))]


def _sign(separator: str) -> str:
    return separator if len(separator) == 1 else _UNIT_SEPARATOR


def _first_lines(file: TableFile) -> tuple[int, str, list[str]]:
    """Return the number of the first line that is not blank, the line, and some lines below it."""
    with file.open() as stream:
        for number, line in enumerate(stream, start=1):
            try:
                text = line.decode("utf-8-sig")
            except UnicodeDecodeError as error:
                raise not_utf8(file) from error
            if text.strip("\r\n "):
                sample = stream.read(_SAMPLE).decode("utf-8", "replace").split("\n")
                below = sample[:-1] if len(sample) > 1 else sample  # the last one may be cut
                return number, text.strip("\r\n"), [row.rstrip("\r") for row in below[:_SAMPLE_ROWS] if row]
    raise SchemaError(f"{file} is empty. Name a file with rows.")


def not_utf8(file: TableFile) -> SchemaError:
    """Return the error that names the first line that is not UTF-8."""
    number, line = 1, b""
    with file.open() as stream:
        for number, line in enumerate(stream, start=1):  # noqa: B007 - the last one counts
            try:
                line.decode()
            except UnicodeDecodeError:
                break
    marks = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    likely = "utf-16" if number == 1 and line.startswith(marks) else "iso-8859-1"
    return SchemaError(
        f"{file}, line {number} is not utf-8 text. Convert the file, perhaps from {likely}; for a table, "
        f"{file.group}.encoding={likely} does it."
    )


def _has_quotes(line: str, separator: str) -> bool:
    cells = line.split(separator)
    return separator in _QUOTED or any(len(cell) > 1 and cell[0] == cell[-1] == '"' for cell in cells)


def _separator_of(file: TableFile, line: str, roles: Roles) -> str:
    """Return what separates the cells of the first line; empty: blanks."""
    unquoted = re.sub('"[^"]*"', "", line)
    counts = {separator: unquoted.count(separator) for separator in _SEPARATORS}
    best = next((sign for sign in ("::", "\t") if counts[sign]), max(counts, key=lambda sign: counts[sign]))
    if counts[best]:
        return best
    if not roles.names:  # a column alone, perhaps
        return "" if " " in line.strip() else ","
    if " " in line.strip() and roles.of_lists:
        return ""
    raise _no_separator(file, line, roles)


def _no_separator(file: TableFile, line: str, roles: Roles) -> SchemaError:
    words = roles.setting.format
    lines = f", or that each line is a user followed by items ({words('format', 'user_lines')})"
    return SchemaError(
        f"{file}: cannot tell what separates the fields of its first line {shown(line[:200])}. Say it "
        f"({words('separator', 'TEXT')}){'' if roles.of_lists else lines}."
    )


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
