"""Data sets that somebody publishes as an archive or files: where these are looked for, how they get here."""

import os
import socket
import ssl
import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
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
from recgauge.errors import DataError, IntegrityError, MissingDataError, SchemaError, said
from recgauge.files.columns import CellFormat, Roles
from recgauge.files.formats import read
from recgauge.files.opening import TableFile
from recgauge.files.text import TextFormat
from recgauge.utils.files import exclusive, refuse_irregular, user_path
from recgauge.utils.progress import NoProgress, Progress

_BLOCK = 1 << 18
MOST_BYTES = 1 << 30  # of a file whose size is not known: hundreds of times what such files have
CONNECT, SILENCE = 10.0, 30.0  # seconds to wait for a connection, and for the next byte
WAITS = (1.0, 2.0, 4.0)  # seconds before each further request
_PASSING = {408, 425, 429, 500, 502, 503, 504}


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


PAIRS = Roles({"user": (), "item": ()}, ("user", "item"), cells=CellFormat(implausible="keep"))
"""Users and items in the first two columns, whatever follows."""


def read_members(
    path: Path, members: Sequence[str], roles: Roles, how: TextFormat | None = None, form: str | None = None
) -> Interactions:
    """Return the rows of files in a publisher's archive, in order."""
    parts = [read(TableFile(path, member), roles, how, form=form) for member in members]
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
        path = _as_kept(path, published)
        refuse_irregular(path, "archive")
        if not path.is_file():
            raise MissingDataError(f"archive={path}: there is no such file. Correct the path.")
        return verify(path, published, locations.sha256)
    tried: list[str] = []
    kind: type[DataError] = MissingDataError
    for owner, place in _locations(published, locations):
        try:
            return _from_place(owner, place, published, locations, progress)
        except _TransferError as error:
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
        f"{published.filename} could not be found or fetched.\nTried:\n{listed}\n{by_hand} and put it at "
        f"{locations.cache_folder / published.filename}, name {named}, or point data.mirror or "
        "RECGAUGE_MIRROR at a folder or address that has it."
    )


def _locations(published: PublishedFile, locations: Locations) -> Iterator[tuple[str, str]]:
    """Yield who may have the file, and the folder or the address where."""
    yield "cache folder", str(locations.cache_folder)
    for mirror in locations.mirrors:
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
        raise _TransferError("does not offer it in this form", may_pass=False)
    if locations.offline:
        raise _TransferError("not tried, since offline is set", may_pass=False)
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
        raise _TransferError(f"has no {published.filename}", may_pass=False)
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
    pairs = _locations(published, locations)
    folders = ((owner.split()[0], Path(place)) for owner, place in pairs if not is_address(place))
    return next(
        (owner for owner, folder in folders if _as_kept(folder / published.filename, published).is_file()), ""
    )


@dataclass
class _TransferError(Exception):
    """An address did not give the file."""

    reason: str  # as part of a sentence
    may_pass: bool  # whether the same request may succeed a little later

    def __str__(self) -> str:
        return self.reason


def _download(
    address: str,
    target: Path,
    size: int | None,
    check: Callable[[Path], VerifiedFile],
    progress: Progress,
) -> VerifiedFile:
    """Fetch, verify and store a file, whole or not at all, unless another job has done so meanwhile.

    A server that sends more than `size` bytes (`MOST_BYTES` where it is not known) is cut off. `check`
    returns what is known about a file, or raises if it must not be used.
    """
    folder, name = target.parent, target.name
    hidden = folder / f".{name}.part"
    waiting = f"{name}: another job is downloading it; waiting."
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with exclusive(folder / f".{name}.lock", lambda: progress.note(waiting)):
            if target.is_file():
                return check(target)
            try:
                _transfer_patiently(address, hidden, name, size, progress)
                verified = check(hidden)
                hidden.replace(target)
                return replace(verified, path=target)
            finally:
                hidden.unlink(missing_ok=True)
    except OSError as error:
        raise MissingDataError(
            f"The cache folder {folder} cannot hold {name}{f' ({size:,} bytes)' if size else ''}: "
            f"{error.strerror or said(error)}. Free space or make it writable, choose another folder with "
            "data.cache=FOLDER or RECGAUGE_CACHE, or name a local archive with dataset.archive=FILE."
        ) from error


def _transfer_patiently(address: str, file: Path, name: str, size: int | None, progress: Progress) -> None:
    """Ask again, a few times, where the trouble may pass."""
    for wait in (*WAITS, None):
        try:
            _transfer(address, file, name, size, progress)
            return
        except _TransferError as error:
            if wait is None or not error.may_pass:
                raise
            progress.note(f"{address}: {error}; asking again in {wait:g} s.")
            time.sleep(wait)


def _transfer(address: str, file: Path, name: str, size: int | None, progress: Progress) -> None:
    import requests  # takes a tenth of a second, which runs without a download need not pay

    n_bytes, most = 0, size or MOST_BYTES
    try:
        with (
            requests.get(
                address, headers={"Accept-Encoding": "identity"}, stream=True, timeout=(CONNECT, SILENCE)
            ) as answer,
            file.open("wb") as stream,
        ):
            if answer.status_code != 200:
                raise _TransferError(
                    f"the server answered {answer.status_code} {answer.reason}",
                    answer.status_code in _PASSING,
                )
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
        raise _failure(error, address) from error


def _failure(error: BaseException, address: str) -> _TransferError:
    """Say in words what is at the bottom of an error of requests."""
    while (cause := error.__cause__ or error.__context__) is not None:
        error = cause
    host = urlsplit(address).hostname or address
    if isinstance(error, ssl.SSLCertVerificationError):
        return _TransferError(
            f"the certificate of {host} is not accepted ({error.verify_message}); if your network inspects "
            "traffic, name its authority's certificate with REQUESTS_CA_BUNDLE; if only the "
            f"certificate is old, curl --insecure -O {address} does, since recgauge verifies the file",
            may_pass=False,
        )
    reason = error.strerror if isinstance(error, OSError) and error.strerror else said(error)
    unknown = isinstance(error, socket.gaierror)
    return _TransferError(f"the connection to {host} failed ({reason})", may_pass=not unknown)
