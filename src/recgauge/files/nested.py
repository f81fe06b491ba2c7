"""Files whose rows are no rows of cells: JSON lines, and a user with a list of items."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from recgauge.errors import SchemaError, said, shortened
from recgauge.files.columns import Role, Wanted
from recgauge.files.opening import Source, TableFile
from recgauge.files.rows import Lines, Problem, RawRows
from recgauge.files.text import TextFormat, not_utf8
from recgauge.utils.arrow import cells_to_arrow, to_arrow, to_numpy
from recgauge.utils.checks import LongArray, shown

if TYPE_CHECKING:
    import pyarrow as pa

_NO_SIGN = "\x1f"  # what no line has, so that a line is one cell


def read_json_lines(file: TableFile, wanted: Wanted, _: TextFormat) -> RawRows:
    """Return the rows of a file that holds one JSON object per line."""
    names: dict[str, None] = {}
    kept: dict[str, list[Any]] = {}
    lines: list[int] = []
    broken: dict[str, list[tuple[int, str]]] = {}
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
            kept |= {name: [None] * len(lines) for name in row if name not in names and wanted.may_be(name)}
            names |= dict.fromkeys(row)
            file.limits.check("columns", len(names), file)
        for name, cells in kept.items():
            cells.append(row.get(name))
        lines.append(number)
    problems = tuple(
        Problem(reason, np.array([number for number, _ in places], np.int64), places[0][1])
        for reason, places in broken.items()
    )
    if not lines:
        raise _no_object(file, problems)
    positions = wanted.by_name(list(names), str(file))
    labels = {role: list(names)[position] for role, position in positions.items()}
    columns: dict[Role, Any] = {role: kept[label] for role, label in labels.items()}
    for role in {*columns} - {"items", "scores"}:
        ids = role in ("user", "item")
        cells = columns[role]
        columns[role] = as_ids(cells, file, lines, role, mixed=wanted.mixed_ids) if ids else as_values(cells)
    return RawRows(file, columns, labels, np.array(lines, np.int64), broken=problems)


def read_json_cells(file: TableFile) -> "pa.Table":
    """Return all columns of a file with one JSON object per line."""
    import pyarrow as pa

    rows = []
    for number, text in _lines(file):
        try:
            rows.append(_object(text))
        except ValueError as error:
            raise SchemaError(f"{file}, line {number}: {error}. Correct the line.") from error
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = []
    for name in names:
        cells = [row.get(name) for row in rows]
        kinds = {type(cell) for cell in cells} - {type(None)}
        if len(kinds) > 1 and not kinds <= {int, float}:
            mixed = " and ".join(sorted(kind.__name__ for kind in kinds))
            raise SchemaError(f"{file}: the column {shown(name)} mixes {mixed}. Make it one type.")
        try:
            columns.append(pa.array(cells))
        except (pa.ArrowException, OverflowError) as error:
            raise SchemaError(
                f"{file}: the column {shown(name)}: {said(error)}. Write it as text."
            ) from error
    return pa.table(columns, names=names)


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
    except UnicodeDecodeError:
        raise
    except RecursionError:
        raise ValueError("the line is nested too deeply") from None
    except ValueError:
        row = None
    if not isinstance(row, dict):
        raise ValueError("the line is no JSON object")
    if b"\\u" in text:
        try:
            json.dumps(row, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise ValueError(
                "the line is no JSON object: it has half of a character (a lone surrogate)"
            ) from None
    return row


def _lines(file: TableFile) -> Iterator[tuple[int, bytes]]:
    with file.open() as stream:
        for number, line in enumerate(stream, start=1):
            if line.strip():
                yield number, line.removeprefix(b"\xef\xbb\xbf")


def as_values(cells: Sequence[Any]) -> "pa.ChunkedArray":
    """Return cells as numbers if all are, else as text; the checks say which of these are none."""
    import pyarrow as pa

    kinds = {type(cell) for cell in cells}
    if kinds <= {int, float}:
        values = np.array(cells)
        if values.dtype.kind in "if":  # larger whole numbers are Python's own
            return pa.chunked_array([to_arrow(values)])
    return pa.chunked_array([cells_to_arrow([None if cell is None else str(cell) for cell in cells])])


def as_ids(
    cells: Sequence[Any], file: Source, lines: "Lines | Sequence[int]", role: Role, *, mixed: bool
) -> "pa.ChunkedArray":
    """Return cells as ids; `mixed`: numbers become text where there is text or a number beyond 64 bits."""
    import pyarrow as pa

    kinds = {*map(type, cells)} - {type(None)}
    large = int in kinds and any(isinstance(cell, int) and not -(2**63) <= cell < 2**63 for cell in cells)
    if kinds <= {int, str} and (mixed or not (large or len(kinds) > 1)):
        if large or len(kinds) > 1:
            cells = [None if cell is None else str(cell) for cell in cells]
        return pa.chunked_array([cells_to_arrow(cells)])
    usual = {int, str} if mixed else {next((type(cell) for cell in cells if type(cell) in (int, str)), int)}
    odd = next(
        at
        for at, cell in enumerate(cells)
        if cell is not None
        and (type(cell) not in usual or (isinstance(cell, int) and not -(2**63) <= cell < 2**63))
    )
    raise SchemaError(
        f"{file}, line {lines[odd]}: the {role} must be whole numbers in -2**63..2**63 - 1 everywhere or "
        f"text everywhere, got {shown(cells[odd])}, of type {type(cells[odd]).__name__}. Make them one type."
    )


def read_id_lines(file: TableFile, wanted: Wanted, how: TextFormat, *, counted: bool = False) -> RawRows:
    """Return one row for each item of each line, which begins with a user; `how` says what parts the ids.

    `counted`: it begins with the number of its items instead, and lines are users, from 0.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import csv as arrow_csv

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
    if counted:
        _check_counts(file, users, n_items, line)
        users = pc.cast(to_arrow(line - 1), pa.large_string())
    owner = np.repeat(np.arange(len(line)), n_items)
    columns: dict[Role, pa.ChunkedArray] = {
        "user": pa.chunked_array([users.take(to_arrow(owner))]),
        "item": pa.chunked_array([ids.take(to_arrow(begins[owner] + 1 + _places(n_items)))]),
    }
    if "rank" in wanted.names:
        columns["rank"] = _ranks(n_items)
    user = "number of the line, from 0" if counted else "first id of a line"
    labels: dict[Role, str] = {"user": user, "item": "the other ids"}
    return RawRows(file, columns, labels, line[owner], empty=line[n_items == 0])


def _check_counts(file: TableFile, counts: "pa.Array", n_items: LongArray, line: LongArray) -> None:
    """Refuse a line that begins with another number than that of its items."""
    import pyarrow.compute as pc

    wrong = np.flatnonzero(to_numpy(pc.not_equal(counts, pc.cast(to_arrow(n_items), counts.type))))
    if len(wrong):
        first = wrong[0]
        raise SchemaError(
            f"{file}, line {line[first]}: it begins with {shown(counts[first].as_py())}, and "
            f"{n_items[first]:,} items follow. A line of count_lines begins with the number of its items, "
            "one of user_lines with the user."
        )


def _places(lengths: LongArray) -> LongArray:
    """Return 0, 1, 2... for each list."""
    return np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)


def _ranks(lengths: LongArray) -> "pa.ChunkedArray":
    import pyarrow as pa

    return pa.chunked_array([to_arrow((_places(lengths) + 1).astype(np.float64))])


def one_row_per_item(part: RawRows) -> RawRows:
    """Turn a row per user, with a column of items, into a row per item; the order in the row is the rank."""
    numbers = np.asarray(part.numbered, np.int64)
    lists = _lists(part.columns["items"])
    scores = _lists(part.columns["scores"]) if "scores" in part.columns else None
    for row, items in enumerate(lists):
        if scores is not None and len(scores[row]) != len(items):
            raise SchemaError(
                f"{part.place(numbers[row])}: {len(items)} items and {len(scores[row])} scores. "
                "Give one score for every item."
            )
    lengths = np.array([len(items) for items in lists], np.int64)
    owner = np.repeat(np.arange(len(lists)), lengths)
    lines = numbers[owner]
    item = as_ids(list(chain.from_iterable(lists)), part.file, lines, "item", mixed=True)
    user = part.columns["user"].take(to_arrow(owner))
    columns: dict[Role, Any] = {"user": user, "item": item, "rank": _ranks(lengths)}
    if scores is not None:
        columns["score"] = as_values(list(chain.from_iterable(scores)))
    return replace(part, columns=columns, lines=lines, empty=numbers[lengths == 0])


def _lists(column: Any) -> list[list[Any]]:
    return [_listed_cell(cell) for cell in (column if isinstance(column, list) else column.to_pylist())]


def _listed_cell(cell: Any) -> list[Any]:
    """Return the items of a cell: a list, a JSON list, or ids with blanks, commas, ``|`` or ``;`` between."""
    if cell is None:
        return []
    if isinstance(cell, list):
        return cell
    text = str(cell).strip()
    if text.startswith("["):
        try:
            items = json.loads(text)
            if isinstance(items, list):
                return items
        except (ValueError, RecursionError):
            text = text.strip("[]").replace("'", "")
    return [part for part in re.split(r"[\s,;|]+", text) if part]
