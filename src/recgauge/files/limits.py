"""How large files of rows may be: looked at before they are read, and watched while they are."""

import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO, Any

from recgauge.errors import ConfigError, SchemaError
from recgauge.utils.checks import check_int

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

    def check(self, name: str, n: float, file: object, *, estimated: bool = False) -> None:
        """Refuse a file that has more of what a limit names with a SchemaError; see the fields."""
        limit = getattr(self, name)
        if n > limit * (_DOUBT if estimated else 1):
            raise SchemaError(
                f"{file}: {'about ' * estimated}{n:,.0f} {_NAMES[name]}, at most {limit:,} are read. "
                f"Check the format and the file; data.limits.{name} is the limit of a run's tables."
            )


_NAMES = {
    "rows": "rows or more",
    "columns": "columns",
    "line_bytes": "bytes or more in one line",
    "unpacked_bytes": "bytes or more when it is unpacked",
}


class LimitedStream(io.RawIOBase):
    """Hands on the unpacked bytes of a file, counts lines and ends beyond a limit.

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
        block = self._stream.read(min(len(buffer), BLOCK))
        buffer[: len(block)] = block
        self._count(block)
        return len(block)

    def _count(self, block: bytes) -> None:
        self._n_bytes += len(block)
        if self._packed:
            self._limits.check("unpacked_bytes", self._n_bytes, self._file)
        first = block.find(b"\n")
        self._in_line += len(block) if first < 0 else first
        if self._in_line > self._limits.line_bytes:
            self._limits.check("line_bytes", self._in_line, f"{self._file}, line {self._n_ends + 1:,}")
        if first >= 0:
            self._in_line = len(block) - 1 - block.rfind(b"\n")
            self._n_ends += block.count(b"\n")
            self._limits.check("rows", self._n_ends, self._file)
