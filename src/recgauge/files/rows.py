"""The rows of one file: as they were written, and checked, as numbers or with what is wrong in words."""

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from recgauge.errors import SchemaError, listed, shortened
from recgauge.files.columns import LATEST, CellFormat, Columns, Role, TimeUnit, Wanted, is_date
from recgauge.files.ids import NO_IDS, Ids, read_ids
from recgauge.files.opening import Source
from recgauge.files.stored import StoredTable, is_number, is_text, plain_type
from recgauge.utils.arrow import filled, to_numpy
from recgauge.utils.checks import BoolArray, DoubleArray, LongArray

NUMBERS: tuple[Role, ...] = ("rating", "rank", "score")
Lines = LongArray | range
"""Lines of rows: a range where every line or row of a file is one, which takes no memory."""


@dataclass(frozen=True)
class Problem:
    """Rows that are bad for the same reason, such as "the rating is not a finite number"."""

    reason: str
    lines: LongArray  # ascending
    example: str  # what the first one contains
    hint: str = ""  # what may have been meant


def lists_in_columns(columns: Sequence[Any]) -> list[list[Any]]:
    """Return a list for each row of columns; what is empty at its end is not in it."""
    rows: list[list[Any]] = []
    for row in zip(*map(cells_of, columns), strict=True):
        cells = [None if isinstance(cell, str) and not cell.strip() else cell for cell in row]
        while cells and cells[-1] is None:
            cells.pop()
        rows.append(cells)
    return rows


def cells_of(column: Any) -> list[Any]:
    """Return a column, which may be a list already, as a list."""
    return column if isinstance(column, list) else list(column.to_pylist())


@dataclass(frozen=True)
class RawRows:
    """The rows of one file as they were written."""

    file: Source
    columns: Mapping[Role, pa.ChunkedArray]  # as text or as the type that the file gives them
    labels: Mapping[Role, str]  # what the columns are called
    lines: Lines | None = None  # the line of each row; None if nobody has counted yet
    unit: str = "line"  # "row" where rows and lines differ, "user" where neither is known
    broken: tuple[Problem, ...] = ()  # rows that could not be split into columns
    header: str = ""  # whether the file has one, in words
    layout: str = ""  # what separates the columns, in words
    empty: LongArray = field(default_factory=lambda: np.empty(0, np.int64))  # lines of users without items
    ends: tuple[int, ...] = ()  # of several files: how many rows there are up to the end of each
    others: Mapping[str, pa.ChunkedArray] = field(default_factory=dict)  # to be looked at, or kept
    unused: tuple[str, ...] = ()  # columns in no role
    again: "Callable[[], RawRows] | None" = None  # reads once more, in a way that knows lines and broken rows

    @classmethod
    def of(
        cls, file: Source, columns: Columns, cells: Sequence[Any], lines: Lines | None = None, **more: Any
    ) -> "RawRows":
        """Return rows of cells, in the order of the columns that are used."""
        cell_of = dict(zip(columns.used, cells, strict=True))
        roles = {role: cell_of[at] for role, at in columns.roles.items()}
        if columns.numbered:
            roles["items"] = lists_in_columns([cell_of[at] for at in columns.numbered])
        others = {columns.names[at]: cell_of[at] for at in columns.others}
        return cls(file, roles, columns.labels, lines, others=others, unused=columns.unused, **more)

    @property
    def n_rows(self) -> int:
        """Rows that could be split into columns."""
        return len(next(iter([*self.columns.values(), *self.others.values()])))

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
    tags: npt.NDArray[Any] | None = None  # the run that a row belongs to
    events: npt.NDArray[Any] | None = None  # what kind of event a row is
    left_out: tuple[Problem, ...] = ()  # rows with a cell that the user names as missing
    kept: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)  # read along, as texts

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
        return f"{self.part.place(first.lines[0])}: {first.reason}: {first.example}{first.hint}"

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
            events=None if self.events is None else self.events[kept],
            kept={name: column[kept] for name, column in self.kept.items()},
        )

    def understood(self, *optional: Role) -> str:
        """Return in one line how the file was read, so that a wrong guess is seen."""
        labels = self.labels
        texts = [f"{role}={label}" for role, label in labels.items() if role != "time"]
        texts += [f"no {role}" for role in optional if role not in labels]
        if "time" in labels:
            texts.append(f"time={labels['time']} ({_UNITS[self.time_unit]})")
        texts += [self.part.layout] if self.part.layout else []
        texts += [f"not used: {listed(self.part.unused, most=10)}"] if self.part.unused else []
        words = ", ".join(texts)
        return f"{self.part.header}; {words}" if self.part.header else words


_UNITS = {"date": "dates", "s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_DATE = re.compile(r"[0-9]{1,4}[./-][0-9]{1,2}[./-][0-9]{1,4}")
_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_LOOKED_AT = 100  # cells that tell what times count
_LONGEST_EXAMPLE = 60
_COMMA, _POINT = '","', '"."'


Check = tuple[Role, str, BoolArray]
"""A column, what is wrong with a cell that does not pass, and which do."""


def check(part: RawRows, form: str, wanted: Wanted) -> Rows:
    """Return the good rows of a file as numbers, with what is wrong with the others."""
    cells, among = wanted.cells, np.ones(part.n_rows, np.bool_)
    left_out: list[Problem] = []
    if cells.missing:
        part, among, left_out = _without_missing(part, wanted)
    columns = part.columns
    unit = unit_of(columns.get("time"), cells)
    pair: tuple[Role, Role] = ("user", "item")
    of_ids = {role: columns[role] for role in pair if role in columns}
    with ThreadPoolExecutor(2) as threads:  # while text is hashed, another can be; numbers wait for memory
        in_turn = map if all(map(_is_whole, of_ids.values())) else threads.map
        ids = dict(zip(of_ids, in_turn(read_ids, of_ids.values()), strict=True))
    user, item = (ids.get(role, NO_IDS) for role in pair)
    numbers = {
        role: _read(role, columns[role], cells, single=role == "rating" and not wanted.of_lists)
        for role in NUMBERS
        if role in columns
    }
    checks: list[Check] = [
        *((role, reason.format(f"the {role}"), good) for role in ids for reason, good in ids[role].lacking()),
        *_headers(part, ids),
        *(
            (role, f"the {role} is not a finite number", np.isfinite(values))
            for role, values in numbers.items()
            if not _is_whole(columns[role])
        ),
    ]
    rank = numbers.get("rank")
    if rank is not None and rank.dtype != np.int32:
        checks.append(("rank", "the rank is no whole number from 0", (rank >= 0) & (rank == np.floor(rank))))
    time = None
    if "time" in columns:
        time, in_range = read_times(columns["time"], unit, cells)
        form_of_dates = f"of the form {cells.time_format}" if cells.time_format else "a date"
        reason = form_of_dates if unit == "date" else f"in 1970..2100, read in {unit}"
        checks.append(("time", f"the time is not {reason}", in_range))
    good, problems = _passing(part, checks, wanted, among)
    rows = Rows(
        replace(part, columns={}, others={}, again=None),
        form,
        user,
        item,
        numbers,
        time,
        unit,
        part.numbered,
        (*part.broken, *problems),
        texts_of(columns["tag"]) if "tag" in columns else None,
        texts_of(columns["event"]) if "event" in columns else None,
        tuple(left_out),
        {name: texts_of(part.others[name]) for name in cells.keep if name in part.others},
    )
    return rows if good.all() else rows.take(good)


def _headers(part: RawRows, ids: Mapping[Role, Ids]) -> list[Check]:
    """Return a check for rows that repeat the names of the columns, as files do that were put together."""
    repeats = np.full(part.n_rows, part.header == "header" and len(ids) > 1)
    for role, column in ids.items():
        label = part.labels.get(role, "")
        texts = column.distinct if column.distinct.dtype.kind in "UO" else np.empty(0, "U1")
        names = np.flatnonzero((texts == label) | (texts == f"{label}:token"))
        repeats &= np.isin(column.codes, names) if len(names) else False
    return [("user", "the row names the columns again", ~repeats)]


def _without_missing(part: RawRows, wanted: Wanted) -> tuple[RawRows, BoolArray, list[Problem]]:
    """Leave out cells that the user names as missing; of numbers only what is no number."""
    columns, checks = dict(part.columns), []
    for role in (role for role in part.columns if role != "items"):
        cells, absent = without(part.columns[role], wanted.cells.missing)
        if role in ("user", "item"):
            columns[role] = cells
        else:
            absent &= ~np.isfinite(numbers_of(part.columns[role]))
        checks.append((role, f"the {role} is named as missing", ~absent))
    among, left_out = _passing(part, checks, wanted, np.ones(part.n_rows, np.bool_))
    return replace(part, columns=columns), among, left_out


def without(column: pa.ChunkedArray, missing: Collection[str]) -> tuple[pa.ChunkedArray, BoolArray]:
    """Return a column in which cells that are missing are null, and which these are."""
    import pyarrow.compute as pc

    kind = plain_type(column.type)
    if pa.types.is_nested(kind) or not (is_text(kind) or {*missing} - {""}):
        return column, np.zeros(len(column), np.bool_)
    column = column.cast(kind)
    texts = pc.utf8_trim_whitespace(column.cast(pa.large_string()))
    absent = pc.is_in(texts, pa.array(missing, pa.large_string()))
    mask = to_numpy(absent.cast(pa.uint8())) == 1
    return pc.if_else(absent, pa.nulls(len(column), kind), column) if mask.any() else column, mask


def texts_of(column: pa.ChunkedArray) -> npt.NDArray[Any]:
    """Return cells as text, empty where there is none."""
    return np.array(["" if cell is None else str(cell) for cell in column.to_pylist()], object)


def _is_whole(column: pa.ChunkedArray) -> bool:
    """Whether the type of a column alone says that all its cells are whole numbers."""
    return bool(pa.types.is_integer(column.type)) and column.null_count == 0


def _passing(
    part: RawRows, checks: Sequence[Check], wanted: Wanted, among: BoolArray
) -> tuple[BoolArray, list[Problem]]:
    """Return which rows of `among` pass all checks, and why others do not, by the first of these."""
    kept, problems = among, []
    for role, reason, good in checks:
        if good.all():
            continue
        bad = np.flatnonzero(kept & ~good)
        if len(bad):
            cell = part.columns[role][int(bad[0])].as_py()
            problems.append(
                Problem(reason, lines_at(part.numbered, bad), _example(cell), _hint(role, cell, wanted))
            )
        kept = kept & good
    return kept, problems


def _hint(role: Role, cell: Any, wanted: Wanted) -> str:
    """Return how to say what a number or date may mean that is written as elsewhere."""
    if role in NUMBERS and re.search("[0-9][,.' \u00a0][0-9]", str(cell)):
        if not wanted.setting:
            return " (make the column numbers: pandas.to_numeric)"
        say = wanted.setting.format
        european = f"{say('decimal', _COMMA)} {say('thousands', _POINT)}"
        return f" (1.234,5: say {european}; 1,234.5: {say('thousands', _COMMA)})"
    if role == "time" and re.search("[0-9][./-][0-9]|[A-Za-z]{3}", str(cell)):
        forms = [wanted.setting.format("time_format", f'"{form}"') for form in ("%d.%m.%Y", "%m/%d/%Y")]
        return f" (say which form dates have: {' or '.join(forms)})"
    return ""


def lines_at(lines: Lines, rows: LongArray) -> LongArray:
    """Return the lines of some rows.

    Examples
    --------
    >>> lines_at(range(2, 5), np.array([0, 2])).tolist()
    [2, 4]
    """
    return rows + lines.start if isinstance(lines, range) else lines[rows]


def _read(role: Role, column: pa.ChunkedArray, cells: CellFormat, *, single: bool) -> npt.NDArray[Any]:
    """Return a column as float32 or float64; ranks as int32 where all of them are whole numbers from 0."""
    if role == "rank" and _is_whole(column):
        ranks = to_numpy(column)
        if ranks.min(initial=0) >= 0 and ranks.max(initial=0) < 1 << 31:
            return ranks.astype(np.int32, copy=False)
    wanted = pa.types.is_float32 if single else pa.types.is_float64
    if wanted(column.type) and column.null_count == 0:
        return to_numpy(column)
    with np.errstate(over="ignore"):
        return numbers_of(column, cells).astype(np.float32 if single else np.float64)


def unit_of(column: pa.ChunkedArray | None, cells: CellFormat | None = None) -> TimeUnit:
    """Return what the times of a column count: dates, or the unit in which the middle one is before 2100.

    Examples
    --------
    >>> import pyarrow as pa
    >>> unit_of(pa.chunked_array([[1356998400000]])), unit_of(pa.chunked_array([["2024-01-02 03:04:05"]]))
    ('ms', 'date')
    """
    cells = cells or CellFormat()
    if cells.time_format or cells.time_unit:
        return "date" if cells.time_format else cells.time_unit or "s"
    sample = [] if column is None else column.slice(0, _LOOKED_AT).to_pylist()
    if any(is_date(cell) or _DATE.match(cell) for cell in sample if isinstance(cell, str)):
        return "date"
    numbers = [number for number in map(_as_number, sample) if number is not None]
    eights = bool(numbers) and bool(is_yyyymmdd(np.array(numbers)).all())
    if column is not None and eights and bool(is_yyyymmdd(numbers_of(column)).all()):
        return "date"
    sizes = sorted(map(abs, numbers))
    middle = sizes[(len(sizes) - 1) // 2] if sizes else 0.0
    units: tuple[TimeUnit, ...] = ("s", "ms", "us", "ns")
    return next((unit for unit in units if middle / _PER_SECOND[unit] <= LATEST), "s")


def is_yyyymmdd(numbers: "DoubleArray | LongArray") -> BoolArray:
    """Return which numbers are calendar dates such as 20240131, of 1900 to 2100.

    Examples
    --------
    >>> is_yyyymmdd(np.array([20240131, 20241301, 31012024])).tolist()
    [True, False, False]
    """
    year, rest = np.divmod(np.asarray(numbers, np.float64), 10_000)  # small types do not hold 10,000
    month, day = np.divmod(rest, 100)
    in_range = (year >= 1900) & (year <= 2100) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)
    return np.asarray(in_range & (day == np.floor(day)), np.bool_)


def _as_number(cell: object) -> float | None:
    try:
        number = float(cell) if isinstance(cell, (int, float, str)) else float("nan")
    except (ValueError, OverflowError):
        return None
    return number if np.isfinite(number) else None


def read_times(
    column: pa.ChunkedArray, unit: TimeUnit, cells: CellFormat | None = None
) -> tuple[LongArray, BoolArray]:
    """Return times in whole seconds since 1970-01-01 UTC, and which are in 1970..2100."""
    if pa.types.is_timestamp(column.type) or pa.types.is_date(column.type):
        column, unit = column.cast(pa.timestamp("s"), safe=False).cast(pa.int64()), "s"
    if unit == "s" and pa.types.is_int64(column.type) and column.null_count == 0:
        whole = to_numpy(column)
        return whole, (whole >= 0) & (whole <= LATEST)
    if unit == "date":
        seconds = _dates(column, cells.time_format if cells else None)
    else:
        seconds = numbers_of(column) / _PER_SECOND[unit]
    good = (seconds >= 0) & (seconds <= LATEST)
    return np.floor(np.where(good, seconds, 0)).astype(np.int64), good


def numbers_of(column: pa.ChunkedArray, cells: CellFormat | None = None) -> DoubleArray:
    """Return the cells as numbers; NaN where a cell is empty or no number."""
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):  # each distinct cell once: a few long ones may stand in many rows
        parts = [np.empty(0)]
        for chunk in column.chunks:
            places = to_numpy(filled(chunk.indices.cast(pa.int64()), np.int64(-1)))
            parts.append(np.append(numbers_of(pa.chunked_array([chunk.dictionary]), cells), np.nan)[places])
        return np.concatenate(parts)
    if is_text(column.type):
        column = column.cast(pa.large_string()) if pa.types.is_string_view(column.type) else column
        column = pc.utf8_trim_whitespace(column)
        if cells and (cells.thousands or cells.decimal == ","):
            column = _plain_numbers(column, cells)
        # Also keeps out what Arrow would take for a number, such as "nan" and "inf".
        column = pc.if_else(
            pc.match_substring_regex(column, _NUMBER), column, pa.nulls(len(column), column.type)
        )
    elif not is_number(column.type):
        return np.full(len(column), np.nan)
    numbers = column.cast(pa.float64(), safe=False)
    return np.asarray(to_numpy(filled(numbers, np.float64("nan"))))


def _plain_numbers(column: pa.ChunkedArray, cells: CellFormat) -> pa.ChunkedArray:
    """Return numbers as Python writes them; one that is written otherwise becomes empty."""
    import pyarrow.compute as pc

    whole = f"([0-9]{{1,3}}({re.escape(cells.thousands)}[0-9]{{3}})+|[0-9]+)" if cells.thousands else "[0-9]+"
    fits = pc.match_substring_regex(
        column, f"^[+-]?{whole}({re.escape(cells.decimal)}[0-9]*)?([eE][+-]?[0-9]+)?$"
    )
    if cells.thousands:
        column = pc.replace_substring(column, cells.thousands, "")
    column = pc.replace_substring(column, cells.decimal, ".")
    return pc.if_else(fits, column, "")


def _dates(column: pa.ChunkedArray, form: str | None) -> DoubleArray:
    """Return dates as seconds, NaN where a cell is none: ISO 8601, YYYYMMDD, or of a form as of strptime."""
    import pyarrow.compute as pc

    if not is_text(column.type):
        column = column.cast(pa.string())
    if form is not None or is_yyyymmdd(numbers_of(column)).all():
        dates = column.dictionary_encode().combine_chunks()
        parse = partial(_seconds, form=form or "%Y%m%d")
        values = np.array([*map(parse, dates.dictionary.to_pylist()), np.nan], np.float64)
        return np.asarray(values[to_numpy(filled(dates.indices.cast(pa.int64()), np.int64(-1)))], np.float64)
    column = pc.replace_substring_regex(column, " UTC$", "Z")
    for unit, zone in (("s", None), ("us", None), ("us", "UTC"), ("ns", None), ("ns", "UTC")):
        try:
            moments = column.cast(pa.timestamp(unit, zone)).cast(pa.int64())
        except pa.ArrowInvalid:
            continue
        if not moments.null_count:
            return np.asarray(to_numpy(moments) // _PER_SECOND[unit], np.float64)
    return np.array([_seconds(cell) for cell in column.to_pylist()], dtype=np.float64)


def _seconds(cell: Any, form: str | None = None) -> float:
    text = str(cell).strip()
    if text.isdecimal() and form in ("%d%m%Y", "%m%d%Y"):  # whole numbers lose a zero at their beginning
        text = text.zfill(8)
    try:
        moment = datetime.strptime(text, form) if form else datetime.fromisoformat(text)
    except ValueError:
        return float("nan")
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def refuse(rows: Rows) -> SchemaError:
    """Return the error that names the first bad line, and counts the others."""
    first, more = rows.first_problem, rows.n_bad - 1
    others = f" ({more:,} more bad rows)" if more else ""
    hint = ""
    if first.reason.startswith("the time"):
        hint = "set dataset.time_unit to s, ms, us, ns or date, leave times out with dataset.time=false, "
    if rows.part.header == "no header" and rows.part.lines is not None and first.lines[0] == 1:
        hint += "set dataset.header=true if this line names the columns, "
    return SchemaError(
        f"{rows.first_bad()}{others}. Correct the file, {hint}or leave bad rows out with "
        "dataset.on_bad_rows=skip."
    )


def describe_skipped(rows: Rows) -> str:
    """Return what is left out of a file and why, without the file's name."""
    problems = (*rows.problems, *rows.left_out)
    n_left_out = sum(len(problem.lines) for problem in problems)
    n_rows = len(rows.lines) + n_left_out
    reasons = ", ".join(
        f"{len(problem.lines):,} because {problem.reason} (first: {rows.part.within(problem.lines[0])})"
        for problem in problems
    )
    return f"{n_left_out:,} of {n_rows:,} rows left out: {reasons}"


def _example(cell: Any) -> str:
    if cell is None or cell == "":
        return "empty"
    if isinstance(cell, str) and len(cell) > _LONGEST_EXAMPLE:
        return f"{cell[:_LONGEST_EXAMPLE]!r}... ({len(cell):,} characters)"
    return shortened(repr(cell), _LONGEST_EXAMPLE)
