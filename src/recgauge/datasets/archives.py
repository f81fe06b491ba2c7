"""Data sets that somebody publishes as an archive or files: where these are looked for, how they get here."""

import os
import ssl
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from recgauge.data.interactions import Interactions
from recgauge.datasets import DatasetSource
from recgauge.datasets.published_files import (
    OF_THE_PUBLISHER,
    Locations,
    PublishedFile,
    VerifiedFile,
    is_address,
    listed_digest,
    packed_name,
    verify,
)
from recgauge.datasets.table import join, join_digests
from recgauge.errors import IntegrityError, MissingDataError, SchemaError, said
from recgauge.files.columns import CellFormat, Roles
from recgauge.files.formats import read
from recgauge.files.opening import TableFile
from recgauge.files.text import TextFormat
from recgauge.utils.files import refuse_irregular, user_path, written_whole
from recgauge.utils.progress import NoProgress, Progress

_BLOCK = 1 << 18
MOST_BYTES = 1 << 30  # of a file whose size is not known: hundreds of times what such files have
CONNECT, SILENCE = 10.0, 30.0  # seconds to wait for a connection, and for the next byte
RETRIES = 3
_PASSING = (408, 425, 429, 500, 502, 503, 504)


class FileSource(DatasetSource):
    """A data set that is read from published files."""

    @property
    @abstractmethod
    def files(self) -> "tuple[tuple[PublishedFile, Locations], ...]":
        """What is read, and where each is looked for."""

    def find(self, progress: Progress | None = None) -> None:
        """Find or download the files and verify them."""
        self._verified_files(progress or NoProgress())

    def fetch_all(self, progress: Progress | None = None) -> list[VerifiedFile]:
        """Find or download the files and verify them as `find` does, and return them in the order of `files`.

        `progress` is also notified about an archive whose files are not the publisher's.
        """
        progress = progress or NoProgress()
        files = self._verified_files(progress)
        for file in files:
            if file.provenance not in OF_THE_PUBLISHER:
                progress.note(f"{file.path} is {file.provenance}.")
        return files

    def digest(self) -> str:
        """Find or download the files, verify them and return their digest."""
        return join_digests([file.sha256 for file in self._verified_files(NoProgress())])

    def _verified_files(self, progress: Progress) -> list[VerifiedFile]:
        return [find_archive(published, locations, progress) for published, locations in self.files]


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
    mirror: str | None
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


def find_archive(published: PublishedFile, locations: Locations, progress: Progress) -> VerifiedFile:
    """Return the file from the first location that has it, verified; a wrong file ends the search.

    Raises
    ------
    MissingDataError
        If no location has it; the message says of each why not, and what to do by hand.
    IntegrityError
        If a file is not the publisher's, and nobody pinned it.
    """
    if locations.archive is not None:
        path = _as_kept(user_path(locations.archive), published)
        refuse_irregular(path, "archive")
        if not path.is_file():
            raise MissingDataError(f"archive={path}: there is no such file. Correct the path.")
        return verify(path, published, locations.sha256)
    tried: list[str] = []
    for owner, place in _locations(published, locations):
        try:
            return _from_place(owner, place, published, locations, progress)
        except _TransferError as error:
            tried.append(f"\n  - {owner} {place}: {error}")
    by_hand = published.by_hand or f"Download {published.address} by hand,"
    named = (
        "it with dataset.archive=FILE" if published.is_archive else "its folder with dataset.archive=FOLDER"
    )
    raise MissingDataError(
        f"{published.filename} could not be found or fetched.\nTried:{''.join(tried)}\n"
        f"{by_hand} and put it at {locations.cache_folder / published.filename}, name {named}, or point "
        "data.mirror or RECGAUGE_MIRROR at a folder or address that has it."
    )


def _locations(published: PublishedFile, locations: Locations) -> Iterator[tuple[str, str]]:
    """Yield who may have the file, and the folder or the address where."""
    yield "cache folder", str(locations.cache_folder)
    if locations.mirror is not None:
        mirror = str(locations.mirror)
        below = f"{mirror.rstrip('/')}/{published.filename}"
        yield "mirror", below if is_address(mirror) else str(user_path(mirror))
    yield "publisher", published.address


def _from_place(
    owner: str, place: str, published: PublishedFile, locations: Locations, progress: Progress
) -> VerifiedFile:
    """Return the file of one place, verified, or raise a _TransferError that says why it has none."""
    if not is_address(place):
        return _in_folder(owner, Path(place), published, locations.sha256)
    if owner == "publisher" and published.by_hand:
        raise _TransferError("does not offer it in this form")
    if locations.offline:
        raise _TransferError("not tried, since offline is set")
    cached = locations.cache_folder / published.filename

    def check(path: Path) -> VerifiedFile:
        return verify(path, published, locations.sha256, origin=None if path == cached else place)

    # another file that is pinned may have any size
    size = published.size if locations.sha256 is None else None
    return _download(place, cached, size, check, progress)


def _in_folder(owner: str, folder: Path, published: PublishedFile, pinned: str | None) -> VerifiedFile:
    if owner == "mirror" and not folder.is_dir():
        # A mistyped setting must not turn into a download from elsewhere.
        raise MissingDataError(
            f"mirror={folder}: there is no such folder. Correct data.mirror or RECGAUGE_MIRROR, or unset it."
        )
    path = _as_kept(folder / published.filename, published)
    refuse_irregular(path, owner)
    if not path.is_file():
        raise _TransferError(f"has no {published.filename}")
    listed = listed_digest(folder, published) if owner == "mirror" and published.is_archive else None
    return verify(path, published, pinned, listed=listed)


def _as_kept(path: Path, published: PublishedFile) -> Path:
    """Return the file, or its gzip where a folder has nothing else."""
    packed = packed_name(path)
    return path if published.is_archive or path.exists() or not packed.exists() else packed


def local_place(published: PublishedFile, locations: Locations) -> str:
    """Return where a run would take the archive from: "archive", "cache", "mirror", or "" for the network."""
    if locations.archive is not None:
        return "archive"
    for owner, place in _locations(published, locations):
        if not is_address(place) and _as_kept(Path(place) / published.filename, published).is_file():
            return owner.split()[0]
    return ""


class _TransferError(Exception):
    """A place did not give the file; the reason is part of a sentence."""


def _download(
    address: str,
    target: Path,
    size: int | None,
    check: Callable[[Path], VerifiedFile],
    progress: Progress,
) -> VerifiedFile:
    """Fetch, verify and store a file, whole or not at all.

    A server that sends more than `size` bytes (`MOST_BYTES` where it is not known) is cut off. `check`
    returns what is known about a file, or raises if it must not be used.
    """
    folder, name = target.parent, target.name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with written_whole(target) as hidden:
            _transfer(address, hidden, name, size, progress)
            verified = check(hidden)
        return replace(verified, path=target)
    except OSError as error:
        raise MissingDataError(
            f"The cache folder {folder} cannot hold {name}: {error.strerror or said(error)}. Free space or "
            "make it writable, or choose another folder: data.cache=FOLDER or RECGAUGE_CACHE."
        ) from error


def _transfer(address: str, file: Path, name: str, size: int | None, progress: Progress) -> None:
    import requests  # takes a tenth of a second, which runs without a download need not pay
    from requests.adapters import HTTPAdapter
    from urllib3.util import Retry

    retries = Retry(RETRIES, backoff_factor=1, status_forcelist=_PASSING, raise_on_status=False)
    n_bytes, most = 0, size or MOST_BYTES
    try:
        with requests.Session() as session, file.open("wb") as stream:
            for scheme in ("http://", "https://"):
                session.mount(scheme, HTTPAdapter(max_retries=retries))
            answer = session.get(
                address, headers={"Accept-Encoding": "identity"}, stream=True, timeout=(CONNECT, SILENCE)
            )
            if answer.status_code != 200:
                raise _TransferError(f"the server answered {answer.status_code} {answer.reason}")
            length = answer.headers.get("Content-Length", "")
            total = int(length) if length.isdecimal() else size
            with progress.step(f"download {name}", total, "bytes") as advance:
                for block in answer.iter_content(_BLOCK):
                    n_bytes += len(block)
                    if max(n_bytes, total or 0) > most:
                        raise IntegrityError(
                            f"{address} sends {max(n_bytes, total or 0):,} bytes or more, at most {most:,} "
                            "are taken; nothing was kept."
                        )
                    stream.write(block)
                    advance(len(block))
            stream.flush()
            os.fsync(stream.fileno())  # the bytes must outlive a power cut before the file gets its name
    except requests.RequestException as error:
        cause: BaseException = error
        while (earlier := cause.__cause__ or cause.__context__) is not None:
            cause = earlier
        hint = ""
        if isinstance(cause, ssl.SSLCertVerificationError):
            hint = f"; curl --insecure -O {address} does without its certificate, and the file is verified"
        host = urlsplit(address).hostname or address
        reason = cause.strerror if isinstance(cause, OSError) and cause.strerror else said(cause)
        raise _TransferError(f"the connection to {host} failed ({reason}){hint}") from error
