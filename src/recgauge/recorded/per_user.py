"""Lists with one row per user, as one row per item."""

import json
import re
from itertools import chain
from typing import Any

import numpy as np

from recgauge.datasets._table.files import TableFile
from recgauge.errors import SchemaError
from recgauge.recorded.columns import Cells, Role, lines_at


def one_row_per_item(file: TableFile, cells: Cells) -> Cells:
    """Turn a row per user into a row per item; the order in the row is the rank."""
    lists = [_listed_cell(cell) for cell in as_python(cells.columns["items"])]
    given = cells.columns.get("scores")
    scores = None if given is None else [_listed_cell(cell) for cell in as_python(given)]
    for row, items in enumerate(lists):
        if scores is not None and len(scores[row]) != len(items):
            raise SchemaError(
                f"{file}, {cells.unit} {cells.lines[row]}: {len(items)} items and {len(scores[row])} scores. "
                "Give one score for every item."
            )
    lengths = np.array([len(items) for items in lists], np.int64)
    users = as_python(cells.columns["user"])
    columns: dict[Role, Any] = {
        "user": [user for user, n in zip(users, lengths.tolist(), strict=True) for _ in range(n)],
        "item": list(chain.from_iterable(lists)),
        "rank": [rank for n in lengths.tolist() for rank in range(1, n + 1)],
    }
    if scores is not None:
        columns["score"] = list(chain.from_iterable(scores))
    lines = lines_at(cells.lines, np.ones(len(lengths), bool))
    return Cells(columns, np.repeat(lines, lengths), cells.unit, cells.bad, lines[lengths == 0])


def as_python(column: Any) -> list[Any]:
    """Return the cells of a column as Python's own objects."""
    cells: list[Any] = column.to_pylist() if hasattr(column, "to_pylist") else column
    return cells


def _listed_cell(cell: Any) -> list[Any]:
    """Return the items of a cell: a list, a JSON list, or ids with blanks, commas, ``|`` or ``;`` between."""
    if cell is None:
        return []
    if isinstance(cell, list):
        return cell
    text = str(cell).strip()
    if text.startswith("["):
        try:
            found = json.loads(text)
            if isinstance(found, list):
                return found
        except (ValueError, RecursionError):
            text = text.strip("[]").replace("'", "")
    return [part for part in re.split(r"[\s,;|]+", text) if part]
