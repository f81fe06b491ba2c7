"""Reads files of recorded lists, relevance and histories as checked rows with their lines."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from recgauge.datasets._table.files import TableFile, find_files
from recgauge.datasets._table.ids import Ids, read_ids
from recgauge.datasets._table.limits import Limits
from recgauge.errors import RecgaugeError, SchemaError, shortened
from recgauge.recorded.cells import format_of, read_cells
from recgauge.recorded.columns import BadRows, Cells, Kind, Lines, ListFormat, Role, lines_at
from recgauge.recorded.per_user import as_python
from recgauge.utils.arrow import to_numpy
from recgauge.utils.checks import BoolArray, DoubleArray, LongArray
from recgauge.utils.memory import check_memory, memory_named

if TYPE_CHECKING:
    import pyarrow as pa

_BYTES_PER_ROW = 100  # of memory at the peak of reading
_NUMBERS: tuple[Role, ...] = ("rank", "score", "grade")


@dataclass(frozen=True, eq=False)
class Rows:
    """The usable rows of one file, or of one of its runs.

    Parameters
    ----------
    file : TableFile
    kind : str
        Format of the file.
    user, item : Ids
        Each row has one.
    numbers : mapping of role to ndarray of float64, shape (n,)
        ``rank``, ``score`` and ``grade``, as far as the file has them.
    lines : ndarray of int64 or range, shape (n,)
        The line of each row, or its row where `unit` says so.
    unit : str
        "line" or "row".
    bad : tuple of BadRows
        What is wrong with the other rows.
    tags : ndarray of str, shape (n,), or None
        The run that a row belongs to, in TREC run files.
    empty : ndarray of int64
        Lines of users without items, where a row is a user.
    """

    file: TableFile
    kind: ListFormat
    user: Ids
    item: Ids
    numbers: Mapping[Role, DoubleArray]
    lines: Lines
    unit: str
    bad: tuple[BadRows, ...] = ()
    tags: npt.NDArray[Any] | None = None
    empty: LongArray = field(default_factory=lambda: np.empty(0, np.int64))

    @property
    def n_bad(self) -> int:
        """Rows that cannot be used."""
        return sum(len(one.lines) for one in self.bad)

    def where(self, row: int) -> str:
        """Return the file and line of a row, for messages."""
        return f"{self.file}, {self.unit} {self.lines[row]}"


def find_list_files(paths: Sequence[str], option: str) -> tuple[TableFile, ...]:
    """Return the files that paths or patterns name.

    Raises
    ------
    MissingDataError
        If there is none.
    """
    try:
        return find_files(paths, None, Limits(adjustable=False))
    except RecgaugeError as error:
        text = str(error).replace("dataset.path", option).removeprefix("Table: ").replace("path=", "", 1)
        raise type(error)(f"{option}: {text}") from error


def read_rows(file: TableFile, kind: Kind, form: ListFormat | None = None, third: Role | None = None) -> Rows:
    """Return the rows of a file with an item of a user each; one row per user becomes one row per item.

    Parameters
    ----------
    file : TableFile
    kind : {"lists", "relevant", "ratings", "train"}
        What the rows are.
    form : str, optional
        By default taken from the file's ending, then from its first lines.
    third : {"rank", "score"}, optional
        What the third column of lists without a header is.

    Raises
    ------
    SchemaError
        If the file is empty, not of its format, or its columns cannot be recognised.
    IntegrityError
        If the file cannot be unpacked.
    DataError
        If it needs more memory than there is.
    """
    n_rows = file.size().n_rows
    check_memory(file, n_rows, _BYTES_PER_ROW)
    with memory_named(file, n_rows, _BYTES_PER_ROW):
        form = form or format_of(file)
        cells = read_cells(file, kind, form, third)
        if not len(cells.lines) and not cells.bad and not len(cells.empty):
            raise SchemaError(f"{file} has no rows.")
        return _checked(file, form, cells)


def _checked(file: TableFile, form: ListFormat, cells: Cells) -> Rows:
    """Keep the rows with user, item and finite numbers; list the others."""
    kept, bad = np.ones(len(cells.lines), bool), list(cells.bad)

    def require(good: npt.NDArray[np.bool_], reason: str) -> None:
        wrong = _taken_out(kept, good)
        if wrong is not None:
            bad.append(BadRows(reason, lines_at(cells.lines, wrong)))

    ids = {role: read_ids(_arrow(file, role, cells.columns[role], cells)) for role in ("user", "item")}
    for role in ("user", "item"):
        for reason, good in ids[role].lacking():
            require(good, reason.format(f"the {role}"))
    numbers: dict[Role, DoubleArray] = {}
    for role in _NUMBERS:
        if role in cells.columns:
            numbers[role] = _as_numbers(cells.columns[role])
            require(np.isfinite(numbers[role]), f"the {role} is not a finite number")
    if "rank" in numbers:
        rank = numbers["rank"]
        require((rank >= 0) & (rank == np.floor(rank)), "the rank is no whole number from 0")
    some = slice(None) if kept.all() else kept
    lines = cells.lines if isinstance(some, slice) else lines_at(cells.lines, some)
    return Rows(
        file,
        form,
        ids["user"].take(some),
        ids["item"].take(some),
        {role: values[some] for role, values in numbers.items()},
        lines,
        cells.unit,
        tuple(bad),
        _tags(cells, kept),
        cells.empty,
    )


def _taken_out(kept: BoolArray, good: BoolArray) -> BoolArray | None:
    """Take rows that are not good out of `kept`; return those that were in it, None if there are none."""
    if good.all():
        return None
    wrong = kept & ~good
    np.logical_and(kept, good, out=kept)
    return wrong if wrong.any() else None


def _tags(cells: Cells, kept: BoolArray) -> npt.NDArray[Any] | None:
    if "tag" not in cells.columns:
        return None
    return np.array([str(tag) for tag in as_python(cells.columns["tag"])], object)[kept]


def _arrow(file: TableFile, role: str, column: Any, cells: Cells) -> "pa.ChunkedArray":
    import pyarrow as pa

    if hasattr(column, "type"):
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
            return column.cast(pa.large_string())
        if pa.types.is_nested(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
            raise SchemaError(f"{file}: the {role} has the type {kind}; ids must be whole numbers or text.")
        return column
    odd = [
        n
        for n, c in enumerate(column)
        if c is not None and (isinstance(c, bool) or not isinstance(c, (int, str)))
    ]
    if odd:
        raise SchemaError(
            f"{file}, {cells.unit} {cells.lines[odd[0]]}: the {role} {shortened(repr(column[odd[0]]))} is no "
            "id; ids must be whole numbers or text."
        )
    if any(isinstance(cell, str) for cell in column):
        column = [None if cell is None else str(cell) for cell in column]
    try:
        return pa.chunked_array([pa.array(column)])
    except (pa.ArrowException, OverflowError):
        return pa.chunked_array([pa.array([None if cell is None else str(cell) for cell in column])])


def _as_numbers(column: Any) -> DoubleArray:
    """Return cells as float64, NaN where a cell is empty or no number."""
    import pyarrow as pa

    if not hasattr(column, "type"):
        return np.array([_number(cell) for cell in column], np.float64)
    if pa.types.is_float64(column.type) and not column.null_count:
        return to_numpy(column)
    import pyarrow.compute as pc  # takes longer to import than most files to read

    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        trimmed = pc.utf8_trim_whitespace(column)
        try:
            return np.asarray(to_numpy(trimmed.cast(pa.float64())), np.float64)
        except pa.ArrowException:
            return np.array([_number(cell) for cell in trimmed.to_pylist()], np.float64)
    try:
        numbers = column.cast(pa.float64(), safe=False)
        return to_numpy(pc.fill_null(numbers, float("nan")) if numbers.null_count else numbers)
    except pa.ArrowException:
        return np.full(len(column), np.nan)


def _number(cell: Any) -> float:
    if isinstance(cell, bool):
        return float("nan")
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        return float("nan")
