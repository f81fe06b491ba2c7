"""Divides stored lists and relevance by user into parts that fit into memory.

Files that hold users in ranges, such as sorted ones, are read where they are. Others are spread first: each
row is written to the file of its part, in one pass.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING

import numpy as np

from recgauge.errors import DataError, said
from recgauge.files.stored import RowGroup, StoredTable
from recgauge.utils.arrow import filled, to_numpy
from recgauge.utils.checks import LongArray
from recgauge.utils.hashed import hash_ids
from recgauge.utils.memory import in_units
from recgauge.utils.progress import Progress

if TYPE_CHECKING:
    import pyarrow as pa

_BYTES_PER_ROW = 110
"""Of memory at the peak of judging a part: measured with lists of 100."""
_BATCH = 1 << 20  # rows that are spread at a time
_READ_AGAIN = 1.3  # how many times all rows may be read in all before it is cheaper to spread them
MOST_PARTS = 800  # files that are open while rows are spread


@dataclass(frozen=True, eq=False)
class Division:
    """Users in parts: by ranges of whole numbers, or by a hash of the id.

    Parameters
    ----------
    n_parts : int
    edges : ndarray of int64, shape (n_parts - 1,), or None
        The least user of each part but the first; None: by hash.
    as_text : bool
        Whether ids are hashed as text.
    """

    n_parts: int
    edges: LongArray | None
    as_text: bool

    @classmethod
    def of(cls, tables: Sequence[StoredTable], memory_mib: int) -> "Division":
        """Divide all tables' users so that a part of the largest table, and of the first one, fits."""
        largest = max(tables, key=lambda table: table.n_rows)
        n_rows = largest.n_rows + tables[0].n_rows
        most = max(1, memory_mib * (1 << 20) // _BYTES_PER_ROW)
        n_parts = -(-n_rows // most)
        if n_parts > MOST_PARTS:
            needed = n_rows * _BYTES_PER_ROW // MOST_PARTS
            raise DataError(
                f"{largest.address}: {n_rows:,} rows make {n_parts:,} parts of {memory_mib} MiB, at most "
                f"{MOST_PARTS} are made. Allow more memory: --memory-mib {(needed >> 20) + 1}"
            )
        whole = all(table.has_whole_users for table in tables)
        if whole and all(group.users for group in largest.groups):
            edges = _edges(largest.groups, largest.n_rows / n_parts)
            division = cls(len(edges) + 1, edges, as_text=False)
            if division.reads_in_place(largest):
                return division
        return cls(n_parts, None, not whole)

    @property
    def text(self) -> str:
        """What tells this division from others."""
        return f"{self.n_parts} {None if self.edges is None else self.edges.tolist()} {self.as_text}"

    def reads_in_place(self, table: StoredTable) -> bool:
        """Whether parts of a table can be read from its files, with few rows that are read for several."""
        if self.n_parts == 1:
            return True
        if self.edges is None or not all(group.users for group in table.groups):
            return False
        read = sum((last - first + 1) * group.n_rows for group, first, last in self._parts_of(table.groups))
        return bool(read <= _READ_AGAIN * table.n_rows)

    def _parts_of(self, groups: Sequence[RowGroup]) -> Iterator[tuple[RowGroup, int, int]]:
        """Yield row groups with the first and the last part that may have rows in them."""
        for group in groups:
            if self.edges is None or group.users is None:
                yield group, 0, self.n_parts - 1
            else:
                first, last = np.searchsorted(self.edges, group.users, side="right")
                yield group, int(first), int(last)

    def parts(self, users: "pa.ChunkedArray") -> LongArray:
        """Return the part of each user; rows without one are in the first part."""
        if self.n_parts == 1:
            return np.zeros(len(users), np.int64)
        if self.edges is None:
            return (hash_ids(users, as_text=self.as_text) % np.uint64(self.n_parts)).astype(np.int64)
        known = to_numpy(filled(users, np.zeros(1, str(users.type))[0]))
        found = np.searchsorted(self.edges, known, side="right")
        if users.null_count:
            found[to_numpy(users.is_null().cast("uint8")) == 1] = 0
        return found

    def read_part(self, table: StoredTable, part: int) -> "pa.Table":
        """Return the rows of a part from the table's own files, in their order."""
        import pyarrow as pa

        chosen = [
            (group, first, last)
            for group, first, last in self._parts_of(table.groups)
            if first <= part <= last
        ]
        of_group = {(group.file, group.place): (first, last) for group, first, last in chosen}
        found = []
        for group, rows in table.read([group for group, _, _ in chosen]):
            first, last = of_group[group.file, group.place]
            if first != last:
                rows = rows.filter(pa.array(self.parts(rows.column(table.labels["user"])) == part))
            found.append(rows)
        return pa.concat_tables(found, promote_options="permissive") if found else _none(table)


def _edges(groups: Sequence[RowGroup], rows_per_part: float) -> LongArray:
    """Return where parts begin: at least users of row groups, after about so many rows."""
    starts = sorted((group.users[0], group.n_rows) for group in groups if group.users)
    edges: list[int] = []
    rows = 0
    for place, (user, n_rows) in enumerate(starts):
        if place and rows + n_rows > rows_per_part and user > (edges[-1] if edges else starts[0][0]):
            edges.append(user)
            rows = 0
        rows += n_rows
    return np.array(edges, np.int64)


def _none(table: StoredTable) -> "pa.Table":
    with table.open(0) as opened:
        schema = opened.schema_arrow
    import pyarrow as pa

    return pa.schema([schema.field(label) for label in table.columns]).empty_table()


@dataclass(frozen=True, eq=False)
class DividedTable:
    """The parts of a table, read where they are or spread in a folder."""

    table: StoredTable
    division: Division
    folder: Path

    @cached_property
    def in_place(self) -> bool:
        """Whether parts are read from the table's own files."""
        return self.division.reads_in_place(self.table)

    def prepare(self, progress: Progress) -> None:
        """Spread the rows, unless that has been done or need not be; an unfinished folder is made anew."""
        if self.in_place or self.folder.exists():
            return
        unfinished = self.folder.with_name(f".unfinished-{self.folder.name}")
        rmtree(unfinished, ignore_errors=True)
        try:
            unfinished.mkdir(parents=True)
            with progress.step(f"spread {self.table.name}", self.table.n_rows, "rows") as advance:
                for n_rows in _spread(self.table, self.division, unfinished):
                    advance(n_rows)
            unfinished.rename(self.folder)
        except OSError as error:
            rmtree(unfinished, ignore_errors=True)
            needed = in_units(self.table.n_rows * 16)
            raise DataError(
                f"{self.folder}: {self.table.address} cannot be spread: {said(error)}. It needs about "
                f"{needed}; choose a folder with room for it: --work FOLDER. Finished parts are kept."
            ) from error

    def read(self, part: int) -> "pa.Table":
        """Return all rows of a part."""
        import pyarrow as pa

        if self.in_place:
            return self.division.read_part(self.table, part)
        with pa.ipc.open_stream(pa.memory_map(str(_bucket(self.folder, part)))) as reader:
            return reader.read_all()

    def forget(self) -> None:
        """Remove what was spread."""
        rmtree(self.folder, ignore_errors=True)


def _bucket(folder: Path, part: int) -> Path:
    return folder / f"{part}.arrows"


def _spread(table: StoredTable, division: Division, folder: Path) -> Iterator[int]:
    """Write each row to the file of its part, in order; yield how many are done."""
    import pyarrow as pa
    from pyarrow import ipc

    options = ipc.IpcWriteOptions(compression="lz4")
    schema = _none(table).schema
    writers = [
        ipc.new_stream(str(_bucket(folder, part)), schema, options=options)
        for part in range(division.n_parts)
    ]
    try:
        for rows in table.batches(_BATCH):
            parts = division.parts(rows.column(table.labels["user"])).astype(np.uint16)
            order = np.argsort(parts, kind="stable")  # a radix sort, for numbers so small
            ordered = rows.cast(schema).take(pa.array(order)).combine_chunks()
            ends = np.cumsum(np.bincount(parts, minlength=division.n_parts)).tolist()
            for writer, start, end in zip(writers, [0, *ends], ends, strict=False):
                if end > start:
                    writer.write_table(ordered.slice(start, end - start))
            yield len(rows)
    finally:
        for writer in writers:
            writer.close()
