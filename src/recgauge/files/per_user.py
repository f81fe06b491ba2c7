"""Files with one row per user: a user and items on a line, or a column of lists."""

import json
import re
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from recgauge.errors import SchemaError
from recgauge.files.columns import Role, Wanted
from recgauge.files.json_lines import as_ids, as_values
from recgauge.files.opening import TableFile
from recgauge.files.rows import RawRows
from recgauge.files.text import TextFormat
from recgauge.utils.arrow import to_arrow, to_numpy
from recgauge.utils.checks import LongArray, shown

if TYPE_CHECKING:
    import pyarrow as pa

_NO_SIGN = "\x1f"  # what no line has, so that a line is one cell


def read_user_lines(file: TableFile, wanted: Wanted, how: TextFormat, *, careful: bool) -> RawRows:  # noqa: ARG001 - a format
    """Return one row for each item of each line, which begins with a user; `how` says what parts the ids."""
    return _row_per_item(file, wanted, *_words(file, how), user="first id of a line")


def read_count_lines(file: TableFile, wanted: Wanted, how: TextFormat, *, careful: bool) -> RawRows:  # noqa: ARG001 - a format
    """Return one row for each item of each line, which begins with their count; lines are users, from 0."""
    import pyarrow.compute as pc

    ids, begins, n_items, line = _words(file, how)
    counts = ids.take(to_arrow(begins))
    wrong = np.flatnonzero(to_numpy(pc.not_equal(counts, pc.cast(to_arrow(n_items), counts.type))))
    if len(wrong):
        first = wrong[0]
        count = shown(counts[first].as_py())
        raise SchemaError(
            f"{file}, line {line[first]}: it begins with {count}, and {n_items[first]:,} items follow. A "
            "line of count_lines begins with the number of its items, one of user_lines with the user."
        )
    part = _row_per_item(file, wanted, ids, begins, n_items, line, user="number of the line, from 0")
    return replace(part, columns={**part.columns, "user": _text(np.repeat(line - 1, n_items))})


def _words(file: TableFile, how: TextFormat) -> "tuple[pa.Array, LongArray, LongArray, LongArray]":
    """Return all ids, and of each line with some: where it begins, how many follow the first, its number."""
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
    n_items = (np.diff(start) - 1)[named]
    file.limits.check_rows(int(n_items.sum()), file)
    return ids, start[:-1][named], n_items, np.flatnonzero(named) + 1


def _row_per_item(
    file: TableFile,
    wanted: Wanted,
    ids: "pa.Array",
    begins: LongArray,
    n_items: LongArray,
    line: LongArray,
    *,
    user: str,
) -> RawRows:
    import pyarrow as pa

    columns: dict[Role, pa.ChunkedArray] = {
        "user": pa.chunked_array([ids.take(to_arrow(np.repeat(begins, n_items)))]),
        "item": pa.chunked_array([ids.take(to_arrow(np.repeat(begins + 1, n_items) + _places(n_items)))]),
    }
    if "rank" in wanted.names:
        columns["rank"] = _ranks(n_items)
    n_idle = int((n_items == 0).sum())
    return RawRows(
        file,
        columns,
        {"user": user, "item": "the other ids"},
        np.repeat(line, n_items),
        remark=f"{n_idle:,} users have no items" if n_idle else "",
    )


def _text(numbers: LongArray) -> "pa.ChunkedArray":
    import pyarrow as pa
    import pyarrow.compute as pc

    return pa.chunked_array([pc.cast(to_arrow(numbers), pa.large_string())])


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
