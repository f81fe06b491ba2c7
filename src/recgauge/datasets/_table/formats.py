"""Reads parquet, JSON lines, and text with one user per line followed by the user's items."""

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from recgauge.datasets._table.columns import Role, Roles, columns_by_name
from recgauge.datasets._table.files import TableFile
from recgauge.datasets._table.limits import BYTES_PER_ROW
from recgauge.datasets._table.nesting import shallow
from recgauge.datasets._table.rows import Part, Problem
from recgauge.errors import SchemaError, shortened
from recgauge.utils.checks import LongArray, shown
from recgauge.utils.memory import check_memory

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow import parquet

_ID_ROLES: tuple[Role, Role] = ("user", "item")
_LARGEST_PACKED = 1 << 29  # bytes of a packed parquet file, which is read as a whole
_LINES_LOOKED_AT = 20_000  # of JSON, for their names: twice as many as columns may be
_IDS_AT_ONCE = 1_000_000


def read_parquet(file: TableFile, roles: Roles) -> Part:
    """Return the rows of a parquet file.

    Raises
    ------
    SchemaError
        If a column is absent.
    pyarrow.ArrowInvalid
        If the file is no parquet.
    """
    with file.open() as stream:
        table = open_parquet(file, stream)
        names = table.schema_arrow.names
        positions = columns_by_name(roles, names, str(file))
        rows = table.read(columns=[names[position] for position in positions.values()])
    labels = {role: names[position] for role, position in positions.items()}
    columns = {role: rows.column(label) for role, label in labels.items()}
    for role in _ID_ROLES:
        columns[role] = _as_text(columns[role])
        if not _may_be_ids(columns[role].type):
            raise SchemaError(
                f"{file}: the column {labels[role]} for the {role} has the type {columns[role].type}; ids "
                f"must be whole numbers or text. Store it as such, or choose with dataset.{role}=COLUMN."
            )
    return Part(file, columns, labels, unit="row")


def open_parquet(file: TableFile, stream: IO[bytes]) -> "parquet.ParquetFile":
    """Return a parquet file that is within the limits; a packed one is unpacked into memory.

    Raises
    ------
    SchemaError
        If it has too many rows, columns or bytes.
    DataError
        If its rows need more memory than there is.
    pyarrow.ArrowInvalid
        If the file is no parquet.
    """
    import pyarrow as pa
    from pyarrow import parquet

    if not file.packed:
        source: Any = pa.memory_map(str(file.path))  # no copy of the bytes, and Arrow's threads read them
    else:  # parquet keeps its list of columns at its end, where packed files cannot be read from
        content = stream.read(_LARGEST_PACKED + 1)
        if len(content) > _LARGEST_PACKED:
            raise SchemaError(
                f"{file}: a packed parquet file must not be larger than {_LARGEST_PACKED:,} bytes. Unpack it."
            )
        source = pa.BufferReader(content)
    table = parquet.ParquetFile(source)
    file.limits.check_columns(table.metadata.num_columns, file)
    file.limits.check_rows(table.metadata.num_rows, file)
    check_memory(file, table.metadata.num_rows, BYTES_PER_ROW["parquet"])
    return table


def _as_text(column: "pa.ChunkedArray") -> "pa.ChunkedArray":
    """Return bytes as the text they are; some programs write text without saying that it is."""
    import pyarrow as pa

    if pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
        with suppress(pa.ArrowInvalid):
            return column.cast(pa.large_string())
    return column


def _may_be_ids(kind: "pa.DataType") -> bool:
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    tests = (
        pa.types.is_integer,
        pa.types.is_floating,
        pa.types.is_null,
        pa.types.is_string,
        pa.types.is_large_string,
        pa.types.is_string_view,
    )
    return any(test(kind) for test in tests)


def read_json_lines(file: TableFile, roles: Roles, *, careful: bool) -> Part:
    """Return the rows of a file that holds one JSON object per line.

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
    _check_names(file)
    import pyarrow as pa
    from pyarrow import json as arrow_json

    with file.open() as stream:
        table = arrow_json.read_json(shallow(stream))
    file.limits.check_columns(table.num_columns, file)
    positions = columns_by_name(roles, table.column_names, str(file))
    labels = {role: table.column_names[position] for role, position in positions.items()}
    columns = {role: table.column(label) for role, label in labels.items()}
    kinds = [columns[role].type for role in _ID_ROLES]
    if not all(_may_be_ids(kind) and not pa.types.is_floating(kind) for kind in kinds):
        # Arrow takes text that looks like a date for one, and whole numbers that are too large for fractions.
        return _read_line_by_line(file, roles)
    return Part(file, columns, labels)


def _check_names(file: TableFile) -> None:
    """Refuse a file whose first lines have too many names; Arrow would make a column of each."""
    names: set[str] = set()
    for number, text in _lines(file):
        with suppress(ValueError):
            names.update(_object(text))
        file.limits.check_columns(len(names), file)
        if number >= _LINES_LOOKED_AT:
            return


def _read_line_by_line(file: TableFile, roles: Roles) -> Part:
    rows: list[dict[str, Any]] = []
    lines: list[int] = []
    broken: dict[str, list[tuple[int, str]]] = {}
    for number, text in _lines(file):
        try:
            rows.append(_object(text))
            lines.append(number)
        except ValueError as error:
            example = shortened(text.decode("utf-8", "replace").strip(), 60)
            broken.setdefault(str(error), []).append((number, example))
    problems = tuple(
        Problem(reason, np.array([number for number, _ in found], dtype=np.int64), found[0][1])
        for reason, found in broken.items()
    )
    if problems and not rows:
        first = min(problems, key=lambda problem: problem.lines[0])
        raise SchemaError(
            f"{file}, line {first.lines[0]}: no line is a JSON object that can be read: {first.reason}: "
            f"{first.example}. Write one object per line, without brackets and commas around them, or set "
            "dataset.format."
        )
    names = list(dict.fromkeys(name for row in rows for name in row))
    file.limits.check_columns(len(names), file)
    positions = columns_by_name(roles, names, str(file))
    labels = {role: names[position] for role, position in positions.items()}
    columns = {
        role: _column(file, role, [row.get(label) for row in rows], lines) for role, label in labels.items()
    }
    return Part(file, columns, labels, np.array(lines, dtype=np.int64), broken=problems)


def _object(text: bytes) -> dict[str, Any]:
    """Return the object of a line, or raise a ValueError that says why it is missing."""
    try:
        row = json.loads(text)
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
            raise ValueError("the line has half of a character (a lone surrogate)") from None
    return row


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
    too_large = (n for n, cell in enumerate(cells) if isinstance(cell, int) and not -(2**63) <= cell < 2**63)
    if (odd := next(too_large, -1)) >= 0:
        raise SchemaError(
            f"{file}, line {lines[odd]}: the {role} {shown(cells[odd])} is not in -2**63..2**63 - 1. "
            "Write such ids as text, in quotes, on every line."
        )
    return pa.chunked_array([pa.array(cells)])


def read_user_lines(file: TableFile, separator: str | None) -> Part:
    """Return one row for each item of each line.

    Parameters
    ----------
    file : TableFile
    separator : str or None
        What parts the ids; None is any blank space.

    Raises
    ------
    SchemaError
        If the text is not UTF-8.
    """
    import pyarrow as pa

    users: list[pa.Array] = []
    items: list[pa.Array] = []
    lines: list[LongArray] = []
    n_rows = n_idle = 0
    for filled in _filled_lines(file, separator):
        n_items = np.array([len(ids) - 1 for _, ids in filled], dtype=np.int64)
        n_rows, n_idle = n_rows + int(n_items.sum()), n_idle + int((n_items == 0).sum())
        file.limits.check_rows(n_rows, file)
        owner = pa.array([ids[0] for _, ids in filled], pa.string())
        users.append(owner.take(np.repeat(np.arange(len(filled)), n_items)))
        items.append(pa.array(chain.from_iterable(ids[1:] for _, ids in filled), pa.string()))
        lines.append(np.repeat(np.array([number for number, _ in filled], dtype=np.int64), n_items))
    return Part(
        file,
        {"user": pa.chunked_array(users, pa.string()), "item": pa.chunked_array(items, pa.string())},
        {"user": "first id of a line", "item": "the other ids"},
        np.concatenate([np.empty(0, np.int64), *lines]),
        remark=f"{n_idle:,} users have no items" if n_idle else "",
    )


def _filled_lines(file: TableFile, separator: str | None) -> Iterator[list[tuple[int, list[str]]]]:
    """Yield some lines at a time that have ids, with their numbers."""
    filled: list[tuple[int, list[str]]] = []
    n_ids = 0
    with file.open() as stream:
        for number, line in enumerate(stream, start=1):
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise SchemaError(
                    f"{file} is not utf-8 text. Set dataset.encoding, for example to iso-8859-1."
                ) from error
            ids = text.strip().split(separator)
            if ids and ids[0]:
                filled.append((number, ids))
                n_ids += len(ids)
            if n_ids >= _IDS_AT_ONCE:
                yield filled
                filled, n_ids = [], 0
    yield filled
