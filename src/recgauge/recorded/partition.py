"""Divides the users of stored lists and relevance into parts that fit into memory.

Files that hold users in ranges, such as sorted ones, are read where they are. Others are first written to a
dataset of Arrow files with a folder for each part, by pyarrow.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING

import numpy as np

from recgauge.errors import DataError
from recgauge.files.stored import StoredTable
from recgauge.utils.arrow import to_arrow, to_numpy
from recgauge.utils.checks import IntArray
from recgauge.utils.progress import Progress

if TYPE_CHECKING:
    import pyarrow as pa

_BYTES_PER_ROW = 110
"""Of memory at the peak of judging a part: measured with lists of 100."""
_MOST_READ = 1.3  # rows of row groups that are opened for each row, before it is cheaper to write parts
MOST_PARTS = 800  # of which pyarrow holds a file open each


@dataclass(frozen=True)
class Partition:
    """Users in parts: by ranges of whole numbers, or by a hash of the id.

    Parameters
    ----------
    n_parts : int
    edges : tuple of int, of n_parts - 1, or None
        The least user of each part but the first; None: by hash.
    as_text : bool
        Whether ids are hashed as text.
    """

    n_parts: int
    edges: tuple[int, ...] | None
    as_text: bool

    @classmethod
    def of(cls, tables: Sequence[StoredTable], memory_mib: int) -> "Partition":
        """Divide all tables' users so that a part of the largest table, and of the first one, fits."""
        largest = max(tables, key=lambda table: table.n_rows)
        n_rows = largest.n_rows + tables[0].n_rows
        n_parts = -(-n_rows * _BYTES_PER_ROW // (memory_mib << 20))
        if n_parts > MOST_PARTS:
            raise DataError(
                f"{largest}: {n_rows:,} rows make {n_parts:,} parts of {memory_mib} MiB, and at most "
                f"{MOST_PARTS} are made. Allow more memory with --memory-mib."
            )
        whole = all(table.has_whole_users for table in tables)
        n_of_groups, users = largest.row_groups
        if whole and users is not None:
            order = users[:, 0].argsort(kind="stable")
            ends = n_of_groups[order].cumsum()
            first = order[np.searchsorted(ends, np.arange(1, n_parts) * ends[-1] / n_parts)]
            edges = tuple(np.unique(users[first, 0]).tolist())
            ranges = cls(len(edges) + 1, edges, as_text=False)
            # row groups may be larger than a part, or all begin with the same user
            if 2 * ranges.n_parts > n_parts and ranges.reads_in_place(largest):
                return ranges
        return cls(n_parts, None, as_text=not whole)

    def reads_in_place(self, table: StoredTable) -> bool:
        """Whether parts of a table can be read from its files, with few row groups opened for several."""
        n_rows, users = table.row_groups
        if self.edges is None or users is None:
            return self.n_parts == 1
        first, last = np.searchsorted(self.edges, users, side="right").T
        return bool((last - first + 1) @ n_rows <= _MOST_READ * table.n_rows)

    def parts(self, users: "pa.Array") -> IntArray:
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
        hashes = hash_array(cells.to_numpy(zero_copy_only=False), categorize=False)
        return (hashes % np.uint64(self.n_parts)).astype(np.int32)

    def write(self, table: StoredTable, folder: Path, progress: Progress) -> None:
        """Write the rows of a table to a folder for each part, in their order."""
        import pyarrow as pa
        from pyarrow import dataset

        schema, user = table.schema, table.labels["user"]
        part = pa.field("part of users", pa.int32())

        def batches() -> "Iterator[pa.RecordBatch]":
            for batch in table.batches(schema):
                yield batch.append_column(part, to_arrow(self.parts(batch.column(user))))
                advance(len(batch))

        rmtree(folder, ignore_errors=True)  # of a command that was killed
        with progress.step(f"divide {table.name}", table.n_rows, "rows") as advance:
            dataset.write_dataset(
                batches(),
                folder,
                format="ipc",
                schema=schema.append(part),
                partitioning=dataset.partitioning(pa.schema([part])),
                preserve_order=True,
                use_threads=False,
                min_rows_per_group=1 << 15,  # fewer take several times as long
            )

    def read(self, table: StoredTable, folder: Path, part: int) -> "pa.Table":
        """Return all rows of a part, in the order of the files; `folder` is as of `write`."""
        import pyarrow as pa
        import pyarrow.compute as pc
        from pyarrow import dataset

        if not self.reads_in_place(table):
            rows, schema = folder / str(part), table.schema
            return dataset.dataset(rows, schema, "ipc").to_table() if rows.exists() else schema.empty_table()
        user = table.schema.field(table.labels["user"])
        column, edges = pc.field(user.name), [pa.scalar(edge, user.type) for edge in self.edges or ()]
        at_least = column >= edges[part - 1] if part else pc.scalar(True)
        return table.read(at_least & (column < edges[part]) if part < len(edges) else at_least)
