"""How large files of rows may be: looked at before they are read, and watched while they are."""

import io
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from recgauge.errors import ConfigError, SchemaError
from recgauge.utils.checks import check_int
from recgauge.utils.memory import in_units

BLOCK = 1 << 20  # bytes read at a time
_SHORT = 1 << 16  # bytes; a line that is longer at the end of the sample is read on
_DOUBT = 1.25  # an estimate is refused when it is so many times the limit; reading tells the rest exactly
_PACKED_SAMPLE, _UNPACKED_SAMPLE, _PIECE = 1 << 18, 1 << 24, 1 << 12  # bytes of a gzip that tell its ratio


# Memory per row at the peak of reading, by format: measured with 4 million rows and rounded down.
BYTES_PER_ROW: Mapping[str, int] = {
    "text": 45,
    "parquet": 45,
    "jsonl": 130,
    "recbole": 45,
    "user_lines": 45,
    "lists": 100,
}


@dataclass(frozen=True)
class Limits:
    """What a file of rows may not exceed, so that one that is broken or hostile ends early.

    Parameters
    ----------
    rows : int
        Lines of text, or rows of parquet.
    columns : int
    line_bytes : int
        Length of a line.
    unpacked_bytes : int
        Size of a gzip's or zip member's content.
    adjustable : bool
        Whether the user can set ``data.limits``, for messages.

    Raises
    ------
    ConfigError
        If one is no positive whole number.

    Examples
    --------
    >>> Limits(rows=1_000).rows, Limits().line_bytes
    (1000, 16777216)
    """

    rows: int = 150_000_000
    columns: int = 10_000
    line_bytes: int = 1 << 24
    unpacked_bytes: int = 1 << 34
    adjustable: bool = True

    def __post_init__(self) -> None:
        for name in _NAMES:
            check_int(f"limits.{name}", getattr(self, name), minimum=1)

    @classmethod
    def of(cls, given: "Limits | Mapping[str, Any] | None") -> "Limits":
        """Return limits given as such or as a mapping; None: the usual ones.

        Raises
        ------
        ConfigError
            If there is no such limit.
        """
        if isinstance(given, Limits):
            return given
        if not (given is None or (isinstance(given, Mapping) and set(given) <= set(_NAMES))):
            raise ConfigError(f"limits: must be a mapping with some of {', '.join(_NAMES)}; got {given!r}.")
        return cls(**(given or {}))

    def check_columns(self, n_columns: int, file: object) -> None:
        """Refuse a file with too many columns with a SchemaError."""
        if n_columns > self.columns:
            raise SchemaError(
                f"{file}: {n_columns:,} columns, at most {self.columns:,} are read. Keep those that are "
                f"needed or check what separates them{self._remedy('columns', n_columns)}."
            )

    def check_fields(self, line: str, separator: str, file: object, *, quotes: bool) -> None:
        """Refuse a file whose first line has too many fields, before they are listed, with a SchemaError."""
        unquoted = re.sub('"[^"]*"', "", line) if quotes else line
        self.check_columns(unquoted.count(separator) + 1, file)

    def check_rows(self, n_rows: float, file: object, *, guessed: bool = False) -> None:
        """Refuse a file with too many rows with a SchemaError."""
        if n_rows > self.rows * (_DOUBT if guessed else 1):
            count = f"about {n_rows:,.0f}" if guessed else f"more than {self.rows:,}"
            memory = in_units(n_rows * BYTES_PER_ROW["text"])
            remedy = self._remedy("rows", n_rows if guessed else 0)
            raise SchemaError(
                f"{file}: {count} rows, which need {memory} of memory or more; at most {self.rows:,} are "
                f"read. Check what the file holds{remedy}."
            )

    def check_unpacked(self, n_bytes: float, file: object, *, guessed: bool = False) -> None:
        """Refuse a packed file whose content is too large with a SchemaError."""
        if n_bytes > self.unpacked_bytes * (_DOUBT if guessed else 1):
            size = ("about " if guessed else "") + f"{n_bytes:,.0f} bytes ({in_units(n_bytes)}) or more"
            raise SchemaError(
                f"{file}: {size} when it is unpacked, at most {self.unpacked_bytes:,} bytes "
                f"({in_units(self.unpacked_bytes)}) are. Check what the file "
                f"holds{self._remedy('unpacked_bytes', n_bytes if guessed else 0)}."
            )

    def check_line(self, n_bytes: int, file: object, n_before: int) -> None:
        """Refuse a file with too long a line with a SchemaError."""
        if n_bytes > self.line_bytes:
            raise SchemaError(
                f"{file}, line {n_before + 1:,}: longer than {self.line_bytes:,} bytes, so this may be no "
                f"text of rows. Check the format and the file{self._remedy('line_bytes')}."
            )

    def _remedy(self, name: str, found: float = 0) -> str:
        if not self.adjustable:
            return ""
        value = f"={found * _DOUBT:.0f}" if found > getattr(self, name) else " higher"
        return f"; if that is right, set data.limits.{name}{value}"


_NAMES = ("rows", "columns", "line_bytes", "unpacked_bytes")


@dataclass(frozen=True)
class Size:
    """What a file holds, as far as its beginning and its number of bytes tell.

    Parameters
    ----------
    n_rows : float
        Lines; 0 for parquet, which says itself.
    n_fields : float
        Lines and blanks: the ids of a file with a user and items on each line.
    """

    n_rows: float
    n_fields: float


class LimitedStream(io.RawIOBase):
    """Hands on the bytes of a file, and refuses to go on beyond a limit.

    Parameters
    ----------
    stream : binary stream
        Unpacked.
    file : object
        Names the file in messages.
    limits : Limits
    packed : bool
        Whether the size of the content is limited, too.
    """

    def __init__(self, stream: IO[bytes], file: object, limits: Limits, *, packed: bool) -> None:
        self._stream, self._file, self._limits, self._packed = stream, file, limits, packed
        self._n_bytes = self._n_lines = self._in_line = 0
        self._in_order = True

    def readable(self) -> bool:
        """Whether it can be read: yes."""
        return True

    @property
    def n_lines(self) -> int:
        """Lines that were read so far, one that is not ended included."""
        return self._n_lines + (self._in_line > 0)

    def seekable(self) -> bool:
        """Whether the file can be."""
        return self._stream.seekable()

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go to another place, as readers of parquet do; lines cannot be counted from there on."""
        self._in_order = False
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        """Return the place."""
        return self._stream.tell()

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Read and check the next bytes."""
        block = self._stream.read(len(buffer))
        buffer[: len(block)] = block
        if self._in_order:
            self._count(block)
        return len(block)

    def readall(self) -> bytes:
        """Read and check all bytes that are left."""
        return b"".join(iter(lambda: self.read(BLOCK) or b"", b""))

    def _count(self, block: bytes) -> None:
        self._n_bytes += len(block)
        if self._packed:
            self._limits.check_unpacked(self._n_bytes, self._file)
        first = block.find(b"\n")
        self._in_line += len(block) if first < 0 else first
        self._limits.check_line(self._in_line, self._file, self._n_lines)
        if first >= 0:
            self._in_line = len(block) - 1 - block.rfind(b"\n")
            self._n_lines += block.count(b"\n")
            self._limits.check_rows(self._n_lines, self._file)


def check_size(stream: IO[bytes], path: Path, member: str | None, file: object, limits: Limits) -> Size:
    """Return what the beginning of a file tells about the whole, which must be within the limits.

    Parameters
    ----------
    stream : binary stream
        Of the unpacked, watched content.
    path : Path
    member : str or None
        Of a zip archive.
    file : object
        Names the file in messages.
    limits : Limits

    Raises
    ------
    SchemaError
        If it is not.
    """
    n_bytes, exact = _unpacked_bytes(path, member, file)
    sample = stream.read(BLOCK)
    if not exact or member is not None:
        limits.check_unpacked(n_bytes, file, guessed=not exact)
    if sample.startswith(b"PAR1"):
        return Size(0, 0)
    if len(sample) - sample.rfind(b"\n") > _SHORT:
        sample += stream.readline()
    share = n_bytes / max(len(sample), 1)
    n_lines = sample.count(b"\n")
    limits.check_rows(n_lines * share, file, guessed=True)
    return Size(n_lines * share, (n_lines + sum(map(sample.count, (b" ", b"\t", b",")))) * share)


@contextmanager
def opened_text(path: Path, newline: str | None = None) -> Iterator[io.TextIOWrapper]:
    """Open UTF-8 text; whoever reads beyond the usual limits gets an error."""
    with path.open("rb") as file:
        watched = LimitedStream(file, path, Limits(adjustable=False), packed=False)
        yield io.TextIOWrapper(io.BufferedReader(watched, BLOCK), encoding="utf-8-sig", newline=newline)


def _unpacked_bytes(path: Path, member: str | None, file: object) -> tuple[float, bool]:
    """Return the size of the content, and whether it is known: a gzip's beginning only promises it."""
    if member is not None:
        with zipfile.ZipFile(path) as archive:
            about = archive.getinfo(member)
        if about.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            # zipfile unpacks 4 kB of these at once, which may become gigabytes
            raise SchemaError(
                f"{file}: packed in a way that cannot be unpacked in pieces (method {about.compress_type} of "
                "zip, such as bzip2 or LZMA). Pack it as a usual zip (deflate) or a gzip."
            )
        return about.file_size, True
    size = path.stat().st_size
    with path.open("rb") as file:
        if file.read(2) != b"\x1f\x8b":
            return size, True
        file.seek(0)
        unpacked, packed = _first_of_gzip(file)
    return unpacked * size / packed, packed == size


def _first_of_gzip(file: IO[bytes]) -> tuple[int, int]:
    """Return how many bytes the first packed ones become, and how many these are."""
    unpacker, n_unpacked, n_packed = zlib.decompressobj(31), 0, 0
    while n_unpacked < _UNPACKED_SAMPLE and n_packed < _PACKED_SAMPLE and (piece := file.read(_PIECE)):
        n_packed += len(piece)
        while piece:
            try:
                n_unpacked += len(unpacker.decompress(piece))
            except zlib.error:  # blank bytes after the end, or damage: reading tells
                return n_unpacked, n_packed
            piece = unpacker.unused_data
            if unpacker.eof:
                unpacker = zlib.decompressobj(31)
    return n_unpacked, n_packed
