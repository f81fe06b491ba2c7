"""Finds and opens the files of a table: what a path names, packed or in a zip archive, in any encoding."""

import bz2
import codecs
import fnmatch
import gzip
import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from recgauge.errors import (
    ConfigError,
    IntegrityError,
    MissingDataError,
    QuestionError,
    SchemaError,
    listed,
    printable,
    said,
    shortened,
)
from recgauge.files.columns import Roles
from recgauge.files.limits import BLOCK, LimitedStream, Limits
from recgauge.files.stored import StoredTable, find_stored, is_stored
from recgauge.utils.files import refuse_irregular, user_path
from recgauge.utils.secrets import without_secrets

# What zipfile raises for damaged, encrypted or exotic members, in addition to KeyError for an absent one.
UNPACKING_ERRORS = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, RuntimeError)

_JUNK = ("__MACOSX/*", ".[!.]*", "*/.[!.]*", "*/", "Thumbs.db", "*/Thumbs.db")  # what systems add to archives
_LONG = 1 << 16  # bytes; a line that is longer at the end of the sample is read on
_SAMPLE = 1 << 18  # bytes of a packed file that tell its ratio
_PACKINGS: Mapping[bytes, tuple[str, Callable[[IO[bytes]], Any]]] = {
    b"\x1f\x8b": (".gz", gzip.open),
    b"BZh": (".bz2", bz2.open),
    b"\xfd7zXZ\x00": (".xz", lzma.open),
}
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_SAVE = "save the table as CSV or Parquet"
_OTHER_KINDS = {  # what is not read, by its first bytes, and what to do
    rb"(?i)<!doctype|<html": ("a web page, not the file", "download it again, from its own address"),
    rb"\x80[\x02-\x05]": ("a pickle, which can run any code", f"{_SAVE}: frame.to_parquet(...)"),
    rb"version https://git-lfs": ("a pointer of Git LFS, not the file", "get the file with: git lfs pull"),
    rb"\xd0\xcf\x11\xe0": ("an Excel workbook", _SAVE),
    rb"SQLite format 3|\x93NUMPY|\x89HDF|<\?xml": ("a database, an array or XML", _SAVE),
    rb"FEA1|ARROW1|\xff\xff\xff\xff": ("an Arrow or Feather file", f"{_SAVE}: frame.to_parquet(...)"),
    rb"\x28\xb5\x2f\xfd": ("packed with zstd", "unpack it, or pack it as gzip, bzip2, xz or zip"),
    rb"(?i)sep=.\r?\n": ("a table below a line of Excel's, sep=...", "delete its first line"),
    rb"\[\s*[\[{]": ("a JSON array", "write one object on each line, such as with: jq -c '.[]' FILE"),
    rb"(?s).{257}ustar": ("a tar archive", "unpack it (tar -xf) and name a file in it"),
}


@dataclass(frozen=True)
class TableFile:
    """One file of rows: a path, or a member of a zip archive; `encoding` as `check_encoding` returns it."""

    path: Path
    member: str | None = None
    limits: Limits = field(default_factory=Limits, repr=False)
    encoding: str = "utf-8"
    group: str = "dataset"  # of the settings that say how it is read, for messages

    def __str__(self) -> str:
        return printable(str(self.path) if self.member is None else f"{self.path}:{self.member}")

    @property
    def name(self) -> str:
        """The file's own name, without its folder."""
        return printable(self.path.name if self.member is None else f"{self.path.name}:{self.member}")

    @property
    def files(self) -> tuple[Path, ...]:
        """The path alone, as of a table in several files."""
        return (self.path,)

    @property
    def ending(self) -> str:
        """The lower-case ending of the file's name, without that of its compression."""
        return PurePosixPath(self.plain_name).suffix.lower()

    @property
    def plain_name(self) -> str:
        """The file's name without the ending of its compression."""
        name = self.member or self.path.name
        packed = name.lower().endswith(tuple(ending for ending, _ in _PACKINGS.values()))
        return name.rpartition(".")[0] if packed else name

    @property
    def packed(self) -> bool:
        """Whether it is a gzip, bzip2 or xz, or in a zip archive."""
        return self.member is not None or self._packing is not None

    @property
    def _packing(self) -> "Callable[[IO[bytes]], Any] | None":
        with self.path.open("rb") as file:
            begin = file.read(6)
        return next((unpack for sign, (_, unpack) in _PACKINGS.items() if begin.startswith(sign)), None)

    @contextmanager
    def _opened(self) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
        """Open the file as it lies there, and its unpacked bytes."""
        try:
            with self.path.open("rb") as file:
                if self.member is not None:
                    with zipfile.ZipFile(file) as archive, archive.open(self.member) as member:
                        yield file, member
                elif packing := self._packing:
                    with packing(file) as content:
                        yield file, content
                else:
                    yield file, file
        except UNPACKING_ERRORS as error:
            raise IntegrityError(
                f"{self} cannot be read or unpacked: {said(error)}. Get the file again."
            ) from error

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Open the content as UTF-8; reading beyond a limit, or what is no text, is a SchemaError."""
        with self._opened() as (_, stream):
            decoded = stream if self.encoding == "utf-8" else cast("IO[bytes]", _Utf8(stream, self.encoding))
            watched = LimitedStream(decoded, self, self.limits, packed=self.packed)
            try:
                yield io.BufferedReader(watched, BLOCK)
            except UnicodeError as error:
                likely = ["cp1252", "iso-8859-1", "utf-16"]
                if getattr(error, "object", b"")[:2] in _UTF_16:
                    likely.reverse()
                words = [f"{self.group}.encoding={name}" for name in likely if name != self.encoding]
                raise QuestionError(
                    f"{self} is not {self.encoding} text. Say what it is, of a table by {' or '.join(words)} "
                    "or another; or convert it: iconv -f ENCODING -t utf-8 FILE > NEW.",
                    answers=words[:1],
                ) from error

    def size(self) -> tuple[float, float]:
        """Return how many lines and ids the file has, if a line is ids and all are as at its beginning."""
        n_bytes = 0.0 if self.member is None else self._bytes_of_member(self.member)
        with self._opened() as (file, content):
            sample = content.read(BLOCK)
            if self.member is None:
                n_read = len(sample)
                while file.tell() < _SAMPLE and (block := content.read(BLOCK)):
                    n_read += len(block)
                n_bytes = n_read * self.path.stat().st_size / max(file.tell(), 1)
        if sample.startswith(b"PAR1"):  # Parquet says itself how large it is
            return 0, 0
        self._refuse_other_kinds(sample)
        if self.packed:
            self.limits.check("unpacked_bytes", n_bytes, self, estimated=self.member is None)
        if len(sample) - sample.rfind(b"\n") > _LONG:  # a line without an end, before anything is digested
            with replace(self, encoding="utf-8").open() as stream:
                stream.read(len(sample))
                stream.readline()
        share, n_lines = n_bytes / max(len(sample), 1), sample.count(b"\n")
        self.limits.check("rows", n_lines * share, self, estimated=True)
        return n_lines * share, (n_lines + sum(map(sample.count, (b" ", b"\t", b",")))) * share

    def _refuse_other_kinds(self, sample: bytes) -> None:
        """Refuse what is no table or no text, by its first bytes."""
        begin = sample.removeprefix(codecs.BOM_UTF8).lstrip()
        for kind, (name, remedy) in _OTHER_KINDS.items():
            if re.match(kind, begin):
                raise SchemaError(f"{self} is {name}. It is not read: {remedy}.")
        is_wide = self.encoding.startswith(("utf-16", "utf-32")) or sample[:2] in _UTF_16
        try:
            if b"\0" in sample and not is_wide:
                codecs.getincrementaldecoder("utf-8")().decode(sample)
        except UnicodeDecodeError as error:
            raise SchemaError(
                f"{self} is no text: it has bytes of value 0. It is not read: {_SAVE}."
            ) from error

    def _bytes_of_member(self, member: str) -> int:
        with zipfile.ZipFile(self.path) as archive:
            if member not in archive.namelist():
                raise IntegrityError(f"{self.path} has no member {member}. Get the whole archive.")
            about = archive.getinfo(member)
        if about.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            # zipfile unpacks 4 kB of these at once, which may become gigabytes
            raise SchemaError(
                f"{self}: packed in a way that cannot be unpacked in pieces, such as bzip2 or LZMA. Pack "
                "it as a usual zip (deflate) or a gzip."
            )
        return about.file_size


class _Utf8:
    """Text in another encoding, read as UTF-8."""

    def __init__(self, stream: IO[bytes], encoding: str) -> None:
        self._text = io.TextIOWrapper(stream, encoding, newline="")

    def read(self, size: int) -> bytes:
        return self._text.read(size // 4).encode("utf-8", "surrogatepass")  # a character has at most 4 bytes


Source = TableFile | StoredTable
"""What is read as one table: a file, or the Parquet files of a folder or address."""


def find_list_files(paths: Sequence[str], option: str, *, pattern: bool = True) -> tuple[TableFile, ...]:
    """Return the files that paths or patterns name, in order.

    Patterns such as ``part-*.csv`` are sorted; without `pattern`, each must name one file. `option` names the
    files in messages.
    """
    files = [file for text in paths for file in _files_of(text, TableFile(Path()), option)]
    if not pattern and len(files) != len(paths):
        raise ConfigError(f"{option}={','.join(paths)} names {len(files)} files. Name one.")
    _refuse_repeated(files, option)
    return tuple(files)


def find_sources(paths: Sequence[str], roles: Roles, usual: TableFile, option: str) -> tuple[Source, ...]:
    """Return what `paths` name, in order: folders and addresses of Parquet, and files.

    `usual` has the member of zip archives, limits and encoding of files; see `find_list_files`.
    """
    sources: list[Source] = []
    for text in paths:
        sources += [find_table(text, roles, option)] if is_stored(text) else _files_of(text, usual, option)
    _refuse_repeated(sources, option)
    return tuple(sources)


def find_table(text: str, roles: Roles, option: str) -> StoredTable:
    """Return the Parquet files of a folder or address that a run reads, all with the columns of the first.

    Raises
    ------
    DataError
        If there is none, or files differ.
    ConfigError
        If the address has a key, which no record would keep.
    """
    if (public := without_secrets(text)) != text:
        raise ConfigError(
            f"{option}={printable(public)}: an address with keys cannot be kept with a run, which is to be "
            "repeated. Give keys by the variables of the store, such as AWS_ACCESS_KEY_ID."
        )
    table = find_stored(text, roles, option)
    _ = table.row_groups  # refuses files unlike the first
    return table


def _refuse_repeated(sources: Sequence[Source], option: str) -> None:
    paths = [path for source in sources for path in source.files if isinstance(path, Path)]
    resolved = [path.resolve() for path in paths]
    if len({*resolved}) < len(paths):
        path = next(path for at, path in enumerate(paths) if resolved[at] in resolved[:at])
        raise ConfigError(f"{option} names {path} twice, so its rows would count twice. Name each file once.")


def _files_of(text: str, usual: TableFile, option: str) -> list[TableFile]:
    """Return the file that a path names, or the files of a pattern, within the limits as far as is known."""
    path = user_path(text)
    try:
        path.stat()
        paths = [path]
    except (OSError, ValueError) as error:  # ValueError: with a NUL
        paths = sorted(path.parent.glob(path.name)) if any(sign in path.name for sign in "*?[") else []
        if not paths:
            several = "; write blanks between files, no commas" * ("," in text and option[0] == "-")
            raise MissingDataError(
                f"{option}={printable(shortened(text, 300))}: there is no such file that can be read, seen "
                f"from {Path.cwd()}. Correct {option}{several}."
            ) from error
    files = []
    for path in paths:
        refuse_irregular(path, option)
        files.append(replace(usual, path=path, member=_member(path, usual)))
        files[-1].size()
    return files


def _member(path: Path, usual: TableFile) -> str | None:
    """Return the member of an archive that is meant, None for other files."""
    try:
        with path.open("rb") as stream:
            if stream.read(4) != b"PK\x03\x04":
                return None
        with zipfile.ZipFile(path) as archive:
            members = archive.namelist()
    except UNPACKING_ERRORS as error:
        raise IntegrityError(f"{path} cannot be read: {said(error)}. Get the file again.") from error
    if "[Content_Types].xml" in members:
        raise SchemaError(f"{path} is an Excel workbook or a document. It is not read: {_SAVE}.")
    names = [name for name in members if not any(fnmatch.fnmatch(name, junk) for junk in _JUNK)]
    chosen = usual.member if usual.member is not None or len(names) != 1 else names[0]
    if chosen is None or names.count(chosen) != 1:
        text = f"{path}: {usual.group}.member must name one file in it, got {usual.member!r}; it has "
        if names and usual.member is None:
            words = f"'{usual.group}.member=\"{names[0]}\"'"
            raise QuestionError(f"{text}{listed(names)}. Such as: {words}.", answers=[words])
        raise SchemaError(f"{text}{listed(names) or 'no file of rows'}.")
    return chosen


def check_encoding(encoding: object) -> str:
    """Return the encoding as Python calls it.

    Examples
    --------
    >>> check_encoding("UTF8")
    'utf-8'
    """
    try:
        io.TextIOWrapper(io.BytesIO(), str(encoding))  # refuses codecs that are none of text
        return codecs.lookup(str(encoding)).name
    except (LookupError, ValueError) as error:
        raise ConfigError(
            "Table: encoding must be one of text that Python knows, such as utf-8, utf-16 or iso-8859-1; got "
            f"{encoding!r}."
        ) from error
