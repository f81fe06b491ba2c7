"""Lists that stand in one cell, as one row for each item."""

import ast
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from recgauge.errors import SchemaError, shortened
from recgauge.files.columns import ITEMS, LISTED_SCORES, SCORES, Role, Roles, is_usual
from recgauge.files.rows import Rows
from recgauge.utils.arrow import cells_to_arrow, to_arrow
from recgauge.utils.checks import LongArray, shown

_SCALAR = re.compile(r"\bnp\.\w+\(([^()]*)\)")  # as NumPy 2 writes numbers and texts
_NEIGHBOURS = re.compile(r"""['"]\s+['"]""")  # texts without commas, which Python would join
_CODE = re.compile(r"\S*[0-9]\S*|\S{1,2}")  # an item between blanks; words may be a title
_UNCLEAR = re.compile(r"[\[\]{}]|[;,](?!\s)|^np\.|.[:=][+-]?[0-9]*\.[0-9]+([eE][+-]?[0-9]+)?$")
_NESTED = {list, tuple, dict, set, bool, type(...)}


def item_rows(rows: Rows, roles: Roles) -> Rows:
    """Turn a row per user with a list of items, best first, into a row per item.

    The place in the list is the rank. Structs of item and score, as of Spark's ALS, fall by score.
    """
    beside = [label for role, label in rows.labels.items() if role in ("rank", "score", "rating")]
    beside += [name for name in rows.unused if is_usual(name, LISTED_SCORES)]
    if beside:
        raise SchemaError(
            f"{rows.file}: the column {shown(beside[0])} stands beside lists of items. Write one row per "
            "item, or leave that column out."
        )
    column = rows.cells["items"]
    cells = column if isinstance(column, list) else column.to_pylist()
    texts = [cell.strip() for cell in cells if isinstance(cell, str)]
    is_written = any(text.startswith(("[", "(", "{")) for text in texts)
    sign = "|" if any("|" in text for text in texts) else None
    items, scores, lengths = list[Any](), list[Any](), np.zeros(len(cells), np.int64)
    for row, cell in enumerate(cells):
        try:
            if isinstance(cell, str):
                cell = _parsed(cell.strip()) if is_written else _split(cell.strip(), sign)
            own_items, own_scores = _items_and_scores(cell)
        except ValueError as error:
            raise SchemaError(
                f"{rows.where(row)}: the list {shown(shortened(str(cell), 60))}: {error}. "
                'Write lists as JSON, such as ["a", "b"], or one row per item.'
            ) from None
        items += own_items
        scores += own_scores
        lengths[row] = len(own_items)
    if scores and len(scores) < len(items):
        raise SchemaError(f"{rows.file}: some lists have scores, and others have none. Write all in one way.")
    numbers, owner = np.asarray(rows.lines, np.int64), np.repeat(np.arange(len(cells)), lengths)
    lines, at = numbers[owner], to_arrow(owner)
    taken: dict[Role, Any] = {role: rows.cells[role].take(at) for role in rows.cells if role != "items"}
    taken["item"] = _item_ids(items, rows, lines)
    labels = dict(rows.labels)
    if "rank" in roles.names:
        place = np.arange(1, len(owner) + 1) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        taken["rank"] = pa.chunked_array([to_arrow(place)])
    value: Role = "score" if "score" in roles.names else "rating"
    if scores and value in roles.names:
        taken[value], labels[value] = as_values(scores), f"{labels['items']}'s own"
    return replace(
        rows,
        cells=taken,
        labels=labels,
        further={name: column.take(at) for name, column in rows.further.items()},
        lines=lines,
        empty=numbers[lengths == 0],
    )


def _parsed(text: str) -> Any:
    """Return what a list of JSON, Python or NumPy holds, or raise a ValueError."""
    if not text:
        return []
    with suppress(ValueError, RecursionError):
        return json.loads(text)
    if _NEIGHBOURS.search(text):
        raise ValueError("it has no commas between its items")
    for python in (text, _SCALAR.sub(r"\1", text)):
        with suppress(ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return ast.literal_eval(python)
    raise ValueError("it is no list of JSON, Python or NumPy that can be read")


def _split(text: str, sign: str | None) -> list[Any]:
    """Return the items between `|`, or between blanks, or raise a ValueError."""
    parts = [part.strip() for part in text.strip("| ").split(sign)] if text else []
    are_codes = sign is not None or len(parts) == 1 or all(map(_CODE.fullmatch, parts))
    if not are_codes or any(map(_UNCLEAR.search, parts)):
        raise ValueError("nobody can tell where its items begin and end")
    return [part or None for part in parts]


def _items_and_scores(cell: Any) -> tuple[list[Any], list[Any]]:
    """Return the items of a list, and the scores of those that have some; or raise a ValueError."""
    if not isinstance(cell, (list, tuple, type(None))):
        raise ValueError("it is no list of items, best first")
    entries = list(cell or [])
    kinds = {*map(type, entries)}
    if kinds == {dict}:
        pairs = [_item_and_score(entry) for entry in entries]
        pairs.sort(key=lambda pair: -pair[1])
        return [item for item, _ in pairs], [score for _, score in pairs]
    if kinds & _NESTED:
        raise ValueError("its items are no ids")
    return entries, []


def _item_and_score(struct: Mapping[str, Any]) -> tuple[Any, float]:
    items, scores = ([name for name in struct if is_usual(name, groups)] for groups in (ITEMS, SCORES))
    if len(items) != 1 or len(scores) != 1 or len(struct) > 2:
        raise ValueError(f"nobody knows which of {', '.join(struct)} is the item and which the score")
    score = struct[scores[0]]
    if isinstance(score, bool) or not isinstance(score, (int, float)):
        raise ValueError("a score is no number")
    return struct[items[0]], score


def as_values(cells: Sequence[Any]) -> pa.ChunkedArray:
    """Return cells as numbers if all are, else as text; the checks say which of these are none."""
    if {type(cell) for cell in cells} <= {int, float}:
        values = np.array(cells)
        if values.dtype.kind in "if":  # larger whole numbers are Python's own
            return pa.chunked_array([to_arrow(values)])
    return pa.chunked_array([cells_to_arrow([None if cell is None else str(cell) for cell in cells])])


def _item_ids(cells: Sequence[Any], rows: Rows, lines: LongArray) -> pa.ChunkedArray:
    """Return items; numbers become text where there is text or a number beyond 64 bits."""
    kinds = {*map(type, cells)} - {type(None)}
    if kinds <= {int} or kinds <= {str}:
        with suppress(OverflowError):
            return pa.chunked_array([cells_to_arrow(cells)])
    if kinds <= {int, str}:
        return as_values([None if cell is None else str(cell) for cell in cells])
    odd = next(at for at, cell in enumerate(cells) if not isinstance(cell, (int, str, type(None))))
    raise SchemaError(
        f"{rows.place(lines[odd])}: items must be whole numbers or text, got {shown(cells[odd])}, of type "
        f"{type(cells[odd]).__name__}. Write them as such."
    )
