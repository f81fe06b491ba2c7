"""Reads Parquet and Arrow within the limits: an id that stands in many rows takes memory once."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Any

from recgauge.errors import SchemaError, listed
from recgauge.files.columns import Role, Wanted, is_flag
from recgauge.files.limits import BYTES_PER_ROW
from recgauge.files.lists import labels_of, lists_in_columns
from recgauge.files.opening import Source, TableFile
from recgauge.files.rows import RawRows
from recgauge.files.stored import StoredTable, is_text, plain_type
from recgauge.files.text import TextFormat
from recgauge.utils.arrow import without_views
from recgauge.utils.resources import check_memory

if TYPE_CHECKING:
    import pyarrow as pa

_SAMPLE = 100  # rows by which labels are found


@dataclass(frozen=True)
class ArrowColumns:
    """Which columns of an Arrow table are read."""

    labels: Mapping[Role, str]
    numbered: Sequence[str]
    others: Sequence[str]
    unused: Sequence[str]

    @classmethod
    def of(cls, first: "pa.Table", wanted: Wanted, file: object) -> "ArrowColumns":
        """Choose them by their names and, as labels may be texts such as yes and no, by the first rows."""
        import pyarrow as pa

        schema, names = first.schema, first.schema.names
        lists = {at for at, one in enumerate(schema) if pa.types.is_nested(one.type)}
        positions = wanted.by_name(names, str(file), lists)
        numbered = wanted.numbered(names, positions)
        tests = pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal
        numbers = {at for at, one in enumerate(schema) if any(test(plain_type(one.type)) for test in tests)}
        numbers |= {at for at in wanted.rest(names, positions) if _are_flags(first.column(at))}
        return cls(
            labels_of(names, positions, []),
            [names[at] for at in numbered],
            [names[at] for at in wanted.looked_at(names, positions, numbers, file)],
            [names[at] for at in wanted.rest(names, positions)],
        )

    @property
    def names(self) -> list[str]:
        """The names of all columns that are read."""
        return list(dict.fromkeys([*self.labels.values(), *self.numbered, *self.others]))


def _are_flags(column: "pa.ChunkedArray") -> bool:
    """Whether cells are texts such as yes and no, or numbers as text."""
    cells: list[Any] = []
    with suppress(UnicodeDecodeError):  # of a column that nobody needs
        cells = [cell for cell in column.to_pylist() if cell] if is_text(plain_type(column.type)) else []
    return bool(cells) and all(isinstance(cell, str) and is_flag(cell) for cell in cells)


def read_parquet(file: TableFile, wanted: Wanted, _: TextFormat) -> RawRows:
    """Return the rows of a Parquet file."""
    import pyarrow as pa
    from pyarrow import parquet

    _refuse_packed(file, "Parquet")
    with file.path.open("rb") as stream:
        metadata = parquet.read_metadata(stream)
        file.limits.check("columns", metadata.num_columns, file)
        file.limits.check("rows", metadata.num_rows, file)
        check_memory(file, metadata.num_rows, BYTES_PER_ROW)
        schema = metadata.schema.to_arrow_schema()
        texts = [one.name for one in schema if is_text(plain_type(one.type))]
        first = [*islice(parquet.ParquetFile(stream).iter_batches(_SAMPLE), 1)]
        columns = ArrowColumns.of(pa.Table.from_batches(first, schema), wanted, file)
        rows = parquet.ParquetFile(stream, read_dictionary=texts).read(columns=columns.names)
    return part_of_table(file, rows, wanted, columns)


def read_arrow(file: TableFile, wanted: Wanted, _: TextFormat) -> RawRows:
    """Return the rows of a file of Arrow (IPC), such as ``.feather``."""
    rows = arrow_cells(file)
    columns = ArrowColumns.of(rows.slice(0, _SAMPLE), wanted, file)
    return part_of_table(file, rows.select(columns.names), wanted, columns)


def arrow_cells(file: TableFile) -> "pa.Table":
    """Return the table of a file of Arrow."""
    import pyarrow as pa

    _refuse_packed(file, "Arrow")
    with file.path.open("rb") as stream:
        opened = pa.ipc.open_file if stream.read(6) == b"ARROW1" else pa.ipc.open_stream
        stream.seek(0)
        rows = opened(stream).read_all()
    file.limits.check("rows", len(rows), file)
    return without_views(rows)


def _refuse_packed(file: TableFile, name: str) -> None:
    if file.packed:
        raise SchemaError(f"{file}: {name} in a gzip or zip is not read; it is packed itself. Unpack it.")


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
            rows = opened.read(columns=table.columns).select(table.columns)
        found.append(_as_texts(rows, texts).cast(schema))
    layout = f"{len(found):,} files" if len(found) > 1 else ""
    if layout and (empty := [table.where(file) for file, rows in enumerate(found) if not len(rows)]):
        layout += f", of them without rows: {listed(empty, most=3)}"
    columns = ArrowColumns(table.labels, (), table.wanted.cells.keep, table.unused)
    part = part_of_table(table, pa.concat_tables(found), table.wanted, columns)
    ends = tuple(accumulate(map(len, found)))
    return replace(part, layout=layout, ends=ends, others={**part.others, **table.others()})


def _as_texts(rows: "pa.Table", texts: Sequence[str]) -> "pa.Table":
    """Return a table whose texts are dictionaries with places of 32 bits: Arrow casts no others to these."""
    import pyarrow as pa

    for name in texts:
        column = rows.column(name)
        if not pa.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        column = column.cast(pa.dictionary(pa.int32(), column.type.value_type))
        rows = rows.set_column(rows.column_names.index(name), name, column)
    return rows


def part_of_table(
    file: Source, rows: "pa.Table", wanted: Wanted, columns: ArrowColumns | None = None
) -> RawRows:
    """Return the rows of an Arrow table; `file` names it in messages, `columns` says which they are."""
    columns = columns or ArrowColumns.of(rows.slice(0, _SAMPLE), wanted, file)
    labels, cells = dict(columns.labels), {role: rows.column(name) for role, name in columns.labels.items()}
    for role in ("user", "item"):
        if role in cells:
            cells[role] = _ids(file, wanted, cells[role], role, labels[role])
    read: dict[Role, Any] = dict(cells)
    if columns.numbered:
        read["items"] = lists_in_columns([rows.column(name) for name in columns.numbered])
        labels["items"] = f"{columns.numbered[0]} ... {columns.numbered[-1]}"
    others = {name: rows.column(name) for name in columns.others}
    return RawRows(
        file, read, labels, range(1, len(rows) + 1), unit="row", others=others, unused=tuple(columns.unused)
    )


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
