"""What is known about a file that somebody publishes. Imports nothing of recgauge."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType


@dataclass(frozen=True)
class PublishedFile:
    """A publisher's archive and the digests by which it is recognised.

    Parameters
    ----------
    filename : str
        Name of the archive, in the publisher's folder and in every cache and mirror.
    address : str
        Where the publisher offers it.
    size : int
        Bytes.
    sha256, md5 : str
        Hexadecimal digests of the archive.
    members : mapping of str to str
        Name and sha256 of every member that is read; empty if not known.
    caveat : str
        What somebody should know whose file does not match, as a sentence.
    outage : str
        What is known to be wrong with the publisher's server, as a sentence.
    by_hand : str
        How to make the archive, as a sentence that goes on, if nobody offers it as a whole; then `address` is
        where its files are, `size` and the archive's digests are not known, and the members tell.
    """

    filename: str
    address: str
    size: int
    sha256: str
    md5: str
    members: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    caveat: str = ""
    outage: str = ""
    by_hand: str = ""
