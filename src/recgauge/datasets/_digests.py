"""Digests of files, remembered for as long as the system says that a file has not changed."""

import json
import os
import time
import zlib
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import astuple, dataclass
from hashlib import sha256
from pathlib import Path

from recgauge.errors import IntegrityError
from recgauge.utils.files import digest_of

# A file changed less than this long ago may change again within one tick of its file system's clock.
_SETTLED_NS = 3_000_000_000


@dataclass(frozen=True)
class FileState:
    """What the system knows of a file's last change.

    Parameters
    ----------
    size : int
        Bytes.
    modified_ns, changed_ns : int
        Times of the last change of the content, which programs may set, and of content or properties, which
        only the system sets. The second is what finds an edit whose size and time were put back.
    inode, device : int
        Which file it is.
    """

    size: int
    modified_ns: int
    changed_ns: int
    inode: int
    device: int

    @classmethod
    def of(cls, path: Path) -> "FileState":
        """Look at the file itself; a network file system answers from its memory unless it is opened."""
        with path.open("rb") as file:
            found = os.fstat(file.fileno())
        return cls(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_dev)

    def is_telling(self) -> bool:
        """Whether any later change must show."""
        # On Windows the third time is that of creation.
        return os.name != "nt" and time.time_ns() - max(self.modified_ns, self.changed_ns) > _SETTLED_NS


@dataclass(frozen=True)
class Watch:
    """The states of files before they are read, to notice that somebody writes to them meanwhile."""

    states: tuple[tuple[Path, FileState], ...]

    @classmethod
    def over(cls, paths: Iterable[Path]) -> "Watch":
        """Look at each file."""
        return cls(tuple((path, FileState.of(path)) for path in dict.fromkeys(paths)))

    def check(self) -> None:
        """Raise if a file is not the one that was looked at.

        Raises
        ------
        IntegrityError
            If a file was changed.
        """
        for path, state in self.states:
            if FileState.of(path) != state:
                raise IntegrityError(
                    f"{path} was changed while it was read, so its digest and its rows may not belong "
                    "together. Run again when nothing writes to it any more."
                )

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(state.size for _, state in self.states)

    def digests(self, folder: Path | None) -> list[str]:
        """Return the sha256 of each file, remembered in ``folder/digests``; None takes them anew."""
        return [known_digest(path, folder) for path, _ in self.states]


def known_digest(path: Path, folder: Path | None) -> str:
    """Return a file's sha256, from ``folder/digests`` if the file is the one that was digested."""
    state = FileState.of(path)
    note = folder and folder / "digests" / f"{sha256(os.fsencode(path.resolve())).hexdigest()[:32]}.json"
    if note is not None and (known := _recall(note, state)) is not None:
        return known
    telling = state.is_telling()
    with path.open("rb") as stream:
        digest = digest_of(stream)
    if note is not None and telling and FileState.of(path) == state:
        with suppress(OSError):  # the next job digests the file again, that is all
            note.parent.mkdir(parents=True, exist_ok=True)
            unfinished = note.with_name(f".{note.name}.{os.getpid()}.tmp")
            unfinished.write_text(json.dumps([*_checked(state, digest), str(path)]), encoding="utf-8")
            unfinished.replace(note)
    return digest


def _recall(note: Path, state: FileState) -> str | None:
    try:
        digest, checksum, _ = json.loads(note.read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError):
        return None
    return digest if [digest, checksum] == _checked(state, digest) else None


def _checked(state: FileState, digest: str) -> list[str | int]:
    """Return the digest, and a checksum over it and the state for which it holds."""
    return [digest, zlib.crc32(json.dumps([*astuple(state), digest]).encode())]
