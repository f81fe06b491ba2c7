"""A publisher's file: what is known about it, where it may be, and whether a file is it."""

import gzip
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from recgauge.errors import ConfigError, IntegrityError, SchemaError, said
from recgauge.files.opening import UNPACKING_ERRORS
from recgauge.utils.files import cache_folder, digest_of, read_own, refuse_irregular, user_path

PUBLISHED = "the publisher's archive"
REZIPPED = "the publisher's files in an archive zipped anew"
PLAIN = "the published file"


@dataclass(frozen=True)
class PublishedFile:
    """A publisher's archive, or another file, and the digests by which it is recognised.

    Parameters
    ----------
    filename : str
        Name of the archive, in the publisher's folder and in every cache and mirror; it may have folders.
        Names that end with ``.zip`` are of archives, whose content may be vouched for; of another file every
        byte counts. A folder may hold such a file as a gzip, under this name with ``.gz``.
    address : str
        Where the publisher offers it.
    size : int
        Bytes.
    sha256 : str
        Hexadecimal digest of the archive.
    members : mapping of str to str
        Name and sha256 of every member that is read; empty if not known.
    by_hand : str
        How to make the file, as a sentence that goes on, if nobody offers it as a whole; then `address` is
        where it is made from. Of an archive `size` and digest are not known then, and the members tell.
    """

    filename: str
    address: str
    size: int
    sha256: str
    members: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    by_hand: str = ""

    @property
    def is_archive(self) -> bool:
        """Whether it is a zip archive."""
        return self.filename.endswith(".zip")


@dataclass(frozen=True)
class VerifiedFile:
    """A file that may be read, its digest, and in words why it may."""

    path: Path
    sha256: str
    provenance: str


@dataclass(frozen=True, kw_only=True)
class Locations:
    """Where published files are looked for, as the user set it, in this order.

    Parameters
    ----------
    archive : str or None
        A local file that the user names, or the folder that has it; no other location is tried then.
    cache : str or None
        Folder that keeps downloads; None is the user's own cache folder.
    mirror : str or None
        Folder or http(s) address that holds the publisher's archives under their names.
    offline : bool
        Whether the network must not be used.

    Raises
    ------
    ConfigError
        If a value is not valid.
    """

    archive: str | None = None
    cache: str | None = None
    mirror: str | None = None
    offline: bool = False

    def __post_init__(self) -> None:
        for name in ("archive", "cache", "mirror"):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, (str, Path)) and str(value).strip()):
                raise ConfigError(f"{name} must be a path (or null), got {value!r}.")
        if "://" in str(self.mirror) and not is_address(self.mirror):
            raise ConfigError(f"mirror must be a folder or an http(s) address, got {self.mirror!r}.")

    @property
    def cache_folder(self) -> Path:
        """The folder that keeps downloads."""
        return cache_folder(self.cache)

    @property
    def mirror_folder(self) -> Path | None:
        """The mirror, unless it is used over the network."""
        return None if self.mirror is None or is_address(self.mirror) else user_path(self.mirror)


def check_digest(digest: object) -> None:
    """Refuse what is no sha256; ConfigError."""
    if not (isinstance(digest, str) and re.fullmatch("[0-9a-fA-F]{64}", digest)):
        raise ConfigError(f"sha256 must be 64 hexadecimal digits, got {digest!r}.")


def is_address(mirror: object) -> bool:
    """Whether a mirror is used over the network."""
    return str(mirror).startswith(("http://", "https://"))


def listed_digest(locations: Locations, published: PublishedFile) -> str | None:
    """Return the digest that SHA256SUMS of the mirror's folder lists for an archive."""
    sums = Path(locations.mirror_folder or "") / "SHA256SUMS"
    if not sums.exists():
        return None
    try:
        text = read_own(sums)
    except (OSError, UnicodeDecodeError, SchemaError) as error:
        raise IntegrityError(f"{sums} cannot be read: {said(error)}. Remove it or correct it.") from error
    rows = (line.strip().partition(" ") for line in text.splitlines())
    digests = {name.lstrip(" *").removeprefix("./"): digest.lower() for digest, _, name in rows}
    return digests.get(published.filename)


def verify(
    path: Path,
    published: PublishedFile,
    pinned: str | None,
    *,
    listed: str | None = None,
    origin: str | None = None,
) -> VerifiedFile:
    """Return `path` with the strongest true statement about it.

    `pinned` is the digest that the user sets: no other file will do. `listed` is that of the mirror folder.
    `origin` is the address that it has just been fetched from, to be named instead of a file that will not
    stay.

    Raises
    ------
    MissingDataError
        If it cannot be read.
    IntegrityError
        If it is neither the publisher's nor the one that is pinned or listed.
    """
    refuse_irregular(path, published.filename)
    sha256, size = _digest_and_size(path, published)
    actual = f"{origin or path}: sha256 {sha256} and {size:,} bytes"
    if pinned is not None and pinned.lower() != sha256:
        raise IntegrityError(
            f"{actual}, but dataset.sha256 asks for sha256 {pinned}. Use that file, or correct the pin."
        )
    if (sha256, size) == (published.sha256, published.size):
        return VerifiedFile(path, sha256, PUBLISHED if published.is_archive else PLAIN)
    problem, remedy = "it was cut, changed or is another file", f"Get it again from {published.address}"
    if published.is_archive:
        problem = _member_problem(path, published)
        if not problem:
            return VerifiedFile(path, sha256, REZIPPED)
        if pinned is not None or listed == sha256:
            source = "the mirror's SHA256SUMS" if pinned is None else "dataset.sha256"
            return VerifiedFile(path, sha256, f"not the publisher's archive: pinned by {source}")
        if zipfile.is_zipfile(path):
            remedy += f"; or, if you trust this file, pin it with dataset.sha256={sha256}"
    raise IntegrityError(
        f"{actual} are not the publisher's {published.filename} (sha256 {published.sha256 or 'not known'}, "
        f"{published.size:,} bytes): {problem}. {remedy}."
    )


def _digest_and_size(path: Path, published: PublishedFile) -> tuple[str, int]:
    """Return digest and size of a file, of a gzip those of its content."""
    opener: Any = gzip.open if path.name == f"{Path(published.filename).name}.gz" else open
    try:
        with opener(path, "rb") as stream:
            return digest_of(stream), stream.tell()
    except UNPACKING_ERRORS as error:
        raise IntegrityError(f"{path} cannot be read or unpacked: {said(error)}. Get it again.") from error


def _member_problem(path: Path, published: PublishedFile) -> str:
    """Return why the archive does not hold the publisher's members; empty if it does."""
    try:
        with zipfile.ZipFile(path) as archive:
            for name, expected in published.members.items():
                with archive.open(name) as member:
                    if digest_of(member) != expected:
                        return f"its member {name} is not the publisher's"
    except (KeyError, *UNPACKING_ERRORS) as error:
        with path.open("rb") as stream:
            return f"it is not a whole zip archive ({said(error)}) and begins with {stream.read(20)!r}"
    return "" if published.members else "the digests of the publisher's single files are not known"
