"""A package opened safely: bounds on its size, and no file that its list of digests does not name."""

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from recgauge.errors import IntegrityError, RecgaugeError, listed, printable, said
from recgauge.files.limits import Limits
from recgauge.files.opening import UNPACKING_ERRORS
from recgauge.runs.finished import FinishedRun
from recgauge.runs.folder import CHECKSUMS, read_checksums
from recgauge.utils.messages import FULL

PAGE, RUNS = "report.html", "runs"
MOST_TIMES = 200  # unpacked bytes to bytes of the archive
_ZIP = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # other methods unpack 4 kB to gigabytes
_REMEDY = "Name a file that `recgauge package` wrote, a run's id or its output folder."


def is_package(path: Path) -> bool:
    """Whether a path is a package, or the folder of an unpacked one, as far as its kind tells."""
    return (path / RUNS).is_dir() and (path / PAGE).is_file() if path.is_dir() else path.is_file()


def runs_in(folder: Path) -> list[FinishedRun]:
    """Return the runs of an unpacked package, in the order of their folders."""
    return [
        FinishedRun.read(path, label=path.name) for path in sorted((folder / RUNS).glob("*")) if path.is_dir()
    ]


@contextmanager
def opened(path: Path) -> Iterator[Path]:
    """Yield the folder of a package's files, unpacked into a temporary one; nothing is written elsewhere.

    IntegrityError: it is no package, lacks a file or has one too many, or a name leads elsewhere.
    """
    with TemporaryDirectory(prefix="recgauge-") as temporary:
        folder = path if path.is_dir() else Path(temporary)
        try:
            n_files = None if path.is_dir() else _unpack(path, folder)
            _check_files(folder, path, n_files)
            yield folder
        except RecgaugeError as error:  # a temporary folder means nothing to a user
            name = f"{path}/" if folder == path else f"{path}:"
            raise type(error)(str(error).replace(f"{folder}/", name)) from error


def _unpack(path: Path, folder: Path) -> int:
    """Unpack an archive that fills no disk, and return the number of its files.

    zipfile leads no name outside, makes no links, and reads no more of a file than the archive says.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
            size = sum(member.file_size for member in members)
            if size > MOST_TIMES * path.stat().st_size:
                raise zipfile.BadZipFile(f"its {size:,} bytes are more than {MOST_TIMES} times its size")
            Limits().check("unpacked_bytes", size, path)
            if any(member.compress_type not in _ZIP for member in members):
                raise zipfile.BadZipFile("its files are neither stored nor deflated")
            archive.extractall(folder)
            return len(members)
    except (*UNPACKING_ERRORS, NotImplementedError, ValueError) as error:
        if isinstance(error, RecgaugeError) or (isinstance(error, OSError) and error.errno in FULL):
            raise  # a full disk is not the package's fault
        raise IntegrityError(f"{path}: cannot be unpacked: {said(error)}. {_REMEDY}") from error


def _check_files(folder: Path, path: Path, n_files: int | None) -> None:
    """Refuse a folder without the files that its list of digests names, or with further ones."""
    contents = list(folder.rglob("*"))
    if odd := [file.name for file in contents if file.is_symlink() or not (file.is_file() or file.is_dir())]:
        raise IntegrityError(f"{path}: {listed(map(printable, odd), 5)} is no regular file.")
    files = {file.relative_to(folder).as_posix() for file in contents if file.is_file()}
    if n_files not in (None, len(files)):
        raise IntegrityError(f"{path}: of its {n_files:,} files one is there twice. {_REMEDY}")
    names = {PAGE, CHECKSUMS, *read_checksums(folder / CHECKSUMS)}
    for wrong, problem in ((names - files, "lacks"), (files - names, f"has, and {CHECKSUMS} does not name,")):
        if wrong:
            raise IntegrityError(f"{path}: {problem} {listed(map(printable, sorted(wrong)), 5)}. {_REMEDY}")
