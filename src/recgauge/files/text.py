"""Reads delimited text: CSV, TSV, ``::``, RecBole's atomic files, and TREC's columns between blanks."""

import codecs
import csv
import io
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from recgauge.errors import SchemaError
from recgauge.files.columns import Role, Wanted, bare, is_date, is_flag
from recgauge.files.limits import BLOCK
from recgauge.files.lists import labels_of, lists_in_columns
from recgauge.files.opening import TableFile, lines_read
from recgauge.files.rows import NUMBERS, Lines, Problem, RawRows
from recgauge.utils.checks import shown

if TYPE_CHECKING:
    import pyarrow as pa

_UNIT_SEPARATOR = "\x1f"  # represents separators of several characters, which pyarrow and csv do not know
_BLOCK = 1 << 22  # each block has dictionaries of its own: fewer than with pyarrow's 1 MiB
_SAMPLE, _SAMPLE_ROWS = 1 << 16, 100  # bytes and rows that tell how a file is laid out
_SEPARATORS = ("::", "\t", ";", ",", "|")
_QUOTED = (",", ";")
_SAID = re.compile(r'"?sep=(.)"?', re.IGNORECASE)  # what Excel writes before the header
_IDS: tuple[Role, ...] = ("user", "item", "tag", "event")
_ROWS_AT_A_TIME = 1 << 12  # which stay near the processor
_ANY = Wanted({}, (), needed=(), of_lists=True)


@dataclass(frozen=True)
class TextFormat:
    """How text is to be read; None means: taken from the first lines."""

    separator: str | None = None  # one or more characters
    header: bool | None = None
    quotes: bool | None = None  # found out: with commas and semicolons, or if the first line has some


@dataclass(frozen=True)
class Layout:
    """How a text file is laid out."""

    separator: str  # empty: blanks, any number of them
    quotes: bool
    names: tuple[str, ...]  # of all columns; empty without a header
    n_columns: int
    n_skipped: int  # lines before the first row
    positions: dict[Role, int]
    numbered: tuple[int, ...] = ()  # columns of a list, in their order
    others: tuple[int, ...] = ()  # columns to be looked at, or kept
    unused: tuple[str, ...] = ()
    texts: bool = False  # whether numbers are read as text
    dates: bool = False  # whether times are text

    @property
    def columns(self) -> list[int]:
        """All columns that are read."""
        return list(dict.fromkeys([*self.positions.values(), *self.numbered, *self.others]))

    def name(self, at: int) -> str:
        """Return the name of a column, its number where there is no header."""
        return self.names[at] if self.names else str(at)

    def rows(
        self,
        file: TableFile,
        columns: "Mapping[int, pa.ChunkedArray]",
        lines: Lines | None,
        broken: tuple[Problem, ...] = (),
    ) -> RawRows:
        """Return rows that have been read, with how the file is laid out in words."""
        names = self.names or [f"column {at}" for at in range(self.n_columns)]
        cells: dict[Role, Any] = {role: columns[at] for role, at in self.positions.items()}
        if self.numbered:
            cells["items"] = lists_in_columns([columns[at] for at in self.numbered])
        sign = {"\t": "tab", "": "blanks"}.get(self.separator, repr(self.separator))
        return RawRows(
            file,
            cells,
            labels_of(names, self.positions, self.numbered),
            lines,
            broken=broken,
            header="header" if self.names else "no header",
            layout=f"separator {sign}",
            others={self.name(at): columns[at] for at in self.others},
            unused=self.unused,
        )


def read_fast(file: TableFile, layout: Layout, wanted: Wanted) -> RawRows:
    """Return the rows of a text file, or raise an ArrowException at the first cell that is no number.

    Without blank lines, the line of each row is known.
    """
    try:
        # Without a quote in the file, looking for quoted fields would cost half as much time again.
        columns, n_lines = _columns(file, replace(layout, quotes=False), wanted, refuse_quotes=layout.quotes)
    except _QuoteFoundError:
        columns, n_lines = _columns(file, layout, wanted)
        if n_lines != layout.n_skipped + len(columns[layout.positions["user"]]):  # fields go on over lines
            return read_carefully(file, layout)
    all_rows = n_lines == layout.n_skipped + len(columns[layout.positions["user"]])
    lines = range(layout.n_skipped + 1, n_lines + 1) if all_rows else None
    return layout.rows(file, columns, lines)


def _columns(
    file: TableFile, layout: Layout, wanted: Wanted, *, refuse_quotes: bool = False
) -> tuple[dict[int, "pa.ChunkedArray"], int]:
    """Return the columns, and how many lines the file has."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    # Ids become a dictionary while they are read: as exact as text, and nearly as fast as numbers.
    ids = pa.dictionary(pa.int32(), pa.string())
    types = dict.fromkeys(layout.columns, pa.string())
    for role, at in layout.positions.items():
        if role in _IDS:
            types[at] = ids
        elif role == "time":
            types[at] = pa.string() if layout.dates else pa.int64()
        elif role in NUMBERS and not layout.texts:
            types[at] = pa.float32() if role == "rating" and not wanted.of_lists else pa.float64()
    types |= dict.fromkeys(layout.others, ids)
    columns = {str(at): kind for at, kind in types.items()}
    options = (
        arrow_csv.ReadOptions(
            block_size=_BLOCK,
            skip_rows=layout.n_skipped,
            column_names=[str(position) for position in range(layout.n_columns)],
        ),
        arrow_csv.ParseOptions(
            delimiter=_sign(layout.separator),
            quote_char='"' if layout.quotes else False,
            newlines_in_values=layout.quotes,
        ),
        arrow_csv.ConvertOptions(
            include_columns=list(columns),
            column_types=columns,
            null_values=[],
            strings_can_be_null=False,
        ),
    )
    with file.open() as stream:
        source = _Source(stream, layout.separator, layout.n_skipped if refuse_quotes else None)
        table = arrow_csv.read_csv(source, *options)
        n_lines = lines_read(stream)
    return {at: table.column(str(at)) for at in layout.columns}, n_lines


def read_carefully(file: TableFile, layout: Layout) -> RawRows:
    """Return the rows of a text file, cells as text, with the line of each and what cannot be split."""
    import pyarrow as pa

    lines: list[int] = []
    broken: list[int] = []
    counts: list[int] = []

    def good_rows() -> Iterator[list[str]]:
        for line, row in _rows(file, layout):
            if line <= layout.n_skipped or not any(map(str.strip, row)):
                continue
            if len(row) == layout.n_columns:
                lines.append(line)
                yield row
            else:
                broken.append(line)
                counts.append(len(row))

    chunks: dict[int, list[pa.Array]] = {at: [] for at in layout.columns}
    ids = {*layout.others, *(at for role, at in layout.positions.items() if role in _IDS)}
    rows = good_rows()
    while batch := list(islice(rows, _ROWS_AT_A_TIME)):
        for at in layout.columns:
            column = pa.array([row[at] for row in batch], pa.string())
            chunks[at].append(column.dictionary_encode() if at in ids else column)
    columns = {at: pa.chunked_array(found, None if found else pa.string()) for at, found in chunks.items()}
    reason = f"the row does not have {layout.n_columns} columns"
    problems = (Problem(reason, np.array(broken, np.int64), f"{counts[0]} columns"),) if broken else ()
    return layout.rows(file, columns, np.array(lines, np.int64), problems)


def read_texts(file: TableFile, how: TextFormat) -> tuple["pa.Table", range, str]:
    """Return all columns of a text file with a header as texts, empty ones null, and what rows are called."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    number, line, _ = first_lines(file)
    one = not set(line.strip()) & set("\t;,| :")
    separator = how.separator or ("," if one else _guess_separator(file, line, _ANY))
    quotes = _has_quotes(line, separator)
    names = _split([line], separator, quotes=quotes)[0]
    file.limits.check("columns", len(names), file)
    sign = _sign(separator)
    with file.open() as stream:
        cells = arrow_csv.read_csv(
            _Source(stream, separator),
            arrow_csv.ReadOptions(block_size=_BLOCK, skip_rows=number, column_names=names),
            arrow_csv.ParseOptions(
                delimiter=sign, quote_char='"' if quotes else False, newlines_in_values=quotes
            ),
            arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.large_string()),
                null_values=[""],
                strings_can_be_null=True,
            ),
        )
        n_lines = lines_read(stream)
    if n_lines == number + len(cells):
        return cells, range(number + 1, n_lines + 1), "line"
    return cells, range(1, len(cells) + 1), "row"


def _rows(file: TableFile, layout: Layout) -> Iterator[tuple[int, list[str]]]:
    """Yield the cells of each row with its first line; bytes that are no text become halves of characters."""
    with file.open() as stream:
        texts = io.TextIOWrapper(stream, "utf-8-sig", "surrogateescape", newline="\n")
        if not layout.quotes:
            for number, text in enumerate(texts, start=1):
                yield number, text.rstrip("\r\n").split(layout.separator or None)
            return
        sign = _sign(layout.separator)
        rows = csv.reader((text.replace(layout.separator, sign) for text in texts), delimiter=sign)
        first = 1
        try:
            for row in rows:
                if rows.line_num > first > layout.n_skipped and _swallows(row, layout, sign):
                    raise _swallowing(file, first, f"over {rows.line_num - first + 1:,} lines")
                yield first, row
                first = rows.line_num + 1
        except csv.Error as error:  # a field of more than 128 KiB
            raise _swallowing(file, first, "over more than 128 KiB") from error


def _swallows(row: list[str], layout: Layout, separator: str) -> bool:
    """Whether a quoted field holds what are rows, or goes on over lines in an id.

    Text over several lines is usual in a column that is not read, such as a review. What is not: an id with a
    line break, a row over several lines without the right number of columns, or lines inside a field that
    have all columns and numbers where numbers must be.
    """
    at = layout.positions
    ids = [at[role] for role in _IDS if role in at]
    if len(row) != layout.n_columns or any("\n" in row[place].strip() for place in ids):
        return True
    # Without a number to look at, text with as many separators could be anything.
    numbers = [at[role] for role in (*NUMBERS, "time") if role in at]
    inside = (line.split(separator) for field in row for line in field.strip().splitlines()[1:])
    return bool(numbers) and any(
        len(cells) == layout.n_columns and all(_is_number(cells[place]) for place in numbers)
        for cells in inside
    )


def _is_number(cell: str) -> bool:
    try:
        return math.isfinite(float(cell))
    except ValueError:
        return is_date(cell)


def _swallowing(file: TableFile, line: int, length: str) -> SchemaError:
    return SchemaError(
        f"{file}, line {line}: a quoted field that begins here goes on {length} and swallows rows, so a "
        f"quote may not be closed. Correct the line{_if_quotes_are_signs(file)}."
    )


def _if_quotes_are_signs(file: TableFile) -> str:
    return ", or set dataset.quotes=false if quotes are ordinary characters" if file.limits.adjustable else ""


def find_layout(file: TableFile, wanted: Wanted, how: TextFormat) -> Layout:
    """Return the layout of a text file."""
    number, line, more = first_lines(file)
    if how.separator is None and (said := _SAID.fullmatch(line.strip())) and more:
        how, number, line, more = replace(how, separator=said[1]), number + 1, more[0], more[1:]
    separator = how.separator or _guess_separator(file, line, wanted)
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
    if len(first) == 1:
        raise _one_column(file, line)
    header = wanted.has_header([first, *below], file, how.header)
    if header:
        positions = wanted.by_name(first, str(file))
    else:
        positions = wanted.by_position(len(first), f"{file}, line {number} {shown(line[:200])} (no header)")
    names = tuple(map(bare, first)) if header else ()
    numbered = wanted.numbered(first, positions) if header else []
    rows = below if header else [first, *below]
    columns = [
        [row[at].strip() for row in rows if len(row) > at and row[at].strip()] for at in range(len(first))
    ]
    plain = names or tuple(map(str, range(len(first))))
    numbers = {at for at, cells in enumerate(columns) if cells and all(map(is_flag, cells))}
    used = {*positions.values(), *numbered}
    return Layout(
        separator,
        quotes,
        names,
        len(first),
        number if header else number - 1,
        positions,
        tuple(numbered),
        tuple(wanted.looked_at(plain, positions, numbers, file)),
        tuple(plain[at] for at in range(len(first)) if at not in used and plain[at] not in wanted.cells.keep),
        bool(wanted.cells.missing or wanted.cells.thousands or wanted.cells.decimal != "."),
        "time" in positions and not all(cell.isdecimal() for cell in columns[positions["time"]]),
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
    for certain in ("::", "\t"):
        if counts[certain]:
            return certain
    best = max(counts, key=lambda separator: counts[separator])
    if counts[best]:
        return best
    if " " in line.strip() and (wanted.of_lists or _has_names(line, wanted)):
        return ""
    raise _one_column(file, line)


def _has_names(line: str, wanted: Wanted) -> bool:
    try:
        wanted.by_name(line.split(), "")
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
