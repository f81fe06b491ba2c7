"""Reads parquet and JSON lines, whose cells have types."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from recgauge.datasets._table.files import TableFile
from recgauge.datasets._table.part import Part, Problem
from recgauge.datasets._table.roles import Role, Roles, columns_by_name
from recgauge.errors import SchemaError

if TYPE_CHECKING:
    import pyarrow as pa


def read_parquet(file: TableFile, roles: Roles) -> Part:
    """Return the rows of a parquet file.

    Raises
    ------
    SchemaError
        If a column is absent.
    pyarrow.ArrowInvalid
        If the file is no parquet.
    """
    import pyarrow as pa
    from pyarrow import parquet

    with file.open() as stream:
        # An archive's member cannot be read from its end, where parquet keeps its list of columns.
        source = stream if file.member is None else pa.BufferReader(stream.read())
        table = parquet.ParquetFile(source)
        names = table.schema_arrow.names
        positions = columns_by_name(roles, names, str(file))
        rows = table.read(columns=[names[position] for position in positions.values()])
    labels = {role: names[position] for role, position in positions.items()}
    columns = {role: rows.column(label) for role, label in labels.items()}
    return Part(file, columns, labels, unit="row")


def read_json_lines(file: TableFile, roles: Roles, *, careful: bool) -> Part:
    """Return the rows of a file that holds one JSON object a line.

    Parameters
    ----------
    file : TableFile
    roles : Roles
        Which fields to take.
    careful : bool
        Whether to collect broken lines, slowly, instead of failing at the first.

    Raises
    ------
    SchemaError
        If a field is absent, or mixes numbers and texts.
    pyarrow.ArrowInvalid
        If a line is broken.
    """
    if careful:
        return _read_line_by_line(file, roles)
    import pyarrow as pa
    from pyarrow import json as arrow_json

    with file.open() as stream:
        table = arrow_json.read_json(stream)
    positions = columns_by_name(roles, table.column_names, str(file))
    labels = {role: table.column_names[position] for role, position in positions.items()}
    columns = {role: table.column(label) for role, label in labels.items()}
    if any(pa.types.is_temporal(columns[role].type) for role in ("user", "item")):
        return _read_line_by_line(file, roles)  # Arrow takes text that looks like a date for one
    return Part(file, columns, labels)


def _read_line_by_line(file: TableFile, roles: Roles) -> Part:
    rows: list[dict[str, Any]] = []
    lines: list[int] = []
    broken: list[int] = []
    example = ""
    for number, text in _lines(file):
        try:
            row = json.loads(text)
        except ValueError:
            row = None
        if isinstance(row, dict):
            rows.append(row)
            lines.append(number)
        else:
            example = example or text.decode("utf-8", "replace").strip()[:60]
            broken.append(number)
    if broken and not rows:
        raise SchemaError(
            f"{file}, line {broken[0]}: no line is a JSON object: {example}. Write one object a line, "
            "without brackets and commas around them, or set dataset.format."
        )
    names = list(dict.fromkeys(name for row in rows for name in row))
    positions = columns_by_name(roles, names, str(file))
    labels = {role: names[position] for role, position in positions.items()}
    columns = {
        role: _column(file, role, [row.get(label) for row in rows], lines) for role, label in labels.items()
    }
    problem = Problem("the line is no JSON object", np.array(broken, dtype=np.int64), example)
    return Part(file, columns, labels, np.array(lines, dtype=np.int64), broken=(problem,) if broken else ())


def _lines(file: TableFile) -> Iterator[tuple[int, bytes]]:
    with file.open() as stream:
        for number, line in enumerate(stream, start=1):
            if line.strip():
                yield number, line.removeprefix(b"\xef\xbb\xbf")


def _column(file: TableFile, role: Role, cells: list[Any], lines: list[int]) -> "pa.ChunkedArray":
    import pyarrow as pa

    if role in ("rating", "time"):  # the checks say which of these texts are no numbers
        cells = [None if cell is None else str(cell) for cell in cells]
    kinds = Counter(type(cell).__name__ for cell in cells if cell is not None)
    if len(kinds) > 1 or set(kinds) - {"int", "str"}:
        usual = next((kind for kind, _ in kinds.most_common() if kind in ("int", "str")), "int")
        odd = next(n for n, cell in enumerate(cells) if cell is not None and type(cell).__name__ != usual)
        raise SchemaError(
            f"{file}, line {lines[odd]}: the {role} must be whole numbers everywhere or text everywhere, got "
            f"{', '.join(sorted(kinds))}; this line is the first with {type(cells[odd]).__name__}. "
            "Make them one type."
        )
    return pa.chunked_array([pa.array(cells)])
