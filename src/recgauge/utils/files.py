"""Paths that users write, what is there, files written whole, the user's own folders, digests and locks."""

import csv
import errno
import hashlib
import io
import math
import os
import secrets
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from recgauge.errors import ConfigError, MissingDataError, SchemaError, listed, printable

if TYPE_CHECKING:
    from filelock import FileLock

_KINDS = (
    (stat.S_ISDIR, "folder"),
    (stat.S_ISFIFO, "pipe"),
    (stat.S_ISSOCK, "socket"),
    (stat.S_ISCHR, "device"),
    (stat.S_ISBLK, "device"),
)
_LARGEST = 1 << 26  # bytes; usual ones have some ten thousand
_OF_THE_SYSTEM = (("/", "proc"), ("/", "sys"))  # files there may never end, such as /proc/kmsg


_FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for the begin of a formula."""


def user_path(text: str) -> Path:
    """Return the path that a user wrote, ``~`` expanded; of a user that nobody knows it stays."""
    return Path(os.path.expanduser(text))  # noqa: PTH111 - pathlib's raises an error


def irregular(path: Path) -> str:
    """Return what `path` is if no regular file: folder, pipe, socket, device, broken link; else nothing."""
    try:
        if path.is_symlink() and not path.exists():
            return "broken link"
        mode = path.stat().st_mode
        kind = next((word for is_kind, word in _KINDS if is_kind(mode)), "")
        return kind or ("device" if path.resolve().parts[:2] in _OF_THE_SYSTEM else "")
    except (OSError, RuntimeError, ValueError):  # nothing is there, or nothing can be: opening it says why
        return ""


def refuse_irregular(path: Path, subject: str) -> None:
    """Refuse a folder, pipe, socket or device where a file is needed."""
    if kind := irregular(path):
        remedy = "save its output to a file and name that file" if kind == "pipe" else "name a file"
        raise MissingDataError(
            f"{subject}: {printable(str(path))} is not a regular file but a {kind}; {remedy}."
        )


def read_own(path: Path) -> str:
    """Return the text of a file that recgauge writes, unless somebody has put another thing in its place.

    Raises
    ------
    SchemaError
        If it is no regular file, or too large to be one of recgauge's own.
    OSError, UnicodeDecodeError
        If it cannot be read.
    """
    if kind := irregular(path):
        raise SchemaError(f"{printable(str(path))} is not a regular file but a {kind}. Remove it.")
    if path.stat().st_size > _LARGEST:
        raise SchemaError(
            f"{printable(str(path))} is larger than {_LARGEST:,} bytes, at most so much is read."
        )
    return path.read_text(encoding="utf-8")


def digest_of(stream: IO[bytes]) -> str:
    """Return the sha256 of all that is left to read, in hexadecimal."""
    return hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type] # any binary file


def exclusive(path: Path) -> "FileLock":
    """Return the lock of a file, made if missing; to enter it is to wait for the process that holds it.

    The system frees the lock when its holder ends, however it ends: a killed job leaves nothing to clean up.
    """
    from filelock import FileLock  # takes a tenth of a second

    if kind := irregular(path):
        raise OSError(errno.EINVAL, f"not a regular file but a {kind}", str(path))
    return FileLock(path)


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Give a path of its own to write to, and put what was written there at `path`, whole or not at all."""
    hidden = path.with_name(f".unfinished-{secrets.token_hex(4)}-{path.name}")
    try:
        yield hidden
        hidden.replace(path)
    finally:
        with suppress(OSError):
            hidden.unlink(missing_ok=True)


def check_formats(files: Sequence[Path], formats: Sequence[str]) -> None:
    """Refuse files whose ending does not say what they are to hold."""
    if wrong := [str(file) for file in files if file.suffix not in formats]:
        raise ConfigError(f"--out: {listed(wrong)} must end in one of {', '.join(formats)}.")


def write_files(writers: Mapping[Path, Callable[[Path], object]]) -> list[Path]:
    """Write each file by its function, whole or not at all, and return them."""
    for file, write in writers.items():
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with written_whole(file) as hidden:
                write(hidden)
        except OSError as error:
            raise ConfigError(f"--out: {file} cannot be written: {error.strerror or error}.") from error
    return list(writers)


def text_writer(text: str) -> Callable[[Path], object]:
    """Return what writes a text as UTF-8."""
    return lambda path: path.write_text(text, encoding="utf-8")


def csv_text(rows: Sequence[Mapping[Any, object]]) -> str:
    """Return rows as CSV that a spreadsheet shows as it is; what a row lacks, and NaN, is empty.

    A text that begins as a formula does, such as the name of a run or of a group, gets an apostrophe in front
    unless it is a number.

    Examples
    --------
    >>> print(csv_text([{"run": "=1+1", "mean": -0.5, "p": math.nan}, {"run": "svd", "mean": 1}]), end="")
    run,mean,p
    '=1+1,-0.5,
    svd,1,
    """
    columns = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(_cell, columns))
    writer.writerows([_cell(row.get(name)) for name in columns] for row in rows)
    return text.getvalue()


def _cell(value: object) -> object:
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, str) and value.startswith(_FORMULAS):
        try:
            float(value)
        except ValueError:
            return f"'{value}"
    return value


def user_temporary() -> Path | None:
    """Return a folder of the user's own below the temporary one, made if missing.

    Its name can be guessed, so someone else may have made it first: None then, or where nothing can be
    written.
    """
    with suppress(OSError):
        folder = Path(tempfile.gettempdir()) / f"recgauge-{user_number()}"
        folder.mkdir(mode=0o700, exist_ok=True)
        if is_private(folder) and is_writable(folder):
            return folder
    return None


def cache_folder(cache: str | None) -> Path:
    """Return the folder of downloads and prepared copies: as set, else the user's own."""
    from platformdirs import user_cache_dir

    if cache is not None:
        return user_path(cache)
    # without a home folder it begins with a "~" that nobody resolves
    own = Path(user_cache_dir("recgauge"))
    folder = own if own.is_absolute() else user_temporary()
    if folder is None:
        raise MissingDataError(
            "data.cache: neither a home folder nor a temporary one can hold downloads. Name a folder: "
            "data.cache=FOLDER or RECGAUGE_CACHE."
        )
    return folder


def is_private(folder: Path) -> bool:
    """Whether nobody but this user (and root) can have put files into a folder."""
    try:
        facts = folder.lstat()
    except OSError:
        return False
    if not stat.S_ISDIR(facts.st_mode):
        return False
    # Windows has no such numbers; its temporary folders are the user's own
    return os.name == "nt" or (facts.st_uid in (user_number(), 0) and not facts.st_mode & 0o022)


def is_writable(folder: Path) -> bool:
    """Whether a file can be made in a folder, tried by making one."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def user_number() -> int:
    """Return the number of the user, which exists even where the name does not."""
    return os.geteuid() if hasattr(os, "geteuid") else 0
