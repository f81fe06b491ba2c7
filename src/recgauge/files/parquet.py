"""Reads Parquet and Arrow within the limits: an id that stands in many rows takes memory once."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import accumulate, islice
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from recgauge.errors import SchemaError, listed
from recgauge.files.columns import Columns, Role, Roles, are_flags
from recgauge.files.limits import BYTES_PER_ROW
from recgauge.files.opening import Source, TableFile
from recgauge.files.rows import Rows
from recgauge.files.stored import StoredTable, columns_of, is_text, plain_type
from recgauge.files.text import TextFormat
from recgauge.utils.arrow import without_views
from recgauge.utils.resources import check_memory

_SAMPLE = 100  # rows by which labels are recognised


def _columns_of(rows: pa.Table, roles: Roles, file: object) -> Columns:
    """Return which columns are read, by their names and, as labels may be texts, by the first rows."""
    first = rows.slice(0, _SAMPLE)
    flags = [at for at in range(first.num_columns) if _are_flags(first.column(at))]
    return columns_of(rows.schema, roles, file, flags)


def _are_flags(column: pa.ChunkedArray) -> bool:
    """Whether cells are texts such as yes and no, or numbers as text."""
    cells: list[Any] = []
    with suppress(UnicodeDecodeError):  # of a column that nobody needs
        cells = [cell for cell in column.to_pylist() if cell] if is_text(plain_type(column.type)) else []
    return bool(cells) and are_flags(cells)


def read_parquet(file: TableFile, roles: Roles, _: TextFormat) -> Rows:
    """Return the rows of a Parquet file."""
    _refuse_packed(file, "Parquet")
    with file.path.open("rb") as stream:
        metadata = parquet.read_metadata(stream)
        file.limits.check("columns", metadata.num_columns, file)
        file.limits.check("rows", metadata.num_rows, file)
        check_memory(file, metadata.num_rows, BYTES_PER_ROW)
        schema = metadata.schema.to_arrow_schema()
        first = [*islice(parquet.ParquetFile(stream).iter_batches(_SAMPLE), 1)]
        columns = _columns_of(pa.Table.from_batches(first, schema), roles, file)
        texts = [field.name for field in schema if is_text(plain_type(field.type))]
        names = [schema.names[at] for at in columns.used]
        rows = parquet.ParquetFile(stream, read_dictionary=texts).read(columns=names).select(names)
    return _rows_of(file, rows, roles, columns)


def read_arrow(file: TableFile, roles: Roles, _: TextFormat) -> Rows:
    """Return the rows of a file of Arrow (IPC), such as ``.feather``."""
    _refuse_packed(file, "Arrow")
    with file.path.open("rb") as stream:
        opened = pa.ipc.open_file if stream.read(6) == b"ARROW1" else pa.ipc.open_stream
        stream.seek(0)
        rows = opened(stream).read_all()
    file.limits.check("rows", len(rows), file)
    return rows_of_table(file, without_views(rows), roles)


def _refuse_packed(file: TableFile, name: str) -> None:
    if file.packed:
        raise SchemaError(f"{file}: {name} in a gzip or zip is not read; it is packed itself. Unpack it.")


def read_stored(table: StoredTable) -> Rows:
    """Return the rows of all files of a folder or address, in their order."""
    text = pa.dictionary(pa.int32(), pa.large_string())
    kinds = {field.name: plain_type(field.type) for field in table.schema}
    texts = [name for name, kind in kinds.items() if is_text(kind)]
    schema = pa.schema([(name, text if name in texts else kind) for name, kind in kinds.items()])
    parts = []
    for file in range(len(table.paths)):
        with table.open(file, texts) as opened:
            rows = opened.read(columns=table.columns).select(table.columns)
        parts.append(_as_texts(rows, texts).cast(schema))
    layout = f"{len(parts):,} files" if len(parts) > 1 else ""
    if layout and (empty := [table.where(file) for file, rows in enumerate(parts) if not len(rows)]):
        layout += f", of them without rows: {listed(empty, most=3)}"
    columns = replace(table.layout, further=tuple(map(table.layout.names.index, table.roles.cells.keep)))
    rows = _rows_of(table, pa.concat_tables(parts), table.roles, columns)
    ends = tuple(accumulate(map(len, parts)))
    return replace(rows, layout=layout, ends=ends, further={**rows.further, **table.label_values()})


def _as_texts(rows: pa.Table, texts: Sequence[str]) -> pa.Table:
    """Return a table whose texts are dictionaries with places of 32 bits: Arrow casts no others to these."""
    for name in texts:
        column = rows.column(name)
        if not pa.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        column = column.cast(pa.dictionary(pa.int32(), column.type.value_type))
        rows = rows.set_column(rows.column_names.index(name), name, column)
    return rows


def rows_of_table(file: Source, rows: pa.Table, roles: Roles) -> Rows:
    """Return the rows of an Arrow table; `file` names it in messages."""
    columns = _columns_of(rows, roles, file)
    return _rows_of(file, rows.select(columns.used), roles, columns)


def _rows_of(file: Source, table: pa.Table, roles: Roles, columns: Columns) -> Rows:
    rows = Rows.of(file, columns, table.columns, range(1, len(table) + 1), unit="row")
    ids: dict[Role, Any] = {
        role: _ids(file, roles, rows.cells[role], role, rows.labels[role])
        for role in columns.positions
        if role in ("user", "item")
    }
    return replace(rows, cells={**rows.cells, **ids})


def _ids(file: Source, roles: Roles, column: pa.ChunkedArray, role: Role, label: str) -> pa.ChunkedArray:
    """Return ids, bytes as the text they are; some programs write text without saying that it is."""
    if pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
        with suppress(pa.ArrowInvalid):
            return column.dictionary_encode().cast(pa.dictionary(pa.int32(), pa.large_string()))
    kind = plain_type(column.type)
    usable = is_text(kind) or pa.types.is_integer(kind) or pa.types.is_null(kind)
    # fractions as ids of lists would match no others
    if usable or (pa.types.is_floating(kind) and not roles.of_lists):
        return column
    raise SchemaError(
        f"{file}: the column {label} for the {role} has the type {column.type}; ids must be whole numbers or "
        f"text. Store it as such, or choose with {roles.option.format(role, 'COLUMN')}."
    )
