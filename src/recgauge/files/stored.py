"""Parquet files in a folder or in an object store: one table that is never whole."""

import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import dataset, fs, parquet

from recgauge.errors import ConfigError, MissingDataError, SchemaError, listed, printable, said
from recgauge.files.columns import Columns, Role, Roles
from recgauge.utils.arrow import type_without_views
from recgauge.utils.files import digest_of, irregular, user_path

PARQUET = (".parquet", ".pq")
"""Endings of Parquet files."""
_BATCH = 1 << 18  # rows that are read at a time
_MOST_VALUES = 1_000  # of a column that is only looked at
_OF_PYARROW = ("file", "s3", "gs", "gcs", "hdfs", "viewfs", "abfs", "abfss", "hf", "mock")
"""Addresses that pyarrow reads; it hands others to fsspec, where that is installed."""


class RowGroup(NamedTuple):
    """Some rows of a file."""

    n_rows: int
    users: tuple[int, int] | None  # least and greatest, if the file has them: whole, of 63 bits, none missing


@dataclass(frozen=True, eq=False)
class StoredFile:
    """A file in an object store, opened like a path."""

    system: fs.FileSystem
    path: str

    def __str__(self) -> str:
        return printable(self.path)

    @contextmanager
    def open(self, mode: str = "rb") -> Iterator[pa.NativeFile]:  # noqa: ARG002 - as of a path
        """Open the bytes; what the store or they themselves refuse becomes one line."""
        try:
            with self.system.open_input_file(self.path) as source:
                yield source
        except (OSError, pa.ArrowException) as error:
            raise MissingDataError(
                f"{self} cannot be read as Parquet: {said(error)}. Mend it or leave it out."
            ) from error

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
    system : pyarrow.fs.FileSystem
    paths : tuple of str
    facts : tuple of (int, float)
        Size and time of change of each file.
    roles : Roles
    """

    name: str
    address: str
    system: fs.FileSystem
    paths: tuple[str, ...]
    facts: tuple[tuple[int, float], ...]
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
        local = isinstance(self.system, fs.LocalFileSystem)
        return tuple(Path(path) if local else StoredFile(self.system, path) for path in self.paths)

    def where(self, file: int) -> str:
        """Return what messages call a file."""
        return printable(self.paths[file])

    @contextmanager
    def open(self, file: int, texts: Sequence[str] = ()) -> Iterator[parquet.ParquetFile]:
        """Open a file, some columns as dictionaries."""
        with StoredFile(self.system, self.paths[file]).open() as source:
            yield parquet.ParquetFile(source, read_dictionary=texts)

    @cached_property
    def groups(self) -> tuple[RowGroup, ...]:
        """All row groups, in the order of the files."""
        groups = tuple(group for _, groups in self._footers for group in groups)
        if not groups:
            raise MissingDataError(f"{printable(self.address)}: its files have no rows. Name others.")
        return groups

    @cached_property
    def n_rows(self) -> int:
        """How many rows there are, those of lists within a row included."""
        return sum(group.n_rows for group in self.groups)

    @cached_property
    def layout(self) -> Columns:
        """Which columns of the first file are read."""
        return self._columns(0, self._footers[0][0])

    @property
    def labels(self) -> Mapping[Role, str]:
        """The names of the columns, by role."""
        return {role: self.layout.names[at] for role, at in self.layout.positions.items()}

    @cached_property
    def columns(self) -> list[str]:
        """The names of the columns that are read."""
        return list(dict.fromkeys([*self.labels.values(), *self.roles.cells.keep]))

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns that are read, numbers in a type that holds those of all files; no dictionaries."""
        schemas = [schema for schema, _ in self._footers]
        return pa.schema(
            [(name, _joint_type([schema.field(name) for schema in schemas])) for name in self.columns]
        )

    @cached_property
    def has_whole_users(self) -> bool:
        """Whether ids of users are whole numbers."""
        return bool(pa.types.is_integer(self.schema.field(self.labels["user"]).type))

    @cached_property
    def _footers(self) -> list[tuple[pa.Schema, tuple[RowGroup, ...]]]:
        """Read the columns and row groups of all files, and refuse files that are not like the first."""
        footers: list[tuple[pa.Schema, tuple[RowGroup, ...]]] = []
        for file in range(len(self.paths)):
            with self.open(file) as opened:
                schema = opened.schema_arrow
                roles = self._columns(file, schema).positions
                labels = {role: schema.names[at] for role, at in roles.items()}
                self._require_equal_columns(file, schema, footers[0][0] if footers else schema)
                footers.append((schema, tuple(_row_groups(opened.metadata, labels))))
        return footers

    def _columns(self, file: int, schema: pa.Schema) -> Columns:
        columns = columns_of(schema, self.roles, self.where(file))
        if columns.numbered:
            raise SchemaError(
                f"{self.where(file)}: lists in columns {columns.names[columns.numbered[0]]} ... are read "
                "from files, not from folders and addresses. Write one row for each item."
            )
        return columns

    def _require_equal_columns(self, file: int, schema: pa.Schema, first: pa.Schema) -> None:
        """Refuse a file that lacks a column of the first file, or has it in another type."""
        roles = self._columns(0, first).positions
        for name in [first.names[at] for at in roles.values()]:
            if name not in schema.names:
                raise SchemaError(
                    f"{self.where(file)}: there is no column {name}, which {self.paths[0]} has. Give all "
                    "files the same columns."
                )
            kind, other = schema.field(name).type, first.field(name).type
            if _kind(kind) != _kind(other):
                raise SchemaError(
                    f"{self.where(file)}: the column {name} holds {kind}, and {other} in {self.paths[0]}. "
                    "Give it one type in all files."
                )

    def digests(self) -> list[str]:
        """Return the sha256 of each file."""
        digests = []
        for file in self.files:
            with file.open("rb") as stream:
                digests.append(digest_of(stream))
        return digests

    def digest(self) -> str:
        """Return what changes when a file does, as far as sizes and times tell."""
        facts = map(str, zip(self.paths, self.facts, strict=True))
        texts = [self.address, *facts, str(sorted(self.labels.items())), str(self.roles.cells)]
        return sha256("\n".join(texts).encode()).hexdigest()

    def batches(self, rows: dataset.Expression | None = None) -> Iterator[pa.RecordBatch]:
        """Yield all rows, or some, in the order of files, as many as fit into a batch at a time."""
        files = dataset.dataset(list(self.paths), self.schema, "parquet", self.system)
        how = {"batch_size": _BATCH, "batch_readahead": 2, "fragment_readahead": 1}
        try:
            yield from files.to_batches(columns=self.columns, filter=rows, **how)
        except (OSError, pa.ArrowException) as error:
            raise MissingDataError(
                f"{self} cannot be read as Parquet: {said(error)}. Mend it or leave it out."
            ) from error

    def cells(self, name: str) -> Iterator[pa.Array]:
        """Yield the cells of a column, of lists in cells their items, some at a time."""
        for file, (schema, _) in enumerate(self._footers):
            if name in schema.names:
                with self.open(file) as opened:
                    for batch in opened.iter_batches(_BATCH, columns=[name]):
                        column = batch.column(0)
                        nested = pa.types.is_list(column.type) or pa.types.is_large_list(column.type)
                        yield pc.list_flatten(column) if nested else column.cast(plain_type(column.type))

    def label_values(self) -> Mapping[str, pa.ChunkedArray]:
        """Return the different values of columns that may be labels or grades, of the first thousands."""
        first = self._footers[0][0]
        columns = {}
        for name in (self.layout.names[at] for at in self.layout.further):
            if name not in self.roles.cells.keep:
                nested = pa.types.is_nested(first.field(name).type)
                columns[name] = distinct(() if nested else self.cells(name), _MOST_VALUES)
        return columns


def distinct(columns: Iterable[pa.Array], most: float = float("inf")) -> pa.ChunkedArray:
    """Return the different values of columns; no further column is read once there are more than `most`.

    Examples
    --------
    >>> distinct([pa.array([3, 3]), pa.array([4, 3])]).to_pylist()
    [3, 4]
    >>> distinct([pa.array([3]), pa.array(["a"])]).to_pylist()
    ['3', 'a']
    """
    values = pa.chunked_array([], pa.null())
    for column in columns:
        if not len(values):
            values = pa.chunked_array([], column.type)
        elif values.type != column.type:
            values, column = values.cast(pa.large_string()), column.cast(pa.large_string())
        values = pa.chunked_array([pa.chunked_array([*values.chunks, column]).unique()])
        if len(values) > most:
            break
    return values


def _joint_type(fields: Sequence[pa.Field]) -> pa.DataType:
    """Return the type of a column of several files: of numbers one that holds all, no dictionary or view."""
    kinds = [type_without_views(plain_type(field.type)) for field in fields]
    if all(pa.types.is_integer(kind) or pa.types.is_floating(kind) for kind in kinds):
        schemas = [pa.schema([("", kind)]) for kind in kinds]
        return pa.unify_schemas(schemas, promote_options="permissive").field(0).type
    return kinds[0]


def _row_groups(metadata: parquet.FileMetaData, labels: Mapping[Role, str]) -> Iterator[RowGroup]:
    """Yield the row groups of a file that have rows."""
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        n_rows, users = group.num_rows, None
        for column in (group.column(at) for at in range(group.num_columns)):
            name = column.path_in_schema.split(".")[0]
            if name in labels.values():
                n_rows = max(n_rows, column.num_values)  # of a list column, the values
            facts = column.statistics
            if (
                name == labels.get("user")
                and facts is not None
                and facts.has_min_max
                and not facts.null_count
            ):
                is_whole = isinstance(facts.min, int) and facts.max < 1 << 63
                users = (facts.min, facts.max) if is_whole else None
        if group.num_rows:
            yield RowGroup(n_rows, users)


def _kind(kind: pa.DataType) -> str:
    """Return what the values of a type are: whole, real, text, or the type itself."""
    tests = {"whole": pa.types.is_integer, "real": pa.types.is_floating, "text": is_text}
    return next((name for name, test in tests.items() if test(plain_type(kind))), str(plain_type(kind)))


def plain_type(kind: pa.DataType) -> pa.DataType:
    """Return the type of the values of a dictionary."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def columns_of(schema: pa.Schema, roles: Roles, location: object, flags: Sequence[int] = ()) -> Columns:
    """Return which columns of an Arrow table are read; `flags` are columns of text with truth values."""
    kinds = [*map(plain_type, schema.types)]
    numbers = {at for at, kind in enumerate(kinds) if is_number(kind) or pa.types.is_boolean(kind)}
    lists = [at for at, kind in enumerate(kinds) if pa.types.is_nested(kind)]
    return roles.columns(schema.names, str(location), numbers.union(flags), lists)


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
        If there is none, or the store refuses to say.
    ConfigError
        If nothing here reads such an address.
    """
    try:
        system, path = _system(text, option)
        infos = _files(system, path)
    except ConfigError:
        raise
    except Exception as error:  # drivers of fsspec raise what they like
        store = ", or the store's keys, region or endpoint" if "://" in text else ""
        raise MissingDataError(
            f"{option}={printable(text)}: {said(error)}. Correct {option}{store}."
        ) from error
    if odd := next((info for info in infos if info.type != fs.FileType.File), None):
        raise MissingDataError(
            f"{option}={printable(text)}: {printable(odd.path)} is no file, but a pipe, a device or "
            "a dead link. Mend it or take it away."
        )
    if not infos:
        files = sorted(path.name for path in Path(path).glob("*") if path.is_file())
        remedy = f"Name a file in it ({listed(files, most=10)})" if files else f"Correct {option}"
        raise MissingDataError(f"{option}={printable(text)}: there is no Parquet file. {remedy}.")
    name = PurePosixPath(text.partition("?")[0].rstrip("/")).name
    for ending in PARQUET:
        name = name.removesuffix(ending)
    # a store that does not say when a file was changed may have changed it
    facts = tuple((info.size, info.mtime_ns or time.time_ns()) for info in infos)
    return StoredTable(name, text, system, tuple(info.path for info in infos), facts, roles)


def _system(text: str, option: str) -> tuple[fs.FileSystem, str]:
    """Return the file system of a path or address, and the path in it."""
    if "://" not in text:
        return fs.LocalFileSystem(), str(user_path(text).absolute())
    prefix = "" if text.partition("://")[0] in _OF_PYARROW else "fsspec+"
    try:
        system, path = fs.FileSystem.from_uri(prefix + text)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ImportError, ValueError, TypeError) as error:
        raise ConfigError(
            f"{option}={printable(text)}: nothing here reads such an address: {said(error)}. Install fsspec "
            "and its driver for this, or copy the files."
        ) from error
    return system, path


def _files(system: fs.FileSystem, path: str) -> list[fs.FileInfo]:
    """Return a file, or the Parquet files of a folder, sorted; hidden ones are left out."""
    if (info := system.get_file_info(path)).type == fs.FileType.File:
        return [info]
    infos = system.get_file_info(fs.FileSelector(path, recursive=True))
    if isinstance(system, fs.LocalFileSystem):  # which passes over links to nothing
        links = (link for link in Path(path).rglob("*") if link.is_symlink() and not link.exists())
        infos += [fs.FileInfo(str(link)) for link in links]
    hidden = re.compile(r"(^|/)[_.]")
    return sorted(
        (
            info
            for info in infos
            if info.type != fs.FileType.Directory
            and info.path.endswith(PARQUET)
            and not hidden.search(info.path[len(path) :])
        ),
        key=lambda info: info.path,
    )
