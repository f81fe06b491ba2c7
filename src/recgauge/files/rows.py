"""The rows of one file: as they were written, and checked, as numbers or with what is wrong in words."""

from bisect import bisect_left
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from recgauge.errors import SchemaError, shortened
from recgauge.files.columns import LATEST, Role, is_date
from recgauge.files.ids import NO_IDS, Ids, read_ids
from recgauge.files.opening import Source
from recgauge.files.stored import StoredTable
from recgauge.utils.arrow import filled, to_numpy
from recgauge.utils.checks import BoolArray, DoubleArray, LongArray

if TYPE_CHECKING:
    import pyarrow as pa

NUMBERS: tuple[Role, ...] = ("rating", "rank", "score", "weight")
Lines = LongArray | range
"""Lines of rows: a range where every line or row of a file is one, which takes no memory."""

TimeUnit = Literal["s", "ms", "us", "ns", "date"]


@dataclass(frozen=True)
class Problem:
    """Rows that are bad for the same reason, such as "the rating is not a finite number"."""

    reason: str
    lines: LongArray  # ascending
    example: str  # what the first one contains


@dataclass(frozen=True)
class RawRows:
    """The rows of one file as they were written."""

    file: Source
    columns: Mapping[Role, "pa.ChunkedArray"]  # as text or as the type that the file gives them
    labels: Mapping[Role, str]  # what the columns are called
    lines: Lines | None = None  # the line of each row; None if nobody has counted yet
    unit: str = "line"  # "row" where rows and lines differ
    broken: tuple[Problem, ...] = ()  # rows that could not be split into columns
    header: str = ""  # whether the file has one, in words
    layout: str = ""  # what separates the columns, in words
    empty: LongArray = field(default_factory=lambda: np.empty(0, np.int64))  # lines of users without items
    ends: tuple[int, ...] = ()  # of several files: how many rows there are up to the end of each

    @property
    def n_rows(self) -> int:
        """Rows that could be split into columns."""
        return len(self.columns["user"])

    @property
    def numbered(self) -> Lines:
        """The line of each row; its number, counted from 1, if lines are not known."""
        return range(1, self.n_rows + 1) if self.lines is None else self.lines

    def place(self, line: int) -> str:
        """Return the file and the line that is meant by the number of a line."""
        return self.within(line) if self.ends else f"{self.file}, {self.within(line)}"

    def within(self, line: int) -> str:
        """Return the line that is meant by a number, of several files with its file."""
        if not isinstance(self.file, StoredTable):
            return f"{self.unit} {line}"
        file = bisect_left(self.ends, line)
        before = self.ends[file - 1] if file else 0
        return f"{self.file.where(file)}, {self.unit} {line - before}"


@dataclass(frozen=True, eq=False)
class Rows:
    """The good rows of one file as numbers, or of one of its runs."""

    part: RawRows  # without its columns
    form: str
    user: Ids  # of each row; without rows where users were not wanted
    item: Ids
    numbers: Mapping[Role, npt.NDArray[Any]]  # as far as there are; rating is float32 unless it was of lists
    time: LongArray | None  # seconds
    time_unit: str
    lines: Lines
    problems: tuple[Problem, ...]  # of the other rows
    tags: npt.NDArray[Any] | None = None  # the run that a row belongs to, in TREC run files

    @property
    def file(self) -> Source:
        """Where they were read."""
        return self.part.file

    @property
    def labels(self) -> Mapping[Role, str]:
        """What the columns are called."""
        return self.part.labels

    @property
    def n_bad(self) -> int:
        """Rows that are not good, broken ones included."""
        return sum(len(problem.lines) for problem in self.problems)

    @property
    def first_problem(self) -> Problem:
        """What is wrong with the first bad row."""
        return min(self.problems, key=lambda problem: int(problem.lines[0]))

    def first_bad(self) -> str:
        """Return where the first bad row is, and what is wrong with it."""
        first = self.first_problem
        return f"{self.part.place(first.lines[0])}: {first.reason}: {first.example}"

    def where(self, row: int) -> str:
        """Return the file and line of a row, for messages."""
        return self.part.place(self.lines[row])

    def take(self, kept: BoolArray) -> "Rows":
        """Return the rows of a mask."""
        return replace(
            self,
            user=self.user.take(kept),
            item=self.item.take(kept),
            numbers={role: values[kept] for role, values in self.numbers.items()},
            time=None if self.time is None else self.time[kept],
            lines=lines_at(self.lines, np.flatnonzero(kept)),
            tags=None if self.tags is None else self.tags[kept],
        )

    def understood(self, *optional: Role) -> str:
        """Return in one line how the file was read, so that a wrong guess is seen."""
        labels = self.labels
        texts = [f"{role}={label}" for role, label in labels.items() if role != "time"]
        texts += [f"no {role}" for role in optional if role not in labels]
        if "time" in labels:
            texts.append(f"time={labels['time']} ({_UNITS[self.time_unit]})")
        words = ", ".join([*texts, *([self.part.layout] if self.part.layout else [])])
        return f"{self.part.header}; {words}" if self.part.header else words


_UNITS = {"date": "ISO", "s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_LOOKED_AT = 100  # cells that tell what times count
_LONGEST_EXAMPLE = 60


def check(part: RawRows, form: str, unit: TimeUnit | None, *, exact: bool) -> Rows:
    """Return the good rows of a file as numbers, with what is wrong with the others."""
    columns = part.columns
    unit = unit or unit_of(columns.get("time"))
    pair: tuple[Role, Role] = ("user", "item")
    named = {role: columns[role] for role in pair if role in columns}
    with ThreadPoolExecutor(2) as threads:  # while text is hashed, another can be; numbers wait for memory
        in_turn = map if all(map(_is_whole, named.values())) else threads.map
        ids = dict(zip(named, in_turn(read_ids, named.values()), strict=True))
    user, item = (ids.get(role, NO_IDS) for role in pair)
    numbers = {
        role: _read(role, columns[role], single=role == "rating" and not exact)
        for role in NUMBERS
        if role in columns
    }
    time = read_times(columns["time"], unit) if "time" in columns else None
    checks: list[tuple[Role, str, BoolArray]] = [
        *(("user", reason.format("the user"), good) for reason, good in user.lacking()),
        *(("item", reason.format("the item"), good) for reason, good in item.lacking()),
        *(
            (role, f"the {role} is not a finite number", np.isfinite(cells))
            for role, cells in numbers.items()
            if not _is_whole(columns[role])
        ),
    ]
    rank = numbers.get("rank")
    if rank is not None and rank.dtype != np.int32:
        checks.append(("rank", "the rank is no whole number from 0", (rank >= 0) & (rank == np.floor(rank))))
    if time is not None:
        reason = "the time is no date" if unit == "date" else f"the time is not in 1970..2100, read in {unit}"
        checks.append(("time", reason, time[1]))
    kept, problems = _kept(part, checks)
    rows = Rows(
        replace(part, columns={}),
        form,
        user,
        item,
        numbers,
        None if time is None else time[0],
        unit,
        part.numbered,
        (*part.broken, *problems),
        np.array([str(tag) for tag in columns["tag"].to_pylist()], object) if "tag" in columns else None,
    )
    return rows if kept.all() else rows.take(kept)


def _is_whole(column: "pa.ChunkedArray") -> bool:
    """Whether the type of a column alone says that all its cells are whole numbers."""
    import pyarrow as pa

    return bool(pa.types.is_integer(column.type)) and column.null_count == 0


def _kept(part: RawRows, checks: list[tuple[Role, str, BoolArray]]) -> tuple[BoolArray, list[Problem]]:
    """Return which rows pass all checks, and the others by the first that they do not pass."""
    kept, problems = np.ones(part.n_rows, dtype=np.bool_), []
    for role, reason, good in checks:
        if good.all():
            continue
        bad = np.flatnonzero(kept & ~good)
        if len(bad):
            example = _example(part.columns[role][int(bad[0])].as_py())
            problems.append(Problem(reason, lines_at(part.numbered, bad), example))
            kept &= good
    return kept, problems


def lines_at(lines: Lines, rows: LongArray) -> LongArray:
    """Return the lines of some rows.

    Examples
    --------
    >>> lines_at(range(2, 5), np.array([0, 2])).tolist()
    [2, 4]
    """
    return rows + lines.start if isinstance(lines, range) else lines[rows]


def _read(role: Role, column: "pa.ChunkedArray", *, single: bool) -> npt.NDArray[Any]:
    """Return a column as float32 or float64; ranks as int32 where all of them are whole numbers from 0."""
    import pyarrow as pa

    if role == "rank" and _is_whole(column):
        ranks = to_numpy(column)
        if ranks.min(initial=0) >= 0 and ranks.max(initial=0) < 1 << 31:
            return ranks.astype(np.int32, copy=False)
    wanted = pa.types.is_float32 if single else pa.types.is_float64
    if wanted(column.type) and column.null_count == 0:
        return to_numpy(column)
    with np.errstate(over="ignore"):
        return numbers_of(column).astype(np.float32 if single else np.float64)


def unit_of(column: "pa.ChunkedArray | None") -> TimeUnit:
    """Return what the times of a column count: dates, or the unit in which the middle one is before 2100.

    Examples
    --------
    >>> import pyarrow as pa
    >>> unit_of(pa.chunked_array([[1356998400000]])), unit_of(pa.chunked_array([["2024-01-02 03:04:05"]]))
    ('ms', 'date')
    """
    cells = [] if column is None else column.slice(0, _LOOKED_AT).to_pylist()
    texts = [str(cell) for cell in cells if isinstance(cell, str)]
    if any(map(is_date, texts)):
        return "date"
    sizes = sorted(abs(number) for number in map(_as_number, cells) if number is not None)
    middle = sizes[(len(sizes) - 1) // 2] if sizes else 0.0
    units: tuple[TimeUnit, ...] = ("s", "ms", "us", "ns")
    return next((unit for unit in units if middle / _PER_SECOND[unit] <= LATEST), "s")


def _as_number(cell: object) -> float | None:
    try:
        number = float(cell) if isinstance(cell, (int, float, str)) else float("nan")
    except (ValueError, OverflowError):
        return None
    return number if np.isfinite(number) else None


def read_times(column: "pa.ChunkedArray", unit: TimeUnit) -> tuple[LongArray, BoolArray]:
    """Return times in whole seconds since 1970-01-01 UTC, and which are in 1970..2100."""
    import pyarrow as pa

    if pa.types.is_timestamp(column.type) or pa.types.is_date(column.type):
        column, unit = column.cast(pa.timestamp("s"), safe=False).cast(pa.int64()), "s"
    if unit == "s" and pa.types.is_int64(column.type) and column.null_count == 0:
        whole = to_numpy(column)
        return whole, (whole >= 0) & (whole <= LATEST)
    seconds = _dates(column) if unit == "date" else numbers_of(column) / _PER_SECOND[unit]
    good = (seconds >= 0) & (seconds <= LATEST)
    return np.floor(np.where(good, seconds, 0)).astype(np.int64), good


def numbers_of(column: "pa.ChunkedArray") -> DoubleArray:
    """Return the cells as numbers; NaN where a cell is empty or no number."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):  # each distinct cell once: a few long ones may stand in many rows
        parts = [np.empty(0)]
        for chunk in column.chunks:
            places = to_numpy(filled(chunk.indices.cast(pa.int64()), np.int64(-1)))
            parts.append(np.append(numbers_of(pa.chunked_array([chunk.dictionary])), np.nan)[places])
        return np.concatenate(parts)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = pc.utf8_trim_whitespace(column)
        # Also keeps out what Arrow would take for a number, such as "nan" and "inf".
        column = pc.if_else(
            pc.match_substring_regex(column, _NUMBER), column, pa.nulls(len(column), column.type)
        )
    elif pa.types.is_boolean(column.type) or pa.types.is_nested(column.type):
        return np.full(len(column), np.nan)
    numbers = column.cast(pa.float64(), safe=False)
    return np.asarray(to_numpy(filled(numbers, np.float64("nan"))))


def _dates(column: "pa.ChunkedArray") -> DoubleArray:
    """Return ISO 8601 dates as seconds, NaN where a cell is none; Arrow reads one form, Python's all."""
    import pyarrow as pa

    for unit, zone in (("s", None), ("us", None), ("us", "UTC"), ("ns", None), ("ns", "UTC")):
        try:
            moments = column.cast(pa.timestamp(unit, zone)).cast(pa.int64())
        except pa.ArrowInvalid:
            continue
        if not moments.null_count:
            return np.asarray(to_numpy(moments) // _PER_SECOND[unit], np.float64)
    return np.array([_seconds(cell) for cell in column.to_pylist()], dtype=np.float64)


def _seconds(cell: Any) -> float:
    try:
        moment = datetime.fromisoformat(str(cell).strip())
    except ValueError:
        return float("nan")
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def refuse(rows: Rows, *, headless: bool) -> SchemaError:
    """Return the error that names the first bad line, and counts the others."""
    first, more = rows.first_problem, rows.n_bad - 1
    others = f" ({more:,} more bad rows)" if more else ""
    hint = ""
    if first.reason.startswith("the time"):
        hint = "set dataset.time_unit to s, ms, us, ns or date, leave times out with dataset.time=false, "
    if headless and rows.part.lines is not None and first.lines[0] == 1:
        hint += "set dataset.header=true if this line names the columns, "
    return SchemaError(
        f"{rows.first_bad()}{others}. Correct the file, {hint}or leave bad rows out with "
        "dataset.on_bad_rows=skip."
    )


def describe_skipped(rows: Rows) -> str:
    """Return what is left out of a file and why, without the file's name."""
    n_rows = len(rows.lines) + rows.n_bad
    reasons = ", ".join(
        f"{len(problem.lines):,} because {problem.reason} (first: {rows.part.within(problem.lines[0])})"
        for problem in rows.problems
    )
    return f"{rows.n_bad:,} of {n_rows:,} rows left out: {reasons}"


def _example(cell: Any) -> str:
    if cell is None or cell == "":
        return "empty"
    if isinstance(cell, str) and len(cell) > _LONGEST_EXAMPLE:
        return f"{cell[:_LONGEST_EXAMPLE]!r}... ({len(cell):,} characters)"
    return shortened(repr(cell), _LONGEST_EXAMPLE)
