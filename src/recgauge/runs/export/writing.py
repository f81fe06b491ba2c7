"""Writes rows as text or parquet, block by block, so that every value reads back exactly."""

import gzip
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import csv


def _as_they_are(rows: pa.Table) -> pa.Table:
    return rows


@dataclass(frozen=True, eq=False)
class ExportRows:
    """Rows that are written block by block."""

    n_rows: int
    blocks: Callable[[], Iterator[pa.Table]]
    about: str

    @classmethod
    def of(cls, table: pa.Table, about: str) -> "ExportRows":
        """Return the rows of a table."""
        return cls(len(table), lambda: iter([table]), about)

    @classmethod
    def stored(
        cls, path: Path, about: str, change: Callable[[pa.Table], pa.Table] = _as_they_are
    ) -> "ExportRows":
        """Return the rows of a parquet file, each block changed."""

        def blocks() -> Iterator[pa.Table]:
            with pq.ParquetFile(path) as file:
                for batch in file.iter_batches(1 << 20):
                    yield change(pa.Table.from_batches([batch]))

        return cls(pq.read_metadata(path).num_rows, blocks, about)


@dataclass(frozen=True)
class ExportFile:
    """A file that is to be written: its rows, what they are, and the function that takes its path."""

    n_rows: int | None
    about: str
    write: Callable[[Path], object]


def write_parquet(rows: ExportRows, path: Path) -> None:
    """Write rows as a parquet file."""
    blocks = rows.blocks()
    first = next(blocks)
    with pq.ParquetWriter(path, first.schema, compression="zstd") as writer:
        writer.write_table(first)
        for block in blocks:
            writer.write_table(block)


def write_text(rows: ExportRows, path: Path, *, separator: str, header: bool, packed: bool) -> None:
    """Write rows as text; floats with as many digits as it takes to read the same number back."""
    with path.open("wb") as plain, _packed(plain) if packed else nullcontext(plain) as file:
        for number, block in enumerate(rows.blocks()):
            if header and number == 0:
                file.write((separator.join(block.column_names) + "\n").encode())
            if separator == ",":
                style = "needed" if _needs_quotes(block) else "none"
                csv.write_csv(block, file, csv.WriteOptions(include_header=False, quoting_style=style))
            elif len(block):
                texts = [column.cast(pa.string()) for column in block.columns]
                lines = pc.binary_join_element_wise(*texts, separator).to_pylist()
                file.write(("\n".join(lines) + "\n").encode())


def _packed(file: IO[bytes]) -> gzip.GzipFile:
    return gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0)


def _needs_quotes(block: pa.Table) -> bool:
    texts = (column for column in block.columns if not pa.types.is_primitive(column.type))
    return any(pc.any(pc.match_substring_regex(pc.unique(text), '[",\r\n]')).as_py() for text in texts)
