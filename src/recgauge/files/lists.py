"""Lists that stand in one cell, or in numbered columns, as one row for each item."""

import ast
import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from recgauge.errors import SchemaError, shortened
from recgauge.files.columns import ITEMS, SCORES, Role, Roles, is_usual
from recgauge.files.opening import Source
from recgauge.files.rows import Lines, Rows
from recgauge.utils.arrow import cells_to_arrow, to_arrow
from recgauge.utils.checks import shown

T = TypeVar("T")

_SCALAR = re.compile(r"\bnp\.\w+\(([^()]*)\)")  # as NumPy 2 writes numbers and texts
_NUMPY_NUMBERS = re.compile(r"\[[\s0-9-]*\]")  # as NumPy writes whole numbers, without commas
_NEIGHBOURS = re.compile(r"""['"]\s+['"]""")  # texts without commas, which Python would join
_CODE = re.compile(r"\S*[0-9]\S*|\S{1,2}")
_NO_ITEM = re.compile(r"[\[\]{}]|^np\.|.[:=][+-]?[0-9]*\.[0-9]+([eE][+-]?[0-9]+)?$")
_NESTED = {list, tuple, dict, set, bool, type(...)}
_PAIR = 2
IN_CELLS = "scores in the cells"
"""What stands for the name of a column of scores where lists are scores by item."""
AS_LISTS = "write lists of items, best first"
"""How such lists are read the other way."""


def item_rows(rows: Rows, roles: Roles) -> Rows:
    """Turn a row per user, with a column of items or a column per rank, into a row per item.

    The order in the row is the rank, unless all lists are scores by item: these order them.
    """
    numbers, column = np.asarray(rows.lines, np.int64), rows.cells["items"]
    values = _in_columns(column) if isinstance(column, tuple) else _parsed_cells(as_list(column), rows)
    is_scored = all(isinstance(value, Mapping) for value in values if value) and any(values)
    read = partial(_listed_items, as_written=is_scored)
    lists = [_or_refuse(read, value, row, rows) for row, value in enumerate(values)]
    scores_of, unused = _scores_of(rows)
    if scores_of is not None:
        values = _parsed_cells(scores_of, rows)
        scores = [_or_refuse(_listed_items, value, row, rows)[0] for row, value in enumerate(values)]
        lists = [(items, own) for (items, _), own in zip(lists, scores, strict=True)]
    scored = any(scores is not None for items, scores in lists if items or scores)
    for row, (items, own) in enumerate(lists):
        if scored and len(own or []) != len(items):
            raise SchemaError(
                f"{rows.where(row)}: {len(items)} items and {len(own or [])} scores. "
                "Give one score for every item."
            )
    lengths = np.array([len(items) for items, _ in lists], np.int64)
    owner = np.repeat(np.arange(len(lists)), lengths)
    lines, at = numbers[owner], to_arrow(owner)
    item_cells = [*chain.from_iterable(items for items, _ in lists)]
    cells: dict[Role, Any] = {
        role: rows.cells[role].take(at) for role in rows.cells if role in ("user", "tag")
    }
    cells["item"] = as_ids(item_cells, rows.file, lines, "item", mixed=True)
    labels = {role: label for role, label in rows.labels.items() if label not in unused}
    if "rank" in roles.names and not is_scored:
        places = np.arange(1, len(owner) + 1) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        cells["rank"] = pa.chunked_array([to_arrow(places)])
    value: Role = "score" if "score" in roles.names else "rating"
    if scored and value in roles.names:
        cells[value] = as_values([*chain.from_iterable(own or [] for _, own in lists)])
        labels |= {value: labels.get("scores", labels.get(value, IN_CELLS))}
    return replace(
        rows,
        cells=cells,
        labels=labels,
        further={name: column.take(at) for name, column in rows.further.items()},
        unused=(*rows.unused, *unused),
        lines=lines,
        empty=numbers[lengths == 0],
    )


def as_list(column: Any) -> list[Any]:
    """Return a column, which may be a list already, as a list."""
    return column if isinstance(column, list) else list(column.to_pylist())


def _in_columns(columns: Sequence[Any]) -> list[list[Any]]:
    """Return a list for each row of columns; what is empty at its end is not in it."""
    rows: list[list[Any]] = []
    for row in zip(*map(_whole_numbers, columns), strict=True):
        cells = [None if isinstance(cell, str) and not cell.strip() else cell for cell in row]
        while cells and cells[-1] is None:
            cells.pop()
        rows.append(cells)
    return rows


def _whole_numbers(column: Any) -> list[Any]:
    """Return a column; whole numbers that are floats because others are missing are whole numbers."""
    if isinstance(column, pa.ChunkedArray) and pa.types.is_floating(column.type) and column.null_count:
        with suppress(pa.ArrowInvalid):  # a fraction, or more digits than a float has
            column = column.cast(pa.int64())
    return as_list(column)


def _scores_of(rows: Rows) -> tuple[list[Any] | None, tuple[str, ...]]:
    """Return the cells with the scores or grades of listed items, and the columns that turn out to be unused.

    The order in a list is the rank, and one number is that of no item.
    """
    if "rank" in rows.cells:
        raise SchemaError(
            f"{rows.file}: the column {shown(rows.labels['rank'])} ranks lists, whose order in the cell "
            f"{shown(rows.labels['items'])} is the rank. Sort the lists, and leave that column out."
        )
    roles: tuple[Role, ...] = ("scores", "score", "rating")
    role = next((role for role in roles if role in rows.cells), None)
    if role is None:
        return None, ()
    cells = as_list(rows.cells[role])
    filled = (cell for cell in cells if cell is not None)
    if role == "scores" or all(isinstance(cell, list) or str(cell).strip()[:1] == "[" for cell in filled):
        return cells, ()
    if role == "score":
        return None, (rows.labels[role],)
    raise SchemaError(
        f"{rows.file}: the column {shown(rows.labels[role])} has one number for a list of items. "
        "Write a list of numbers, one for each item, or leave the column out."
    )


def _parsed_cells(cells: Sequence[Any], rows: Rows) -> list[Any]:
    """Return what each cell holds; how texts are written is the same in all cells of a column."""
    texts = [cell.strip() for cell in cells if isinstance(cell, str)]
    sign = "|" if any("|" in text for text in texts) else None
    written = any(text.startswith(("[", "(", "{")) for text in texts)
    parse = _parsed_list if written else partial(_split_items, sign=sign)
    return [
        _or_refuse(parse, cell.strip(), row, rows) if isinstance(cell, str) else cell
        for row, cell in enumerate(cells)
    ]


def _or_refuse(read: Callable[[Any], T], cell: Any, row: int, rows: Rows) -> T:
    """Return what is read of a cell, or say in which row it cannot be."""
    try:
        return read(cell)
    except ValueError as error:
        raise SchemaError(
            f"{rows.where(row)}: the list {shown(shortened(str(cell), 60))}: {error}. "
            'Write lists as JSON, such as ["a", "b"], or one row for each item.'
        ) from None


def _parsed_list(text: str) -> Any:
    """Return what a list of JSON, of Python or of NumPy holds, or raise a ValueError."""
    if not text:
        return []
    with suppress(ValueError, RecursionError):
        return json.loads(text)
    if _NUMPY_NUMBERS.fullmatch(text):
        return [int(number) for number in text.strip("[]").split()]
    if _NEIGHBOURS.search(text):
        raise ValueError("it has no commas between its items")
    for python in (text, _SCALAR.sub(r"\1", text)):
        with suppress(ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return ast.literal_eval(python)
    raise ValueError("it is no list of JSON, Python or NumPy that can be read")


def _split_items(text: str, sign: str | None) -> list[Any]:
    """Return the items between `|`, or between blanks, or raise a ValueError."""
    parts = [part.strip() for part in text.strip("| ").split(sign)] if text else []
    if sign is None and len(parts) > 1 and not all(map(_CODE.fullmatch, parts)):
        raise ValueError("nobody can tell whether blanks are within items or between them")
    if (sign is None or len(parts) == 1) and re.search("[;,]" if sign is None else r"[;,]\S", text):
        raise ValueError("nobody can tell whether signs such as ; and , are within items or between them")
    if any(map(_NO_ITEM.search, parts)):
        raise ValueError("its items have brackets, or scores behind a sign")
    return [part or None for part in parts]


Scored = tuple[list[Any], list[Any] | None]
"""Items, and their scores if there are any."""


def _listed_items(cell: Any, *, as_written: bool = False) -> Scored:
    """Return the items of a list, of pairs of item and score, or of scores by item; or raise a ValueError.

    Items with scores by item fall by score, unless `as_written`.
    """
    if isinstance(cell, Mapping):
        return _items_and_scores([*cell.items()], ordered=as_written)
    if not isinstance(cell, (list, tuple, type(None))):
        raise ValueError("it is no list")
    entries = list(cell or [])
    kinds = {*map(type, entries)}
    if not kinds & _NESTED:
        return entries, None
    if kinds == {dict} and all(len(entry) == _PAIR for entry in entries):
        return _items_and_scores([_fields(entry) for entry in entries])
    if kinds <= {list, tuple} and all(len(entry) == _PAIR for entry in entries):
        return _items_and_scores(entries)
    raise ValueError("its items are no ids")


def _fields(struct: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return item and score of a struct, such as those of Spark's ALS."""
    items, scores = ([name for name in struct if is_usual(name, groups)] for groups in (ITEMS, SCORES))
    if len(items) != 1 or len(scores) != 1:
        raise ValueError(f"nobody knows which of {', '.join(struct)} is the item and which the score")
    return struct[items[0]], struct[scores[0]]


def _items_and_scores(pairs: list[Any], *, ordered: bool = True) -> Scored:
    """Return items and scores, by falling score unless they are ordered, or raise a ValueError."""
    if any(isinstance(score, bool) or not isinstance(score, (int, float)) for _, score in pairs):
        raise ValueError("a score is no number")
    pairs = pairs if ordered else sorted(pairs, key=lambda pair: -pair[1])
    return [item for item, _ in pairs], [score for _, score in pairs]


def as_values(cells: Sequence[Any]) -> pa.ChunkedArray:
    """Return cells as numbers if all are, else as text; the checks say which of these are none."""
    if {type(cell) for cell in cells} <= {int, float}:
        values = np.array(cells)
        if values.dtype.kind in "if":  # larger whole numbers are Python's own
            return pa.chunked_array([to_arrow(values)])
    return pa.chunked_array([cells_to_arrow([None if cell is None else str(cell) for cell in cells])])


def as_ids(
    cells: Sequence[Any], file: Source, lines: Lines | Sequence[int], role: Role, *, mixed: bool
) -> pa.ChunkedArray:
    """Return cells as ids; `mixed`: numbers become text where there is text or a number beyond 64 bits."""
    kinds = {*map(type, cells)} - {type(None)}
    if kinds <= {int} or kinds <= {str}:
        with suppress(OverflowError):
            return pa.chunked_array([cells_to_arrow(cells)])
    if mixed and kinds <= {int, str}:
        return as_values([None if cell is None else str(cell) for cell in cells])
    first = next(type(cell) for cell in cells if cell is not None)
    allowed = {int, str} if mixed else {str if first is str else int}
    strange = (
        at
        for at, cell in enumerate(cells)
        if cell is not None and (type(cell) not in allowed or (type(cell) is int and cell.bit_length() > 63))
    )
    odd = next(strange)
    raise SchemaError(
        f"{file}, line {lines[odd]}: the {role} must be whole numbers in -2**63..2**63 - 1 everywhere or "
        f"text everywhere, got {shown(cells[odd])}, of type {type(cells[odd]).__name__}. Make them one type."
    )
