"""Finds and opens the files of a table: plain, gzip or in a zip archive, in any encoding, given as UTF-8."""

import codecs
import errno
import fnmatch
import gzip
import io
import os
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import IO, cast

from recgauge.errors import (
    ConfigError,
    IntegrityError,
    MissingDataError,
    SchemaError,
    listed,
    printable,
    said,
    shortened,
)
from recgauge.files.limits import BLOCK, LimitedStream, Limits, Size, check_size
from recgauge.utils.files import irregular, refuse_irregular, user_path

# What zipfile raises for damaged, encrypted or exotic members, in addition to KeyError for an absent one.
UNPACKING_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError)

_JUNK = ("__MACOSX/*", ".[!.]*", "*/.[!.]*", "*/", "Thumbs.db", "*/Thumbs.db")  # what systems add to archives


@dataclass(frozen=True)
class TableFile:
    """One file of rows.

    Parameters
    ----------
    path : Path
        A file on disk.
    member : str or None
        The member to read if `path` is a zip archive.
    limits : Limits
    """

    path: Path
    member: str | None = None
    limits: Limits = field(default_factory=Limits, repr=False)

    def __str__(self) -> str:
        return printable(str(self.path) if self.member is None else f"{self.path}:{self.member}")

    @property
    def name(self) -> str:
        """The file's own name, without its folder."""
        return printable(self.path.name if self.member is None else f"{self.path.name}:{self.member}")

    @property
    def ending(self) -> str:
        """The lower-case ending of the file's name, without that of its compression."""
        name = self.member or self.path.name
        return PurePosixPath(name.removesuffix(".gz")).suffix.lower()

    @property
    def packed(self) -> bool:
        """Whether it is a gzip or in a zip archive."""
        if self.member is not None:
            return True
        with self.path.open("rb") as file:
            return file.read(2) == b"\x1f\x8b"

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Open the unpacked bytes; whoever reads beyond a limit gets an error.

        Raises
        ------
        IntegrityError
            If the file cannot be unpacked.
        SchemaError
            While it is read, if it is larger than the limits allow.
        """
        try:
            with self.path.open("rb") as file:
                if self.member is not None:
                    with zipfile.ZipFile(file) as archive, archive.open(self.member) as member:
                        yield self._watched(member)
                elif self.packed:
                    with gzip.open(file) as unpacked:
                        yield self._watched(cast("IO[bytes]", unpacked))
                else:
                    yield self._watched(file)
        except UNPACKING_ERRORS as error:
            raise IntegrityError(
                f"{self} cannot be read or unpacked: {said(error)}. Get the file again."
            ) from error

    def _watched(self, stream: IO[bytes]) -> IO[bytes]:
        return io.BufferedReader(LimitedStream(stream, self, self.limits, packed=self.packed), BLOCK)

    def size(self) -> Size:
        """Return what the beginning of the file tells about the whole, within the limits.

        Raises
        ------
        IntegrityError
            If the file cannot be unpacked.
        SchemaError
            If it is larger than the limits allow.
        """
        return _size(self, state_of(self.path))


def state_of(path: Path) -> tuple[int, ...]:
    """Return size, times of the last change, and which file it is, as the system knows them.

    Programs may set the first time; only the system sets the second, which finds an edit whose size and time
    were put back. A network file system answers from its memory unless the file is opened.
    """
    with path.open("rb") as file:
        found = os.fstat(file.fileno())
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_dev


@lru_cache(maxsize=4096)
def _size(file: TableFile, state: tuple[int, ...]) -> Size:
    del state  # another one is another file
    with file.open() as stream:
        return check_size(stream, file.path, file.member, file, file.limits)


def find_files(
    paths: Sequence[str], member: str | None, limits: Limits | None = None, option: str = "dataset.path"
) -> tuple[TableFile, ...]:
    """Return the files that `paths` name, in order; patterns such as ``part-*.csv`` are sorted.

    Parameters
    ----------
    paths : sequence of str
    member : str or None
        Of zip archives.
    limits : Limits, optional
    option : str
        What names the files, for messages.

    Raises
    ------
    MissingDataError
        If a path names no file.
    SchemaError
        If an archive has no such member, or several and none is named, or a file is larger than the limits.
    ConfigError
        If a file is named twice.
    """
    found = [path for text in paths for path in _expand(text, option)]
    named: set[Path] = set()
    for path in found:
        if path.resolve() in named:
            raise ConfigError(
                f"{option}={','.join(paths)} names {path} twice, so its rows would count twice. Name each "
                "file once."
            )
        named.add(path.resolve())
    files = tuple(replace(_table_file(path, member), limits=limits or Limits()) for path in found)
    for file in files:
        file.size()
    return files


def find_list_files(paths: Sequence[str], option: str) -> tuple[TableFile, ...]:
    """Return the files that paths or patterns name, within limits that no setting moves; see `find_files`."""
    return find_files(paths, None, Limits(adjustable=False), option)


def _expand(text: str, option: str) -> list[Path]:
    path, named = user_path(text), f"{option}={printable(shortened(text, 300))}"
    if irregular(path) == "folder":
        inside = listed(sorted(entry.name for entry in path.iterdir() if entry.is_file()), most=10)
        raise MissingDataError(
            f"{named} is not a regular file but a folder; name a file in it ({inside or 'it has none'}) or a "
            "pattern."
        )
    found = [path] if _is_there(path) else []
    if not found and any(sign in path.name for sign in "*?["):
        found = sorted(path.parent.glob(path.name))
    if not found:
        raise MissingDataError(f"{named}: there is no such file, seen from {Path.cwd()}. Correct {option}.")
    for one in found:
        refuse_irregular(one, option)
    return found


def _is_there(path: Path) -> bool:
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: with a NUL
        return False
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return False
        raise MissingDataError(
            f"{printable(str(path))} cannot be read: {error.strerror}. Make it readable."
        ) from error
    return True


def _table_file(path: Path, member: str | None) -> TableFile:
    try:
        with path.open("rb") as stream:
            packed = stream.read(4) == b"PK\x03\x04"
    except OSError as error:
        raise MissingDataError(
            f"{printable(str(path))} cannot be read: {error.strerror}. Make it readable."
        ) from error
    if not packed:
        return TableFile(path)
    try:
        with zipfile.ZipFile(path) as archive:
            names = [
                name for name in archive.namelist() if not any(fnmatch.fnmatch(name, junk) for junk in _JUNK)
            ]
    except UNPACKING_ERRORS as error:
        raise IntegrityError(f"{path} cannot be unpacked: {said(error)}. Get the file again.") from error
    if member is None and len(names) == 1:
        return TableFile(path, names[0])
    if names.count(member or "") == 1:
        return TableFile(path, member)
    if not names:
        raise SchemaError(f"{path} holds no file of rows. Correct dataset.path.")
    if member in names or len(set(names)) == 1:
        raise SchemaError(f"{path} holds {member or names[0]} twice; pack it again with one of each.")
    asked = "several files" if member is None else f"no file {member!r}"
    raise SchemaError(f"{path} holds {asked}; choose one with dataset.member: {listed(names)}.")


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
            yield cast("IO[bytes]", io.BufferedReader(_Utf8(stream, self, self.encoding), BLOCK))


def lines_read(stream: IO[bytes]) -> int:
    """Return how many lines of a file that is open have been read."""
    lines: int = stream.raw.n_lines  # type: ignore[attr-defined]
    return lines


class _Utf8(io.RawIOBase):
    def __init__(self, stream: IO[bytes], file: TableFile, encoding: str) -> None:
        self._stream, self._file, self._encoding = stream, file, encoding
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._lines, self._ready, self._ended, self._line_ended = 0, b"", False, True

    @property
    def n_lines(self) -> int:
        return self._lines + (not self._line_ended)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._ready and not self._ended:
            block = self._stream.read(BLOCK)
            self._ended = not block
            self._ready = self._decoded(block).encode("utf-8", "surrogatepass")
        count = min(len(buffer), len(self._ready))
        buffer[:count], self._ready = self._ready[:count], self._ready[count:]
        return count

    def _decoded(self, block: bytes) -> str:
        try:
            text = self._decoder.decode(block, final=self._ended)
        except UnicodeError as error:
            where = f", after line {self._lines:,}" if self._lines else ""
            raise SchemaError(
                f"{self._file}{where} is not {self._encoding} text. Correct dataset.encoding."
            ) from error
        self._lines += text.count("\n")
        self._line_ended = text.endswith("\n") if text else self._line_ended
        return text
