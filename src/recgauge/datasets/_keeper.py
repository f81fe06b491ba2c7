"""Gives the prepared copy of a data set, or has the data set read once and keeps it."""

import errno
import json
import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from recgauge._version import __version__
from recgauge.datasets._copies import (
    DamagedCopyError,
    Prepared,
    read_copy,
    write_copy,
)
from recgauge.utils.files import exclusive
from recgauge.utils.progress import Progress

WORTH_KEEPING = 1 << 20  # bytes of input; smaller files are read as fast as they are mapped
_SPARE = 64 << 20  # bytes that are left free on the disk
_PACKAGE = Path(__file__).parent.parent
_CODE = (_PACKAGE / "datasets", _PACKAGE / "data")  # what decides what reading gives


def key_of(digests: Sequence[str], options: Mapping[str, Any]) -> str:
    """Return a digest of the files' digests and of the reader's options, which must survive JSON."""
    return sha256(json.dumps([list(digests), options], sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class Keeper:
    """Keeps what was read from one source; trouble with the folder never stops a run.

    Parameters
    ----------
    folder : Path
        Holds a file for each copy.
    key : str
        As `key_of` gives it.
    name : str
        Name of the data set, for people.
    source : str
        The files, for people.
    progress : Progress
        Notified about waiting, damage and why something could not be kept.
    """

    folder: Path
    key: str
    name: str
    source: str
    progress: Progress

    def get(self, read: Callable[[], Prepared]) -> Prepared:
        """Return the kept data set, or what `read` gives, kept for the next time.

        Errors of `read` are passed on, and nothing is kept.
        """
        if (found := self._find()) is not None:
            return found
        with ExitStack() as stack:
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                stack.enter_context(exclusive(self.folder / f".{self._path.stem}.lock", self._tell_waiting))
            except OSError as error:
                self._tell_trouble(error)
                return read()
            if (found := self._find(quiet=True)) is not None:
                return found  # another job kept it while this one waited
            prepared = read()
            self._keep(prepared)
            return prepared

    @property
    def _path(self) -> Path:
        return self.folder / f"{self.key[:32]}.npz"

    def _find(self, *, quiet: bool = False) -> Prepared | None:
        try:
            found, about = read_copy(self._path, self.key)
        except FileNotFoundError:
            return None
        except DamagedCopyError as damage:
            if not quiet:
                self.progress.note(
                    f"{self.name}: the prepared copy {self._path} is damaged: {damage}; preparing it anew."
                )
            return None
        except OSError as error:
            if not quiet:
                self._tell_trouble(error)
            return None
        if about.get("made_by") != _versions():
            return None  # other code may read other rows; the new copy replaces this one
        with suppress(OSError):  # in a read-only folder copies only look older than they are
            os.utime(self._path)
        return found

    def _keep(self, prepared: Prepared) -> None:
        about = {
            "key": self.key,
            "made_by": _versions(),
            "name": self.name,
            "source": self.source,
            "n_rows": len(prepared.interactions),
            "written": int(time.time()),
        }
        rows = prepared.interactions
        columns = (rows.user, rows.item, rows.value, rows.timestamp, rows.user_ids, rows.item_ids)
        try:
            needed = sum(column.nbytes for column in columns if column is not None)
            if shutil.disk_usage(self.folder).free < needed + _SPARE:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            write_copy(self._path, prepared, about)
        except OSError as error:
            self._tell_trouble(error)

    def _tell_waiting(self) -> None:
        self.progress.note(f"{self.name}: another job is preparing it; waiting.")

    def _tell_trouble(self, error: OSError) -> None:
        self.progress.note(
            f"{self.name}: the prepared copy cannot be used or kept in {self.folder} "
            f"({error.strerror or error}), so the files are read. Repair the folder, choose another with "
            "data.cache=FOLDER, or set data.prepared=false."
        )


def _versions() -> dict[str, str]:
    """Return what reads: the source text of the readers, and the libraries that they read with.

    A number that somebody has to raise would be forgotten one day.
    """
    digest = sha256()
    for path in sorted(file for folder in _CODE for file in folder.rglob("*.py")):
        digest.update(path.name.encode() + path.read_bytes())
    # pyarrow takes a tenth of a second to import, which a prepared copy does without.
    libraries = {"numpy": np.__version__, "pyarrow": metadata.version("pyarrow")}
    return {"code": digest.hexdigest(), "recgauge": __version__, **libraries}
