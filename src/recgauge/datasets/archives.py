"""Data sets that somebody publishes as an archive: where it is looked for, and how it gets here."""

import shutil
from abc import abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from recgauge.datasets import DatasetSource
from recgauge.datasets._fetch_errors import explain_storage
from recgauge.datasets._published import (
    PUBLISHED,
    REZIPPED,
    UNPACKING_ERRORS,
    Locations,
    PublishedFile,
    VerifiedFile,
    is_address,
)
from recgauge.datasets._search import find_archive
from recgauge.errors import MissingDataError
from recgauge.utils.files import exclusive, user_path
from recgauge.utils.progress import NoProgress, Progress

__all__ = [
    "PUBLISHED",
    "REZIPPED",
    "UNPACKING_ERRORS",
    "ArchiveSource",
    "Locations",
    "PublishedFile",
    "VerifiedFile",
    "find_archive",
    "keep_in_cache",
    "local_copy",
]


class ArchiveSource(DatasetSource):
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
    def terms(self) -> str:
        """What somebody agrees to who downloads the archive; empty if nothing is known."""
        return ""

    def find(self, progress: Progress | None = None) -> None:
        """Find or download the archive and verify it."""
        self._found(progress or NoProgress())

    def fetch(self, progress: Progress | None = None) -> VerifiedFile:
        """Find or download the archive and verify it, without reading it.

        Parameters
        ----------
        progress : Progress, optional
            Notified about the download, and about an archive whose files are not the publisher's.

        Returns
        -------
        VerifiedFile
            Its path, its sha256, and in words how far it is known to be the publisher's.

        Raises
        ------
        MissingDataError
            If no location has the archive.
        IntegrityError
            If the archive is not what it should be.
        """
        progress = progress or NoProgress()
        file = self._found(progress)
        if file.provenance not in (PUBLISHED, REZIPPED):
            progress.note(f"{file.path} is {file.provenance}.")
        return file

    def _found(self, progress: Progress) -> VerifiedFile:
        try:
            return find_archive(self.published, self.locations, progress)
        except MissingDataError as error:
            terms = f" Its terms: {self.terms}." if self.terms else ""
            raise MissingDataError(f"{error}{terms}") from error

    def digest(self, progress: Progress | None = None) -> str:
        """Find or download the archive, verify it and return its sha256."""
        return self.fetch(progress).sha256


def local_copy(published: PublishedFile, locations: Locations) -> tuple[str, Path] | None:
    """Return where on this machine a run would take the archive from, without looking into the file.

    Parameters
    ----------
    published : PublishedFile
    locations : Locations

    Returns
    -------
    (str, Path) or None
        "archive", "cache" or "mirror", and the path; None if it would have to be downloaded.
    """
    if locations.archive is not None:
        return "archive", user_path(locations.archive)
    folders = [("cache", locations.cache_folder)]
    folders += [("mirror", user_path(mirror)) for mirror in locations.mirrors if not is_address(mirror)]
    for owner, folder in folders:
        if (folder / published.filename).is_file():
            return owner, folder / published.filename
    return None


def keep_in_cache(file: VerifiedFile, locations: Locations) -> tuple[VerifiedFile, str]:
    """Copy an archive from a mirror folder into the cache folder, if it can be verified there, too.

    Returns
    -------
    (VerifiedFile, str)
        Its path, and in words what was done; empty if it was in the cache folder already.

    Raises
    ------
    MissingDataError
        If the cache folder cannot keep it.
    """
    target = locations.cache_folder / file.path.name
    if locations.archive is not None:
        return file, "the archive that you named; nothing was copied"
    if file.path == target:
        return file, ""
    if file.provenance not in (PUBLISHED, REZIPPED):
        return (
            file,
            "left where it is, since only the mirror's list of digests or your pin vouches for it",
        )
    hidden = target.with_name(f".{target.name}.copy")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with exclusive(target.with_name(f".{target.name}.lock"), lambda: None):
            shutil.copyfile(file.path, hidden)
            hidden.replace(target)
    except OSError as error:
        with suppress(OSError):
            hidden.unlink()
        raise explain_storage(error, target, file.path.stat().st_size, 0) from error
    return replace(file, path=target), f"copied from {file.path}"
