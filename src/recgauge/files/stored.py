"""Parquet files in a folder or in an object store: one table that is never whole."""

import re
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import fs, parquet

from recgauge.errors import ConfigError, MissingDataError, SchemaError, listed, printable, said
from recgauge.files.columns import Columns, Role, Roles
from recgauge.utils.arrow import type_without_views
from recgauge.utils.files import digest_of, irregular, user_path

if TYPE_CHECKING:
    from pyarrow.dataset import Expression

PARQUET = (".parquet", ".pq")
"""Endings of Parquet files."""
_BATCH = 1 << 18  # rows that are read at a time
_MOST_VALUES = 1_000  # of a column that is only looked at
_OF_PYARROW = ("file", "s3", "gs", "gcs", "hdfs", "viewfs", "abfs", "abfss", "hf", "mock")
"""Addresses that pyarrow reads; it hands others to fsspec, where that is installed."""


class RowGroup(NamedTuple):
    """Some rows of a file."""

    n_rows: int
    users: tuple[int, int] | None  # least and greatest, if the file has them: whole, of 63 bits


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
    roles : Roles
    """

    name: str
    address: str
    system: fs.FileSystem
    paths: tuple[str, ...]
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
    def layout(self) -> Columns:
        """Which columns of the first file are read."""
        with self.open(0) as opened:
            return columns_of(opened.schema_arrow, self.roles, self.where(0))

    @property
    def labels(self) -> Mapping[Role, str]:
        """The names of the columns, by role."""
        return {role: self.layout.names[at] for role, at in self.layout.positions.items()}

    @property
    def columns(self) -> list[str]:
        """The names of the columns that are read."""
        return list(dict.fromkeys([*self.labels.values(), *self.roles.cells.keep]))

    @property
    def schema(self) -> pa.Schema:
        """The columns that are read, in types that hold the values of all files; no dictionaries."""
        return self._footers[0]

    @property
    def groups(self) -> Sequence[RowGroup]:
        """All row groups, in the order of the files."""
        return self._footers[1]

    @cached_property
    def n_rows(self) -> int:
        """How many rows there are, those of lists within a row included."""
        return sum(group.n_rows for group in self.groups)

    @property
    def has_whole_users(self) -> bool:
        """Whether ids of users are whole numbers."""
        return bool(pa.types.is_integer(self.schema.field(self.labels["user"]).type))

    @cached_property
    def _footers(self) -> tuple[pa.Schema, Sequence[RowGroup]]:
        """Read the columns and row groups of all files, and refuse files that are not like the first."""
        joint, groups = pa.schema([]), list[RowGroup]()
        for file in range(len(self.paths)):
            with self.open(file) as opened:
                joint = self._joined(joint, opened.schema_arrow, file)
                groups += _row_groups(opened.metadata, self.labels)
        if not groups:
            raise MissingDataError(f"{self}: its files have no rows. Name others.")
        return joint, groups

    def _joined(self, joint: pa.Schema, schema: pa.Schema, file: int) -> pa.Schema:
        """Return the columns in types that hold those of a further file, too."""
        if missing := [name for name in self.columns if name not in schema.names]:
            raise SchemaError(
                f"{self.where(file)}: there is no column {missing[0]}, which {self.where(0)} has. Give all "
                "files the same columns."
            )
        kinds = {name: type_without_views(plain_type(schema.field(name).type)) for name in self.columns}
        try:
            return pa.unify_schemas([joint, pa.schema(kinds)], promote_options="permissive")
        except pa.ArrowTypeError as error:
            raise SchemaError(
                f"{self.where(file)}: columns differ from those of {self.where(0)}: {said(error)}. Give each "
                "one type in all files."
            ) from error

    def digests(self) -> list[str]:
        """Return the sha256 of each file."""
        digests = []
        for file in self.files:
            with file.open("rb") as stream:
                digests.append(digest_of(stream))
        return digests

    def digest(self) -> str:
        """Return what changes when a file does, as far as sizes and times tell."""
        infos = self.system.get_file_info(list(self.paths))
        # a store that does not say when a file was changed may have changed it
        facts = [(info.path, info.size, info.mtime_ns or time.time_ns()) for info in infos]
        return sha256(
            repr((self.address, facts, sorted(self.labels.items()), self.roles.cells)).encode()
        ).hexdigest()

    def batches(self, rows: "Expression | None" = None) -> Iterator[pa.RecordBatch]:
        """Yield all rows, or some, in the order of files, as many as fit into a batch at a time."""
        from pyarrow import dataset  # which imports pandas

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
        for file in range(len(self.paths)):
            with self.open(file) as opened:
                if name not in opened.schema_arrow.names:
                    continue
                for batch in opened.iter_batches(_BATCH, columns=[name]):
                    column = batch.column(0)
                    nested = pa.types.is_list(column.type) or pa.types.is_large_list(column.type)
                    yield pc.list_flatten(column) if nested else column.cast(plain_type(column.type))

    def label_values(self) -> Mapping[str, pa.ChunkedArray]:
        """Return the different values of columns that may be labels or grades, of the first thousands."""
        names = [self.layout.names[at] for at in self.layout.further]
        names = [name for name in names if name not in self.roles.cells.keep]
        return {name: distinct(self.cells(name), _MOST_VALUES) for name in names}


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


def _row_groups(metadata: parquet.FileMetaData, labels: Mapping[Role, str]) -> Iterator[RowGroup]:
    """Yield the row groups of a file that have rows."""
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        columns = {
            column.path_in_schema.split(".")[0]: column
            for column in map(group.column, range(group.num_columns))
        }
        read = [columns[label] for label in labels.values() if label in columns]
        n_rows = max(
            [group.num_rows, *(column.num_values for column in read)]
        )  # of a list column, the values
        facts = columns[labels["user"]].statistics if labels.get("user") in columns else None
        users = None
        if facts and facts.has_min_max and isinstance(facts.min, int) and facts.max < 1 << 63:
            users = facts.min, facts.max
        if group.num_rows:
            yield RowGroup(n_rows, users)


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
    name = re.sub(r"\.(parquet|pq)$", "", PurePosixPath(text.partition("?")[0].rstrip("/")).name)
    return StoredTable(name, text, system, tuple(info.path for info in infos), roles)


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
