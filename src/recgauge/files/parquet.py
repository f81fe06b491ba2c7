"""Reads parquet within the limits: an id that stands in many rows takes memory once."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING

from recgauge.errors import SchemaError, listed
from recgauge.files.columns import Role, Wanted
from recgauge.files.limits import BYTES_PER_ROW
from recgauge.files.opening import Source, TableFile
from recgauge.files.rows import RawRows
from recgauge.files.stored import StoredTable, is_text, plain_type, table_of_files
from recgauge.files.text import TextFormat
from recgauge.utils.resources import check_memory

if TYPE_CHECKING:
    import pyarrow as pa


def read_parquet(file: TableFile, wanted: Wanted, _: TextFormat) -> RawRows:
    """Return the rows of a Parquet file, which is a folder of one."""
    if file.packed:
        raise SchemaError(f"{file}: Parquet in a gzip or zip is not read; it is packed itself. Unpack it.")
    table = table_of_files(str(file), [file.path], wanted)
    with table.open(0) as opened:
        file.limits.check("columns", opened.metadata.num_columns, file)
        file.limits.check("rows", opened.metadata.num_rows, file)
        check_memory(file, opened.metadata.num_rows, BYTES_PER_ROW)
    return replace(read_stored(table), file=file, ends=())


def read_stored(table: StoredTable) -> RawRows:
    """Return the rows of all files of a folder or address, in their order."""
    import pyarrow as pa

    text = pa.dictionary(pa.int32(), pa.large_string())
    kinds = {field.name: plain_type(field.type) for field in table.schema}
    texts = [name for name, kind in kinds.items() if is_text(kind)]
    schema = pa.schema([(name, text if name in texts else kind) for name, kind in kinds.items()])
    found = []
    for file in range(len(table.paths)):
        with table.open(file, texts) as opened:
            found.append(opened.read(columns=table.columns).select(table.columns).cast(schema))
    layout = f"{len(found):,} files" if len(found) > 1 else ""
    if layout and (empty := [table.where(file) for file, rows in enumerate(found) if not len(rows)]):
        layout += f", of them without rows: {listed(empty, most=3)}"
    part = part_of_table(table, pa.concat_tables(found), table.wanted, table.labels)
    return replace(part, layout=layout, ends=tuple(accumulate(map(len, found))))


def part_of_table(
    file: Source, rows: "pa.Table", wanted: Wanted, labels: Mapping[Role, str] | None = None
) -> RawRows:
    """Return the rows of an Arrow table; `file` names it in messages, `labels` its columns by role."""
    if labels is None:
        names = rows.column_names
        labels = {role: names[position] for role, position in wanted.by_name(names, str(file)).items()}
    columns = {role: rows.column(label) for role, label in labels.items()}
    for role in ("user", "item"):
        if role in columns:
            columns[role] = _ids(file, wanted, columns[role], role, labels[role])
    return RawRows(file, columns, labels, range(1, len(rows) + 1), unit="row")


def _ids(file: Source, wanted: Wanted, column: "pa.ChunkedArray", role: str, label: str) -> "pa.ChunkedArray":
    """Return ids, bytes as the text they are; some programs write text without saying that it is."""
    import pyarrow as pa

    if pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
        try:
            return column.dictionary_encode().cast(pa.dictionary(pa.int32(), pa.large_string()))
        except pa.ArrowInvalid:
            pass
    kind = plain_type(column.type)
    usable = is_text(kind) or pa.types.is_integer(kind) or pa.types.is_null(kind)
    # fractions as ids of lists would match no others
    if usable or (pa.types.is_floating(kind) and not wanted.mixed_ids):
        return column
    option = wanted.option.format(role, "COLUMN")
    raise SchemaError(
        f"{file}: the column {label} for the {role} has the type {column.type}; ids must be whole numbers or "
        f"text. Store it as such, or choose with {option}."
    )
