"""Files with one row per user: a user and items on a line, or a column of lists."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from recgauge.errors import SchemaError
from recgauge.files.columns import Role, Wanted
from recgauge.files.json_lines import as_ids, as_values
from recgauge.files.opening import TableFile
from recgauge.files.rows import Part
from recgauge.files.text import TextFormat, not_utf8
from recgauge.utils.arrow import cells_to_arrow, to_arrow
from recgauge.utils.checks import LongArray, shown

if TYPE_CHECKING:
    import pyarrow as pa

_IDS_AT_ONCE = 1_000_000
_Line = tuple[int, list[str]]  # its number, and its ids


def read_user_lines(file: TableFile, wanted: Wanted, how: TextFormat, *, careful: bool) -> Part:  # noqa: ARG001 - a format
    """Return one row for each item of each line, which begins with a user; `how` says what parts the ids."""
    return _row_per_id(file, wanted, _filled_lines(file, how.separator), "first id of a line")


def read_count_lines(file: TableFile, wanted: Wanted, how: TextFormat, *, careful: bool) -> Part:  # noqa: ARG001 - a format
    """Return one row for each item of each line, which begins with their count; lines are users, from 0."""
    counted = (list(map(_without_count(file), filled)) for filled in _filled_lines(file, how.separator))
    return _row_per_id(file, wanted, counted, "number of the line, from 0")


def _without_count(file: TableFile) -> Callable[[_Line], _Line]:
    def numbered(line: _Line) -> _Line:
        number, (count, *items) = line
        if count != str(len(items)):
            raise SchemaError(
                f"{file}, line {number}: it begins with {shown(count)}, and {len(items):,} items follow. A "
                "line of count_lines begins with the number of its items, one of user_lines with the user."
            )
        return number, [str(number - 1), *items]

    return numbered


def _row_per_id(file: TableFile, wanted: Wanted, pieces: Iterable[list[_Line]], user: str) -> Part:
    import pyarrow as pa

    users, items, lines = [], [], [np.empty(0, np.int64)]
    n_rows = n_idle = 0
    for filled in pieces:
        n_items = np.array([len(ids) - 1 for _, ids in filled], np.int64)
        n_rows, n_idle = n_rows + int(n_items.sum()), n_idle + int((n_items == 0).sum())
        file.limits.check_rows(n_rows, file)
        owner = cells_to_arrow([ids[0] for _, ids in filled])
        users.append(owner.take(to_arrow(np.repeat(np.arange(len(filled)), n_items))))
        items.append(cells_to_arrow([item for _, ids in filled for item in ids[1:]]))
        lines.append(np.repeat(np.array([number for number, _ in filled], np.int64), n_items))
    columns: dict[Role, pa.ChunkedArray] = {
        "user": pa.chunked_array(users, pa.string()),
        "item": pa.chunked_array(items, pa.string()),
    }
    numbers = np.concatenate(lines)
    if "rank" in wanted.names:
        columns["rank"] = _ranks(np.unique(numbers, return_counts=True)[1])
    return Part(
        file,
        columns,
        {"user": user, "item": "the other ids"},
        numbers,
        remark=f"{n_idle:,} users have no items" if n_idle else "",
    )


def _ranks(lengths: LongArray) -> "pa.ChunkedArray":
    """Return 1, 2, 3... for each list."""
    import pyarrow as pa

    begins = np.repeat(np.cumsum(lengths) - lengths, lengths)
    return pa.chunked_array([to_arrow((np.arange(len(begins)) - begins + 1).astype(np.float64))])


def _filled_lines(file: TableFile, separator: str | None) -> Iterator[list[_Line]]:
    """Yield some lines at a time that have ids, with their numbers."""
    filled: list[_Line] = []
    n_ids = 0
    with file.open() as stream:
        for number, line in enumerate(stream, start=1):
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise not_utf8(file) from error
            ids = text.strip().split(separator)
            if ids and ids[0]:
                filled.append((number, ids))
                n_ids += len(ids)
            if n_ids >= _IDS_AT_ONCE:
                yield filled
                filled, n_ids = [], 0
    yield filled


def one_row_per_item(part: Part) -> Part:
    """Turn a row per user, with a column of items, into a row per item; the order in the row is the rank."""
    numbers = np.asarray(part.numbered, np.int64)
    lists = _lists(part.columns["items"])
    scores = _lists(part.columns["scores"]) if "scores" in part.columns else None
    for row, items in enumerate(lists):
        if scores is not None and len(scores[row]) != len(items):
            raise SchemaError(
                f"{part.file}, {part.unit} {numbers[row]}: {len(items)} items and {len(scores[row])} scores. "
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
