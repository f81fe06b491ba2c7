"""Decides whether a file is the one that was published, and says how that is known."""

import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

from recgauge.datasets._fetch.published import PublishedFile
from recgauge.errors import IntegrityError, MissingDataError
from recgauge.utils.files import digest_of

PUBLISHED = "the publisher's archive"
REZIPPED = "the publisher's files in an archive zipped anew"
# What zipfile raises for damaged, encrypted or exotic members, beside KeyError for an absent one.
UNPACKING_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError)


@dataclass(frozen=True)
class Pin:
    """A digest that the user vouches for.

    Parameters
    ----------
    sha256 : str
        Lower-case hexadecimal digest.
    source : str
        Where the user wrote it, in words.
    strict : bool
        Whether no other file will do, not even the publisher's.
    """

    sha256: str
    source: str
    strict: bool


@dataclass(frozen=True)
class VerifiedFile:
    """A file that may be read, its digest, and in words why it may."""

    path: Path
    sha256: str
    provenance: str

    @property
    def is_published(self) -> bool:
        """Whether this is the publisher's archive byte for byte."""
        return self.provenance == PUBLISHED


def verify(
    path: Path,
    published: PublishedFile,
    pin: Pin | None,
    *,
    origin: str | None = None,
    named: bool = False,
) -> VerifiedFile:
    """Return `path` with the strongest true statement about it.

    Parameters
    ----------
    path : Path
        The file that was found or fetched.
    published : PublishedFile
        What it should be.
    pin : Pin or None
        A digest that the user vouches for.
    origin : str, optional
        The address that `path` has just been fetched from, to be named instead of a file that will not stay.
    named : bool
        Whether the user named this very file, which may well be a good one of another data set.

    Returns
    -------
    VerifiedFile

    Raises
    ------
    IntegrityError
        If the file is neither the publisher's archive, nor holds the publisher's members, nor is pinned.
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as stream:
            sha256 = digest_of(stream)
    except OSError as error:
        raise MissingDataError(
            f"{path} cannot be read: {error.strerror}. Make it readable or move it away."
        ) from error
    found = f"sha256 {sha256} and {size:,} bytes"
    pinned = pin is not None and pin.sha256 == sha256
    if pin is not None and pin.strict and not pinned:
        raise IntegrityError(
            f"{origin or path}: {pin.source} asks for sha256 {pin.sha256}, found {found}. "
            "Use the file that was pinned, or remove or correct the pin."
        )
    if sha256 == published.sha256 and size == published.size:
        return VerifiedFile(path, sha256, PUBLISHED)
    problem = _member_problem(path, published)
    if problem is None:
        return VerifiedFile(path, sha256, REZIPPED)
    if pin is not None and pinned:
        return VerifiedFile(path, sha256, f"not the publisher's archive: pinned by {pin.source}")
    listed = "" if pin is None else f", and not the file that {pin.source} lists (sha256 {pin.sha256})"
    wanted = f"sha256 {published.sha256} and {published.size:,} bytes"
    if published.by_hand:
        wanted = f"an archive with {' and '.join(published.members)}"
    raise IntegrityError(
        f"{origin or path} is not the publisher's {published.filename}: expected {wanted}, "
        f"found {found}; {problem}{listed}. " + _remedy(path, sha256, published, origin, named)
    )


def _member_problem(path: Path, published: PublishedFile) -> str | None:
    """Say why the archive does not hold the publisher's members; None if it does."""
    if (problem := _zip_problem(path)) is not None:
        return problem
    if not published.members:
        return "the digests of the publisher's single files are not known"
    try:
        with zipfile.ZipFile(path) as archive:
            for name, expected in published.members.items():
                with archive.open(name) as member:
                    if digest_of(member) != expected:
                        return f"its member {name} is not the publisher's"
    except KeyError:
        return f"it has no member {name}"
    except UNPACKING_ERRORS as error:
        return f"its member {name} cannot be unpacked ({error})"
    return None


def _zip_problem(path: Path) -> str | None:
    if zipfile.is_zipfile(path):
        return None
    with path.open("rb") as stream:
        start = stream.read(512)
    if not start:
        return "it is empty"
    if start.startswith(b"PK"):
        return "it is truncated: the end of the archive is missing"
    if start.lstrip().startswith(b"<"):
        return "it is not a zip archive but looks like a web page"
    return "it is not a zip archive"


def _remedy(path: Path, sha256: str, published: PublishedFile, origin: str | None, named: bool) -> str:
    if named:
        remedy = f"Name another file with dataset.archive=FILE, such as one from {published.address}"
    elif origin is None and published.by_hand:
        remedy = f"Make the archive again from the files at {published.address}"
    elif origin is None:
        remedy = f"Delete the file and download {published.address} again"
    else:
        remedy = "Nothing was stored. Use another mirror or try again later"
    if zipfile.is_zipfile(path):
        remedy += f"; or, if you trust this file, pin it with dataset.sha256={sha256}"
    return f"{published.caveat} {remedy}.".lstrip()
