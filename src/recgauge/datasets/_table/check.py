"""Checks every row of a table and says in words which are bad."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recgauge.datasets._table.ids import Ids, read_ids
from recgauge.datasets._table.part import Part, Problem
from recgauge.datasets._table.values import TimeUnit, read_ratings, read_times
from recgauge.errors import SchemaError, shortened
from recgauge.utils.checks import BoolArray, FloatArray, LongArray

if TYPE_CHECKING:
    import pyarrow as pa

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
    place = f"{checked.part.file}, {checked.part.unit} {first.lines[0]}"
    return SchemaError(
        f"{place}: {first.reason}: {first.example}{others}. "
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
