"""Divides stored lists and relevance by user into parts that fit into memory.

Files that hold users in ranges, such as sorted ones, are read where they are. Others are spread first: in
one pass, rows are written so that those of a part can be read together.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING

import numpy as np

from recgauge.errors import DataError, said
from recgauge.files.stored import RowGroup, StoredTable, plain_type
from recgauge.utils.arrow import filled, to_arrow, to_numpy
from recgauge.utils.checks import IntArray, LongArray
from recgauge.utils.files import written_whole
from recgauge.utils.progress import Progress
from recgauge.utils.randomness import hash_ids
from recgauge.utils.resources import in_units

if TYPE_CHECKING:
    import pyarrow as pa

_BYTES_PER_ROW = 110
"""Of memory at the peak of judging a part: measured with lists of 100."""
_BATCH = 1 << 20  # rows that are spread at a time
_BUFFER = 1 << 22  # bytes that are written at a time; Arrow writes each column of each batch
_PIECE = 1 << 23  # rows that one worker spreads to one file
_READ_AGAIN = 0.3  # share of all rows that may be read once more before it is cheaper to spread them
MOST_PARTS = 800  # which a thousand rows of a batch have, if they are spread
_MOST_SPREAD = 1 << 22  # rows of a part: memory for larger ones is taken from the system anew each time


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
    most_again : int, default 0
        Rows of a table that may be read for several parts.
    """

    n_parts: int
    edges: LongArray | None
    as_text: bool
    most_again: int = 0

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
            division = cls(len(edges) + 1, edges, False, int(_READ_AGAIN * largest.n_rows))
            # row groups may be larger than a part, or all begin with the same user
            if 2 * division.n_parts > n_parts and division.reads_in_place(largest):
                return division
        n_parts = max(n_parts, min(-(-n_rows // _MOST_SPREAD), MOST_PARTS))
        return cls(n_parts, None, not whole)

    @property
    def text(self) -> str:
        """What tells this division from others."""
        users = "high bits of hashes" if self.edges is None else self.edges.tolist()
        return f"{self.n_parts} {users} {self.as_text}"

    def reads_in_place(self, table: StoredTable) -> bool:
        """Whether parts of a table can be read from its files, with few rows that are read for several."""
        if self.n_parts == 1:
            return True
        if self.edges is None or not all(group.users for group in table.groups):
            return False
        read = sum((last - first + 1) * group.n_rows for group, first, last in self._parts_of(table.groups))
        return bool(read - table.n_rows <= self.most_again)

    def _parts_of(self, groups: Sequence[RowGroup]) -> list[tuple[RowGroup, int, int]]:
        """Return row groups with the first and the last part that may have rows in them."""
        if self.edges is None or not all(group.users for group in groups):
            return [(group, 0, self.n_parts - 1) for group in groups]
        users = np.array([group.users for group in groups]).reshape(-1, 2)
        of_group = np.searchsorted(self.edges, users, side="right").tolist()
        return [(group, first, last) for group, (first, last) in zip(groups, of_group, strict=True)]

    def parts(self, users: "pa.ChunkedArray") -> IntArray | LongArray:
        """Return the part of each user; rows without one are in the first part."""
        if self.n_parts == 1:
            return np.zeros(len(users), np.int64)
        if self.edges is None:
            high = hash_ids(users, as_text=self.as_text) >> np.uint64(32)
            return (high * np.uint64(self.n_parts) >> np.uint64(32)).astype(np.int64)
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
        return pa.concat_tables(found, promote_options="permissive") if found else table.schema.empty_table()


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
class DividedTable:
    """The parts of a table, read where they are or spread in a folder."""

    table: StoredTable
    division: Division
    folder: Path

    @cached_property
    def in_place(self) -> bool:
        """Whether parts are read from the table's own files."""
        return self.division.reads_in_place(self.table)

    def prepare(self, progress: Progress, in_turn: Callable[..., Iterator[int]]) -> None:
        """Spread the rows, unless that has been done or need not be; an unfinished folder is made anew.

        `in_turn` does a work with each of some numbers, perhaps elsewhere, and yields the numbers.
        """
        if self.in_place or self.folder.exists():
            return
        rmtree(self._unfinished, ignore_errors=True)
        try:
            self._unfinished.mkdir(parents=True)
            with progress.step(f"spread {self.table.name}", self.table.n_rows, "rows") as advance:
                for piece in in_turn(self.spread, range(len(self._pieces))):
                    advance(sum(group.n_rows for group in self._pieces[piece]))
            self._unfinished.rename(self.folder)
        except OSError as error:
            rmtree(self._unfinished, ignore_errors=True)
            needed = in_units(self.table.n_rows * 16)
            raise DataError(
                f"{self.folder}: {self.table.address} cannot be spread: {said(error)}. It needs about "
                f"{needed}; choose a folder with room for it: --work FOLDER. Finished parts are kept."
            ) from error

    @property
    def _unfinished(self) -> Path:
        return self.folder.with_name(f".unfinished-{self.folder.name}")

    @cached_property
    def _pieces(self) -> list[list[RowGroup]]:
        """Row groups that are spread to one file, by its number."""
        before = np.cumsum([0, *(group.n_rows for group in self.table.groups)]) // _PIECE
        pieces: dict[int, list[RowGroup]] = {}
        for piece, group in zip(before.tolist(), self.table.groups, strict=False):
            pieces.setdefault(piece, []).append(group)
        return list(pieces.values())

    def spread(self, piece: int) -> None:
        """Write some row groups to a file, of each batch of rows as many batches as there are parts."""
        import pyarrow as pa
        from pyarrow import ipc

        division, schema = self.division, _narrow(self.table)
        user = schema.get_field_index(self.table.labels["user"])
        file = self._unfinished / f"{piece}.arrow"
        with (
            written_whole(file) as hidden,
            pa.output_stream(str(hidden), compression=None, buffer_size=_BUFFER) as sink,
            ipc.new_file(sink, schema) as writer,
        ):
            for batch in self.table.batches(_BATCH, self._pieces[piece]):
                rows = pa.Table.from_batches([batch]).select(schema.names)
                parts = division.parts(rows.column(user))
                small = parts.astype(np.uint16)  # sorted by radix
                order = np.argsort(small, kind="stable")
                (ordered,) = rows.cast(schema).take(to_arrow(order)).combine_chunks().to_batches()
                ends = np.cumsum(np.bincount(small, minlength=division.n_parts)).tolist()
                for start, end in zip([0, *ends], ends, strict=False):
                    writer.write_batch(ordered.slice(start, end - start))

    def read(self, part: int) -> "pa.Table":
        """Return all rows of a part, in the order of the files."""
        import pyarrow as pa

        if self.in_place:
            return self.division.read_part(self.table, part)
        found = []
        for piece in range(len(self._pieces)):
            with pa.ipc.open_file(pa.OSFile(str(self.folder / f"{piece}.arrow"))) as reader:
                places = range(part, reader.num_record_batches, self.division.n_parts)
                found += [reader.get_batch(place) for place in places]
        rows = pa.Table.from_batches(found)
        user = rows.schema.get_field_index(self.table.labels["user"])
        kind = plain_type(self.table.schema.field(self.table.labels["user"]).type)  # results show it
        return rows.set_column(user, rows.schema.names[user], rows.column(user).cast(kind))

    def forget(self) -> None:
        """Remove what was spread."""
        rmtree(self.folder, ignore_errors=True)


def _narrow(table: StoredTable) -> "pa.Schema":
    """Return the columns of a table, whole numbers as narrow as all of them are."""
    import pyarrow as pa

    fields = []
    for field in table.schema:
        if (span := table.spans.get(field.name)) is not None and pa.types.is_integer(field.type):
            least = np.promote_types(np.min_scalar_type(min(span[0], 0)), np.min_scalar_type(max(span[1], 0)))
            if least.kind in "iu":  # whole numbers below 0 and above what 63 bits hold have no type in common
                field = field.with_type(pa.from_numpy_dtype(least))
        fields.append(field.with_type(plain_type(field.type)))
    return pa.schema(fields)
