"""The MovieLens releases: what is published, how it is laid out, under which terms, with which splits."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal

from recgauge.data.dataset import PublishedParts, PublishedSplits
from recgauge.datasets.archives import read_members
from recgauge.datasets.published_files import PUBLISHED, REZIPPED, PublishedFile, VerifiedFile
from recgauge.errors import IntegrityError
from recgauge.files.columns import PAIRS
from recgauge.files.opening import TableFile
from recgauge.files.text import TextFormat
from recgauge.utils.files import digest_of

Layout = Literal["u", "dat", "csv"]

CITATION = (
    "F. Maxwell Harper and Joseph A. Konstan. 2015. The MovieLens Datasets: History and Context. "
    "ACM Transactions on Interactive Intelligent Systems 5, 4, Article 19. https://doi.org/10.1145/2827872"
)
_SINGLE_SOURCE = (
    "The digest recgauge expects rests on a single source: compare {address}.md5 before you judge."
)
_RESEARCH_ONLY = (
    "research use with acknowledgement; no redistribution and no commercial use without permission of "
    "GroupLens",
    "research only, no redistribution",
)
_SEE_README = (
    "research use with acknowledgement; no commercial use without permission of GroupLens; for "
    "redistribution see the README in the archive",
    "research only, see its README",
)
_SHARE_ALIKE = (
    "research use with acknowledgement; redistribution under the same terms; no commercial use without "
    "permission of GroupLens",
    "research only, share alike",
)


@dataclass(frozen=True)
class Release:
    """One MovieLens release."""

    name: str  # of the data set in recgauge; the archive has it, too, with hyphens
    size: int  # bytes of the archive
    sha256: str  # of the archive
    folder: str  # inside the archive
    layout: Layout  # ``u.data`` and ``u.item``, ``::``-separated ``.dat``, or CSV with a header
    encoding: str  # of titles
    terms: tuple[str, str]  # in short, and in few words for a list
    counts: tuple[int, int, int | None]  # rows, users, and items with rows, where known
    members: Mapping[str, str] = field(default_factory=dict)  # sha256 of files in the folder, where known
    caveat: str = ""  # what somebody should know whose archive does not match

    @property
    def file(self) -> PublishedFile:
        """The publisher's archive."""
        filename = f"{self.name.replace('_', '-')}.zip"
        address = f"https://files.grouplens.org/datasets/movielens/{filename}"
        return PublishedFile(
            filename,
            address,
            self.size,
            self.sha256,
            members={f"{self.folder}/{name}": digest for name, digest in self.members.items()},
            caveat=self.caveat.format(address=address),
            outage="The certificate of files.grouplens.org expired on 28 August 2026.",
        )


# Counts of ml_10m and ml_25m as their readers report them (konect.cc has the first); of ml_32m only the
# number of listed movies is known, not how many are rated. Tests check those whose archives they read.
_ALL = (
    Release(
        "ml_100k",
        4_924_029,
        "50d2a982c66986937beb9ffb3aa76efe955bf3d5c6b761f4e3a7cd717c6a3229",
        "ml-100k",
        "u",
        "iso-8859-1",
        _RESEARCH_ONLY,
        (100_000, 943, 1_682),
        members={
            "u.data": "06416e597f82b7342361e41163890c81036900f418ad91315590814211dca490",
            "u.item": "553841ebc7de3a0fd0d6b62a204ea30c1e651aacfb2814c7a6584ac52f2c5701",
            "u.genre": "9757e0d3e6b298159a80dd48eaf938114690e911e39af97a76949ef1663610bb",
        },
    ),
    Release(
        "ml_latest_small",
        978_202,
        "696d65a3dfceac7c45750ad32df2c259311949efec81f0f144fdfb91ebc9e436",
        "ml-latest-small",
        "csv",
        "utf-8",
        _SHARE_ALIKE,
        (100_836, 610, 9_724),
        members={
            "ratings.csv": "aa289ca83157595d0df6aea1be6a4ded676ddc4385472e8313a8ed9805352646",
            "movies.csv": "5a5f32dd9bb3797b8e728a1b98958789d2b13f294a69fdfbc5727f8a9611aa07",
        },
        caveat="GroupLens may replace this archive in place; the expected digest is that of September 2018.",
    ),
    Release(
        "ml_1m",
        5_917_549,
        "a6898adb50b9ca05aa231689da44c217cb524e7ebd39d264c56e2832f2c54e20",
        "ml-1m",
        "dat",
        "iso-8859-1",
        _RESEARCH_ONLY,
        (1_000_209, 6_040, 3_706),
    ),
    Release(
        "ml_10m",
        65_566_137,
        "813c411ccb6122564edfe752e7f80c4dcc5aa25fa94c93622f6877a7ba252862",
        "ml-10M100K",
        "dat",
        "utf-8",
        _RESEARCH_ONLY,
        (10_000_054, 69_878, 10_677),
        caveat=_SINGLE_SOURCE,
    ),
    Release(
        "ml_20m",
        198_702_078,
        "96f243c338a8665f6bcc89c53edf6ee39162a846940de6b7c8c48aeada765ff3",
        "ml-20m",
        "csv",
        "utf-8",
        _RESEARCH_ONLY,
        (20_000_263, 138_493, 26_744),
    ),
    Release(
        "ml_25m",
        261_978_986,
        "8b21cfb7eb1706b4ec0aac894368d90acf26ebdfb6aced3ebd4ad5bd1eb9c6aa",
        "ml-25m",
        "csv",
        "utf-8",
        _SEE_README,
        (25_000_095, 162_541, 59_047),
    ),
    Release(
        "ml_32m",
        238_950_008,
        "e4a68655d7386b8f95f2f2424b2ff975dfdd15ffd59e0d864a14dca43e99d6ee",
        "ml-32m",
        "csv",
        "utf-8",
        _SEE_README,
        (32_000_204, 200_948, None),
        caveat=_SINGLE_SOURCE,
    ),
)

RELEASES: Mapping[str, Release] = {release.name: release for release in _ALL}

# sha256 of the test rows of each; the training rows (.base) are all others.
_TEST_ROWS: Mapping[str, str] = {
    "u1": "18c6014a4b2c7324f250a63f8904a7b16b2b19f911129e346141507b0cbac950",
    "u2": "4de658d1e04ed9104629509a2e2528fce833ac8e048280183f1df167632038c3",
    "u3": "0f548b51c78327de4c156461d3e430b7e5579fe2b5681586a59416e48fd35f6d",
    "u4": "7c02ad0a1e7ab1083c8b9d4b627203a051dd7b5eab46d99fa44de33470de8db9",
    "u5": "351cc52e0d15b6c721466276fc24671d40936899e3d01fadeaf312915b8c5634",
    "ua": "d0497e202417720f57a184ec8c66be2d1afa4ff41bb53787c57b28d6bf79bc42",
    "ub": "d54a72d05730d5892062734b2bec73e976f9b713d18c828a18b968d6cce442da",
}


def splits_of(release: Release, file: VerifiedFile) -> PublishedSplits | None:
    """Return the splits in a release's archive, or None; nothing is read before it is requested."""
    if release.name != "ml_100k":
        return None
    # Who pins an archive of their own vouches for all that is in it.
    vouched = file.provenance not in (PUBLISHED, REZIPPED)
    return PublishedSplits(
        release.name,
        {
            name: partial(_read_test, file.path, f"{release.folder}/{name}.test", None if vouched else sha256)
            for name, sha256 in _TEST_ROWS.items()
        },
    )


def _read_test(path: Path, member: str, sha256: str | None) -> PublishedParts:
    """Return the test rows of one split."""
    file = TableFile(path, member)
    file.size()  # refuses an archive without it
    with file.unpacked() as stream:
        if sha256 is not None and digest_of(stream) != sha256:
            raise IntegrityError(
                f"{path}: its member {member} is not the publisher's. Get the publisher's archive again."
            )
    return PublishedParts(test=read_members(path, [member], PAIRS, TextFormat("\t", header=False)))
