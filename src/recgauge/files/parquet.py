"""Reads Parquet within the limits: an id that stands in many rows takes memory once."""

from collections.abc import Collection
from dataclasses import replace
from itertools import islice
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from recgauge.errors import SchemaError
from recgauge.files.cells import require_ids
from recgauge.files.columns import Columns, Roles, are_flags
from recgauge.files.limits import BYTES_PER_ROW
from recgauge.files.opening import Source, TableFile
from recgauge.files.rows import Rows
from recgauge.files.stored import StoredTable, columns_of, is_text, plain_type
from recgauge.files.text import TextFormat
from recgauge.utils.resources import check_memory

_SAMPLE = 100  # rows by which labels are recognised


def _columns_of(rows: pa.Table, roles: Roles, file: object, lists: Collection[str] = ()) -> Columns:
    """Return which columns are read, by their names and, as labels may be texts, by the first rows."""
    texts = {
        at: [cell for cell in column.slice(0, _SAMPLE).to_pylist() if cell]
        for at, column in enumerate(rows.columns)
        if is_text(plain_type(column.type))
    }
    flags = [at for at, cells in texts.items() if cells and are_flags(cells)]
    return columns_of(rows.schema, roles, file, flags, lists)


def read_parquet(file: TableFile, roles: Roles, _: TextFormat) -> Rows:
    """Return the rows of a Parquet file."""
    if file.packed:
        raise SchemaError(f"{file}: Parquet in a gzip or zip is not read; it is packed itself. Unpack it.")
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
    return _rows_of(file, rows, columns)


def read_stored(table: StoredTable) -> Rows:
    """Return the rows of all files of a folder or address, in their order."""
    layout = f"{len(table.files):,} files" if len(table.files) > 1 else ""
    columns = replace(table.layout, further=tuple(map(table.layout.names.index, table.roles.cells.keep)))
    rows = _rows_of(table, table.read(), columns, layout=layout)
    return replace(rows, further={**rows.further, **table.label_values()})


def rows_of_table(
    file: Source, rows: pa.Table, roles: Roles, lists: Collection[str] = (), **more: Any
) -> Rows:
    """Return the rows of an Arrow table; `file` names it, and `lists` are columns of lists as text."""
    columns = _columns_of(rows, roles, file, lists)
    return _rows_of(file, rows.select(columns.used), columns, **more)


def _rows_of(file: Source, table: pa.Table, columns: Columns, **more: Any) -> Rows:
    more = {"lines": range(1, len(table) + 1), "unit": "row", **more}
    rows = Rows.of(file, columns, table.columns, **more)
    for role in ("user", "item"):
        if role in rows.cells:
            require_ids(rows.cells[role].type, f"{file}: the column {rows.labels[role]} for the {role}")
    return rows
