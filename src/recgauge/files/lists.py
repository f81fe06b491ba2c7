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
from recgauge.files.rows import Lines, Rows, as_list
from recgauge.utils.arrow import cells_to_arrow, to_arrow
from recgauge.utils.checks import LongArray, shown

T = TypeVar("T")

_SEPARATORS = ("|", ";", ",")
_SCALAR = re.compile(r"\bnp\.\w+\(([^()]*)\)")  # as NumPy 2 writes numbers and texts
_NUMPY_NUMBERS = re.compile(r"\[[\s0-9-]*\]")  # as NumPy writes whole numbers, without commas
_NEIGHBOURS = re.compile(r"""['"]\s+['"]""")  # texts without commas, which Python would join
_CODE = re.compile(r"\S*[0-9]\S*|\S{1,2}")
_SCORED = re.compile(r".+[:=][+-]?[0-9]*\.[0-9]+([eE][+-]?[0-9]+)?")
_PAIR = 2
IN_CELLS = "scores in the cells"
"""What stands for the name of a column of scores where lists are scores by item."""
AS_LISTS = "write lists of items, best first"
"""How such lists are read the other way."""


def item_rows(rows: Rows, roles: Roles) -> Rows:
    """Turn a row per user, with a column of items, into a row per item.

    The order in the row is the rank, unless all lists are scores by item: these order them.
    """
    numbers = np.asarray(rows.lines, np.int64)
    cells_of_items = _values(as_list(rows.cells["items"]), rows)
    is_scored = all(isinstance(cell, Mapping) for cell in cells_of_items if cell) and any(cells_of_items)
    lists = _lists(cells_of_items, rows, as_written=is_scored)
    scores_of, unused = _scores_of(rows)
    if scores_of is not None:
        values = _lists(_values(scores_of, rows), rows, as_written=False)
        lists = [(items, scores) for (items, _), (scores, _) in zip(lists, values, strict=True)]
    scored = any(scores is not None for items, scores in lists if items or scores)
    for row, (items, scores) in enumerate(lists):
        if scored and len(scores or []) != len(items):
            raise SchemaError(
                f"{rows.where(row)}: {len(items)} items and {len(scores or [])} scores. "
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
        cells["rank"] = ranks(lengths)
    value: Role = "score" if "score" in roles.names else "rating"
    if scored and value in roles.names:
        cells[value] = as_values([*chain.from_iterable(scores or [] for _, scores in lists)])
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


Scored = tuple[list[Any], list[Any] | None]
"""Items, and their scores if there are any."""


def _values(cells: Sequence[Any], rows: Rows) -> list[Any]:
    """Return what each cell holds; how texts are written is the same in all cells of a file."""
    texts = [cell.strip() for cell in cells if isinstance(cell, str)]
    written = any(text[:1] in tuple("[({") for text in texts)
    separator = next((sign for sign in _SEPARATORS if any(sign in text for text in texts)), None)
    split = [text for text in texts if separator is not None and separator in text]
    unused_separators = (
        () if written else [sign for sign in _SEPARATORS if not any(sign in text for text in split)]
    )

    def value(cell: Any) -> Any:
        if not isinstance(cell, str):
            return cell
        text = cell.strip()
        if separator is not None and separator not in text:
            for sign in unused_separators:
                if sign in text and f"{sign} " not in text:
                    raise ValueError(f"it has {sign!r} and other rows have {separator!r} between items")
        return _parsed(text) if text and written else _parts(text, separator) if text else []

    return [_or_refuse(value, cell, row, rows) for row, cell in enumerate(cells)]


def _lists(values: Sequence[Any], rows: Rows, *, as_written: bool) -> list[Scored]:
    """Return the items of each cell, and their scores if it has some; see `listed_items`."""
    read = partial(listed_items, as_written=as_written)
    return [_or_refuse(read, value, row, rows) for row, value in enumerate(values)]


def _or_refuse(read: Callable[[Any], T], cell: Any, row: int, rows: Rows) -> T:
    """Return what is read of a cell, or say in which row it cannot be."""
    try:
        return read(cell)
    except ValueError as error:
        raise SchemaError(
            f"{rows.where(row)}: the list {shown(shortened(str(cell), 60))}: {error}. "
            'Write lists as JSON, such as ["a", "b"], or one row for each item.'
        ) from None


def _parsed(text: str) -> Any:
    """Return what a list of JSON, of Python or of NumPy holds, or raise a ValueError."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    if _NUMPY_NUMBERS.fullmatch(text):
        return [int(number) for number in text.strip("[]").split()]
    if _NEIGHBOURS.search(text):
        raise ValueError("it has no commas between its items")
    for python in (text, _SCALAR.sub(r"\1", text)):
        with suppress(ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return ast.literal_eval(python)
    raise ValueError("it is no list of JSON, Python or NumPy that can be read")


def _parts(text: str, separator: str | None) -> list[Any]:
    """Return the items between separators, or between blanks."""
    if separator is None:
        parts = text.split()
        if len(parts) > 1 and not all(map(_CODE.fullmatch, parts)):
            raise ValueError("nobody can tell whether blanks are within items or between them")
    else:
        parts = [part.strip() or None for part in text.strip(separator + " ").split(separator)]  # type: ignore[misc]
        words = ", " in text and not all(part is None or _CODE.fullmatch(part) for part in parts)
        if separator == "," and (words or any(part and re.search(r"\s", part) for part in parts)):
            raise ValueError("nobody can tell whether commas are within items or between them")
    if any(part and (re.search(r"[\[\]{}]", part) or part.startswith("np.")) for part in parts):
        raise ValueError("it has brackets within its items")
    if parts and all(part and _SCORED.fullmatch(part) for part in parts):
        raise ValueError("its items seem to have their scores behind a sign")
    return list(parts)


def listed_items(cell: Any, *, as_written: bool = False) -> Scored:
    """Return the items of a list, of pairs of item and score, or of scores by item; or raise a ValueError.

    Items with scores by item fall by score, unless `as_written`.
    """
    if cell is None:
        return [], None
    if isinstance(cell, Mapping):
        return _by_score(list(cell.items()), ordered=as_written)
    if not isinstance(cell, (list, tuple)):
        raise ValueError("it is no list")
    if cell and all(isinstance(entry, Mapping) and len(entry) == _PAIR for entry in cell):
        return _by_score([_fields(entry) for entry in cell], ordered=True)
    if cell and all(isinstance(entry, (list, tuple)) and len(entry) == _PAIR for entry in cell):
        return _by_score(list(map(tuple, cell)), ordered=True)
    if any(isinstance(entry, (list, tuple, Mapping, set, bool)) or entry is Ellipsis for entry in cell):
        raise ValueError("its items are no ids")
    return list(cell), None


def _fields(struct: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return item and score of a struct, such as those of Spark's ALS."""
    items, scores = ([name for name in struct if is_usual(name, groups)] for groups in (ITEMS, SCORES))
    if len(items) != 1 or len(scores) != 1:
        raise ValueError(f"nobody knows which of {', '.join(struct)} is the item and which the score")
    return struct[items[0]], struct[scores[0]]


def _by_score(pairs: list[tuple[Any, Any]], *, ordered: bool = False) -> Scored:
    """Return items and scores, by falling score unless they are ordered."""
    if any(isinstance(score, bool) or not isinstance(score, (int, float)) for _, score in pairs):
        raise ValueError("a score is no number")
    if not ordered:
        pairs = sorted(pairs, key=lambda pair: -pair[1])
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
    kinds = [_kind_of_id(cell) for cell in cells]
    usual = {*kinds} - {"nothing"}
    if usual <= {"number"} or usual <= {"text"}:
        return pa.chunked_array([cells_to_arrow(cells)])
    if mixed and usual <= {"number", "text", "large number"}:
        return as_values([None if cell is None else str(cell) for cell in cells])
    first = next(kind for kind in kinds if kind != "nothing")
    allowed = ("nothing", "number", "text") if mixed else ("nothing", first if first == "text" else "number")
    odd = next(at for at, kind in enumerate(kinds) if kind not in allowed)
    raise SchemaError(
        f"{file}, line {lines[odd]}: the {role} must be whole numbers in -2**63..2**63 - 1 everywhere or "
        f"text everywhere, got {shown(cells[odd])}, of type {type(cells[odd]).__name__}. Make them one type."
    )


def _kind_of_id(cell: Any) -> str:
    if type(cell) is int:
        return "number" if -(2**63) <= cell < 2**63 else "large number"
    return "text" if type(cell) is str else "nothing" if cell is None else "other"


def offsets(lengths: LongArray) -> LongArray:
    """Return 0, 1, 2... for each list."""
    return np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)


def ranks(lengths: LongArray) -> pa.ChunkedArray:
    """Return 1, 2, 3... for each list."""
    return pa.chunked_array([to_arrow((offsets(lengths) + 1).astype(np.float64))])
