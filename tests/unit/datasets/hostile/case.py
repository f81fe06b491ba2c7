"""Files that nobody means to pass, or that are odd but real: how to write each, and what must become of it.

The superuser may read every file, so that a file without permissions is no case here.
"""

import io
import json
import warnings
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

Write = Callable[[Path], Any]
HEAD = "user,item,rating,timestamp\n"
GOOD = HEAD + "".join(f"{row % 5},{row % 7},{row % 5 + 1},{10**9 + row}\n" for row in range(40))


@dataclass(frozen=True)
class Case:
    """One hostile input: what the file is called, what is in it or makes it, and what must become of it."""

    name: str
    file: str
    content: str | bytes | Write
    refused: str = ""  # a pattern that the message must match; empty: the file must be read
    users: list[str] = field(default_factory=list)  # the first ids that a file that is read must give
    items: list[str] = field(default_factory=list)
    options: Mapping[str, Any] = field(default_factory=dict)  # of `Table`; "{}" in a path is the folder
    slow: bool = False

    def write(self, folder: Path) -> dict[str, Any]:
        """Make the file, and return the arguments of `Table`."""
        folder.mkdir()
        path = folder / self.file
        if callable(self.content):
            self.content(path)
        else:
            path.write_bytes(self.content.encode() if isinstance(self.content, str) else self.content)
        options = {"path": str(path), "cache": str(folder / "cache"), **self.options}
        return options | {"path": options["path"].replace("{}", str(folder))}


def csv(*rows: str, head: str = HEAD) -> str:
    return head + "".join(f"{row}\n" for row in rows)


def zipped(*members: tuple[str, bytes | str], **options: Any) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", **options) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a name that is there twice
        for name, content in members:
            made = zipfile.ZipInfo(name)  # of 1980: with the time of day a byte in it may end the first line
            archive.writestr(made, content, archive.compression)
    return packed.getvalue()


def many_members(path: Path) -> None:
    path.write_bytes(zipped(*((f"member-{n}.csv", b"") for n in range(50_000))))


def packed_blocks(block: bytes, times: int) -> Write:
    """Return what writes a gzip of a block so many times."""

    def write(path: Path) -> None:
        packer = zlib.compressobj(1, zlib.DEFLATED, 31)
        with path.open("wb") as file:
            for _ in range(times):
                file.write(packer.compress(block))
            file.write(packer.flush())

    return write


def one_line_of_gigabytes(path: Path) -> None:
    with path.open("wb") as file:
        file.write(b"user,item\n1,2\n")
        file.truncate(3 << 30)


def encrypted() -> bytes:
    """Return an archive whose only member claims to be encrypted."""
    packed = bytearray(zipped(("ratings.csv", GOOD)))
    packed[6] |= 1
    packed[packed.rindex(b"PK\x01\x02") + 8] |= 1
    return bytes(packed)


def parquet(**columns: Any) -> bytes:
    packed = io.BytesIO()
    pq.write_table(pa.table(columns), packed)
    return packed.getvalue()


def lines(*rows: Any) -> str:
    return "".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows)


LONG = "x" * 20_000
USERS, ITEMS = [1, 1, 2], ["a", "b", "a"]
NOT_A_FILE = "is not a regular file but a"
FIRST = {"users": ["0", "1"], "items": ["0", "1"]}
