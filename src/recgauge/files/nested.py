"""Files whose rows are no rows of cells: JSON lines, and a user with a list of items."""

import io
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from recgauge.errors import SchemaError, shortened
from recgauge.files.columns import Role, Roles, are_flags
from recgauge.files.frames import as_column
from recgauge.files.lists import as_ids, as_values
from recgauge.files.opening import TableFile
from recgauge.files.rows import Problem, Rows
from recgauge.files.text import TextFormat, not_utf8
from recgauge.utils.checks import shown

_BLANKS = " \t\r\n\f\v"
_BY_USER = "jq -c 'to_entries[] | {user: .key, items: .value}' FILE"


def read_json_lines(file: TableFile, roles: Roles, _: TextFormat) -> Rows:
    """Return the rows of a file that holds one JSON object per line."""
    broken: dict[str, list[tuple[int, str]]] = {}
    names, cells, lines = _cells_of(file, roles, broken)
    problems = tuple(
        Problem(reason, np.array([number for number, _ in examples], np.int64), examples[0][1])
        for reason, examples in broken.items()
    )
    if not lines:
        raise _no_object(file, problems)
    if roles.names and not any(map(roles.is_name, names)) and all(names.values()):
        raise SchemaError(
            f"{file} has users in the place of columns. Write one object with user and items per line: "
            f"{_BY_USER}."
        )
    labels = list(names)
    lists = {at for at, name in enumerate(labels) if any(map(_is_nested, cells.get(name, ())))}
    numbers = {at for at, name in enumerate(labels) if name in cells and are_flags(cells[name])}
    columns = roles.columns(labels, str(file), numbers, lists)
    role_of = {at: role for role, at in columns.positions.items()}

    def column_of(at: int) -> Any:
        column, role = cells[labels[at]], role_of.get(at)
        if not roles.names:
            return _typed_column(column, f"{file}: the column {shown(labels[at])}")
        if role in ("user", "item"):
            return as_ids(column, file, lines, role, mixed=roles.of_lists)
        return column if role == "items" else as_values(column)

    used = [column_of(at) for at in columns.used]
    return Rows.of(file, columns, used, np.array(lines, np.int64), problems=problems)


def _cells_of(
    file: TableFile, roles: Roles, broken: dict[str, list[tuple[int, str]]]
) -> tuple[dict[str, bool], dict[str, list[Any]], list[int]]:
    """Return all names and whether they hold lists, cells of columns that may be used, and lines of rows."""
    names: dict[str, bool] = {}
    cells: dict[str, list[Any]] = {}
    lines: list[int] = []
    ungraded = "rating" in roles.names and roles.choices.get("rating") is not False
    for number, row in _objects(file, broken):
        for name in row.keys() - names.keys():
            if roles.is_read(name) or (ungraded and are_flags([row[name]])):
                cells[name] = [None] * len(lines)
        if not row.keys() <= names.keys():
            names |= {name: _is_nested(cell) for name, cell in row.items() if name not in names}
            file.limits.check("columns", len(names), file)
        for name, column in cells.items():
            column.append(row.get(name))
        lines.append(number)
    return names, cells, lines


def _typed_column(cells: list[Any], subject: str) -> pa.ChunkedArray:
    """Return a column of the user's own in the type that its cells have."""
    import pandas as pd

    return as_column(pd.Series(cells, dtype=object), subject)


def _objects(
    file: TableFile, broken: dict[str, list[tuple[int, str]]]
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the number and the object of each line that is not blank; those without one are `broken`."""
    with file.open() as stream:
        for number, line in enumerate(stream, start=1):
            text = line.removeprefix(b"\xef\xbb\xbf")
            if text.strip():
                try:
                    yield number, _object(text)
                except UnicodeDecodeError as error:
                    raise not_utf8(file) from error
                except ValueError as error:
                    example = shortened(text.decode("utf-8", "replace").strip(), 60)
                    broken.setdefault(str(error), []).append((number, example))


def _no_object(file: TableFile, problems: tuple[Problem, ...]) -> SchemaError:
    if not problems:
        return SchemaError(f"{file} is empty. Name a file with rows.")
    first = min(problems, key=lambda problem: int(problem.lines[0]))
    return SchemaError(
        f"{file}, line {first.lines[0]}: no line is a JSON object that can be read: {first.reason}: "
        f"{first.example}. Write one object per line, without brackets and commas around them (of "
        f"an object of all users: {_BY_USER}), or name the format of the file."
    )


def _is_nested(cell: Any) -> bool:
    return isinstance(cell, (list, dict))


def _object(text: bytes) -> Mapping[str, Any]:
    """Return the object of a line, or raise a ValueError that says why it is missing."""
    try:
        row = json.loads(text.decode())  # json's own look at the encoding takes as long as the parsing
        if b"\\u" in text:
            json.dumps(row, ensure_ascii=False).encode()
    except UnicodeDecodeError:
        raise
    except RecursionError:
        raise ValueError("the line is nested too deeply") from None
    except UnicodeEncodeError:
        reason = "the line is no JSON object: it has half of a character (a lone surrogate)"
        raise ValueError(reason) from None
    except ValueError:
        row = None
    if not isinstance(row, dict):
        raise ValueError("the line is no JSON object")
    return row


def read_id_lines(file: TableFile, _: Roles, how: TextFormat, *, by_count: bool = False) -> Rows:
    """Return a row for each line: a user, then the items; `how` says what parts them.

    `by_count`: it begins with the number of its items instead, and lines are users, from 0.
    """
    users: list[str] = []
    lists: list[list[str]] = []
    lines: list[int] = []
    with file.open() as stream:
        text = io.TextIOWrapper(stream, "utf-8-sig", errors="surrogateescape")
        for number, line in enumerate(text, start=1):
            if not (own := line.strip(_BLANKS)):
                continue
            if not (own.isascii() or own.isprintable()):
                _check_utf8(own, file)
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


def _check_utf8(line: str, file: TableFile) -> None:
    """Refuse a line with bytes that are not UTF-8, which decoding has kept apart."""
    try:
        line.encode()
    except UnicodeEncodeError:
        raise not_utf8(file) from None
