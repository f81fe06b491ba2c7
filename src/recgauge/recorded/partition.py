"""Divides the users of stored lists and relevance into parts that fit into memory.

Files that hold users in ranges, such as sorted ones, are read where they are. Others are first written to a
dataset of Arrow files with a folder for each part, by pyarrow.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING

import numpy as np

from recgauge.errors import DataError, said
from recgauge.files.stored import RowGroup, StoredTable
from recgauge.utils.arrow import filled, to_arrow, to_numpy
from recgauge.utils.checks import IntArray, LongArray
from recgauge.utils.progress import Progress
from recgauge.utils.resources import in_units

if TYPE_CHECKING:
    import pyarrow as pa

_BYTES_PER_ROW = 110
"""Of memory at the peak of judging a part: measured with lists of 100."""
_MOST_READ = 1.3  # rows that are read for each row of a table, before it is cheaper to write parts
_STAGED = 1 << 15  # rows of a part that are written at once; fewer take several times as long
MOST_PARTS = 800  # of which pyarrow holds a file open each


@dataclass(frozen=True, eq=False)
class Partition:
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
    edges: LongArray | None = None
    as_text: bool = True

    @classmethod
    def of(cls, tables: Sequence[StoredTable], memory_mib: int) -> "Partition":
        """Divide all tables' users so that a part of the largest table, and of the first one, fits."""
        largest = max(tables, key=lambda table: table.n_rows)
        n_rows = largest.n_rows + tables[0].n_rows
        n_parts = -(-n_rows * _BYTES_PER_ROW // (memory_mib << 20))
        if n_parts > MOST_PARTS:
            needed = n_rows * _BYTES_PER_ROW // MOST_PARTS
            raise DataError(
                f"{largest.address}: {n_rows:,} rows make {n_parts:,} parts of {memory_mib} MiB, at most "
                f"{MOST_PARTS} are made. Allow more memory: --memory-mib {(needed >> 20) + 1}"
            )
        whole = all(table.has_whole_users for table in tables)
        if whole and all(group.users for group in largest.groups):
            edges = _edges(largest.groups, largest.n_rows / n_parts)
            ranges = cls(len(edges) + 1, edges)
            # row groups may be larger than a part, or all begin with the same user
            if 2 * ranges.n_parts > n_parts and ranges.reads_in_place(largest):
                return ranges
        return cls(n_parts, None, as_text=not whole)

    @property
    def text(self) -> str:
        """What tells this partition from others."""
        users = "hashes of pandas" if self.edges is None else self.edges.tolist()
        return f"{self.n_parts} {users} {self.as_text}"

    def reads_in_place(self, table: StoredTable) -> bool:
        """Whether parts of a table can be read from its files, with few rows that are read for several."""
        first, last = self.bounds(table.groups)
        n_read = (last - first + 1) @ np.array([group.n_rows for group in table.groups])
        return bool(n_read <= _MOST_READ * table.n_rows)

    def bounds(self, groups: Sequence[RowGroup]) -> tuple[LongArray, LongArray]:
        """Return the first and the last part that may have rows of each row group."""
        if self.edges is None or not all(group.users for group in groups):
            return np.zeros(len(groups), np.int64), np.full(len(groups), self.n_parts - 1)
        users = np.array([group.users for group in groups])
        first, last = np.searchsorted(self.edges, users, side="right").T
        return first, last

    def parts(self, users: "pa.ChunkedArray") -> IntArray | LongArray:
        """Return the part of each user; a missing one is in any, where it is refused."""
        if self.edges is not None:
            ids = to_numpy(filled(users, np.zeros(1, str(users.type))[0]))
            return np.searchsorted(self.edges, ids, side="right").astype(np.int32)
        import pyarrow as pa
        import pyarrow.compute as pc
        from pandas.util import hash_array

        if self.as_text:
            cells = pc.fill_null(pc.utf8_trim_whitespace(users.cast(pa.large_string())), "")
        else:
            cells = pc.fill_null(users, 0).cast(pa.int64(), safe=False)
        high = hash_array(cells.to_numpy(), categorize=False) >> np.uint64(32)
        return (high * np.uint64(self.n_parts) >> np.uint64(32)).astype(np.int32)


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


@dataclass(frozen=True, eq=False)
class PartitionedTable:
    """The parts of a table, read where they are or from a folder that they are written to."""

    table: StoredTable
    partition: Partition
    folder: Path

    @cached_property
    def in_place(self) -> bool:
        """Whether parts are read from the table's own files."""
        return self.partition.reads_in_place(self.table)

    def prepare(self, progress: Progress) -> None:
        """Write the parts, unless that has been done or need not be; an unfinished folder is made anew."""
        if self.in_place or self.folder.exists():
            return
        unfinished = self.folder.with_name(f".unfinished-{self.folder.name}")
        rmtree(unfinished, ignore_errors=True)
        try:
            unfinished.mkdir(parents=True)
            with progress.step(f"divide {self.table.name}", self.table.n_rows, "rows") as advance:
                self._write(unfinished, advance)
            unfinished.rename(self.folder)
        except OSError as error:
            rmtree(unfinished, ignore_errors=True)
            needed = in_units(self.table.n_rows * 24)
            raise DataError(
                f"{self.folder}: {self.table.address} cannot be divided: {said(error)}. It needs about "
                f"{needed}; choose a folder with room for it: --work FOLDER. Finished parts are kept."
            ) from error

    def _write(self, folder: Path, advance: Callable[[int], None]) -> None:
        """Write the rows to a folder for each part, in their order."""
        import pyarrow as pa
        from pyarrow import dataset

        part = pa.field("part of users", pa.int32())

        def batches() -> "Iterator[pa.RecordBatch]":
            for batch in self.table.batches(self.table.groups):
                yield batch.append_column(part, to_arrow(self.partition.parts(self._users(batch))))
                advance(len(batch))

        dataset.write_dataset(
            batches(),
            folder,
            format="ipc",
            schema=self.table.schema.append(part),
            partitioning=dataset.partitioning(pa.schema([part])),
            preserve_order=True,
            use_threads=False,
            max_open_files=MOST_PARTS + 1,
            max_partitions=MOST_PARTS,
            min_rows_per_group=_STAGED,
        )

    def _users(self, rows: "pa.RecordBatch") -> "pa.ChunkedArray":
        import pyarrow as pa

        return pa.chunked_array([rows.column(self.table.labels["user"])])

    def read(self, part: int) -> "pa.Table":
        """Return all rows of a part, in the order of the files."""
        import pyarrow as pa

        schema = self.table.schema
        if self.in_place:
            first, last = self.partition.bounds(self.table.groups)
            groups = [self.table.groups[at] for at in np.flatnonzero((first <= part) & (part <= last))]
            batches = (self._of_part(batch, part) for batch in self.table.batches(groups))
            return pa.Table.from_batches(batches, schema)
        files = [str(file) for file in sorted((self.folder / str(part)).glob("*.arrow"))]
        if not files:
            return schema.empty_table()
        from pyarrow import dataset

        return dataset.dataset(files, schema=schema, format="ipc").to_table()

    def _of_part(self, batch: "pa.RecordBatch", part: int) -> "pa.RecordBatch":
        """Return the rows of a part; most batches have no others."""
        import pyarrow as pa
        import pyarrow.compute as pc

        users = self._users(batch)
        if self.partition.n_parts == 1 or not len(users):
            return batch
        ends = pa.chunked_array([list(pc.min_max(users).as_py().values())], users.type)
        if (self.partition.parts(ends) == part).all():
            return batch
        return batch.filter(to_arrow(self.partition.parts(users) == part))

    def forget(self) -> None:
        """Remove the parts that were written."""
        rmtree(self.folder, ignore_errors=True)
