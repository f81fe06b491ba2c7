"""Reads delimited text: CSV, TSV, fields parted by ``::``, and RecBole's atomic files."""

import io
from collections.abc import Callable
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from recgauge.datasets._table.files import TableFile
from recgauge.datasets._table.layout import Layout, TextFormat, find_layout
from recgauge.datasets._table.part import Part, Problem
from recgauge.datasets._table.quotes import refuse_swallowed_rows
from recgauge.datasets._table.roles import Role, Roles
from recgauge.utils.checks import LongArray

if TYPE_CHECKING:
    import pyarrow as pa

_UNIT_SEPARATOR = "\x1f"  # stands for separators of several signs, which pyarrow does not know

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
        If the layout cannot be told, or a quote that is not closed swallows rows.
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
    with file.open() as stream:
        source = _Source(stream, layout.separator, layout.n_skipped if refuse_quotes else None)
        table = _read(source, layout, how, keep_broken)
    return {role: table.column(str(position)) for role, position in layout.positions.items()}


def _read(
    source: "_Source", layout: Layout, how: TextFormat, keep_broken: Callable[[Any], str] | None
) -> "pa.Table":
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
    return arrow_csv.read_csv(
        source,
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
    """Hands bytes on and replaces separators of several signs.

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
