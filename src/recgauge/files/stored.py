"""Parquet files in a folder or in an object store: one table that is never whole."""

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from math import inf
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import fs

from recgauge.errors import MissingDataError, printable, said
from recgauge.files.columns import Columns, Role, Roles
from recgauge.utils.arrow import type_without_views
from recgauge.utils.checks import LongArray
from recgauge.utils.files import irregular, refuse_irregular, user_path

if TYPE_CHECKING:
    from pyarrow.dataset import Expression, FileSystemDataset, ParquetFileFragment

PARQUET = (".parquet", ".pq")
"""Endings of Parquet files."""
_BATCH = 1 << 18  # rows that are read at a time
_MOST_VALUES = 1_000  # of a column that is only looked at
_OF_PYARROW = ("file", "s3", "gs", "gcs", "hdfs", "viewfs", "abfs", "abfss", "hf", "mock")
"""Addresses that pyarrow reads; it hands others to fsspec, where that is installed."""


@contextmanager
def _readable(file: object) -> Iterator[None]:
    """Make one line of what a store, or the bytes themselves, refuse."""
    try:
        yield
    except (OSError, pa.ArrowException, KeyError) as error:
        raise MissingDataError(
            f"{file} cannot be read as Parquet: {said(error)}. All files of a folder or an address must be "
            "Parquet with the same columns, but those whose names begin with _ or a dot. Mend it, or name "
            "files."
        ) from error


@dataclass(frozen=True, eq=False)
class StoredFile:
    """A file in an object store, opened like a path."""

    system: fs.FileSystem
    path: str

    def __str__(self) -> str:
        return printable(self.path)

    @contextmanager
    def open(self, mode: str = "rb") -> Iterator[pa.NativeFile]:  # noqa: ARG002 - as of a path
        """Open the bytes."""
        with _readable(self), self.system.open_input_file(self.path) as source:
            yield source

    def state(self) -> tuple[int, int]:
        """Return size and time of change, as the store knows them."""
        info = self.system.get_file_info(self.path)
        return info.size or 0, info.mtime_ns or 0


@dataclass(frozen=True, eq=False)
class StoredTable:
    """The rows of Parquet files with the same columns.

    Parameters
    ----------
    name : str
        The last part of the address, without its ending.
    address : str
        As the user wrote it.
    dataset : pyarrow.dataset.FileSystemDataset
        The files, in the order of their paths.
    roles : Roles
    """

    name: str
    address: str
    dataset: "FileSystemDataset"
    roles: Roles

    def __str__(self) -> str:
        return printable(self.address)

    @property
    def path(self) -> Path:
        """The address as a path, whose parts name runs."""
        return Path(self.address)

    @cached_property
    def files(self) -> "tuple[Path | StoredFile, ...]":
        """The files, to be opened one by one."""
        system, paths = self.dataset.filesystem, self.dataset.files
        local = isinstance(system, fs.LocalFileSystem)
        return tuple(Path(path) if local else StoredFile(system, path) for path in paths)

    @cached_property
    def _fragments(self) -> "Sequence[ParquetFileFragment]":
        return [*self.dataset.get_fragments()]

    @cached_property
    def layout(self) -> Columns:
        """Which columns of the first file are read."""
        first = self._fragments[0]
        with _readable(printable(first.path)):
            schema = first.physical_schema
        return columns_of(schema, self.roles, printable(first.path))

    @property
    def labels(self) -> Mapping[Role, str]:
        """The names of the columns, by role."""
        return {role: self.layout.names[at] for role, at in self.layout.positions.items()}

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns that are read, in types that hold the values of all files; no dictionaries."""
        return self._schema_of([*self.labels.values(), *self.roles.cells.keep])

    def _schema_of(self, names: Sequence[str]) -> pa.Schema:
        joint = pa.schema([])
        for fragment in self._fragments:
            with _readable(printable(fragment.path)):
                found = fragment.physical_schema
                kinds = {name: type_without_views(plain_type(found.field(name).type)) for name in names}
                joint = pa.unify_schemas([joint, pa.schema(kinds)], promote_options="permissive")
        return joint

    @cached_property
    def row_groups(self) -> tuple[LongArray, LongArray | None]:
        """How many rows row groups have, those of lists within a row included, and their users.

        The least and greatest user, shape (n, 2), where all files have them: whole, of 63 bits, none missing.
        """
        counts, users, labels, whole = list[int](), list[Any](), self.labels, self.has_whole_users
        for group in (group for fragment in self._fragments for group in fragment.row_groups):
            columns = {
                column.path_in_schema.split(".")[0]: column
                for column in map(group.metadata.column, range(group.metadata.num_columns))
            }
            facts = columns[labels["user"]].statistics
            if group.num_rows:
                counts.append(max(columns[label].num_values for label in labels.values()))
                known = facts and facts.has_min_max and facts.null_count == 0
                users.append((facts.min, facts.max) if known else None)
        if not counts:
            raise MissingDataError(f"{self}: its files have no rows. Name others.")
        ranges = np.array(users) if whole and None not in users else None
        return np.array(counts), ranges if ranges is not None and ranges.dtype == np.int64 else None

    @cached_property
    def n_rows(self) -> int:
        """How many rows there are, those of lists within a row included."""
        return int(self.row_groups[0].sum())

    @property
    def has_whole_users(self) -> bool:
        """Whether ids of users are whole numbers."""
        return bool(pa.types.is_integer(self.schema.field(self.labels["user"]).type))

    def state(self) -> str:
        """Return what changes when a file does, as far as sizes and times tell."""
        infos = self.dataset.filesystem.get_file_info(self.dataset.files)
        # a store that does not say when a file was changed may have changed it
        facts = [(info.path, info.size, info.mtime_ns or time.time_ns()) for info in infos]
        return repr((self.address, facts, sorted(self.labels.items()), self.roles.cells))

    def batches(self, schema: pa.Schema, rows: "Expression | None" = None) -> Iterator[pa.RecordBatch]:
        """Yield columns of all rows, or of some, in the order of files, as many rows as fit into a batch."""
        files = self.dataset.replace_schema(schema)
        with _readable(self):
            yield from files.to_batches(
                filter=rows, batch_size=_BATCH, batch_readahead=2, fragment_readahead=1
            )

    def read(self, rows: "Expression | None" = None) -> pa.Table:
        """Return all rows, or some, in the order of files."""
        return pa.Table.from_batches(self.batches(self.schema, rows), self.schema)

    def distinct(self, name: str, most: float = inf) -> pa.Array:
        """Return the values of a column, of lists in cells their items; about `most` are enough."""
        values = pa.nulls(0)
        for batch in self.batches(self._schema_of([name])):
            column = batch.column(0)
            cells = pc.list_flatten(column) if pa.types.is_nested(column.type) else column
            values = pa.chunked_array([values, cells] if len(values) else [cells]).unique()
            if len(values) > most:
                break
        return values

    def label_values(self) -> Mapping[str, pa.ChunkedArray]:
        """Return the different values of columns that may be labels or grades, of the first thousands."""
        names = {self.layout.names[at] for at in self.layout.further} - {*self.roles.cells.keep}
        return {name: pa.chunked_array([self.distinct(name, _MOST_VALUES)]) for name in sorted(names)}


def plain_type(kind: pa.DataType) -> pa.DataType:
    """Return the type of the values of a dictionary."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def columns_of(
    schema: pa.Schema,
    roles: Roles,
    location: object,
    flags: Sequence[int] = (),
    lists: Collection[str] = (),
) -> Columns:
    """Return which columns of an Arrow table are read.

    `flags` are columns of text with truth values, and `lists` those of text with lists, as those by type.
    """
    kinds = [*map(plain_type, schema.types)]
    numbers = {at for at, kind in enumerate(kinds) if is_number(kind) or pa.types.is_boolean(kind)}
    nested = [at for at, kind in enumerate(kinds) if pa.types.is_nested(kind) or schema.names[at] in lists]
    return roles.columns(schema.names, str(location), numbers.union(flags), nested)


def is_number(kind: pa.DataType) -> bool:
    """Whether values are numbers, of any size."""
    return any(test(kind) for test in (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal))


def is_text(kind: pa.DataType) -> bool:
    """Whether values are texts, however they are stored."""
    return any(test(kind) for test in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view))


def is_stored(text: str) -> bool:
    """Whether an argument is a folder, or an address such as ``s3://bucket/folder``."""
    return "://" in text or irregular(user_path(text)) == "folder"


def find_stored(text: str, roles: Roles, option: str) -> StoredTable:
    """Return the Parquet files of a folder, file or address.

    Raises
    ------
    MissingDataError
        If there is none, the store refuses to say, or nothing here reads such an address.
    """
    from pyarrow import dataset  # which imports pandas

    local, prefix = "://" not in text, "" if text.partition("://")[0] in _OF_PYARROW else "fsspec+"
    try:
        if local:
            system, path = fs.LocalFileSystem(), str(user_path(text).absolute())
        else:
            system, path = fs.FileSystem.from_uri(prefix + text)
        found = dataset.dataset(path, pa.schema([]), "parquet", system)
    except Exception as error:  # drivers of fsspec raise what they like
        store = ", the store's keys, region or endpoint, or install fsspec and the driver of such addresses"
        raise MissingDataError(
            f"{option}={printable(text)}: nothing can be read there: {said(error)}. Correct "
            f"{option}{'' if local else store}."
        ) from error
    for file in Path(path).rglob("*") if local else ():
        if not file.is_dir():
            refuse_irregular(file, option)  # pyarrow passes over pipes and links to nothing
    if not found.files:
        raise MissingDataError(f"{option}={printable(text)}: there is no Parquet file. Correct {option}.")
    name = PurePosixPath(text.partition("?")[0].rstrip("/")).name
    return StoredTable(name.removesuffix(".parquet").removesuffix(".pq"), text, found, roles)
