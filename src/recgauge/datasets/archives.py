"""Data sets that somebody publishes as an archive or files: where these are looked for, how they get here."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path

from recgauge.data.interactions import Interactions
from recgauge.datasets import DatasetSource
from recgauge.datasets._download import TransferError, download
from recgauge.datasets.published_files import (
    OF_THE_PUBLISHER,
    Locations,
    Pin,
    PublishedFile,
    VerifiedFile,
    is_address,
    listed_pin,
    verify,
)
from recgauge.datasets.table import join, join_digests
from recgauge.errors import DataError, IntegrityError, MissingDataError, SchemaError
from recgauge.files.columns import Wanted
from recgauge.files.formats import read
from recgauge.files.opening import TableFile
from recgauge.files.text import TextFormat
from recgauge.utils.files import refuse_irregular, user_path
from recgauge.utils.progress import NoProgress, Progress


class FileSource(DatasetSource):
    """A data set that is read from published files."""

    @property
    @abstractmethod
    def files(self) -> "tuple[tuple[PublishedFile, Locations], ...]":
        """What is read, and where each is looked for."""

    @property
    def terms(self) -> str:
        """What somebody agrees to who downloads the files; empty if nothing is known."""
        return ""

    def find(self, progress: Progress | None = None) -> None:
        """Find or download the files and verify them."""
        self._found(progress or NoProgress())

    def fetch_all(self, progress: Progress | None = None) -> list[VerifiedFile]:
        """Find or download the files and verify them as `find` does, and return them in the order of `files`.

        `progress` is also notified about an archive whose files are not the publisher's.
        """
        progress = progress or NoProgress()
        found = self._found(progress)
        for file in found:
            if file.provenance not in OF_THE_PUBLISHER:
                progress.note(f"{file.path} is {file.provenance}.")
        return found

    def digest(self) -> str:
        """Find or download the files, verify them and return their digest."""
        return join_digests([file.sha256 for file in self._found(NoProgress())])

    def _found(self, progress: Progress) -> list[VerifiedFile]:
        try:
            return [find_archive(published, locations, progress) for published, locations in self.files]
        except MissingDataError as error:
            terms = f" Its terms: {self.terms}." if self.terms else ""
            raise MissingDataError(f"{error}{terms}") from error


class ArchiveSource(FileSource):
    """A data set that is read from a publisher's archive.

    A subclass is a dataclass that has the settings below as fields, and says which archive it reads.

    Parameters
    ----------
    archive, cache, mirror, offline, sha256
        As of :class:`Locations`.
    """

    archive: str | None
    cache: str | None
    mirror: str | Sequence[str] | None
    offline: bool
    sha256: str | None

    @property
    @abstractmethod
    def published(self) -> PublishedFile:
        """The publisher's archive."""

    @property
    def locations(self) -> Locations:
        """Where the archive is looked for.

        Raises
        ------
        ConfigError
            If a setting is not valid.
        """
        return Locations(self.archive, self.cache, self.mirror, self.offline, self.sha256)

    @property
    def files(self) -> tuple[tuple[PublishedFile, Locations], ...]:
        """The archive."""
        return ((self.published, self.locations),)

    def fetch(self, progress: Progress | None = None) -> VerifiedFile:
        """Find or download the archive and verify it, without reading it; see `fetch_all`."""
        return self.fetch_all(progress)[0]


def read_members(
    path: Path, members: Sequence[str], wanted: Wanted, how: TextFormat | None = None, form: str | None = None
) -> Interactions:
    """Return the rows of files in a publisher's archive, in order."""
    parts = [read(TableFile(path, member), wanted, how, form=form) for member in members]
    for rows in parts:
        if rows.problems:
            raise SchemaError(f"{rows.first_bad()}. Get the publisher's archive again.")
    return join(parts)


def find_archive(published: PublishedFile, locations: Locations, progress: Progress) -> VerifiedFile:
    """Return the file from the first location that has it, verified.

    A wrong file in a local folder ends the search, since its owner can put it right; a wrong file from a
    server is noted and the next location is tried.
    """
    if locations.archive is not None:
        path = user_path(locations.archive)
        refuse_irregular(path, "archive")
        if not path.is_file():
            raise MissingDataError(f"archive={path}: there is no such file. Correct the path.")
        return verify(path, published, locations.pin)
    tried: list[str] = []
    kind: type[DataError] = MissingDataError
    for owner, place in _places(published, locations):
        try:
            return _ask(owner, place, published, locations, progress)
        except TransferError as error:
            tried.append(f"{owner} {place}: {error}")
        except IntegrityError as error:
            if not is_address(place):
                raise
            kind = IntegrityError
            tried.append(f"{owner} {error}")
            progress.note(tried[-1])
    by_hand = published.by_hand or f"Download {published.address} by hand, on another machine if need be,"
    named = "it with dataset.archive=FILE"
    if not published.is_archive:
        named = "its folder with dataset.archive=FOLDER"
    listed = "\n".join(f"  - {place}" for place in tried)
    raise kind(
        f"{published.filename} could not be found or fetched. Tried:\n{listed}\n{by_hand} and put it at "
        f"{locations.cache_folder / published.filename}, name {named}, or point data.mirror or "
        "RECGAUGE_MIRROR at a folder or address that has it."
    )


def _places(published: PublishedFile, locations: Locations) -> Iterator[tuple[str, str]]:
    """Yield who may have the file, and the folder or the address where."""
    yield "cache folder", str(locations.cache_folder)
    for mirror in locations.mirrors:
        below = f"{mirror.rstrip('/')}/{published.filename}"
        yield "mirror", below if is_address(mirror) else str(user_path(mirror))
    yield "publisher", published.address


def _ask(
    owner: str, place: str, published: PublishedFile, locations: Locations, progress: Progress
) -> VerifiedFile:
    """Return the file of one place, verified, or raise a TransferError that says why it has none."""
    if not is_address(place):
        return _in_folder(owner, Path(place), published, locations.pin)
    if owner == "publisher" and published.by_hand:
        raise TransferError("does not offer it in this form", again=False)
    if locations.offline:
        raise TransferError("not tried, since offline is set", again=False)
    cached = locations.cache_folder / published.filename

    def check(path: Path) -> VerifiedFile:
        return verify(path, published, locations.pin, origin=None if path == cached else place)

    # another file that is pinned may have any size
    size = published.size if locations.pin is None else None
    return download(place, cached, size, check, progress)


def _in_folder(owner: str, folder: Path, published: PublishedFile, pin: Pin | None) -> VerifiedFile:
    if owner == "mirror" and not folder.is_dir():
        # A mistyped setting must not turn into a download from elsewhere.
        raise MissingDataError(
            f"mirror={folder}: there is no such folder. Correct data.mirror or RECGAUGE_MIRROR, or unset it."
        )
    path = folder / published.filename
    refuse_irregular(path, owner)
    if not path.is_file():
        raise TransferError(f"has no {published.filename}", again=False)
    if owner == "mirror" and published.is_archive:
        pin = pin or listed_pin(folder, published)
    return verify(path, published, pin)


def local_place(published: PublishedFile, locations: Locations) -> str:
    """Return where a run would take the archive from: "archive", "cache", "mirror", or "" for the network."""
    if locations.archive is not None:
        return "archive"
    places = _places(published, locations)
    folders = ((owner.split()[0], Path(place)) for owner, place in places if not is_address(place))
    return next((owner for owner, folder in folders if (folder / published.filename).is_file()), "")
