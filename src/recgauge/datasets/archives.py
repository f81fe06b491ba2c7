"""Data sets that somebody publishes as an archive or files: where these are looked for, how they get here."""

import shutil
from abc import abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from recgauge.data.interactions import Interactions
from recgauge.datasets import DatasetSource
from recgauge.datasets._download import download
from recgauge.datasets._fetch_errors import TransferError, explain_storage
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
from recgauge.datasets.table import join
from recgauge.errors import IntegrityError, MissingDataError, SchemaError
from recgauge.files.columns import Wanted
from recgauge.files.formats import read
from recgauge.files.opening import TableFile
from recgauge.files.text import TextFormat
from recgauge.utils.files import exclusive, refuse_irregular, user_path
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

    def digest(self) -> str:
        """Find or download the archive, verify it and return its sha256."""
        return self.fetch().sha256


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
        return verify(path, published, locations.pin, named=True)
    return _Search(published, locations, progress).run()


@dataclass
class _Search:
    published: PublishedFile
    locations: Locations
    progress: Progress
    tried: list[str] = field(default_factory=list)
    found_wrong: bool = False
    certificate_refused: bool = False

    def run(self) -> VerifiedFile:
        file = self._ask_folder("cache folder", self._cached.parent, self.locations.pin)
        for mirror in self.locations.mirrors:
            file = file or self._ask_mirror(mirror)
        if self.published.by_hand:
            what = "the files, but no archive of them" if self.published.is_archive else "it in another form"
            self.tried.append(f"publisher {self.published.address}: offers {what}")
        else:
            file = file or self._ask_server("publisher", self.published.address)
        if file is None:
            raise (IntegrityError if self.found_wrong else MissingDataError)(self._nowhere())
        return file

    @property
    def _cached(self) -> Path:
        return self.locations.cache_folder / self.published.filename

    def _ask_folder(self, owner: str, folder: Path, pin: Pin | None) -> VerifiedFile | None:
        path = folder / self.published.filename
        refuse_irregular(path, owner)
        if path.is_file():
            return verify(path, self.published, pin)
        self.tried.append(f"{owner} {folder}: has no {self.published.filename}")
        return None

    def _ask_mirror(self, mirror: str) -> VerifiedFile | None:
        if is_address(mirror):
            return self._ask_server("mirror", f"{mirror.rstrip('/')}/{self.published.filename}")
        folder = user_path(mirror)
        if not folder.is_dir():
            # A mistyped setting must not turn into a download from elsewhere.
            raise MissingDataError(
                f"mirror={folder}: there is no such folder. Correct data.mirror or RECGAUGE_MIRROR, "
                "or unset it."
            )
        listed = listed_pin(folder, self.published) if self.published.is_archive else None
        return self._ask_folder("mirror", folder, self.locations.pin or listed)

    def _ask_server(self, owner: str, address: str) -> VerifiedFile | None:
        if self.locations.offline:
            self.tried.append(f"{owner} {address}: not tried, since offline is set")
            return None

        # another file that is pinned may have any size
        size = None if self.locations.pin is not None else self.published.size or None

        def check(path: Path) -> VerifiedFile:
            return verify(
                path, self.published, self.locations.pin, origin=None if path == self._cached else address
            )

        try:
            return download(address, self._cached, size, check, self.progress)
        except TransferError as error:
            self.certificate_refused |= error.certificate
            self.found_wrong |= error.too_large
            caveat = f". {self.published.caveat}" if error.too_large and self.published.caveat else ""
            self.tried.append(f"{owner} {address}: {error}{caveat}")
        except IntegrityError as error:
            self.found_wrong = True
            self.tried.append(f"{owner} {error}")
            self.progress.note(f"{owner} {error}")
        return None

    def _nowhere(self) -> str:
        tried = "\n".join(f"  - {location}" for location in self.tried)
        address, filename = self.published.address, self.published.filename
        named = "it with dataset.archive=FILE"
        if not self.published.is_archive:
            named = "its folder with dataset.archive=FOLDER"
        by_hand = self.published.by_hand or f"Download {address} by hand, on another machine if need be,"
        if self.certificate_refused:
            by_hand = (
                f"{self.published.outage} Download the file by hand (curl --insecure -O {address} does not "
                "mind the certificate, and recgauge verifies the file all the same)"
            ).lstrip()
        return (
            f"{filename} could not be found or fetched. Tried:\n{tried}\n{by_hand} and put it at "
            f"{self._cached}, name {named}, or point data.mirror or RECGAUGE_MIRROR at "
            "a folder or address that has it."
        )


def local_place(published: PublishedFile, locations: Locations) -> str:
    """Return where a run would take the archive from: "archive", "cache", "mirror", or "" for the network."""
    if locations.archive is not None:
        return "archive"
    folders = [("cache", locations.cache_folder)]
    folders += [("mirror", user_path(mirror)) for mirror in locations.mirrors if not is_address(mirror)]
    return next((owner for owner, folder in folders if (folder / published.filename).is_file()), "")


def keep_in_cache(
    file: VerifiedFile, published: PublishedFile, locations: Locations
) -> tuple[VerifiedFile, str]:
    """Copy a verified file of a mirror folder into the cache folder, and say what was done."""
    target = locations.cache_folder / published.filename
    if locations.archive is not None:
        return file, f"the {'archive' if published.is_archive else 'file'} that you named; nothing was copied"
    if file.path == target:
        return file, ""
    if file.provenance not in OF_THE_PUBLISHER:
        return file, "left where it is, since only the mirror's list of digests or your pin vouches for it"
    hidden = target.with_name(f".{target.name}.copy")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with exclusive(target.with_name(f".{target.name}.lock"), lambda: None):
            shutil.copyfile(file.path, hidden)
            hidden.replace(target)
    except OSError as error:
        with suppress(OSError):
            hidden.unlink()
        raise explain_storage(error, target, file.path.stat().st_size) from error
    return replace(file, path=target), f"copied from {file.path}"
