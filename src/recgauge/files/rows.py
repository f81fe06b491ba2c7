"""The rows of one file: as they were written, then checked, with what is wrong with the others in words."""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from recgauge.errors import QuestionError, SchemaError, listed, quantity, shortened
from recgauge.files.cells import numbers_of, read_times, texts_of, unit_of, without
from recgauge.files.columns import Columns, Role, Roles, TimeUnit
from recgauge.files.ids import NO_ID, NO_IDS, Ids, read_ids
from recgauge.files.opening import Source, TableFile
from recgauge.utils.arrow import to_numpy
from recgauge.utils.checks import BoolArray, LongArray

NUMBERS: tuple[Role, ...] = ("rating", "rank", "score")
Lines = LongArray | range
"""Lines of rows: a range where every line or row of a file is one, which takes no memory."""

_UNITS = {"date": "dates", "s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
_LONGEST_EXAMPLE = 60
_DATE = re.compile(r"\d+([./-])\d+\1\d+(?:([ T])\d\d?:\d\d(:\d\d)?( ?[AP]M)?)?", re.IGNORECASE)
_ORDERS = ("%d-%m-%Y", "%m-%d-%Y", "%d-%m-%y", "%m-%d-%y", "%Y-%m-%d")
_SAMPLE = 10_000  # dates that tell their form
_COMMA = '","'  # as Hydra takes it
_SIGNS = ".,' \u00a0\u202f\u2019"  # of decimals and thousands
_GROUPED = f"[+-]?[0-9]{{1,3}}([{_SIGNS}][0-9]{{3}})+([.,][0-9]+)?"
_WRITTEN = ("%Y-%m", "%m/%Y", "%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%Y", "%d %b %Y, %H:%M")


@dataclass(frozen=True)
class Problem:
    """Rows that are bad for the same reason, such as "the rating is not a finite number"."""

    reason: str
    lines: LongArray  # ascending
    example: str  # what the first one contains
    hint: str = ""  # what may have been meant
    role: Role | None = None  # of the column that is bad
    answers: Sequence[str] = ()  # words to type, each of which may read these rows


def broken_rows(reason: str, broken: Sequence[tuple[int, str]]) -> tuple[Problem, ...]:
    """Return what is wrong with lines that are no rows, each with what it has instead."""
    lines = np.array([line for line, _ in broken], np.int64)
    return (Problem(reason, lines, broken[0][1]),) if broken else ()


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of one file, or of one of its runs.

    A format gives `cells`; `check` turns them into ids, numbers and times of the good rows.
    """

    file: Source
    cells: Mapping[Role, Any]  # columns as text or of the type that the file gives; none once checked
    labels: Mapping[Role, str]  # what the columns are called
    lines: Lines
    unit: str = "line"  # "row" where rows and lines differ, in a folder that of all files
    header: str = ""  # whether the file has one, in words
    layout: str = ""  # what separates the columns, in words
    separator: str = ""  # of the columns of text with a header
    unused: tuple[str, ...] = ()  # columns in no role
    further: Mapping[str, pa.ChunkedArray] = field(default_factory=dict)  # columns to be looked at, or kept
    problems: tuple[Problem, ...] = ()  # of rows that cannot be split into columns, or are bad
    empty: LongArray = field(default_factory=lambda: np.empty(0, np.int64))  # lines of users without items

    form: str = ""
    user: Ids = NO_IDS  # of each row; none where users were not read
    item: Ids = NO_IDS
    numbers: Mapping[Role, npt.NDArray[Any]] = field(default_factory=dict)  # rating is float64 of lists only
    time: LongArray | None = None  # seconds
    time_unit: TimeUnit = "s"
    time_is_cut: bool = False  # whether rows of one second had an order
    tags: npt.NDArray[Any] | None = None  # the run that a row belongs to
    events: npt.NDArray[Any] | None = None  # what kind of event a row is
    left_out: tuple[Problem, ...] = ()  # rows with a cell that the user names as missing
    kept: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)  # further columns, as texts

    @classmethod
    def of(cls, file: Source, columns: Columns, cells: Sequence[Any], lines: Lines, **more: Any) -> Self:
        """Return rows of cells, in the order of the columns that are used."""
        cell_of = dict(zip(columns.used, cells, strict=True))
        roles: dict[Role, Any] = {role: cell_of[at] for role, at in columns.positions.items()}
        further = {columns.names[at]: cell_of[at] for at in columns.further}
        return cls(file, roles, columns.labels, lines, unused=columns.unused, further=further, **more)

    @property
    def n_bad(self) -> int:
        """Rows that are not good, broken ones included."""
        return sum(len(problem.lines) for problem in self.problems)

    @property
    def first_problem(self) -> Problem:
        """What is to be mended first: what words can read, else what most bad rows have."""
        return min(self.problems, key=lambda own: (not own.answers, -len(own.lines), int(own.lines[0])))

    def first_bad(self) -> str:
        """Return where the first row of the first problem is, and what is wrong with it."""
        first = self.first_problem
        return f"{self.place(first.lines[0])}: {first.reason}: {first.example}{first.hint}"

    def where(self, row: int) -> str:
        """Return the file and line of a row, for messages."""
        return self.place(self.lines[row])

    def place(self, line: int) -> str:
        """Return the file and the line that is meant by the number of a line."""
        return f"{self.file}, {self.unit} {line}"

    def take(self, kept: BoolArray) -> Self:
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
        texts = [f"{role}={label}" for role, label in self.labels.items() if role != "time"]
        texts += [f"no {role}" for role in optional if role not in self.labels]
        if "time" in self.labels:
            cut = ", cut to seconds, whose rows split.ties orders" if self.time_is_cut else ""
            texts.append(f"time={self.labels['time']} ({_UNITS[self.time_unit]}{cut})")
        texts += [self.layout] if self.layout else []
        unused = [name or "(no name)" for name in self.unused]
        texts += [f"not used: {listed(unused, most=10)}"] if unused else []
        return "; ".join(filter(None, [self.header, ", ".join(texts)]))


def lines_at(lines: Lines, rows: LongArray) -> LongArray:
    """Return the lines of rows.

    Examples
    --------
    >>> lines_at(range(2, 5), np.array([0, 2])).tolist()
    [2, 4]
    """
    return rows + lines.start if isinstance(lines, range) else lines[rows]


Check = tuple[Role, str, BoolArray]
"""A column, what is wrong with a cell that does not pass, and which do."""


def check(rows: Rows, form: str, roles: Roles) -> Rows:
    """Return the good rows of a file as ids, numbers and times, with what is wrong with the others."""
    cells = roles.cells
    rows, among, left_out = _without_missing(rows, roles)
    columns = rows.cells
    pair: tuple[Role, ...] = tuple(role for role in ("user", "item") if role in columns)
    with ThreadPoolExecutor(2) as threads:  # while text is hashed, another can be
        ids = dict(zip(pair, threads.map(read_ids, map(columns.__getitem__, pair)), strict=True))
    numbers = {role: _read(role, columns[role], roles) for role in NUMBERS if role in columns}
    checks: list[Check] = [
        *((role, reason.format(f"the {role}"), good) for role in ids for reason, good in ids[role].lacking()),
        ("user", "the row names the columns again", ~_repeats_header(rows, ids)),
        *(
            (role, f"the {role} is not a finite number", np.isfinite(values))
            for role, values in numbers.items()
        ),
    ]
    if (rank := numbers.get("rank")) is not None:
        checks.append(("rank", "the rank is no whole number from 0", (rank >= 0) & (rank == np.floor(rank))))
    time, unit, is_cut = None, rows.time_unit, False
    if "time" in columns:
        unit = unit_of(columns["time"], cells)
        time, in_range, is_cut = read_times(columns["time"], unit, cells.time_format)
        date = f"of the form {cells.time_format}" if cells.time_format else "a date"
        reason = date if unit == "date" else f"in 1970..2100, read in {unit}"
        checks.append(("time", f"the time is not {reason}", in_range))
    good, problems = _passing(rows, checks, roles, among)
    checked = replace(
        rows,
        cells={},
        further={},
        form=form,
        user=ids.get("user", NO_IDS),
        item=ids.get("item", NO_IDS),
        numbers=numbers,
        time=time,
        time_unit=unit,
        time_is_cut=is_cut,
        problems=(*rows.problems, *problems),
        tags=texts_of(columns["tag"]) if "tag" in columns else None,
        events=texts_of(columns["event"]) if "event" in columns else None,
        left_out=left_out,
        kept={name: texts_of(rows.further[name]) for name in cells.keep if name in rows.further},
    )
    return checked if good.all() else checked.take(good)


def _read(role: Role, column: pa.ChunkedArray, roles: Roles) -> npt.NDArray[Any]:
    """Return a column of numbers; ratings of a table are float32."""
    kind = pa.float32() if role == "rating" and not roles.of_lists else pa.float64()
    if column.type == kind and column.null_count == 0:
        return to_numpy(column)
    with np.errstate(over="ignore"):
        return numbers_of(column, roles.cells).astype(kind.to_pandas_dtype())


def _repeats_header(rows: Rows, ids: Mapping[Role, Ids]) -> BoolArray:
    """Return which rows repeat the names of the columns, as in files that were put together."""
    repeats = np.full(len(rows.lines), rows.header == "header" and len(ids) > 1)
    for role, column in ids.items() if repeats.any() else ():
        label = rows.labels.get(role, "")
        is_name = np.isin(column.distinct, (label, f"{label}:token"))
        repeats &= np.append(is_name, np.zeros(len(NO_ID), np.bool_))[column.codes]
    return repeats


def _without_missing(rows: Rows, roles: Roles) -> tuple[Rows, BoolArray, tuple[Problem, ...]]:
    """Leave out cells that the user names as missing; of numbers only what is no number."""
    columns, checks = dict(rows.cells), []
    for role in rows.cells if roles.cells.missing else ():
        cells, absent = without(rows.cells[role], roles.cells.missing)
        if role in ("user", "item"):
            columns[role] = cells
        else:
            absent &= ~np.isfinite(numbers_of(rows.cells[role]))
        checks.append((role, f"the {role} is named as missing", ~absent))
    among, left_out = _passing(rows, checks, roles, np.ones(len(rows.lines), np.bool_))
    return replace(rows, cells=columns), among, left_out


def _passing(
    rows: Rows, checks: Sequence[Check], roles: Roles, among: BoolArray
) -> tuple[BoolArray, tuple[Problem, ...]]:
    """Return which rows of `among` pass all checks, and why others do not, by the first of these."""
    kept, problems = among, []
    for role, reason, good in checks:
        if not good.all() and len(bad := np.flatnonzero(kept & ~good)):
            cell = rows.cells[role][int(bad[0])].as_py()
            lines = lines_at(rows.lines, bad)
            example = "empty" if cell is None or cell == "" else shortened(repr(cell), _LONGEST_EXAMPLE)
            answers = _answers(role, rows.cells[role], roles)
            hint = _hint(rows, role, cell, roles, answers)
            problems.append(Problem(reason, lines, example, hint, role, answers))
            kept = kept & good
    return kept, tuple(problems)


def _hint(rows: Rows, role: Role, cell: Any, roles: Roles, answers: Sequence[str]) -> str:
    """Return how to say what a number or date means that is written as elsewhere."""
    if role == "rank" and (numbers_of(pa.array([str(cell)]), roles.cells) % 1 > 0).any():
        words = "" if "score" in rows.labels else f"; if these are distances, {as_scores(rows, role)}"
        return f" (ranks are 1, 2, 3, ...{words})"
    words, column = " or ".join(answers), f"t[{json.dumps(rows.labels[role], ensure_ascii=False)}]"
    if role in NUMBERS and re.search(f"[0-9][{_SIGNS}][0-9]", str(cell)):
        text = f"write numbers as 1234{roles.cells.decimal}5, without thousands signs"
        sign, example = _thousands(rows.cells[role], roles.cells.decimal)
        if sign and (removed := rewriting(rows, f'{column} = {column}.str.replace("{sign}", "")')):
            text += f", which this takes out of {example}: {removed}"
            if example.count(",") == 1 and "." not in example and roles.cells.decimal == ".":
                words = f"{roles.setting.format('decimal', _COMMA)} if that is its decimal sign"
        return f" ({text}{words and f', or say {words}'})"
    if role == "rating" and (found := re.search("[★⭐]|[0-9]", str(cell))):
        stars = f'{column} = {column}.str.count("[★⭐]") + {column}.str.count("½") / 2'
        number = f'{column} = {column}.str.extract("([0-9]+[.,]?[0-9]*)")'
        words = rewriting(rows, number if found[0].isdigit() else stars)
        return words and f" (write the number alone, as this does: {words})"
    if role == "time" and re.search("[0-9][./-][0-9]|[A-Za-z]{3}", str(cell)) and roles.setting:
        if roles.cells.time_format is not None and not words:
            return " (write all dates in the form that you said, or say another)"
        form = roles.setting.format("time_format", '"%d.%m.%Y"')
        words = f": {words}" if words else f", as of strptime: {shlex.quote(form)}, %m/%d/%Y %H:%M, ..."
        return f" (say which form dates have{words})"
    return ""


def _thousands(column: pa.ChunkedArray, decimal: str) -> tuple[str, str]:
    """Return the sign between thousands and a number that has it; empty where all may be decimals."""
    import pyarrow.compute as pc

    texts = (column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column).unique()
    cells = texts.filter(pc.match_substring_regex(texts, f"[0-9][{_SIGNS}]")).to_pylist()
    grouped = [cell for cell in cells if re.fullmatch(_GROUPED, cell.strip())]
    for cell in grouped:
        signs = re.sub("[0-9+-]", "", cell.strip())
        if len(signs) > 1 or signs not in (".", ",") or decimal == "," != signs or len(grouped) == len(cells):
            return signs[0], cell
    return "", ""


def as_scores(rows: Rows, role: Role) -> str:
    """Return what to type so that numbers of which the lowest is the best become scores."""
    label = rows.labels.get(role, "")
    column = f't["score"] = -pandas.to_numeric(t.pop({json.dumps(label, ensure_ascii=False)}), "coerce")'
    in_pandas = f", in pandas: frame['score'] = -frame.pop({label!r})" * (label != "" and not rows.header)
    words = rewriting(rows, column)
    return f"make scores of them: {words}" if words else f"write them with the other sign{in_pandas}"


def rewriting(table: Rows | TableFile, change: str, options: str = "", separator: str = "") -> str:
    """Return a shell's command that writes text with a header again, after a change of the frame `t`.

    Empty where pandas would read something else: a member of an archive, or columns without names.
    """
    file, separator = (table.file, table.separator) if isinstance(table, Rows) else (table, separator)
    if not isinstance(file, TableFile) or file.member or len(separator) != 1:
        return ""
    new = file.path.with_name(f"{file.plain_name.partition('.')[0]}_new.csv")
    path, target = (json.dumps(str(text), ensure_ascii=False) for text in (file.path, new))
    form = f", sep={json.dumps(separator)}" * (separator != ",")
    form += f', encoding="{file.encoding}"' * (file.encoding != "utf-8")
    read = f"pandas.read_csv({path}{form}, {options or 'dtype=str, keep_default_na=False'})"
    return f"python -c {shlex.quote(f'import pandas; t = {read}; {change}; t.to_csv({target}, index=False)')}"


def _answers(role: Role, column: pa.ChunkedArray, roles: Roles) -> list[str]:
    """Return what to type so that more cells are read: how numbers are written, or dates."""
    word = roles.setting.format
    if role in NUMBERS and roles.cells.decimal == "." and roles.setting in ("--{} {}", "dataset.{}={}"):
        cells = replace(roles.cells, decimal=",")
        more = np.isfinite(numbers_of(column, cells)).sum() > np.isfinite(numbers_of(column)).sum()
        answer = word("decimal", _COMMA)
        answer = answer if answer.startswith("--") else shlex.quote(answer)
        return [answer] * bool(more and not _thousands(column, ".")[0])
    if role != "time" or not roles.setting.startswith(("dataset.", "split.")):
        return []
    dates = column.take(pa.array(range(0, len(column), len(column) // _SAMPLE + 1)))
    forms = [form for form in _date_forms(dates) if form != roles.cells.time_format]
    return [shlex.quote(word("time_format", f'"{form}"')) for form in forms]


def _date_forms(dates: pa.ChunkedArray) -> list[str]:
    """Return the form of most dates, as of strptime; both where days may be months.

    Examples
    --------
    >>> [_date_forms(pa.chunked_array([own])) for own in (["01/02/24 9:15"], ["02/01/2020", "02/13/2020"])]
    [['%d/%m/%y %H:%M', '%m/%d/%y %H:%M'], ['%m/%d/%Y']]
    >>> _date_forms(pa.chunked_array([["12/13/2023 06:50 PM"]]))
    ['%m/%d/%Y %I:%M %p']
    """
    found = next(filter(None, (_DATE.fullmatch(str(cell).strip()) for cell in dates.to_pylist())), None)
    forms = [*_WRITTEN]
    if found is not None:
        sign, gap, seconds, half = found.groups()
        hour, end = ("%I", f"{' ' * half.startswith(' ')}%p") if half else ("%H", "")
        clock = f"{gap}{hour}:%M{':%S' * bool(seconds)}{end}" if gap else ""
        forms = [order.replace("-", sign) + clock for order in _ORDERS]
    counts = [int(read_times(dates, "date", form)[1].sum()) for form in forms]
    best = [form for form, n in zip(forms, counts, strict=True) if n == max(counts) > len(dates) / 2]
    return [form for form in best if not form.startswith("%Y-%m-%d")]  # ISO 8601 needs none


def refuse(rows: Rows, roles: Roles, *, may_skip: bool = False) -> SchemaError:
    """Return the error that names a bad line, and counts the others."""
    count = f" ({quantity(rows.n_bad - 1, 'more bad row')})" if rows.n_bad > 1 else ""
    text = f"{rows.first_bad()}{count}."
    if answers := rows.first_problem.answers:
        return QuestionError(text, answers=answers)
    words, remedies = roles.setting.format, ["Correct the file"]
    if rows.first_problem.role == "time":
        remedies.append(f"set {words('time_unit', 'UNIT')} (s, ms, us, ns or date)")
        remedies.append(f"leave times out with {words('time', 'false')}")
    if rows.header == "no header" and rows.first_problem.lines[0] == 1:
        remedies.append(f"set {words('header', 'true')} if this line names the columns")
    may_skip &= len(rows.lines) > 0
    is_answer, skip = len(remedies) == 1 and rows.n_bad < len(rows.lines), words("on_bad_rows", "skip")
    text = f"{text} {', or '.join([*remedies, *[f'leave bad rows out with {skip}'] * may_skip])}."
    return QuestionError(text, answers=[skip]) if may_skip and is_answer else SchemaError(text)


def describe_skipped(rows: Rows) -> str:
    """Return what is left out of a file and why, without the file's name."""
    problems = (*rows.problems, *rows.left_out)
    n_left_out = sum(len(problem.lines) for problem in problems)
    reasons = ", ".join(
        f"{len(problem.lines):,} because {problem.reason} (first: {rows.unit} {problem.lines[0]})"
        for problem in problems
    )
    return f"{n_left_out:,} of {len(rows.lines) + n_left_out:,} rows left out: {reasons}"
