"""How large files of rows may be: looked at before they are read, and watched while they are."""

import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from recgauge.errors import ConfigError, SchemaError
from recgauge.utils.checks import check_int
from recgauge.utils.memory import in_units

BLOCK = 1 << 20  # bytes read at a time
_DOUBT = 1.25  # an estimate is refused when it is so many times the limit; reading tells the rest exactly
BYTES_PER_ROW = 45
"""Of memory at the peak of reading a table: measured with 4 million rows and rounded down."""


@dataclass(frozen=True)
class Limits:
    """What a file of rows may not exceed, so that one that is broken or hostile ends early.

    Examples
    --------
    >>> Limits(rows=1_000).rows, Limits().line_bytes
    (1000, 16777216)
    """

    rows: int = 150_000_000  # lines of text, or rows of parquet
    columns: int = 10_000
    line_bytes: int = 1 << 24
    unpacked_bytes: int = 1 << 34  # of a gzip's or zip member's content
    adjustable: bool = True  # whether the user can set ``data.limits``, for messages

    def __post_init__(self) -> None:
        for name in _NAMES:
            check_int(f"limits.{name}", getattr(self, name), minimum=1)

    @classmethod
    def of(cls, setting: "Limits | Mapping[str, Any] | None") -> "Limits":
        """Return limits set as such or as a mapping; None: the usual ones.

        Raises
        ------
        ConfigError
            If there is no such limit.
        """
        if isinstance(setting, Limits):
            return setting
        if not (setting is None or (isinstance(setting, Mapping) and set(setting) <= set(_NAMES))):
            raise ConfigError(f"limits: must be a mapping with some of {', '.join(_NAMES)}; got {setting!r}.")
        return cls(**(setting or {}))

    def check_columns(self, n_columns: int, file: object) -> None:
        """Refuse a file with too many columns with a SchemaError."""
        if n_columns > self.columns:
            raise SchemaError(
                f"{file}: {n_columns:,} columns, at most {self.columns:,} are read. Keep those that are "
                f"needed or check what separates them{self._remedy('columns', n_columns)}."
            )

    def check_rows(self, n_rows: float, file: object, *, guessed: bool = False) -> None:
        """Refuse a file with too many rows with a SchemaError."""
        if n_rows > self.rows * (_DOUBT if guessed else 1):
            count = f"about {n_rows:,.0f}" if guessed else f"more than {self.rows:,}"
            raise SchemaError(
                f"{file}: {count} rows, which need {in_units(n_rows * BYTES_PER_ROW)} of memory or more; at "
                f"most {self.rows:,} are read. Check what the file "
                f"holds{self._remedy('rows', n_rows if guessed else 0)}."
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

    def _remedy(self, name: str, size: float = 0) -> str:
        if not self.adjustable:
            return ""
        value = f"={size * _DOUBT:.0f}" if size > getattr(self, name) else " higher"
        return f"; if that is right, set data.limits.{name}{value}"


_NAMES = ("rows", "columns", "line_bytes", "unpacked_bytes")


class LimitedStream(io.RawIOBase):
    """Hands on the unpacked bytes of a file, counts their lines, and refuses to go on beyond a limit.

    `file` names the file in messages; the size of the content is limited where the file is `packed`.
    """

    def __init__(self, stream: IO[bytes], file: object, limits: Limits, *, packed: bool) -> None:
        self._stream, self._file, self._limits, self._packed = stream, file, limits, packed
        self._n_bytes = self._n_ends = self._in_line = 0

    def readable(self) -> bool:
        """Whether it can be read: yes."""
        return True

    @property
    def n_lines(self) -> int:
        """Lines that were read so far, one that is not ended included."""
        return self._n_ends + (self._in_line > 0)

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Read and check the next bytes."""
        block = self._stream.read(len(buffer))
        buffer[: len(block)] = block
        self._count(block)
        return len(block)

    def _count(self, block: bytes) -> None:
        self._n_bytes += len(block)
        if self._packed:
            self._limits.check_unpacked(self._n_bytes, self._file)
        first = block.find(b"\n")
        self._in_line += len(block) if first < 0 else first
        self._limits.check_line(self._in_line, self._file, self._n_ends)
        if first >= 0:
            self._in_line = len(block) - 1 - block.rfind(b"\n")
            self._n_ends += block.count(b"\n")
            self._limits.check_rows(self._n_ends, self._file)


@contextmanager
def opened_text(path: Path) -> Iterator[io.TextIOWrapper]:
    """Open UTF-8 text; whoever reads beyond the usual limits gets an error."""
    with path.open("rb") as file:
        watched = LimitedStream(file, path, Limits(adjustable=False), packed=False)
        yield io.TextIOWrapper(io.BufferedReader(watched, BLOCK), encoding="utf-8-sig")
