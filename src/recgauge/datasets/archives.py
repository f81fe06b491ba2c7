"""Data sets that somebody publishes as an archive or files: where these are looked for, how they get here."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from recgauge.data.interactions import Interactions
from recgauge.datasets import DatasetSource
from recgauge.datasets.published_files import (
    Locations,
    PublishedFile,
    VerifiedFile,
    check_digest,
    listed_digest,
    verify,
)
from recgauge.datasets.table import join, join_digests
from recgauge.errors import IntegrityError, MissingDataError, SchemaError, said
from recgauge.files.columns import CellFormat, Roles
from recgauge.files.formats import read
from recgauge.files.opening import TableFile
from recgauge.files.text import TextFormat
from recgauge.utils.files import user_path, written_whole
from recgauge.utils.progress import Progress

_BLOCK = 1 << 18
MOST_BYTES = 1 << 30  # of a file whose size is not known: hundreds of times what such files have
CONNECT, SILENCE = 10.0, 30.0  # seconds to wait for a connection, and for the next byte


@dataclass(frozen=True, kw_only=True)
class FileSource(DatasetSource, Locations):
    """A data set that is read from published files.

    Parameters
    ----------
    archive, cache, mirror, offline
        As of :class:`Locations`.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        Locations.__post_init__(self)

    @property
    @abstractmethod
    def files(self) -> tuple[PublishedFile, ...]:
        """What is read."""

    def find(self, progress: Progress | None = None) -> None:
        """Find or download the files and verify them."""
        self.fetch_all(progress)

    def digest(self) -> str:
        """Find or download the files, verify them and return their digest."""
        return join_digests([file.sha256 for file in self.fetch_all()])

    def fetch_all(self, progress: Progress | None = None) -> list[VerifiedFile]:
        """Find or download the files, verify them and return them in the order of `files`."""
        return [find_archive(file, self, progress or Progress()) for file in self.files]


@dataclass(frozen=True, kw_only=True)
class ArchiveSource(FileSource):
    """A data set that is read from a publisher's archive.

    Parameters
    ----------
    archive, cache, mirror, offline
        As of :class:`Locations`.
    sha256 : str or None
        Digest that the user pins the archive to, even if it is not the publisher's.
    """

    sha256: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sha256 is not None:
            check_digest(self.sha256)

    def fetch_all(self, progress: Progress | None = None) -> list[VerifiedFile]:
        """Find or download the archive and verify it."""
        return [find_archive(file, self, progress or Progress(), self.sha256) for file in self.files]


PAIRS = Roles({"user": (), "item": ()}, ("user", "item"), cells=CellFormat(implausible="keep"))
"""Users and items in the first two columns, whatever follows."""


def read_members(
    path: Path, members: Sequence[str], roles: Roles, how: TextFormat | None = None, form: str | None = None
) -> Interactions:
    """Return the rows of files in a publisher's archive, in order.

    Raises
    ------
    SchemaError
        If a row is bad.
    """
    parts = [read(TableFile(path, member), roles, how, form=form) for member in members]
    for rows in parts:
        if rows.problems:
            raise SchemaError(f"{rows.first_bad()}. Get the publisher's archive again.")
    return join(parts)


def find_archive(
    published: PublishedFile, locations: Locations, progress: Progress, pinned: str | None = None
) -> VerifiedFile:
    """Return the file from the first location that has it, verified; a wrong file ends the search.

    `pinned` is the digest that a user asks for.

    Raises
    ------
    MissingDataError
        If no location has it; the message says of each why not, and what to do by hand.
    IntegrityError
        If a file is not the publisher's, and nobody pinned it.
    """
    if locations.archive is not None:
        path = user_path(locations.archive)
        path = _as_kept(path / Path(published.filename).name if path.is_dir() else path, published)
        if not path.exists():
            raise MissingDataError(f"archive={path}: there is no such file. Correct the path.")
        return verify(path, published, pinned)
    reasons: list[str] = []
    for owner, path in _local_places(published, locations).items():
        if path.exists():
            listed = listed_digest(locations, published) if owner == "mirror" else None
            return verify(path, published, pinned, listed=listed)
        reasons.append(f"{owner} folder: there is no {path}")
    for address in _addresses(published, locations):
        try:
            if locations.offline:
                raise OSError("not tried, since offline is set")
            return _download(address, published, locations, pinned, progress)
        except OSError as error:  # of the network, or of the cache folder
            reasons.append(f"{address}: {_cause(error)}")
    by_hand = published.by_hand or (
        f"Download {published.address} by hand (curl --insecure -O where its certificate has expired, since "
        "every file is verified)"
    )
    raise MissingDataError(
        f"{published.filename} could not be found or fetched.\nTried:\n  - " + "\n  - ".join(reasons) + "\n"
        f"{by_hand} and put it at {locations.cache_folder / published.filename}, name it or its folder with "
        "dataset.archive=..., or point data.mirror or RECGAUGE_MIRROR at a folder or address that has it."
    )


def _local_places(published: PublishedFile, locations: Locations) -> dict[str, Path]:
    """Return where the folders would have the file, by their owners."""
    folders = {"cache": locations.cache_folder, "mirror": locations.mirror_folder}
    return {
        owner: _as_kept(folder / published.filename, published)
        for owner, folder in folders.items()
        if folder is not None
    }


def _addresses(published: PublishedFile, locations: Locations) -> list[str]:
    """Return the addresses that may have the file: of a mirror, of the publisher."""
    if locations.mirror_folder is not None and not locations.mirror_folder.is_dir():
        raise MissingDataError(  # a mistyped setting must not turn into a download from elsewhere
            f"mirror={locations.mirror}: there is no such folder. Correct data.mirror or RECGAUGE_MIRROR."
        )
    publisher = [] if published.by_hand else [published.address]
    if locations.mirror is None or locations.mirror_folder is not None:
        return publisher
    return [f"{locations.mirror.rstrip('/')}/{published.filename}", *publisher]


def _as_kept(path: Path, published: PublishedFile) -> Path:
    """Return the file, or its gzip where a folder has nothing else."""
    packed = path.with_name(f"{path.name}.gz")
    return path if published.is_archive or path.exists() or not packed.exists() else packed


def _cause(error: BaseException) -> str:
    """Return what an error of the network began with, in words."""
    while (earlier := error.__cause__ or error.__context__) is not None:
        error = earlier
    return said(error)


def local_place(published: PublishedFile, locations: Locations) -> str:
    """Return which folder a run would take the file from: "cache", "mirror", or "" for the network."""
    places = _local_places(published, locations)
    return next((owner for owner, path in places.items() if path.is_file()), "")


def _download(
    address: str, published: PublishedFile, locations: Locations, pinned: str | None, progress: Progress
) -> VerifiedFile:
    """Fetch, verify and keep a file, whole or not at all."""
    target = locations.cache_folder / published.filename
    size = published.size if pinned is None else 0  # another file that is pinned may have any size
    target.parent.mkdir(parents=True, exist_ok=True)
    with written_whole(target) as hidden:
        _transfer(address, hidden, target.name, size, progress)
        verified = verify(hidden, published, pinned, origin=address)
    return replace(verified, path=target)


def _transfer(address: str, file: Path, name: str, size: int, progress: Progress) -> None:
    """Fetch a file; a server that sends more than `size` bytes (0: `MOST_BYTES`) is cut off."""
    import requests  # takes a tenth of a second, which runs without a download need not pay

    most, headers = size or MOST_BYTES, {"Accept-Encoding": "identity"}
    with (
        requests.get(address, headers=headers, stream=True, timeout=(CONNECT, SILENCE)) as answer,
        file.open("wb") as stream,
    ):
        answer.raise_for_status()
        with progress.step(f"download {name}", size or None, "bytes") as advance:
            for block in answer.iter_content(_BLOCK):
                advance(stream.write(block))
                if stream.tell() > most:
                    raise IntegrityError(
                        f"{address} sends more than it should, at most {most:,} are taken; nothing was kept."
                    )
