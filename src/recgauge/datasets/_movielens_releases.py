"""The MovieLens releases: what is published, how it is laid out, under which terms."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from recgauge.datasets._published import PublishedFile

Layout = Literal["u", "dat", "csv"]

_ADDRESS = "https://files.grouplens.org/datasets/movielens/"
_CITATION = (
    "F. Maxwell Harper and Joseph A. Konstan. 2015. The MovieLens Datasets: History and Context. "
    "ACM Transactions on Interactive Intelligent Systems 5, 4, Article 19. https://doi.org/10.1145/2827872"
)
_RESEARCH_ONLY = (
    "research use with acknowledgement; no redistribution and no commercial use without permission of "
    "GroupLens"
)
_SHARE_ALIKE = (
    "research use with acknowledgement; redistribution under the same terms; no commercial use without "
    "permission of GroupLens"
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
    licence, citation : str
        Terms in short, and what publications must cite.
    """

    name: str
    file: PublishedFile
    folder: str
    layout: Layout
    encoding: str
    licence: str
    citation: str = _CITATION


def _archive(
    filename: str, size: int, md5: str, sha256: str, members: Mapping[str, str] | None = None
) -> PublishedFile:
    """Describe an archive; `members` are digests of files in its folder, which has the archive's name."""
    folder = filename.removesuffix(".zip")
    digests = {f"{folder}/{name}": digest for name, digest in (members or {}).items()}
    return PublishedFile(filename, _ADDRESS + filename, size, sha256, md5, digests)


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
        _RESEARCH_ONLY,
    ),
    Release(
        "ml_latest_small",
        replace(
            _archive(
                "ml-latest-small.zip",
                978_202,
                "31a303aabbc519bd33d025e44d6c2570",
                "696d65a3dfceac7c45750ad32df2c259311949efec81f0f144fdfb91ebc9e436",
                {
                    "ratings.csv": "aa289ca83157595d0df6aea1be6a4ded676ddc4385472e8313a8ed9805352646",
                    "movies.csv": "5a5f32dd9bb3797b8e728a1b98958789d2b13f294a69fdfbc5727f8a9611aa07",
                },
            ),
            caveat="GroupLens may replace this archive in place; the digest is that of September 2018.",
        ),
        "ml-latest-small",
        "csv",
        "utf-8",
        _SHARE_ALIKE,
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
        _RESEARCH_ONLY,
    ),
)

RELEASES: Mapping[str, Release] = {release.name: release for release in _ALL}
