"""Files whose rows are no rows of cells: JSON lines, and a user with a list of items."""

import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np
import pyarrow as pa

from recgauge.errors import SchemaError, said, shortened
from recgauge.files.columns import Role, Roles, are_flags
from recgauge.files.lists import as_values
from recgauge.files.opening import TableFile
from recgauge.files.parquet import rows_of_table
from recgauge.files.rows import Rows, broken_rows
from recgauge.files.text import TextFormat
from recgauge.utils.arrow import cells_to_arrow
from recgauge.utils.checks import shown

_BLANKS = " \t\r\n\f\v"
_PART = 1 << 16  # rows that are held as Python's objects


def read_json_lines(file: TableFile, roles: Roles, _: TextFormat) -> Rows:
    """Return the rows of a file that holds one JSON object per line; a list in a cell is text again."""
    broken, lines, lists = list[tuple[int, str]](), list[int](), set[str]()
    tables: list[pa.Table] = []
    objects = _objects(file, broken)
    while part := [*islice(objects, _PART)]:
        lines += [line for line, _ in part]
        names = [*dict.fromkeys(chain.from_iterable(row for _, row in part))]
        file.limits.check("columns", len(names), file)
        columns = [_column([row.get(name) for _, row in part], name, file, roles, lists) for name in names]
        tables.append(pa.Table.from_arrays(columns, names=names))
    if not tables:
        reason = f", line {broken[0][0]}: no line is a JSON object: {broken[0][1]}" if broken else " is empty"
        raise SchemaError(f"{file}{reason}. Write an object of one row on each line, or name the format.")
    table = pa.concat_tables(tables, promote_options="permissive")
    problems, at = broken_rows("the line is no JSON object", broken), np.array(lines, np.int64)
    return rows_of_table(file, table, roles, lists, lines=at, unit="line", problems=problems)


def _objects(file: TableFile, broken: list[tuple[int, str]]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the number and the object of each line that is not blank; lines without one are `broken`."""
    with file.open() as stream:
        for number, line in enumerate(io.TextIOWrapper(stream, "utf-8-sig", newline="\n"), start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                row = None
            if isinstance(row, dict):
                yield number, row
            else:
                broken.append((number, shortened(line.strip(), 60)))


def _column(cells: Sequence[Any], name: str, file: TableFile, roles: Roles, lists: set[str]) -> pa.Array:
    """Return a column, of lists as JSON; one of texts that nobody needs is empty, as these may be long."""
    if any(isinstance(cell, (list, dict)) for cell in cells):
        lists.add(name)
        cells = [json.dumps(cell) if isinstance(cell, (list, dict)) else cell for cell in cells]
    if roles.names and not roles.is_name(name):
        is_needed = roles.is_read(name) or are_flags(cells)
        return as_values(cells).combine_chunks() if is_needed else pa.nulls(len(cells))
    kinds = {*map(type, cells)} - {type(None)}
    try:
        if kinds == {int} or kinds == {str}:
            return cells_to_arrow(cells)
        return as_values(cells).combine_chunks() if {*map(type, cells)} <= {int, float} else pa.array(cells)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise SchemaError(
            f"{file}: the column {shown(name)} has cells of several types, or larger than 64 bits: "
            f"{said(error)}. Make it one type."
        ) from error


def read_id_lines(file: TableFile, _: Roles, how: TextFormat, *, by_count: bool = False) -> Rows:
    """Return a row for each line: a user, then the items; `how` says what parts them.

    `by_count`: it begins with the number of its items instead, and lines are users, from 0.
    """
    users, lists, lines = list[str](), list[list[str]](), list[int]()
    with file.open() as stream:
        for number, line in enumerate(io.TextIOWrapper(stream, "utf-8-sig"), start=1):
            if not (own := line.strip(_BLANKS)):
                continue
            # a no-break space, as other blanks of Unicode, is part of an id
            first, *items = own.split(how.separator) if how.separator else re.split(f"[{_BLANKS}]+", own)
            if by_count and first != str(len(items)):
                raise SchemaError(
                    f"{file}, line {number}: it begins with {shown(first)}, and {len(items):,} items follow. "
                    "A line of count_lines begins with the number of its items, one of user_lines with the "
                    "user."
                )
            users.append(str(number - 1) if by_count else first)
            lists.append(items)
            lines.append(number)
    columns: dict[Role, Any] = {"user": as_values(users), "items": lists}
    user = "number of the line, from 0" if by_count else "first id of a line"
    labels: dict[Role, str] = {"user": user, "item": "the other ids"}
    return Rows(file, columns, labels, np.array(lines, np.int64))
