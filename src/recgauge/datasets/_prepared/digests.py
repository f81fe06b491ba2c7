"""Digests of files, remembered for as long as the system says that a file has not changed."""

import json
import os
import time
import zlib
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

from recgauge.datasets._fetch.verify import digest_of
from recgauge.errors import IntegrityError

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
class Digests:
    """The sha256 of files, from memory where a file is the one that was digested.

    Parameters
    ----------
    folder : Path or None
        Where digests are remembered; None digests anew each time.
    smallest : int
        Bytes from which on a file is worth remembering.
    """

    folder: Path | None
    smallest: int = 1 << 20

    def of(self, path: Path) -> str:
        """Return the file's sha256."""
        state = FileState.of(path)
        known = self._recall(path, state)
        if known is not None:
            return known
        telling = state.is_telling()
        with path.open("rb") as stream:
            digest = digest_of(stream)
        if telling and state.size >= self.smallest and FileState.of(path) == state:
            self._remember(path, state, digest)
        return digest

    def _place(self, path: Path) -> Path | None:
        if self.folder is None:
            return None
        return self.folder / f"{sha256(os.fsencode(path.resolve())).hexdigest()[:32]}.json"

    def _recall(self, path: Path, state: FileState) -> str | None:
        place = self._place(path)
        if place is None:
            return None
        try:
            body = json.loads(place.read_text(encoding="utf-8"))
            digest = body["sha256"]
            return str(digest) if _seal(state, digest) == body["seal"] else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _remember(self, path: Path, state: FileState, digest: str) -> None:
        place = self._place(path)
        if place is None:
            return
        body = {"path": str(path), **asdict(state), "sha256": digest, "seal": _seal(state, digest)}
        half_made = place.with_name(f".{place.name}.{os.getpid()}.tmp")
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            half_made.write_text(json.dumps(body, indent=1), encoding="utf-8")
            half_made.replace(place)
        except OSError:
            with suppress(OSError):  # the next job digests the file again, that is all
                half_made.unlink()


def _seal(state: FileState, digest: object) -> int:
    """Return a checksum over all that a remembered digest is trusted for."""
    return zlib.crc32(json.dumps([asdict(state), digest], sort_keys=True).encode())


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
