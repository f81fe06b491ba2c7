"""Gives the prepared copy of the files of a data set, or has them read once and keeps what was read."""

import errno
import json
import os
import shutil
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from recgauge._version import __version__
from recgauge.datasets.prepared import Prepared, read_copy, write_copy
from recgauge.errors import IntegrityError
from recgauge.files.stored import StoredFile
from recgauge.utils.files import cache_folder, digest_of, exclusive
from recgauge.utils.progress import Progress

WORTH_KEEPING = 1 << 20  # bytes of input; smaller files are read as fast as they are mapped
_SPARE = 64 << 20  # bytes that are left free on the disk
_PACKAGE = Path(__file__).parent.parent
_CODE = (_PACKAGE / "datasets", _PACKAGE / "files", _PACKAGE / "data")  # what decides what reading gives
# A file changed less than this long ago may change again within one tick of its file system's clock.
_SETTLED_NS = 3_000_000_000


def state_of(path: Path | StoredFile) -> tuple[int, ...]:
    """Return size, times of the last change, and which file it is, as the system knows them.

    Programs may set the first time; only the system sets the second, which finds an edit whose size and time
    were put back. A network file system answers from its memory unless the file is opened.
    """
    if isinstance(path, StoredFile):
        return path.state()
    with path.open("rb") as file:
        facts = os.fstat(file.fileno())
    return facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_ino, facts.st_dev


def known_digest(path: Path | StoredFile, folder: Path | None) -> str:
    """Return a file's sha256, from the name of an empty file in `folder` if the state is the one digested.

    Of a file in a store it is always computed: two of one size and time cannot be told apart.

    To digest the text of 20 million rows takes four times as long as to map and check their prepared copy.
    """
    if isinstance(path, StoredFile):
        folder = None
    state = state_of(path)
    key = sha256(repr(state).encode()).hexdigest()[:32]
    for note in folder.glob(f"{key}-*") if folder else ():
        return note.name.removeprefix(f"{key}-")
    with path.open("rb") as stream:
        digest = digest_of(stream)
    # On Windows the third entry of the state is the time of creation.
    settled = os.name != "nt" and time.time_ns() - max(state[1:3]) > _SETTLED_NS
    if folder and settled and state_of(path) == state:
        with suppress(OSError):  # the next job digests the file again, that is all
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{key}-{digest}").touch()
    return digest


class Inputs:
    """The files of a data set, looked at before they are read; one may stand in `paths` several times."""

    def __init__(self, paths: Iterable[Path | StoredFile], cache: str | None, *, prepared: bool) -> None:
        self._states = {path: state_of(path) for path in paths}
        size = sum(state[0] for state in self._states.values())
        self._folder = cache_folder(cache) / "prepared" if prepared and size >= WORTH_KEEPING else None

    @property
    def paths(self) -> list[Path | StoredFile]:
        """Each path once."""
        return list(self._states)

    def digests(self) -> list[str]:
        """Return the sha256 of each file, which is remembered where copies are kept."""
        folder = self._folder and self._folder / "digests"
        return [known_digest(path, folder) for path in self._states]

    def get(
        self,
        read: Callable[[], Prepared],
        digests: Sequence[str],
        options: Mapping[str, Any],
        name: str,
        progress: Progress,
    ) -> Prepared:
        """Return the kept data set, or what `read` gives.

        `options`, as JSON, are all that decides what `read` gives; `name` is the data set's, for messages.
        """

        def checked() -> Prepared:
            prepared = read()
            for path, state in self._states.items():
                if state_of(path) != state:
                    raise IntegrityError(
                        f"{path} was changed while it was read, so its digest and its rows may not belong "
                        "together. Run again when nothing writes to it any more."
                    )
            return prepared

        if self._folder is None:
            return checked()
        key = sha256(json.dumps([list(digests), options], sort_keys=True).encode()).hexdigest()
        return Keeper(self._folder / key[:32], name, progress).get(checked)


@dataclass(frozen=True)
class Keeper:
    """Keeps what was read from one source in a folder, whose troubles never stop a run."""

    copy: Path  # named after the files' content and the reader's options
    name: str
    progress: Progress

    def get(self, read: Callable[[], Prepared]) -> Prepared:
        """Return the kept data set, or what `read` gives, kept for the next time."""
        with ExitStack() as lock:
            try:
                with suppress(FileNotFoundError):
                    return self._find()
            except IntegrityError as damage:
                self.progress.note(
                    f"{self.name}: the prepared copy {self.copy} is damaged: {damage}; preparing it anew."
                )
            except OSError as error:
                self._note_trouble(error)
                return read()
            try:
                self.copy.parent.mkdir(parents=True, exist_ok=True)
                waiting = f"{self.name}: another job is preparing it; waiting."
                held = self.copy.with_name(f".{self.copy.name}.lock")
                lock.enter_context(exclusive(held, lambda: self.progress.note(waiting)))
            except OSError as error:
                self._note_trouble(error)
                return read()
            with suppress(IntegrityError, OSError):
                return self._find()  # another job kept it while this one waited
            prepared = read()
            self._keep(prepared)
            return prepared

    def _find(self) -> Prepared:
        prepared, about = read_copy(self.copy)
        if about.get("made_by") != _versions():  # other code may read other rows
            raise FileNotFoundError
        return prepared

    def _keep(self, prepared: Prepared) -> None:
        rows = prepared.interactions
        columns = (rows.user, rows.item, rows.value, rows.timestamp, rows.user_ids, rows.item_ids)
        try:
            needed = sum(column.nbytes for column in columns if column is not None)
            if shutil.disk_usage(self.copy.parent).free < needed + _SPARE:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            write_copy(self.copy, prepared, {"made_by": _versions()})
        except OSError as error:
            self._note_trouble(error)

    def _note_trouble(self, error: OSError) -> None:
        self.progress.note(
            f"{self.name}: the prepared copy cannot be used or kept in {self.copy.parent} "
            f"({error.strerror or error}), so the files are read. Repair the folder, choose another with "
            "data.cache=FOLDER, or set data.prepared=false."
        )


def _versions() -> dict[str, str]:
    """Return what reads: the source text of the readers, and the libraries that they read with.

    A number that somebody has to raise would be forgotten one day.
    """
    from importlib import metadata

    digest = sha256()
    for path in sorted(file for folder in _CODE for file in folder.rglob("*.py")):
        digest.update(path.name.encode() + path.read_bytes())
    # pyarrow takes a tenth of a second to import, which a prepared copy does without.
    libraries = {"numpy": np.__version__, "pyarrow": metadata.version("pyarrow")}
    return {"code": digest.hexdigest(), "recgauge": __version__, **libraries}
