"""Finds and opens the files of a table: plain, gzip, or a member of a zip archive."""

import errno
import fnmatch
import gzip
import hashlib
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, cast

from recgauge.datasets._fetch.verify import UNPACKING_ERRORS
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
from recgauge.utils.files import irregular, refuse_irregular, user_path

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
    """

    path: Path
    member: str | None = None

    def __str__(self) -> str:
        return printable(str(self.path) if self.member is None else f"{self.path}:{self.member}")

    @property
    def ending(self) -> str:
        """The lower-case ending of the file's name, without that of its compression."""
        name = self.member or self.path.name
        return PurePosixPath(name.removesuffix(".gz")).suffix.lower()

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Open the unpacked bytes.

        Raises
        ------
        IntegrityError
            If the file cannot be unpacked.
        """
        try:
            with self.path.open("rb") as file:
                if self.member is not None:
                    with zipfile.ZipFile(file) as archive, archive.open(self.member) as member:
                        yield member
                elif file.read(2) == b"\x1f\x8b":
                    file.seek(0)
                    with gzip.open(file) as unpacked:
                        yield cast("IO[bytes]", unpacked)
                else:
                    file.seek(0)
                    yield file
        except UNPACKING_ERRORS as error:
            raise IntegrityError(
                f"{self} cannot be read or unpacked: {said(error)}. Get the file again."
            ) from error


def find_files(paths: Sequence[str], member: str | None) -> tuple[TableFile, ...]:
    """Return the files that `paths` name, in order; patterns such as ``part-*.csv`` are sorted.

    Raises
    ------
    MissingDataError
        If a path names no file.
    SchemaError
        If an archive has no such member, or several and none is named.
    ConfigError
        If a file is named twice.
    """
    found = [path for text in paths for path in _expand(text)]
    named: set[Path] = set()
    for path in found:
        if path.resolve() in named:
            raise ConfigError(
                f"Table: path={','.join(paths)} names {path} twice, so its rows would count twice. Name each "
                "file once."
            )
        named.add(path.resolve())
    return tuple(_table_file(path, member) for path in found)


def join_digests(digests: Sequence[str]) -> str:
    """Return the digest of the file, or of the digests of several."""
    return digests[0] if len(digests) == 1 else hashlib.sha256("\n".join(digests).encode()).hexdigest()


def _expand(text: str) -> list[Path]:
    path = user_path(text)
    if irregular(path) == "folder":
        inside = listed(sorted(entry.name for entry in path.iterdir() if entry.is_file()), most=10)
        raise MissingDataError(
            f"Table: path={printable(text)} is not a regular file but a folder; name a file in it "
            f"({inside or 'it has none'}) or a pattern."
        )
    found = [path] if _is_there(path) else []
    if not found and any(sign in path.name for sign in "*?["):
        found = sorted(path.parent.glob(path.name))
    if not found:
        raise MissingDataError(
            f"Table: path={printable(shortened(text, 300))}: there is no such file, seen from {Path.cwd()}. "
            "Correct dataset.path."
        )
    for one in found:
        refuse_irregular(one, "Table")
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
            f"Table: {printable(str(path))} cannot be read: {error.strerror}. Make it readable."
        ) from error
    return True


def _table_file(path: Path, member: str | None) -> TableFile:
    try:
        with path.open("rb") as stream:
            packed = stream.read(4) == b"PK\x03\x04"
    except OSError as error:
        raise MissingDataError(
            f"Table: {printable(str(path))} cannot be read: {error.strerror}. Make it readable."
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
        raise SchemaError(f"{path} holds {member or names[0]} twice; only one can be meant. Pack it anew.")
    asked = "several files" if member is None else f"no file {member!r}"
    raise SchemaError(f"{path} holds {asked}; choose one with dataset.member: {listed(names)}.")
