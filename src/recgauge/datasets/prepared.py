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
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from recgauge._version import __version__
from recgauge.data.dataset import ItemFeatures
from recgauge.data.interactions import Attribute, Interactions
from recgauge.errors import IntegrityError, listed, said
from recgauge.files.stored import StoredFile
from recgauge.utils.files import cache_folder, digest_of, written_whole
from recgauge.utils.plain import Arrays, pack, unpack
from recgauge.utils.progress import Progress

WORTH_KEEPING = 1 << 20  # bytes of input; smaller files are read as fast as copies
_PACKAGE = Path(__file__).parent.parent
_CODE = (_PACKAGE / "datasets", _PACKAGE / "files", _PACKAGE / "data")  # what decides what reading gives
_ALIGNED = 64  # bytes


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """All that reading a source gives; what a run's settings add to it is not part."""

    interactions: Interactions
    item_titles: npt.NDArray[Any] | None = None
    item_features: ItemFeatures | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)  # the reader's notes


_KINDS = {kind.__name__: kind for kind in (Prepared, Interactions, Attribute, ItemFeatures)}


def state_of(file: Path | StoredFile) -> tuple[int, ...]:
    """Return size and times of the last change, of which programs may set the first alone."""
    if isinstance(file, StoredFile):
        return file.state()
    with file.open("rb") as stream:  # else a network file system answers from its memory
        facts = os.fstat(stream.fileno())
    return facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns


def digests_of(files: Iterable[Path | StoredFile]) -> list[str]:
    """Return the sha256 of each file."""
    digests = []
    for file in files:
        with file.open("rb") as stream:
            digests.append(digest_of(stream))
    return digests


def load_prepared(
    read: Callable[[], Prepared],
    files: Sequence[Path | StoredFile],
    options: Mapping[str, Any],
    progress: Progress,
    *,
    cache: str | None,
    prepared: bool,
    digests: Sequence[str] = (),
) -> tuple[Prepared, Sequence[str]]:
    """Return the kept data set, or what `read` gives, kept for the next time; and the digest of each file.

    `options`, as JSON, are all that decides what `read` gives; `prepared`: whether copies are kept.
    """
    states, digests = [state_of(file) for file in files], digests or digests_of(files)
    copy = None
    if prepared and sum(size for size, *_ in states) >= WORTH_KEEPING:
        key = sha256(json.dumps([list(digests), options], sort_keys=True).encode()).hexdigest()[:32]
        copy = cache_folder(cache) / "prepared" / f"{key}.arrays"
        if (kept := _read_copy(copy)) is not None:
            return kept, digests
    fresh = read()
    if [state_of(file) for file in files] != states:
        raise IntegrityError(
            f"{listed(files)}: a file was changed while it was read, so digest and rows may not belong "
            "together. Run again when nothing writes to it any more."
        )
    if copy is not None:
        try:
            _write_copy(copy, fresh)
        except OSError as error:
            progress.note(
                f"{copy}: the prepared copy cannot be kept ({said(error)}). Choose another folder with "
                "data.cache=FOLDER, or set data.prepared=false."
            )
    return fresh, digests


def _version() -> str:
    """Return a digest of what reads: the source text of the readers, and the libraries that they read with.

    A number that somebody has to raise would be forgotten one day.
    """
    digest = sha256(f"{__version__} {np.__version__} {metadata.version('pyarrow')}".encode())
    for path in sorted(file for folder in _CODE for file in folder.rglob("*.py")):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def _write_copy(file: Path, prepared: Prepared) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    arrays = Arrays()
    about = pack(prepared, "data", arrays, _KINDS)
    with written_whole(file) as hidden, hidden.open("wb") as stream:
        layout, checksum = {}, 0
        for name, array in arrays.items():
            padding = bytes(-stream.tell() % _ALIGNED)
            layout[name] = (array.dtype.str, array.shape, stream.tell() + len(padding), array.nbytes)
            content = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data if array.size else b""
            for part in (padding, content):
                stream.write(part)
                checksum = zlib.crc32(part, checksum)
        ending = json.dumps([_version(), about, layout]).encode() + stream.tell().to_bytes(8)
        stream.write(ending + zlib.crc32(ending, checksum).to_bytes(4))


def _read_copy(file: Path) -> Prepared | None:
    """Return a kept data set; None where there is none, another reader's, or not as it was written."""
    try:
        content = np.asarray(np.memmap(file, mode="r"))
    except (OSError, ValueError):  # no file, an empty one
        return None
    if len(content) < _ALIGNED or zlib.crc32(content[:-4].data) != int.from_bytes(content[-4:].tobytes()):
        return None
    start = int.from_bytes(content[-12:-4].tobytes())
    version, about, layout = json.loads(content[start:-12].tobytes())
    if version != _version():
        return None
    arrays = {
        name: content[first : first + size].view(kind).reshape(shape)
        for name, (kind, shape, first, size) in layout.items()
    }
    prepared: Prepared = unpack(about, arrays, _KINDS)
    return prepared
