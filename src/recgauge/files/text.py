"""Reads delimited text: CSV, TSV, ``::``, RecBole's atomic files, and TREC's columns between blanks."""

import codecs
import csv
import io
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import IO, Any

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv

from recgauge.errors import SchemaError
from recgauge.files.columns import Columns, Role, Wanted, is_date, is_flag
from recgauge.files.limits import BLOCK
from recgauge.files.opening import TableFile, lines_read
from recgauge.files.rows import NUMBERS, Lines, Problem, RawRows
from recgauge.utils.arrow import to_numpy
from recgauge.utils.checks import BoolArray, LongArray, shown

_UNIT_SEPARATOR = "\x1f"  # represents separators of several characters, which pyarrow and csv do not know
_BLOCK = 1 << 22  # each block has dictionaries of its own: fewer than with pyarrow's 1 MiB
_SAMPLE, _SAMPLE_ROWS = 1 << 16, 100  # bytes and rows that tell how a file is laid out
_SEPARATORS = ("::", "\t", ";", ",", "|")
_QUOTED = (",", ";")
_SAID = re.compile(r'"?sep=(.)"?', re.IGNORECASE)  # what Excel writes before the header
_IDS: tuple[Role, ...] = ("user", "item", "tag", "event")
_LONGEST = 1 << 17  # characters of a field over several lines


@dataclass(frozen=True)
class TextFormat:
    """How text is to be read; None means: taken from the first lines."""

    separator: str | None = None  # one or more characters
    header: bool | None = None
    quotes: bool | None = None  # found out: with commas and semicolons, or if the first line has some


@dataclass(frozen=True)
class Layout:
    """How a text file is laid out."""

    columns: Columns
    separator: str  # empty: blanks, any number of them
    quotes: bool
    n_skipped: int  # lines before the first row
    texts: bool = False  # whether numbers are read as text
    dates: bool = False  # whether times are text

    def rows(self, file: TableFile, cells: pa.Table, lines: Lines | None, **more: Any) -> RawRows:
        """Return rows that have been read, with how the file is laid out in words."""
        sign = {"\t": "tab", "": "blanks"}.get(self.separator, repr(self.separator))
        header = "header" if self.columns.header else "no header"
        columns = [cells.column(str(at)) for at in self.columns.used]
        return RawRows.of(
            file, self.columns, columns, lines, header=header, layout=f"separator {sign}", **more
        )


FindLayout = Callable[[TableFile, Wanted, TextFormat], Layout]


def read_text(file: TableFile, wanted: Wanted, how: TextFormat, find: FindLayout | None = None) -> RawRows:
    """Return the rows of a text file; `find` says how it is laid out.

    Without blank lines, the line of each row is known; `RawRows.again` reads in a way that always knows.
    """
    layout = (find or find_layout)(file, wanted, how)
    again = partial(_read_carefully, file, layout)
    types = _types(layout, wanted)
    try:
        try:
            # Without a quote in the file, looking for quoted fields would cost half as much time again.
            cells, n_lines = _cells(file, layout, types, quotes=False, refuse_quotes=layout.quotes)
        except _QuoteFoundError:
            cells, n_lines = _cells(file, layout, types, quotes=True)
    except MemoryError:  # Arrow's is an ArrowException, too
        raise
    except pa.ArrowException:  # a cell or row is bad
        return again()
    all_rows = n_lines == layout.n_skipped + len(cells)
    if layout.quotes and not all_rows:  # fields may go on over lines
        return again()
    return layout.rows(
        file, cells, range(layout.n_skipped + 1, n_lines + 1) if all_rows else None, again=again
    )


def _types(layout: Layout, wanted: Wanted) -> dict[int, pa.DataType]:
    """Return the type of each column that is read."""
    # Ids become a dictionary while they are read: as exact as text, and nearly as fast as numbers.
    ids = pa.dictionary(pa.int32(), pa.string())
    types = dict.fromkeys(layout.columns.used, pa.string())
    for role, at in layout.columns.roles.items():
        if role in _IDS:
            types[at] = ids
        elif role == "time" and not layout.dates:
            types[at] = pa.int64()
        elif role in NUMBERS and not layout.texts:
            types[at] = pa.float32() if role == "rating" and not wanted.of_lists else pa.float64()
    return types | dict.fromkeys(layout.columns.others, ids)


def _cells(
    file: TableFile,
    layout: Layout,
    types: Mapping[int, pa.DataType],
    *,
    quotes: bool,
    refuse_quotes: bool = False,
    broken: "Callable[[Any], str] | None" = None,
) -> tuple[pa.Table, int]:
    """Return columns, called by their positions, and how many lines the file has.

    `broken` is told of rows with a wrong number of columns; lines that are empty are rows then.
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
            quote_char='"' if quotes else False,
            newlines_in_values=quotes,
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
        source = _Source(stream, layout.separator, layout.n_skipped if refuse_quotes else None)
        return arrow_csv.read_csv(source, *options), lines_read(stream)


def _read_carefully(file: TableFile, layout: Layout) -> RawRows:
    """Return the rows of a text file, cells as text, with the line of each and what cannot be split."""
    import pyarrow.compute as pc

    n_columns, broken = len(layout.columns.names), []

    def note(row: Any) -> str:
        blank = not row.text.strip(layout.separator + " \t\r\n")
        broken.append((row.number - 1 - layout.n_skipped, row.text.count("\n"), blank, row.actual_columns))
        return "skip"

    texts = dict.fromkeys(range(n_columns), pa.string())
    cells, _ = _cells(file, layout, texts, quotes=layout.quotes, broken=note)
    breaks = np.zeros(len(cells) + len(broken), np.int64)
    whole = np.ones(len(breaks), np.bool_)
    whole[[at for at, *_ in broken]] = False
    breaks[~whole] = [n for _, n, *_ in broken]
    filled = np.zeros(len(cells), np.bool_)
    for column in cells.columns:
        breaks[whole] += to_numpy(pc.count_substring(column, "\n").cast(pa.int64()))
        filled |= to_numpy(pc.utf8_length(pc.utf8_trim_whitespace(column)).cast(pa.int64())) > 0
    lines = layout.n_skipped + 1 + np.arange(len(breaks)) + np.cumsum(breaks) - breaks
    _refuse_swallowed(file, layout, cells, breaks, whole, lines)
    bad = [(at, count) for at, _, blank, count in broken if not blank]
    reason = f"the row does not have {n_columns} columns"
    problem = Problem(reason, lines[[at for at, _ in bad]], f"{bad[0][1]} columns") if bad else None
    for at in {*layout.columns.others, *(at for role, at in layout.columns.roles.items() if role in _IDS)}:
        cells = cells.set_column(at, str(at), cells.column(at).dictionary_encode())
    kept = cells if filled.all() else cells.filter(pa.array(filled))
    return layout.rows(file, kept, lines[whole][filled], broken=(problem,) if problem else ())


def _refuse_swallowed(
    file: TableFile, layout: Layout, cells: pa.Table, breaks: LongArray, whole: BoolArray, lines: LongArray
) -> None:
    """Refuse a quoted field that holds what are rows, or goes on over lines in an id.

    Text over several lines is usual in a column that is not read, such as a review. What is not: an id with a
    line break, a row over several lines without the right number of columns, or lines inside a field that
    have all columns and numbers where numbers must be.
    """
    rows = np.flatnonzero(whole & (breaks > 0))
    columns = cells.take(np.searchsorted(np.flatnonzero(whole), rows)).to_pydict().values()
    bad = [*np.flatnonzero(~whole & (breaks > 0))[:1]]
    bad += [at for at, row in zip(rows, zip(*columns, strict=True), strict=False) if _swallows(row, layout)][
        :1
    ]
    if bad:
        at = min(bad)
        raise SchemaError(
            f"{file}, line {lines[at]}: a quoted field that begins here goes over {breaks[at] + 1:,} lines "
            f"and swallows rows: is a quote not closed? Correct the line{_if_quotes_are_signs(file)}."
        )


def _swallows(row: Sequence[str], layout: Layout) -> bool:
    at = layout.columns.roles
    if any("\n" in row[at[role]].strip() for role in _IDS if role in at) or max(map(len, row)) > _LONGEST:
        return True
    # Without a number to look at, text with as many separators could be anything.
    numbers = [at[role] for role in (*NUMBERS, "time") if role in at]
    sign = _sign(layout.separator)
    inside = (line.split(sign) for field in row for line in field.strip().splitlines()[1:])
    return bool(numbers) and any(
        len(cells) == len(row) and all(_is_number(cells[place]) for place in numbers) for cells in inside
    )


def _is_number(cell: str) -> bool:
    try:
        return math.isfinite(float(cell))
    except ValueError:
        return is_date(cell)


def _if_quotes_are_signs(file: TableFile) -> str:
    return ", or set dataset.quotes=false if quotes are ordinary characters" if file.limits.adjustable else ""


def find_layout(file: TableFile, wanted: Wanted, how: TextFormat) -> Layout:
    """Return the layout of a text file."""
    number, line, more = first_lines(file)
    if how.separator is None and (said := _SAID.fullmatch(line.strip())) and more:
        how, number, line, more = replace(how, separator=said[1]), number + 1, more[0], more[1:]
    one = not wanted.names and not set(line.strip()) & set("\t;,| :")
    separator = how.separator or ("," if one else "") or _guess_separator(file, line, wanted)
    quotes = bool(separator) and (_has_quotes(line, separator) if how.quotes is None else how.quotes)
    try:
        first = _split([line], separator, quotes=quotes)[0]
    except csv.Error as error:
        raise SchemaError(
            f"{file}: its first line {shown(line[:200])} cannot be read: {error}. If lines end in a single "
            f"carriage return, write them again with line feeds{_if_quotes_are_signs(file)}."
        ) from error
    file.limits.check("columns", len(first), file)
    below: list[list[str]] = []
    with suppress(csv.Error):  # the reading of the rows says where
        below = _split(more, separator, quotes=quotes)
    if len(first) == 1 and wanted.names:
        raise _one_column(file, line)
    header = wanted.has_header([first, *below], file, how.header)
    rows = below if header else [first, *below]
    samples = [
        [row[at].strip() for row in rows if len(row) > at and row[at].strip()] for at in range(len(first))
    ]
    columns = wanted.columns(
        first if header else [*map(str, range(len(first)))],
        str(file) if header else f"{file}, line {number} {shown(line[:200])} (no header)",
        {at for at, cells in enumerate(samples) if cells and all(map(is_flag, cells))},
        header=header,
    )
    return Layout(
        columns,
        separator,
        quotes,
        number if header else number - 1,
        bool(wanted.cells.missing or wanted.cells.thousands or wanted.cells.decimal != "."),
        "time" in columns.roles and not all(cell.isdecimal() for cell in samples[columns.roles["time"]]),
    )


def _split(lines: Iterable[str], separator: str, *, quotes: bool) -> list[list[str]]:
    """Return the cells of the lines that are not blank."""
    if not quotes:
        return [line.split(separator or None) for line in lines if line.strip()]
    sign = _sign(separator)
    return [
        row for row in csv.reader((line.replace(separator, sign) for line in lines), delimiter=sign) if row
    ]


def _sign(separator: str) -> str:
    return separator if len(separator) == 1 else _UNIT_SEPARATOR


def first_lines(file: TableFile) -> tuple[int, str, list[str]]:
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
    remedy = (
        "Set dataset.encoding, for example to" if file.limits.adjustable else "Convert the file, perhaps from"
    )
    return SchemaError(f"{file}, line {number} is not utf-8 text. {remedy} {likely}.")


def _has_quotes(line: str, separator: str) -> bool:
    cells = line.split(separator)
    return separator in _QUOTED or any(len(cell) > 1 and cell[0] == cell[-1] == '"' for cell in cells)


def _guess_separator(file: TableFile, line: str, wanted: Wanted) -> str:
    """Return what separates the cells of the first line; empty: blanks."""
    unquoted = re.sub('"[^"]*"', "", line)
    counts = {separator: unquoted.count(separator) for separator in _SEPARATORS}
    best = next((one for one in ("::", "\t") if counts[one]), max(counts, key=lambda sign: counts[sign]))
    if counts[best]:
        return best
    if " " in line.strip() and (wanted.of_lists or not wanted.names or _has_names(line, wanted)):
        return ""
    raise _one_column(file, line)


def _has_names(line: str, wanted: Wanted) -> bool:
    try:
        wanted.columns(line.split(), "")
    except SchemaError:
        return False
    return True


def _one_column(file: TableFile, line: str) -> SchemaError:
    remedy = "Set dataset.separator, or dataset.format=user_lines if each line is a user followed by items"
    if not file.limits.adjustable:
        remedy = "Separate columns by commas, tabs, semicolons, | or blanks"
    shape = shown(line[:200])
    return SchemaError(f"{file}: cannot tell what separates the fields of its first line {shape}. {remedy}.")


class _QuoteFoundError(Exception):
    """A file has quotes, so that its fields may be quoted."""


class _Source(io.RawIOBase):
    """Hands bytes on with one sign for each separator of several characters, and for each run of blanks.

    With `quoteless_after`, a quote after so many lines, which must fit into the first block, is an error.
    """

    def __init__(self, stream: IO[bytes], separator: str, quoteless_after: int | None = None) -> None:
        self._stream, self._separator, self._quoteless_after = stream, separator.encode(), quoteless_after
        self._rest = b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if len(self._separator) == 1:
            block = self._stream.read(size)
        else:
            if not self._rest:  # whole lines: no separator is cut in two
                self._rest = self._separated(self._stream.read(BLOCK) + self._stream.readline())
            block, self._rest = self._rest[:size], self._rest[size:]
        if self._quoteless_after is not None:
            if b'"' in block.split(b"\n", self._quoteless_after)[-1]:
                raise _QuoteFoundError
            self._quoteless_after = 0
        return block

    def _separated(self, lines: bytes) -> bytes:
        sign = _UNIT_SEPARATOR.encode()
        if self._separator:
            return lines.replace(self._separator, sign)
        return re.sub(rb"[ \t]+", sign, re.sub(rb"^[ \t]+|[ \t\r]+$", b"", lines, flags=re.MULTILINE))
