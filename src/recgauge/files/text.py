"""Reads delimited text: CSV, TSV, ``::``, RecBole's atomic files, and TREC's columns between blanks."""

import codecs
import csv
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import IO, Any

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv

from recgauge.errors import SchemaError
from recgauge.files.columns import Columns, Role, Roles, are_flags, is_value
from recgauge.files.limits import BLOCK
from recgauge.files.opening import TableFile, limited
from recgauge.files.rows import NUMBERS, Lines, Problem, Rows
from recgauge.utils.arrow import to_arrow, to_numpy
from recgauge.utils.checks import shown

_UNIT_SEPARATOR = "\x1f"  # represents separators of several characters, which pyarrow and csv do not know
_BLOCK = 1 << 22  # each block has dictionaries of its own: fewer than with pyarrow's 1 MiB
_SAMPLE, _SAMPLE_ROWS = 1 << 16, 100  # bytes and rows that tell how a file is laid out
_SEPARATORS = ("::", "\t", ";", ",", "|")
_QUOTED = (",", ";")
_EXCEL = re.compile(r'"?sep=(.)"?', re.IGNORECASE)  # what Excel writes before the header
_IDS: tuple[Role, ...] = ("user", "item", "tag", "event")
_LONGEST = 1 << 17  # characters of a field over several lines


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

    def rows(self, file: TableFile, cells: pa.Table, lines: Lines, **more: Any) -> Rows:
        """Return rows that have been read, with how the file is laid out in words."""
        sign = {"\t": "tab", "": "blanks"}.get(self.separator, repr(self.separator))
        header = "header" if self.columns.header else "no header"
        columns = [cells.column(str(at)) for at in self.columns.used]
        return Rows.of(file, self.columns, columns, lines, header=header, layout=f"separator {sign}", **more)


FindLayout = Callable[[TableFile, Roles, TextFormat], Layout]


def read_text(file: TableFile, roles: Roles, how: TextFormat, find: FindLayout | None = None) -> Rows:
    """Return the rows of a text file, numbers as such where every line is a good row; `find` lays it out."""
    layout = (find or find_layout)(file, roles, how)
    # Ids become a dictionary while they are read: as exact as text, and nearly as fast as numbers.
    ids = pa.dictionary(pa.int32(), pa.string())
    types = dict.fromkeys(layout.columns.used, pa.string())
    for role, at in layout.columns.positions.items():
        if role in _IDS:
            types[at] = ids
        elif role == "time" and not layout.dates:
            types[at] = pa.int64()
        elif role in NUMBERS and not layout.texts:
            types[at] = pa.float32() if role == "rating" and not roles.of_lists else pa.float64()
    types |= dict.fromkeys(layout.columns.further, ids)
    try:
        cells, n_lines = _cells(file, layout, types)
    except MemoryError:  # Arrow's is an ArrowException, too
        raise
    except pa.ArrowException:  # a cell or row is bad
        return _read_as_text(file, layout, roles)
    if n_lines != layout.n_skipped + len(cells):  # blank lines, or fields over several lines
        return _read_as_text(file, layout, roles)
    return layout.rows(file, cells, range(layout.n_skipped + 1, n_lines + 1))


def _cells(
    file: TableFile,
    layout: Layout,
    types: Mapping[int, pa.DataType],
    broken: "Callable[[Any], str] | None" = None,
) -> tuple[pa.Table, int]:
    """Return columns, called by their positions, and how many lines the file has.

    `broken` gets rows with a wrong number of columns; lines that are empty are rows then.
    """
    options = (
        arrow_csv.ReadOptions(
            use_threads=broken is None,  # else rows have no numbers
            block_size=_BLOCK if broken is None else 2 * file.limits.line_bytes,
            skip_rows=layout.n_skipped,
            column_names=[str(position) for position in range(len(layout.columns.names))],
        ),
        arrow_csv.ParseOptions(
            delimiter=_sign(layout.separator),
            quote_char='"' if layout.quotes else False,
            newlines_in_values=layout.quotes,
            ignore_empty_lines=broken is None,
            invalid_row_handler=broken,
        ),
        arrow_csv.ConvertOptions(
            include_columns=list(map(str, types)),
            column_types={str(at): kind for at, kind in types.items()},
            null_values=[],
            strings_can_be_null=False,
        ),
    )
    with file.open() as stream:
        plain = len(layout.separator) == 1
        source = stream if plain else _Separated(stream, layout.separator)
        return arrow_csv.read_csv(source, *options), limited(stream).n_lines


def _read_as_text(file: TableFile, layout: Layout, roles: Roles) -> Rows:
    """Return the rows of a text file, cells as text, with the line of each and what cannot be split."""
    import pyarrow.compute as pc

    n_columns, broken = len(layout.columns.names), dict[int, Any]()

    def note(row: Any) -> str:
        broken[row.number - 1 - layout.n_skipped] = row
        return "skip"

    cells, _ = _cells(file, layout, dict.fromkeys(range(n_columns), pa.string()), note)
    whole = np.ones(len(cells) + len(broken), np.bool_)
    whole[[*broken]] = False
    breaks, filled = np.zeros(len(whole), np.int64), np.zeros(len(cells), np.bool_)
    breaks[~whole] = [row.text.count("\n") for row in broken.values()]
    for column in cells.columns:
        breaks[whole] += to_numpy(pc.count_substring(column, "\n").cast(pa.int64()))
        filled |= to_numpy(pc.utf8_length(pc.utf8_trim_whitespace(column)).cast(pa.int64())) > 0
    lines = layout.n_skipped + 1 + np.arange(len(breaks)) + np.cumsum(breaks) - breaks
    several = np.flatnonzero(whole & (breaks > 0))
    texts = cells.take(to_arrow((np.cumsum(whole) - 1)[several])).to_pylist()
    swallowing = [
        *np.flatnonzero(~whole & (breaks > 0)),
        *(row for row, cell_of in zip(several, texts, strict=True) if _has_rows([*cell_of.values()], layout)),
    ]
    if swallowing:
        row = min(swallowing)
        raise SchemaError(
            f"{file}, line {lines[row]}: a quoted field that begins here goes over {breaks[row] + 1:,} lines "
            f"and swallows rows: is a quote not closed? Correct the line{_without_quotes(roles)}."
        )
    bad = [at for at, row in broken.items() if row.text.strip(layout.separator + " \t\r\n")]
    reason = f"the row does not have {n_columns} columns"
    problems = [Problem(reason, lines[bad], f"{broken[bad[0]].actual_columns} columns")] if bad else []
    kept = cells if filled.all() else cells.filter(pa.array(filled))
    for at in {*layout.columns.further, *_ids_of(layout)}:  # an id in many rows takes memory once
        kept = kept.set_column(at, str(at), kept.column(at).dictionary_encode())
    return layout.rows(file, kept, lines[whole][filled], problems=tuple(problems))


def _ids_of(layout: Layout) -> list[int]:
    return [at for role, at in layout.columns.positions.items() if role in _IDS]


def _has_rows(row: Sequence[str], layout: Layout) -> bool:
    """Whether a row over several lines holds what are rows, or goes on over lines in an id.

    Text over several lines is usual in a column that is not read, such as a review. What is not: lines inside
    a field that have all columns, and numbers where numbers must be.
    """
    if any("\n" in row[at].strip() for at in _ids_of(layout)) or max(map(len, row)) > _LONGEST:
        return True
    # Without a number to look at, text with as many separators could be anything.
    numbers = [at for role, at in layout.columns.positions.items() if role in (*NUMBERS, "time")]
    inside = [line.split(_sign(layout.separator)) for field in row for line in field.strip().splitlines()[1:]]
    rows = [cells for cells in inside if len(cells) == len(row)]
    return bool(numbers) and any(all(is_value(cells[at]) for at in numbers) for cells in rows)


def _without_quotes(roles: Roles) -> str:
    words = roles.setting.format("quotes", "false")
    return "" if roles.of_lists or not roles.names else f", or set {words} if quotes are ordinary characters"


def find_layout(file: TableFile, roles: Roles, how: TextFormat) -> Layout:
    """Return the layout of a text file."""
    number, line, more = _first_lines(file)
    if how.separator is None and (excel := _EXCEL.fullmatch(line.strip())) and more:
        how, number, line, more = replace(how, separator=excel[1]), number + 1, more[0], more[1:]
    separator = how.separator or _separator_of(file, line, roles)
    quotes = bool(separator) and (_has_quotes(line, separator) if how.quotes is None else how.quotes)
    try:
        first = _split([line], separator, quotes=quotes)[0]
    except csv.Error as error:
        raise SchemaError(
            f"{file}: its first line {shown(line[:200])} cannot be read: {error}. If lines end in a single "
            f"carriage return, write them again with line feeds{_without_quotes(roles)}."
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
        bool(roles.cells.missing or roles.cells.thousands or roles.cells.decimal != "."),
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
