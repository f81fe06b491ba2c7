"""Reads delimited text: CSV, TSV, ``::``, RecBole's atomic files, and TREC's columns between blanks."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import IO, Any

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv

from recgauge.errors import ColumnsError, QuestionError, SchemaError
from recgauge.files.columns import (
    ITEMS,
    USERS,
    Columns,
    Role,
    Roles,
    are_flags,
    are_kinds,
    is_usual,
    is_value,
)
from recgauge.files.limits import BLOCK
from recgauge.files.opening import TableFile
from recgauge.files.rows import NUMBERS, Lines, Rows, broken_rows, rewriting
from recgauge.utils.arrow import to_arrow, to_numpy
from recgauge.utils.checks import shown

_UNIT_SEPARATOR = "\x1f"  # represents separators of several characters, which pyarrow and csv do not know
_BLOCK = 1 << 22  # each block has dictionaries of its own: fewer than with pyarrow's 1 MiB
_SAMPLE, _SAMPLE_ROWS = 1 << 16, 100  # bytes and rows that tell how a file is laid out
_SEPARATORS = ("::", "\t", ";", ",", "|")
_QUOTED = (",", ";")
_TITLE = 20  # lines that may hold a title above the header
_MATRIX = 7  # columns that may be a user and the items of a matrix
_IDS: tuple[Role, ...] = ("user", "item", "tag", "event")
_ID = pa.dictionary(pa.int32(), pa.string())  # as exact as text, and nearly as fast as numbers


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
        if n_lines == layout.n_skipped + len(cells) and not _may_be_empty(cells, layout):
            return _rows(file, layout, cells, range(layout.n_skipped + 1, n_lines + 1))
        break
    return _read_line_by_line(file, layout, roles)


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


def _cells(
    file: TableFile,
    layout: Layout,
    types: Mapping[str, pa.DataType],
    broken: Callable[[Any], str] | None = None,
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
            ignore_empty_lines=broken is None,
            invalid_row_handler=broken,
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


def _may_be_empty(cells: pa.Table, layout: Layout) -> bool:
    """Whether every column of ids has an empty cell, as in a file with a row that has no cell at all."""
    import pyarrow.compute as pc

    ids = [at for role, at in layout.columns.positions.items() if role in ("user", "item")]
    columns = [cells.column(str(at)) for at in ids or layout.columns.further]
    lengths = [[to_numpy(pc.binary_length(chunk.dictionary)) for chunk in own.chunks] for own in columns]
    return not any(all(chunk.all() for chunk in own) for own in lengths)


def _rows(file: TableFile, layout: Layout, cells: pa.Table, lines: Lines, **more: Any) -> Rows:
    """Return rows that have been read, with how the file is laid out in words."""
    sign = {"\t": "tab", "": "blanks"}.get(layout.separator, repr(layout.separator))
    header = "header" if layout.columns.header else "no header"
    columns = [cells.column(str(at)) for at in layout.columns.used]
    words = {
        "header": header,
        "layout": f"separator {sign}",
        "separator": layout.separator * layout.columns.header,
    }
    return Rows.of(file, layout.columns, columns, lines, **words, **more)


def _read_line_by_line(file: TableFile, layout: Layout, roles: Roles) -> Rows:
    """Return the rows of a text file, cells as text, with the line of each and what cannot be split."""
    import pyarrow.compute as pc

    n_columns, broken = len(layout.columns.names), dict[int, Any]()

    def note(row: Any) -> str:
        broken[row.number - 1 - layout.n_skipped] = row
        return "skip"

    try:
        cells, n_lines = _cells(file, layout, dict.fromkeys(map(str, range(n_columns)), pa.string()), note)
    except pa.ArrowInvalid as error:
        raise _unsplit(file, layout, roles) from error
    n_rows = n_lines - layout.n_skipped
    if len(cells) + len(broken) != n_rows:
        raise _unsplit(file, layout, roles)
    filled = np.zeros(len(cells), np.bool_)
    for column in cells.columns:
        filled |= to_numpy(pc.utf8_length(pc.utf8_trim_whitespace(column)).cast(pa.int64())) > 0
    lines = layout.n_skipped + 1 + np.delete(np.arange(n_rows), [*broken])
    bad = [row for row in broken.values() if row.text.strip(layout.separator + " \t\r\n")]
    problems = broken_rows(
        f"the row does not have {n_columns} columns",
        [(row.number, f"{row.actual_columns} columns") for row in bad],
    )
    types = _types(layout, roles, texts=True)  # an id in many rows takes memory once
    cells = cells.filter(to_arrow(filled)).select([*types]).cast(pa.schema(types))
    return _rows(file, layout, cells, lines[filled], problems=problems)


def _has_quoted(file: TableFile, layout: Layout) -> bool:
    """Whether a field of the first rows is in quotes, which are then no part of it."""
    end = re.escape(layout.separator.encode())
    with file.open() as stream:
        return bool(re.search(rb'(?m)(^|%b)"[^"\n]+"(%b|\r?$)' % (end, end), stream.read(BLOCK)))


def _unsplit(file: TableFile, layout: Layout, roles: Roles) -> SchemaError:
    """Return the error that names the first line in which a field does not end; ask if quotes are text."""
    line, reason = 0, "a quoted field goes over several lines, perhaps as a quote is not closed"
    with file.open() as stream:
        text = io.TextIOWrapper(_separated(stream, layout), "utf-8", newline="\n")
        rows = csv.reader(text, delimiter=_sign(layout.separator))
        try:
            line = next((line for line, _ in enumerate(rows, start=1) if rows.line_num > line), 0)
        except csv.Error as error:
            line, reason = rows.line_num, str(error)
        if rows.line_num <= layout.n_skipped:  # pyarrow wants an end of the last line of a header
            return SchemaError(f"{file}: has a header and no rows. Name a file with rows.")
    problem = f"{file}, line {line}: {reason}. Correct the line"
    if roles.setting in ("dataset.{}={}", "split.{}={}") and not _has_quoted(file, layout):
        word = roles.setting.format("quotes", "false")
        try:
            _cells(file, replace(layout, quotes=False), {"0": pa.string()})
            return QuestionError(f"{problem}; where quotes are ordinary characters: {word}.", answers=[word])
        except pa.ArrowInvalid:  # a separator in quotes
            pass
    return SchemaError(
        f"{problem}; if its field has several lines, write the table as Parquet, in Python: "
        'pandas.read_csv("FILE", dtype=str, keep_default_na=False).to_parquet("FILE.parquet").'
    )


def find_layout(file: TableFile, roles: Roles, how: TextFormat) -> Layout:
    """Return the layout of a text file."""
    n_blank, lines = _first_lines(file)
    line = shown(lines[0][:200])
    headers = [at for at, text in enumerate(lines[:_TITLE], n_blank + 1) if _names_pair(text)]
    if not headers or roles.choices.get("user") is not None:
        headers = [n_blank + 1 + _n_titles(lines, how.separator)]
    if roles.names and not roles.of_lists and headers[0] > n_blank + 1:
        raise SchemaError(
            f"{file}: the table seems to begin in line {headers[0]}, below a title or comment. Write the "
            f"file from there: tail -n +{headers[0]} FILE > NEW."
        )
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
        blanks = "; tr -s ' ' , < FILE > NEW makes commas of blanks" * ("  " in lines[0])
        raise SchemaError(
            f"{file}: cannot tell what separates the fields of its first line {line}. Say it "
            f"({words('separator', 'TEXT')}){blanks}{'' if roles.of_lists else users}."
        )
    file.limits.check("columns", len(rows[0]), file)
    try:
        header = roles.has_header(rows, file, separator, how.header)
        names = rows[0] if header else [*map(str, range(len(rows[0])))]
        samples = _samples(rows[1:] if header else rows, len(names))
        columns = roles.columns(
            names,
            str(file) if header else f"{file}, line {n_blank + 1} {line} (no header)",
            {at for at, cells in enumerate(samples) if cells and (are_flags(cells) or are_kinds(cells))},
            header=header,
        )
    except ColumnsError as error:
        raise _without_pairs(error, file, roles, rows, separator) from None
    time = columns.positions.get("time")
    dates = time is not None and not all(cell.isdecimal() for cell in samples[time])
    return Layout(columns, separator, n_blank + header, quotes, dates)


def _names_pair(line: str) -> bool:
    """Whether a line has usual names of the user and of the item, as a header has."""
    cells = [cell.strip(' "') for cell in line.split(_separator_of(line) or None)]
    return all(any(is_usual(cell, names) for cell in cells) for names in (USERS, ITEMS))


def _n_titles(lines: Sequence[str], separator: str | None) -> int:
    """Return how many of the first lines are comments, or titles without what separates others."""
    rest = (at for at, line in enumerate(lines) if not _is_title(line, lines[at + 1 :], separator))
    return next(rest, 0)


def _is_title(line: str, below: Sequence[str], separator: str | None) -> bool:
    """Whether a line is a comment unlike the lines below, or lacks what separates most of them."""
    sign = separator or _separator_of(line)
    n_cells = len(line.split(sign or None))
    is_alike = n_cells > 1 and any(len(row.split(sign or None)) == n_cells for row in below)
    if (is_alike and sign) if line.startswith("#") else (is_alike or (sign and n_cells > 1)):
        return False
    signs = [(separator or _separator_of(row), row) for row in below if row.strip()]
    return 2 * sum(sign != "" and sign in row for sign, row in signs) > len(signs)


def _samples(rows: Sequence[Sequence[str]], n_columns: int) -> list[list[str]]:
    """Return the cells of each column that are not blank."""
    return [[row[at].strip() for row in rows if len(row) > at and row[at].strip()] for at in range(n_columns)]


def _without_pairs(
    error: ColumnsError, file: TableFile, roles: Roles, rows: Sequence[Sequence[str]], separator: str
) -> SchemaError:
    """Return the error of a header alone, or of a matrix of users and items, else the one that was raised."""
    first, below = rows[0], rows[error.header :]
    if len(rows) == 1 and any(map(roles.is_name, first)) and not any(map(is_value, first)):
        return SchemaError(f"{file}: has a header and no rows. Name a file with rows.")
    names = first if error.header else [*map(str, range(len(first)))]
    positions = roles.positions(names, header=error.header)[0]
    if roles.of_lists and {*error.choices} <= {"rank"} and {"user", "item"} <= {*positions}:
        return _with_ranks(error, file, names, positions, separator)
    texts = [at for at, cells in enumerate(_samples(below, len(first))) if not are_flags(cells)]
    users = positions.get("user") if error.header else None
    index = texts[0] if texts else 0 if error.header and not first[0] else users
    if roles.of_lists or "item" not in error.choices or len(first) < _MATRIX or {*texts} - {index}:
        return error
    options = f"index_col={index}, dtype={{{index}: str}}" if index is not None else "index_col=False"
    options += ", header=None" * (not error.header)
    melted = 't.melt(ignore_index=False, var_name="item", value_name="rating").reset_index(names="user")'
    words = rewriting(file, f't = {melted}.query("rating != 0").dropna()', options, separator)
    columns = " ".join(roles.option.format(role, "COLUMN") for role in error.choices)
    return SchemaError(
        f"{file}: seems to have a row for each user and a column of numbers for each item. A row is to be "
        f"one user and one item{words and f'; this writes such rows, without empty cells and 0: {words}'}. "
        f"If it has, name the columns: {columns}."
    )


def _with_ranks(
    error: ColumnsError, file: TableFile, names: Sequence[str], positions: Mapping[Role, int], separator: str
) -> ColumnsError:
    """Return the error of lists without ranks or scores with what numbers the rows of each list."""
    role_at = {} if error.header else {at: role for role, at in positions.items()}
    texts = [json.dumps(role_at.get(at, name), ensure_ascii=False) for at, name in enumerate(names)]
    change = f't["rank"] = t.groupby({texts[positions["user"]]}).cumcount() + 1'
    options = "" if error.header else f"names=[{', '.join(texts)}], dtype=str, keep_default_na=False"
    words = rewriting(file, change, options, separator)
    text = f" If rows are in the order of each list, this adds ranks: {words}." if words else ""
    return ColumnsError(f"{error}{text}", error.choices, header=error.header)


def _first_lines(file: TableFile) -> tuple[int, list[str]]:
    """Return how many blank lines a file begins with, and the first lines behind them."""
    with file.open() as stream:
        text = io.TextIOWrapper(stream, "utf-8-sig", newline="\n")
        lines = [*text.readlines(_SAMPLE), text.readline()]  # a header may be longer than the sample
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
