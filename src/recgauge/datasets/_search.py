"""Looks for a published file in one location after the other, until one has it."""

from dataclasses import dataclass, field
from pathlib import Path

from recgauge.datasets._download import Download, Patience
from recgauge.datasets._fetch_errors import TransferError
from recgauge.datasets._published import Locations, Pin, PublishedFile, VerifiedFile, is_address, verify
from recgauge.errors import IntegrityError, MissingDataError, said
from recgauge.utils.files import refuse_irregular, user_path
from recgauge.utils.progress import Progress

_LONGEST_SUMS = 1 << 20  # bytes


def find_archive(
    published: PublishedFile, locations: Locations, progress: Progress, patience: Patience | None = None
) -> VerifiedFile:
    """Return the file from the first location that has it, verified.

    A wrong file in a local folder ends the search, since its owner can put it right; a wrong file from a
    server is noted and the next location is tried.

    Parameters
    ----------
    published : PublishedFile
        What is looked for.
    locations : Locations
        Where to look.
    progress : Progress
        Notified about downloads.
    patience : Patience, optional
        How long to wait for servers.

    Returns
    -------
    VerifiedFile

    Raises
    ------
    IntegrityError
        If the only files found are not what they should be.
    MissingDataError
        If no location has the file.
    """
    if locations.archive is not None:
        path = user_path(locations.archive)
        refuse_irregular(path, "archive")
        if not path.is_file():
            raise MissingDataError(f"archive={path}: there is no such file. Correct the path.")
        return verify(path, published, locations.pin, named=True)
    return _Search(published, locations, progress, patience or Patience()).run()


@dataclass
class _Search:
    published: PublishedFile
    locations: Locations
    progress: Progress
    patience: Patience
    tried: list[str] = field(default_factory=list)
    found_wrong: bool = False
    certificate_refused: bool = False

    def run(self) -> VerifiedFile:
        found = self._ask_folder("cache folder", self._cached.parent, self.locations.pin)
        for mirror in self.locations.mirrors:
            found = found or self._ask_mirror(mirror)
        if self.published.by_hand:
            self.tried.append(f"publisher {self.published.address}: offers the files, but no archive of them")
        else:
            found = found or self._ask_server("publisher", self.published.address)
        if found is None:
            raise (IntegrityError if self.found_wrong else MissingDataError)(self._nowhere())
        return found

    @property
    def _cached(self) -> Path:
        return self.locations.cache_folder / self.published.filename

    @property
    def _size(self) -> int | None:
        """Bytes that a server may send; another file that is pinned may have any size."""
        return None if self.locations.pin is not None else self.published.size or None

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
        return self._ask_folder("mirror", folder, self.locations.pin or _listed(folder, self.published))

    def _ask_server(self, owner: str, address: str) -> VerifiedFile | None:
        if self.locations.offline:
            self.tried.append(f"{owner} {address}: not tried, since offline is set")
            return None

        def check(path: Path) -> VerifiedFile:
            return verify(
                path, self.published, self.locations.pin, origin=None if path == self._cached else address
            )

        try:
            return Download(address, self._cached, self._size, check, self.progress, self.patience).run()
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
        by_hand = self.published.by_hand or f"Download {address} by hand, on another machine if need be,"
        if self.certificate_refused:
            by_hand = (
                f"{self.published.outage} Download the file by hand (curl --insecure -O {address} does not "
                "mind the certificate, and recgauge verifies the file all the same)"
            ).lstrip()
        return (
            f"{filename} could not be found or fetched. Tried:\n{tried}\n{by_hand} and put it at "
            f"{self._cached}, name it with dataset.archive=FILE, or point data.mirror or RECGAUGE_MIRROR at "
            "a folder or address that has it."
        )


def _listed(folder: Path, published: PublishedFile) -> Pin | None:
    """Return the digest that the mirror folder's SHA256SUMS lists for the file."""
    sums = folder / "SHA256SUMS"
    refuse_irregular(sums, "mirror")
    if not sums.is_file():
        return None
    if sums.stat().st_size > _LONGEST_SUMS:
        raise IntegrityError(
            f"{sums} has {sums.stat().st_size:,} bytes, too many for a list of digests. Correct or remove it."
        )
    try:
        text = sums.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise IntegrityError(f"{sums} cannot be read: {said(error)}. Remove it or correct it.") from error
    for line in text.splitlines():
        digest, _, name = line.strip().partition(" ")
        if name.lstrip(" *").removeprefix("./") == published.filename and len(digest) == 64:
            return Pin(digest.lower(), "the mirror's SHA256SUMS", strict=False)
    return None
