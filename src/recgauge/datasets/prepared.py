"""Prepared copies of data sets: made once, keyed by the files' digests, mapped by every later load.

A copy is one file: arrays as they are in memory, their layout as JSON, where this begins, and a checksum of
all. Its troubles never stop a run: then the files are read.
"""

import json
import os
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
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
from recgauge.utils.files import cache_folder, digest_of, written_whole
from recgauge.utils.plain import Arrays, pack, unpack
from recgauge.utils.progress import Progress

WORTH_KEEPING = 1 << 20  # bytes of input; smaller files are read as fast as copies
_PACKAGE = Path(__file__).parent.parent
_CODE = (_PACKAGE / "datasets", _PACKAGE / "files", _PACKAGE / "data")  # what decides what reading gives
_ROWS = ("user", "item", "value", "timestamp", "user_ids", "item_ids")
_ALIGNED = 64  # bytes


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
        """Return the sha256 of each file."""
        digests = []
        for path in self._states:
            with path.open("rb") as stream:
                digests.append(digest_of(stream))
        return digests

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
        key = sha256(json.dumps([list(digests), options], sort_keys=True).encode()).hexdigest()[:32]
        copy = self._folder / f"{key}-{_version()[:16]}.arrays"
        if (kept := _read_copy(copy)) is not None:
            return kept
        prepared = self._unchanged(read)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            for outdated in self._folder.glob(f"{key}-*.arrays"):
                outdated.unlink(missing_ok=True)
            _write_copy(copy, prepared)
        except OSError as error:
            progress.note(
                f"{name}: the prepared copy cannot be kept in {self._folder} ({error.strerror or error}). "
                "Repair the folder, choose another with data.cache=FOLDER, or set data.prepared=false."
            )
        return prepared

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


def _write_copy(file: Path, prepared: Prepared) -> None:
    features, arrays = prepared.item_features, Arrays()
    parts = {name: getattr(prepared.interactions, name) for name in _ROWS}
    attributes = prepared.interactions.attributes
    for number, attribute in enumerate(attributes.values()):
        parts |= {f"codes {number}": attribute.codes, f"names {number}": attribute.names}
    parts |= {"item_titles": prepared.item_titles, "features": features and features.matrix}
    about = {
        "parts": {name: pack(part, name, arrays) for name, part in parts.items()},
        "attributes": [*attributes],
        "feature_names": None if features is None else list(features.names),
        "facts": dict(prepared.facts),
    }
    with written_whole(file) as hidden, hidden.open("wb") as stream:
        layout, checksum = {}, 0
        for name, array in arrays.items():
            padding = bytes(-stream.tell() % _ALIGNED)
            layout[name] = (array.dtype.str, array.shape, stream.tell() + len(padding), array.nbytes)
            content = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data if array.size else b""
            for part in (padding, content):
                stream.write(part)
                checksum = zlib.crc32(part, checksum)
        ending = json.dumps([about, layout]).encode() + stream.tell().to_bytes(8)
        stream.write(ending + zlib.crc32(ending, checksum).to_bytes(4))


def _read_copy(file: Path) -> Prepared | None:
    """Return a kept data set, None where there is none, or not as it was written."""
    try:
        content = np.asarray(np.memmap(file, mode="r"))
        if zlib.crc32(content[:-4].data) != int.from_bytes(content[-4:].tobytes()):
            return None
        start = int.from_bytes(content[-12:-4].tobytes())
        about, layout = json.loads(content[start:-12].tobytes())
        arrays = {
            name: content[first : first + size].view(kind).reshape(shape)
            for name, (kind, shape, first, size) in layout.items()
        }
        parts = {name: unpack(packed, arrays) for name, packed in about["parts"].items()}
        attributes = {
            name: Attribute(parts[f"codes {number}"], parts[f"names {number}"])
            for number, name in enumerate(about["attributes"])
        }
        rows = Interactions(**{name: parts[name] for name in _ROWS}, attributes=attributes)
        names = about["feature_names"]
        features = None if names is None else ItemFeatures(parts["features"], tuple(names))
        return Prepared(rows, parts["item_titles"], features, about["facts"])
    except (OSError, ValueError):  # no file, an empty one
        return None
