"""Divides the users of stored lists and relevance into parts that fit into memory.

Files that hold users in ranges, such as sorted ones, are read where they are. Others are first written to a
dataset of Arrow files with a folder for each part, by pyarrow.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING

import numpy as np

from recgauge.errors import DataError
from recgauge.files.stored import RowGroup, StoredTable
from recgauge.utils.arrow import to_arrow, to_numpy
from recgauge.utils.checks import IntArray, LongArray
from recgauge.utils.progress import Advance, Progress

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow import dataset

_BYTES_PER_ROW = 110
"""Of memory at the peak of judging a part: measured with lists of 100."""
_MOST_READ = 1.3  # rows of row groups that are opened for each row, before it is cheaper to write parts
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
        """Whether parts of a table can be read from its files, with few row groups opened for several."""
        if self.edges is None or not all(group.users for group in table.groups):
            return self.n_parts == 1
        users = np.array([group.users for group in table.groups])
        first, last = np.searchsorted(self.edges, users, side="right").T
        n_read = (last - first + 1) @ np.array([group.n_rows for group in table.groups])
        return bool(n_read <= _MOST_READ * table.n_rows)

    def range_of(self, part: int, user: "pa.Field") -> "dataset.Expression | None":
        """Return which rows of a table are a part's, by its column of users; None: all."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if self.edges is None or not len(self.edges):
            return None
        column, edges = pc.field(user.name), [pa.scalar(edge, user.type) for edge in self.edges.tolist()]
        if part == 0:
            return (column < edges[0]) | column.is_null()  # which is refused when the part is judged
        lowest = column >= edges[part - 1]
        return lowest & (column < edges[part]) if part < len(edges) else lowest

    def parts(self, users: "pa.Array") -> IntArray | LongArray:
        """Return the part of each user; a missing one is in any, where it is refused."""
        import pyarrow as pa
        import pyarrow.compute as pc
        from pandas.util import hash_array

        if self.edges is not None:
            ids = to_numpy(pc.fill_null(users, 0))
            return np.searchsorted(self.edges, ids, side="right").astype(np.int32)
        if self.as_text:
            cells = pc.fill_null(pc.utf8_trim_whitespace(users.cast(pa.large_string())), "")
        else:
            cells = pc.fill_null(users, 0).cast(pa.int64(), safe=False)
        high = hash_array(cells.to_numpy(zero_copy_only=False), categorize=False) >> np.uint64(32)
        return (high * np.uint64(self.n_parts) >> np.uint64(32)).astype(np.int32)


def _edges(groups: Sequence[RowGroup], rows_per_part: float) -> LongArray:
    """Return where parts begin: at least users of row groups, after about so many rows."""
    least, n_rows = np.array(sorted((group.users[0], group.n_rows) for group in groups if group.users)).T
    part = (np.cumsum(n_rows) - 1) // rows_per_part
    edges: LongArray = np.unique(least[1:][(np.diff(part) > 0) & (least[1:] > least[0])])
    return edges


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

    def write(self, progress: Progress) -> None:
        """Write the rows to a folder for each part, in their order."""
        import pyarrow as pa
        from pyarrow import dataset

        part, user = pa.field("part of users", pa.int32()), self.table.labels["user"]

        def batches(advance: Advance) -> "Iterator[pa.RecordBatch]":
            for batch in self.table.batches():
                yield batch.append_column(part, to_arrow(self.partition.parts(batch.column(user))))
                advance(len(batch))

        rmtree(self.folder, ignore_errors=True)  # of a command that was killed
        with progress.step(f"divide {self.table.name}", self.table.n_rows, "rows") as advance:
            dataset.write_dataset(
                batches(advance),
                self.folder,
                format="ipc",
                schema=self.table.schema.append(part),
                partitioning=dataset.partitioning(pa.schema([part])),
                preserve_order=True,
                use_threads=False,
                max_open_files=MOST_PARTS + 1,
                max_partitions=MOST_PARTS,
                min_rows_per_group=_STAGED,
            )

    def read(self, part: int) -> "pa.Table":
        """Return all rows of a part, in the order of the files."""
        import pyarrow as pa
        from pyarrow import dataset

        schema = self.table.schema
        if self.in_place:
            rows = self.partition.range_of(part, schema.field(self.table.labels["user"]))
            return pa.Table.from_batches(self.table.batches(rows), schema)
        files = sorted(map(str, (self.folder / str(part)).glob("*.arrow")))
        return (
            dataset.dataset(files, schema=schema, format="ipc").to_table() if files else schema.empty_table()
        )
