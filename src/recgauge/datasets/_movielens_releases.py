"""The MovieLens releases: what is published, how it is laid out, under which terms."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from recgauge.datasets import About
from recgauge.datasets._published import PublishedFile

Layout = Literal["u", "dat", "csv"]

_ADDRESS = "https://files.grouplens.org/datasets/movielens/"
CITATION = (
    "F. Maxwell Harper and Joseph A. Konstan. 2015. The MovieLens Datasets: History and Context. "
    "ACM Transactions on Interactive Intelligent Systems 5, 4, Article 19. https://doi.org/10.1145/2827872"
)
_OUTAGE = "The certificate of files.grouplens.org expired on 28 August 2026."
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
    """One MovieLens release.

    Parameters
    ----------
    name : str
        Name of the data set in recgauge.
    file : PublishedFile
        The publisher's archive.
    folder : str
        Folder inside the archive that holds the members.
    layout : {"u", "dat", "csv"}
        ``u.data`` and ``u.item``, ``::``-separated ``.dat``, or CSV with a header.
    encoding : str
        Encoding of titles.
    licence, few_words : str
        Terms, in short and for a list.
    counts : tuple of int or None
        Rows, users, and items with rows; None where not known.
    """

    name: str
    file: PublishedFile
    folder: str
    layout: Layout
    encoding: str
    licence: str
    few_words: str
    counts: tuple[int, int, int | None]

    def about(self) -> About:
        """Return what is known before the archive is here."""
        return About(*self.counts, terms=self.few_words, archive=self.file)


def _archive(
    filename: str,
    size: int,
    md5: str,
    sha256: str,
    members: Mapping[str, str] | None = None,
    caveat: str = "",
) -> PublishedFile:
    """Describe an archive; `members` are digests of files in its folder, which has the archive's name."""
    folder = filename.removesuffix(".zip")
    return PublishedFile(
        filename=filename,
        address=_ADDRESS + filename,
        size=size,
        sha256=sha256,
        md5=md5,
        members={f"{folder}/{name}": digest for name, digest in (members or {}).items()},
        caveat=caveat,
        outage=_OUTAGE,
    )


# Counts of ml_10m and ml_25m as their readers report them (konect.cc has the first); of ml_32m only the
# number of listed movies is known, not how many are rated. Tests check those whose archives they read.
_ALL = (
    Release(
        "ml_100k",
        _archive(
            "ml-100k.zip",
            4_924_029,
            "0e33842e24a9c977be4e0107933c0723",
            "50d2a982c66986937beb9ffb3aa76efe955bf3d5c6b761f4e3a7cd717c6a3229",
            {
                "u.data": "06416e597f82b7342361e41163890c81036900f418ad91315590814211dca490",
                "u.item": "553841ebc7de3a0fd0d6b62a204ea30c1e651aacfb2814c7a6584ac52f2c5701",
                "u.genre": "9757e0d3e6b298159a80dd48eaf938114690e911e39af97a76949ef1663610bb",
            },
        ),
        "ml-100k",
        "u",
        "iso-8859-1",
        *_RESEARCH_ONLY,
        (100_000, 943, 1_682),
    ),
    Release(
        "ml_latest_small",
        _archive(
            "ml-latest-small.zip",
            978_202,
            "31a303aabbc519bd33d025e44d6c2570",
            "696d65a3dfceac7c45750ad32df2c259311949efec81f0f144fdfb91ebc9e436",
            {
                "ratings.csv": "aa289ca83157595d0df6aea1be6a4ded676ddc4385472e8313a8ed9805352646",
                "movies.csv": "5a5f32dd9bb3797b8e728a1b98958789d2b13f294a69fdfbc5727f8a9611aa07",
            },
            "GroupLens may replace this archive in place; the expected digest is that of September 2018.",
        ),
        "ml-latest-small",
        "csv",
        "utf-8",
        *_SHARE_ALIKE,
        (100_836, 610, 9_724),
    ),
    Release(
        "ml_1m",
        _archive(
            "ml-1m.zip",
            5_917_549,
            "c4d9eecfca2ab87c1945afe126590906",
            "a6898adb50b9ca05aa231689da44c217cb524e7ebd39d264c56e2832f2c54e20",
        ),
        "ml-1m",
        "dat",
        "iso-8859-1",
        *_RESEARCH_ONLY,
        (1_000_209, 6_040, 3_706),
    ),
    Release(
        "ml_10m",
        _archive(
            "ml-10m.zip",
            65_566_137,
            "ce571fd55effeba0271552578f2648bd",
            "813c411ccb6122564edfe752e7f80c4dcc5aa25fa94c93622f6877a7ba252862",
            caveat=_SINGLE_SOURCE.format(address=_ADDRESS + "ml-10m.zip"),
        ),
        "ml-10M100K",
        "dat",
        "utf-8",
        *_RESEARCH_ONLY,
        (10_000_054, 69_878, 10_677),
    ),
    Release(
        "ml_20m",
        _archive(
            "ml-20m.zip",
            198_702_078,
            "cd245b17a1ae2cc31bb14903e1204af3",
            "96f243c338a8665f6bcc89c53edf6ee39162a846940de6b7c8c48aeada765ff3",
        ),
        "ml-20m",
        "csv",
        "utf-8",
        *_RESEARCH_ONLY,
        (20_000_263, 138_493, 26_744),
    ),
    Release(
        "ml_25m",
        _archive(
            "ml-25m.zip",
            261_978_986,
            "6b51fb2759a8657d3bfcbfc42b592ada",
            "8b21cfb7eb1706b4ec0aac894368d90acf26ebdfb6aced3ebd4ad5bd1eb9c6aa",
        ),
        "ml-25m",
        "csv",
        "utf-8",
        *_SEE_README,
        (25_000_095, 162_541, 59_047),
    ),
    Release(
        "ml_32m",
        _archive(
            "ml-32m.zip",
            238_950_008,
            "d472be332d4daa821edc399621853b57",
            "e4a68655d7386b8f95f2f2424b2ff975dfdd15ffd59e0d864a14dca43e99d6ee",
            caveat=_SINGLE_SOURCE.format(address=_ADDRESS + "ml-32m.zip"),
        ),
        "ml-32m",
        "csv",
        "utf-8",
        *_SEE_README,
        (32_000_204, 200_948, None),
    ),
)

RELEASES: Mapping[str, Release] = {release.name: release for release in _ALL}
