"""The rows of one file: as they were written, and checked, as numbers or with what is wrong in words."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from recgauge.datasets._table.columns import Role
from recgauge.datasets._table.files import TableFile
from recgauge.datasets._table.ids import Ids, read_ids
from recgauge.errors import SchemaError, shortened
from recgauge.utils.arrow import to_numpy
from recgauge.utils.checks import BoolArray, DoubleArray, FloatArray, LongArray

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Problem:
    """Rows that are bad for the same reason.

    Parameters
    ----------
    reason : str
        Such as "the rating is not a finite number".
    lines : ndarray of int64, shape (n,)
        Where they are, ascending.
    example : str
        What the first one contains.
    """

    reason: str
    lines: LongArray
    example: str


@dataclass(frozen=True)
class Part:
    """The rows of one file.

    Parameters
    ----------
    file : TableFile
    columns : mapping of role to pyarrow.ChunkedArray
        The cells, as text or as the type that the file gives them.
    labels : mapping of role to str
        What the columns are called.
    lines : ndarray of int64, shape (n_rows,), or None
        The line of each row; None if nobody has counted yet.
    unit : str
        "line", or "row" where rows and lines differ.
    broken : tuple of Problem
        Rows that could not be split into columns; they are not in `columns`.
    remark : str
        What the user should know about the way the file was read.
    """

    file: TableFile
    columns: Mapping[Role, "pa.ChunkedArray"]
    labels: Mapping[Role, str]
    lines: LongArray | None = None
    unit: str = "line"
    broken: tuple[Problem, ...] = ()
    remark: str = ""

    @property
    def n_rows(self) -> int:
        """Rows that could be split into columns."""
        return len(self.columns["user"])

    def lines_of(self, rows: LongArray) -> LongArray:
        """Return the lines of rows; their numbers, counted from 1, if lines are not known."""
        return rows + 1 if self.lines is None else np.asarray(self.lines[rows])


TimeUnit = Literal["s", "ms", "us", "ns", "date"]

_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_LATEST = 4_102_444_800  # the year 2100: a later time is more likely in another unit
_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"


def read_ratings(column: "pa.ChunkedArray") -> tuple[FloatArray, BoolArray | None]:
    """Return the ratings, and which of them are finite numbers; None if all are."""
    import pyarrow as pa

    if pa.types.is_float32(column.type) and column.null_count == 0:
        ratings = to_numpy(column)
    else:
        with np.errstate(over="ignore"):
            ratings = _numbers(column).astype(np.float32)
    # A sum in float64 is finite if and only if all float32 are, and needs no memory for its answer.
    return ratings, None if np.isfinite(ratings.sum(dtype=np.float64)) else np.isfinite(ratings)


def read_times(column: "pa.ChunkedArray", unit: TimeUnit) -> tuple[LongArray, BoolArray | None]:
    """Return times in whole seconds since 1970-01-01 UTC, and which are in 1970..2100; None if all are."""
    import pyarrow as pa

    if pa.types.is_timestamp(column.type) or pa.types.is_date(column.type):
        column, unit = column.cast(pa.timestamp("s"), safe=False).cast(pa.int64()), "s"
    if unit == "s" and pa.types.is_int64(column.type) and column.null_count == 0:
        whole = to_numpy(column)
        if not len(whole) or (whole.min() >= 0 and whole.max() <= _LATEST):
            return whole, None
        return whole, (whole >= 0) & (whole <= _LATEST)
    seconds = _dates(column) if unit == "date" else _numbers(column) / _PER_SECOND[unit]
    good = (seconds >= 0) & (seconds <= _LATEST)
    return np.floor(np.where(good, seconds, 0)).astype(np.int64), good


def _numbers(column: "pa.ChunkedArray") -> DoubleArray:
    """Return the cells as numbers; NaN where a cell is empty or no number."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = pc.utf8_trim_whitespace(column)
        # Also keeps out what Arrow would take for a number, such as "nan" and "inf".
        column = pc.if_else(pc.match_substring_regex(column, _NUMBER), column, pa.scalar(None, column.type))
    elif pa.types.is_boolean(column.type) or pa.types.is_nested(column.type):
        column = pa.chunked_array([pa.nulls(len(column), pa.float64())])
    return np.asarray(column.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)


def _dates(column: "pa.ChunkedArray") -> DoubleArray:
    import pyarrow as pa

    try:
        return np.asarray(column.cast(pa.timestamp("s")).cast(pa.int64()).cast(pa.float64()).to_numpy())
    except pa.ArrowInvalid:
        return np.array([_seconds(cell) for cell in column.to_pylist()], dtype=np.float64)


def _seconds(cell: Any) -> float:
    try:
        moment = datetime.fromisoformat(str(cell).strip())
    except ValueError:
        return float("nan")
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


_LONGEST_EXAMPLE = 60


@dataclass(frozen=True)
class CheckedPart:
    """The good rows of one file as numbers.

    Parameters
    ----------
    part : Part
    user, item : Ids
        Shape (n_good,).
    rating : ndarray of float32, shape (n_good,), or None
    time : ndarray of int64, shape (n_good,), or None
        Seconds.
    problems : tuple of Problem
        What is wrong with the other rows, and with rows that could not be split into columns.
    """

    part: Part
    user: Ids
    item: Ids
    rating: FloatArray | None
    time: LongArray | None
    problems: tuple[Problem, ...]

    @property
    def n_bad(self) -> int:
        """Rows that are not good, broken ones included."""
        return sum(len(problem.lines) for problem in self.problems)


def check_part(part: Part, unit: TimeUnit) -> CheckedPart:
    """Return the good rows of a file as numbers, with what is wrong with the others."""
    columns = part.columns
    with ThreadPoolExecutor(4) as threads:  # these wait for memory, not for Python
        ids = [threads.submit(read_ids, columns[role]) for role in ("user", "item")]
        ratings = threads.submit(read_ratings, columns["rating"]) if "rating" in columns else None
        times = threads.submit(read_times, columns["time"], unit) if "time" in columns else None
    user, item = (future.result() for future in ids)
    rating = None if ratings is None else ratings.result()
    time = None if times is None else times.result()
    kept = np.ones(part.n_rows, dtype=np.bool_)
    problems = list(part.broken)

    def require(reason: str, good: BoolArray | None, column: "pa.ChunkedArray") -> None:
        if good is None or good.all():
            return
        bad = np.flatnonzero(kept & ~good)
        if len(bad):
            problems.append(Problem(reason, part.lines_of(bad), _example(column[int(bad[0])].as_py())))
            np.logical_and(kept, good, out=kept)

    for words, found, column in (("the user", user, columns["user"]), ("the item", item, columns["item"])):
        for reason, good in found.lacking():
            require(reason.format(words), good, column)
    if rating is not None:
        require("the rating is not a finite number", rating[1], columns["rating"])
    if time is not None:
        reason = "the time is no date" if unit == "date" else f"the time is not in 1970..2100, read in {unit}"
        require(reason, time[1], columns["time"])
    rows = slice(None) if kept.all() else kept  # a slice copies nothing
    return CheckedPart(
        part,
        user.take(rows),
        item.take(rows),
        rating[0][rows] if rating else None,
        time[0][rows] if time else None,
        tuple(problems),
    )


def refuse(checked: CheckedPart) -> SchemaError:
    """Return the error that names the first bad line, and counts the others."""
    first = min(checked.problems, key=lambda problem: problem.lines[0])
    more = checked.n_bad - 1
    others = f" ({more:,} more bad rows)" if more else ""
    hint = ""
    if first.reason.startswith("the time"):
        hint = "set dataset.time_unit to s, ms, us, ns or date, "
    headless = any(label.startswith("column ") for label in checked.part.labels.values())
    if headless and checked.part.lines is not None and first.lines[0] == 1:
        hint += "set dataset.header=true if this line names the columns, "
    location = f"{checked.part.file}, {checked.part.unit} {first.lines[0]}"
    return SchemaError(
        f"{location}: {first.reason}: {first.example}{others}. "
        f"Correct the file, {hint}or leave bad rows out with dataset.on_bad_rows=skip."
    )


def describe_skipped(checked: CheckedPart) -> str:
    """Return what is left out of a file and why, without the file's name."""
    n_rows = checked.part.n_rows + sum(len(problem.lines) for problem in checked.part.broken)
    reasons = ", ".join(
        f"{len(problem.lines):,} because {problem.reason} (first: {checked.part.unit} {problem.lines[0]})"
        for problem in checked.problems
    )
    return f"{checked.n_bad:,} of {n_rows:,} rows left out: {reasons}"


def _example(cell: Any) -> str:
    if cell is None or cell == "":
        return "empty"
    if isinstance(cell, str) and len(cell) > _LONGEST_EXAMPLE:
        return f"{cell[:_LONGEST_EXAMPLE]!r}... ({len(cell):,} characters)"
    return shortened(repr(cell), _LONGEST_EXAMPLE)
