"""Reads JSON lines; of each line only what can be a wanted column is kept."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from recgauge.errors import SchemaError, shortened
from recgauge.files.columns import Role, Wanted
from recgauge.files.opening import Source, TableFile
from recgauge.files.rows import Lines, Problem, RawRows
from recgauge.files.text import TextFormat, not_utf8
from recgauge.utils.arrow import cells_to_arrow, to_arrow
from recgauge.utils.checks import shown

if TYPE_CHECKING:
    import pyarrow as pa


def read_json_lines(file: TableFile, wanted: Wanted, how: TextFormat, *, careful: bool) -> RawRows:  # noqa: ARG001 - a format
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
            file.limits.check_columns(len(names), file)
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
    """Return cells as ids; `mixed`: numbers become text where there is text."""
    import pyarrow as pa

    types = Counter(map(type, cells))
    kinds = Counter({kind.__name__: count for kind, count in types.items() if kind is not type(None)})
    odd_kinds = set(kinds) - {"int", "str"}
    if odd_kinds or (len(kinds) > 1 and not mixed):
        usual = next((kind for kind, _ in kinds.most_common() if kind in ("int", "str")), "int")
        fine = ("int", "str") if mixed else (usual,)
        odd = next(n for n, cell in enumerate(cells) if cell is not None and type(cell).__name__ not in fine)
        raise SchemaError(
            f"{file}, line {lines[odd]}: the {role} must be whole numbers everywhere or text everywhere, got "
            f"{', '.join(sorted(kinds))}; this line is the first with {type(cells[odd]).__name__}. "
            "Make them one type."
        )
    too_large = (n for n, cell in enumerate(cells) if isinstance(cell, int) and not -(2**63) <= cell < 2**63)
    odd = next(too_large, -1) if int in types else -1
    if len(kinds) > 1 or (odd >= 0 and mixed):
        return as_values([None if cell is None else str(cell) for cell in cells])
    if odd >= 0:
        raise SchemaError(
            f"{file}, line {lines[odd]}: the {role} {shown(cells[odd])} is not in -2**63..2**63 - 1. "
            "Write such ids as text, in quotes, on every line."
        )
    return pa.chunked_array([cells_to_arrow(cells)])
