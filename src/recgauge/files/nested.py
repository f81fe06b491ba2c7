"""Files whose rows are no rows of cells: JSON lines, and a user with a list of items."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv

from recgauge.errors import SchemaError, said, shortened
from recgauge.files.columns import Role, Roles, are_flags
from recgauge.files.frames import as_column
from recgauge.files.lists import as_ids, as_values, offsets, ranks
from recgauge.files.opening import TableFile
from recgauge.files.rows import Problem, Rows
from recgauge.files.text import TextFormat, not_utf8
from recgauge.utils.arrow import to_arrow, to_numpy
from recgauge.utils.checks import LongArray, shown

_NO_SIGN = "\x1f"  # what no line has, so that a line is one cell


def read_json_lines(file: TableFile, roles: Roles, _: TextFormat) -> Rows:
    """Return the rows of a file that holds one JSON object per line."""
    import pandas as pd

    names, cells, lines, broken = _read_objects(file, roles)
    problems = tuple(
        Problem(reason, np.array([number for number, _ in examples], np.int64), examples[0][1])
        for reason, examples in broken.items()
    )
    if not lines:
        raise _no_object(file, problems)
    labels = list(names)
    lists = {at for at, name in enumerate(labels) if {*map(type, cells.get(name, ()))} & {list, dict}}
    numbers = {at for at, name in enumerate(labels) if name in cells and are_flags(cells[name])}
    columns = roles.columns(labels, str(file), numbers, lists)
    role_of = {at: role for role, at in columns.positions.items()}
    used: list[Any] = []
    for at in columns.used:
        column, role = cells[labels[at]], role_of.get(at)
        if not roles.names:
            subject = f"{file}: the column {shown(labels[at])}"
            used.append(as_column(pd.Series(column, dtype=object), subject))
        elif role in ("user", "item"):
            used.append(as_ids(column, file, lines, role, mixed=roles.of_lists))
        else:
            as_lists = role in ("items", "scores") or at in columns.numbered
            used.append(column if as_lists else as_values(column))
    return Rows.of(file, columns, used, np.array(lines, np.int64), problems=problems)


def _read_objects(
    file: TableFile, roles: Roles
) -> tuple[dict[str, None], dict[str, list[Any]], list[int], dict[str, list[tuple[int, str]]]]:
    """Return all names, cells of columns that may be used, lines of rows, and lines by what is wrong."""
    names: dict[str, None] = {}
    cells: dict[str, list[Any]] = {}
    lines: list[int] = []
    broken: dict[str, list[tuple[int, str]]] = {}
    ungraded = "rating" in roles.names and roles.choices.get("rating") is not False
    for number, text in _lines(file):
        try:
            row = _object(text)
        except UnicodeDecodeError as error:
            raise not_utf8(file) from error
        except ValueError as error:
            example = shortened(text.decode("utf-8", "replace").strip(), 60)
            broken.setdefault(str(error), []).append((number, example))
            continue
        if not row.keys() <= names.keys():
            cells |= {
                name: [None] * len(lines)
                for name, cell in row.items()
                if name not in names and (roles.is_read(name) or (ungraded and are_flags([cell])))
            }
            names |= dict.fromkeys(row)
            file.limits.check("columns", len(names), file)
        for name, column in cells.items():
            column.append(row.get(name))
        lines.append(number)
    return names, cells, lines, broken


def read_json_users(file: TableFile, _: Roles, __: TextFormat) -> Rows:
    """Return the rows of a file of JSON objects with the lists of users: of items, or of scores."""
    text = b"\n".join(line for _, line in _lines(file)).decode()
    decoder, at = json.JSONDecoder(object_pairs_hook=_distinct_names), 0
    lists: dict[str, Any] = {}
    while at < len(text):
        try:
            row, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            raise SchemaError(
                f"{file} is no JSON that can be read: {said(error)}. Check the file."
            ) from error
        for user, cell in row.items() if isinstance(row, dict) else [("", row)]:
            if not isinstance(row, dict) or not isinstance(cell, (dict, list)):
                raise SchemaError(
                    f"{file}: user {shown(user)} has no list of items but {shown(shortened(str(cell), 60))}. "
                    'Write one object for each row and line, or {"user": ["item", ...], ...}.'
                )
            if user in lists:
                raise SchemaError(f"{file}: user {shown(user)} is there twice. Join the lists.")
            lists[user] = cell
        at = len(text) - len(text[at:].lstrip(" \t\r\n,"))
    users, cells = [*lists], [*lists.values()]
    columns: dict[Role, Any] = {"user": as_values(users), "items": cells}
    labels: dict[Role, str] = {"user": "names", "item": "their lists"}
    return Rows(file, columns, labels, range(1, len(users) + 1), unit="user")


def _distinct_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object; a dictionary alone would lose a name that is there twice."""
    row: dict[str, Any] = {}
    for name, cell in pairs:
        if name in row:
            raise ValueError(f"the name {shown(name)} is there twice in one object")
        row[name] = cell
    return row


def _no_object(file: TableFile, problems: Sequence[Problem]) -> SchemaError:
    if not problems:
        return SchemaError(f"{file} is empty. Name a file with rows.")
    first = min(problems, key=lambda problem: int(problem.lines[0]))
    return SchemaError(
        f"{file}, line {first.lines[0]}: no line is a JSON object that can be read: {first.reason}: "
        f"{first.example}. Write one object per line, without brackets and commas around them, or name "
        "the format of the file."
    )


def _object(text: bytes) -> dict[str, Any]:
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


def _lines(file: TableFile) -> Iterator[tuple[int, bytes]]:
    with file.open() as stream:
        for number, line in enumerate(stream, start=1):
            if line.strip():
                yield number, line.removeprefix(b"\xef\xbb\xbf")


def read_id_lines(file: TableFile, roles: Roles, how: TextFormat, *, by_count: bool = False) -> Rows:
    """Return one row for each item of each line, which begins with a user; `how` says what parts the ids.

    `by_count`: it begins with the number of its items instead, and lines are users, from 0.
    """
    import pyarrow.compute as pc

    with file.open() as stream:
        text = arrow_csv.read_csv(
            stream,
            arrow_csv.ReadOptions(column_names=["line"], block_size=2 * file.limits.line_bytes),
            arrow_csv.ParseOptions(delimiter=_NO_SIGN, quote_char=False, ignore_empty_lines=False),
            arrow_csv.ConvertOptions(column_types={"line": pa.large_string()}, strings_can_be_null=False),
        )
    lines = pc.utf8_trim_whitespace(text["line"].combine_chunks())
    split = pc.split_pattern(lines, how.separator) if how.separator else pc.utf8_split_whitespace(lines)
    ids, start = split.values, to_numpy(split.offsets).astype(np.int64)
    named = to_numpy(pc.utf8_length(ids))[start[:-1]] > 0  # other lines are blank
    begins, n_items, line = start[:-1][named], (np.diff(start) - 1)[named], np.flatnonzero(named) + 1
    file.limits.check("rows", int(n_items.sum()), file)
    users = ids.take(to_arrow(begins))
    if by_count:
        _check_counts(file, users, n_items, line)
        users = pc.cast(to_arrow(line - 1), pa.large_string())
    owner = np.repeat(np.arange(len(line)), n_items)
    columns: dict[Role, pa.ChunkedArray] = {
        "user": pa.chunked_array([users.take(to_arrow(owner))]),
        "item": pa.chunked_array([ids.take(to_arrow(begins[owner] + 1 + offsets(n_items)))]),
    }
    if "rank" in roles.names:
        columns["rank"] = ranks(n_items)
    user = "number of the line, from 0" if by_count else "first id of a line"
    labels: dict[Role, str] = {"user": user, "item": "the other ids"}
    return Rows(file, columns, labels, line[owner], empty=line[n_items == 0])


def _check_counts(file: TableFile, counts: pa.Array, n_items: LongArray, line: LongArray) -> None:
    """Refuse a line that begins with another number than that of its items."""
    texts = counts.to_pylist()
    for at, (text, n) in enumerate(zip(texts, n_items.tolist(), strict=True)):
        if text != str(n):
            raise SchemaError(
                f"{file}, line {line[at]}: it begins with {shown(text)}, and {n:,} items follow. A line of "
                "count_lines begins with the number of its items, one of user_lines with the user."
            )
