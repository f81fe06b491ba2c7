"""Prepared copies of data sets: made once, keyed by the files' digests, mapped by every later load.

A copy is a folder of npy files, which are mapped into memory and checked by their CRC-32. Its troubles never
stop a run: then the files are read.
"""

import json
import os
import shutil
import time
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from recgauge._version import __version__
from recgauge.data.dataset import ItemFeatures
from recgauge.data.interactions import Attribute, Interactions
from recgauge.errors import IntegrityError
from recgauge.files.stored import StoredFile
from recgauge.utils.files import cache_folder, digest_of, exclusive
from recgauge.utils.plain import Arrays, pack, unpack
from recgauge.utils.progress import Progress

WORTH_KEEPING = 1 << 20  # bytes of input; smaller files are read as fast as they are mapped
_PACKAGE = Path(__file__).parent.parent
_CODE = (_PACKAGE / "datasets", _PACKAGE / "files", _PACKAGE / "data")  # what decides what reading gives
# A file changed less than this long ago may change again within one tick of its file system's clock.
_SETTLED_NS = 3_000_000_000
_ROWS = ("user", "item", "value", "timestamp", "user_ids", "item_ids")
_ABOUT = "about"  # JSON: what the copy says of itself, as an array of bytes
_CHECKSUMS = "checksums.json"  # of each file
_THREADS = 4  # checksums wait for memory, not for Python


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """All that reading a source gives; what a run's settings add to it is not part."""

    interactions: Interactions
    item_titles: npt.NDArray[Any] | None = None
    item_features: ItemFeatures | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)  # the reader's notes; survives JSON


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


def cached_digest(path: Path | StoredFile, folder: Path | None) -> str:
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
        return [cached_digest(path, folder) for path in self._states]

    def get(
        self,
        read: Callable[[], Prepared],
        digests: Sequence[str],
        options: Mapping[str, Any],
        name: str,
        progress: Progress,
    ) -> Prepared:
        """Return the kept data set, or what `read` gives, kept for the next time.

        `options`, as JSON, are all that decides what `read` gives; `name` is the data set's, for messages.
        """
        if self._folder is None:
            return self._unchanged(read)
        key = sha256(json.dumps([list(digests), options], sort_keys=True).encode()).hexdigest()
        copy = self._folder / key[:32]
        waiting = f"{name}: another job is preparing it; waiting."
        prepared: Prepared | None = None
        try:
            try:
                if (kept := _find(copy)) is not None:
                    return kept
            except IntegrityError as damage:
                progress.note(f"{name}: the prepared copy {copy} is damaged: {damage}; preparing it anew.")
            self._folder.mkdir(parents=True, exist_ok=True)
            with exclusive(copy.with_name(f".{copy.name}.lock"), lambda: progress.note(waiting)):
                with suppress(IntegrityError):
                    if (kept := _find(copy)) is not None:  # another job kept it while this one waited
                        return kept
                prepared = self._unchanged(read)
                write_copy(copy, prepared, {"made_by": _version()})
        except OSError as error:
            progress.note(
                f"{name}: the prepared copy cannot be used or kept in {self._folder} "
                f"({error.strerror or error}), so the files are read. Repair the folder, choose another with "
                "data.cache=FOLDER, or set data.prepared=false."
            )
        return prepared or self._unchanged(read)

    def _unchanged(self, read: Callable[[], Prepared]) -> Prepared:
        """Read, and refuse files that somebody wrote to meanwhile."""
        prepared = read()
        for path, state in self._states.items():
            if state_of(path) != state:
                raise IntegrityError(
                    f"{path} was changed while it was read, so its digest and its rows may not belong "
                    "together. Run again when nothing writes to it any more."
                )
        return prepared


def _find(copy: Path) -> Prepared | None:
    """Return what is kept, None if there is nothing or other code made it, which may read other rows."""
    try:
        prepared, about = read_copy(copy)
    except FileNotFoundError:
        return None
    return prepared if about.get("made_by") == _version() else None


def _version() -> str:
    """Return a digest of what reads: the source text of the readers, and the libraries that they read with.

    A number that somebody has to raise would be forgotten one day.
    """
    from importlib import metadata

    # pyarrow takes a tenth of a second to import, which a prepared copy does without.
    digest = sha256(f"{__version__} {np.__version__} {metadata.version('pyarrow')}".encode())
    for path in sorted(file for folder in _CODE for file in folder.rglob("*.py")):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def write_copy(folder: Path, prepared: Prepared, about: Mapping[str, Any]) -> None:
    """Write a copy next to `folder`, and give it its name when it is complete; another one is replaced."""
    features, arrays = prepared.item_features, Arrays()
    parts = {name: getattr(prepared.interactions, name) for name in _ROWS}
    attributes = prepared.interactions.attributes
    for number, attribute in enumerate(attributes.values()):
        parts |= {f"codes {number}": attribute.codes, f"names {number}": attribute.names}
    parts |= {"item_titles": prepared.item_titles, "features": features and features.matrix}
    described = {
        "parts": {name: pack(part, name, arrays) for name, part in parts.items()},
        "attributes": [*attributes],
        "feature_names": None if features is None else list(features.names),
        "facts": dict(prepared.facts),
    }
    arrays[_ABOUT] = np.frombuffer(json.dumps({**about, **described}).encode(), np.uint8)
    hidden = folder.with_name(f".{folder.name}.tmp")  # the caller holds the lock, so nobody else writes it
    shutil.rmtree(hidden, ignore_errors=True)
    try:
        hidden.mkdir()
        for name, array in arrays.items():
            np.save(hidden / f"{name}.npy", array, allow_pickle=False)
        checksums = {name: _checksum(hidden / f"{name}.npy") for name in arrays}
        (hidden / _CHECKSUMS).write_text(json.dumps(checksums), encoding="utf-8")
        shutil.rmtree(folder, ignore_errors=True)
        hidden.rename(folder)
    finally:
        shutil.rmtree(hidden, ignore_errors=True)


def read_copy(folder: Path) -> tuple[Prepared, dict[str, Any]]:
    """Return a kept data set, mapped into memory, which jobs share, and what it says of itself.

    Raises
    ------
    IntegrityError
        If anything about it is not as it was written: every byte is checked against its checksum.
    OSError
        If it cannot be read; FileNotFoundError if there is none.
    """
    try:
        checksums = json.loads((folder / _CHECKSUMS).read_text(encoding="utf-8"))
        paths = {name: folder / f"{name}.npy" for name in checksums}
        with ThreadPoolExecutor(_THREADS) as threads:
            for path, checksum in zip(paths.values(), threads.map(_checksum, paths.values()), strict=True):
                if checksum != checksums[path.stem]:
                    raise IntegrityError(f"{path.name} does not have its checksum")
        # one after the other: numpy parses their headers, at which two threads of Python 3.11 can fail
        arrays = {name: np.asarray(np.load(path, mmap_mode="r")) for name, path in paths.items()}
        about: dict[str, Any] = json.loads(arrays[_ABOUT].tobytes())
        parts = {name: unpack(packed, arrays) for name, packed in about["parts"].items()}
        attributes = {
            name: Attribute(parts[f"codes {number}"], parts[f"names {number}"])
            for number, name in enumerate(about["attributes"])
        }
        rows = Interactions(**{name: parts[name] for name in _ROWS}, attributes=attributes)
        names = about["feature_names"]
        features = None if names is None else ItemFeatures(parts["features"], tuple(names))
        return Prepared(rows, parts["item_titles"], features, about["facts"]), about
    except IntegrityError:
        raise
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise IntegrityError(f"it is incomplete or was changed ({error})") from error


def _checksum(path: Path) -> int:
    return zlib.crc32(np.memmap(path, mode="r").data)
