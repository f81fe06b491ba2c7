"""Gives text of any encoding as UTF-8, so that readers need to know no other."""

import codecs
import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, cast

from recgauge.datasets._table.files import TableFile
from recgauge.errors import ConfigError, SchemaError

_BLOCK = 1 << 20
_SAMPLE = 'user,item\r\n1,"a"\r\n'
_NAMES_OF_HOSTS = ("idna", "punycode")  # Python calls them encodings of text; no file is written in them


def check_encoding(encoding: object) -> str:
    """Return the encoding as Python calls it.

    Raises
    ------
    ConfigError
        If it is none, or none of text.

    Examples
    --------
    >>> check_encoding("UTF8")
    'utf-8'
    """
    if isinstance(encoding, str):
        try:
            name = codecs.lookup(encoding).name
            if name not in _NAMES_OF_HOSTS and _SAMPLE.encode(name).decode(name) == _SAMPLE:
                return name
        except (LookupError, ValueError):
            pass
    raise ConfigError(
        f"Table: encoding must be one of text that Python knows, such as utf-8, utf-16 or iso-8859-1; got "
        f"{encoding!r}."
    )


@dataclass(frozen=True)
class EncodedFile(TableFile):
    """A file in another encoding than UTF-8.

    Parameters
    ----------
    encoding : str
        As `check_encoding` returns it.
    """

    encoding: str = "utf-8"

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Open the text as UTF-8.

        Raises
        ------
        IntegrityError
            If the file cannot be unpacked.
        SchemaError
            While it is read, if it has another encoding.
        """
        with super().open() as stream:
            yield cast("IO[bytes]", io.BufferedReader(_Utf8(stream, self, self.encoding), _BLOCK))


class _Utf8(io.RawIOBase):
    def __init__(self, stream: IO[bytes], file: TableFile, encoding: str) -> None:
        self._stream, self._file, self._encoding = stream, file, encoding
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._lines, self._ready, self._ended = 0, b"", False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._ready and not self._ended:
            block = self._stream.read(_BLOCK)
            self._ended = not block
            self._ready = self._decoded(block).encode("utf-8", "surrogatepass")
        count = min(len(buffer), len(self._ready))
        buffer[:count], self._ready = self._ready[:count], self._ready[count:]
        return count

    def _decoded(self, block: bytes) -> str:
        try:
            text = self._decoder.decode(block, final=self._ended)
        except UnicodeError as error:
            place = f", after line {self._lines:,}" if self._lines else ""
            raise SchemaError(
                f"{self._file}{place} is not {self._encoding} text. Correct dataset.encoding."
            ) from error
        self._lines += text.count("\n")
        return text
