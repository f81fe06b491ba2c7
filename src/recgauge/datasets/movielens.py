"""The MovieLens data sets, read from the archives that GroupLens publishes."""

import csv
import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from recgauge.data.dataset import Dataset, ItemFeatures, PublishedParts, PublishedSplits
from recgauge.datasets import About
from recgauge.datasets.archives import PAIRS, ArchiveSource, read_members
from recgauge.datasets.prepared import Prepared, load_prepared
from recgauge.datasets.published_files import PublishedFile, VerifiedFile
from recgauge.errors import IntegrityError, SchemaError
from recgauge.files.columns import TABLE, CellFormat, Roles
from recgauge.files.opening import UNPACKING_ERRORS
from recgauge.files.text import TextFormat
from recgauge.utils.checks import Real, check_choice
from recgauge.utils.progress import Progress

Layout = Literal["u", "dat", "csv"]

CITATION = (
    "F. Maxwell Harper and Joseph A. Konstan. 2015. The MovieLens Datasets: History and Context. "
    "ACM Transactions on Interactive Intelligent Systems 5, 4, Article 19. https://doi.org/10.1145/2827872"
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
class _Release:
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
        )


# Counts of ml_10m and ml_25m as their readers report them (konect.cc has the first); of ml_32m only the
# number of listed movies is known, not how many are rated. Tests check those whose archives they read.
_ALL = (
    _Release(
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
            "u1.test": "18c6014a4b2c7324f250a63f8904a7b16b2b19f911129e346141507b0cbac950",
            "u2.test": "4de658d1e04ed9104629509a2e2528fce833ac8e048280183f1df167632038c3",
            "u3.test": "0f548b51c78327de4c156461d3e430b7e5579fe2b5681586a59416e48fd35f6d",
            "u4.test": "7c02ad0a1e7ab1083c8b9d4b627203a051dd7b5eab46d99fa44de33470de8db9",
            "u5.test": "351cc52e0d15b6c721466276fc24671d40936899e3d01fadeaf312915b8c5634",
            "ua.test": "d0497e202417720f57a184ec8c66be2d1afa4ff41bb53787c57b28d6bf79bc42",
            "ub.test": "d54a72d05730d5892062734b2bec73e976f9b713d18c828a18b968d6cce442da",
        },
    ),
    _Release(
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
    ),
    _Release(
        "ml_1m",
        5_917_549,
        "a6898adb50b9ca05aa231689da44c217cb524e7ebd39d264c56e2832f2c54e20",
        "ml-1m",
        "dat",
        "iso-8859-1",
        _RESEARCH_ONLY,
        (1_000_209, 6_040, 3_706),
    ),
    _Release(
        "ml_10m",
        65_566_137,
        "813c411ccb6122564edfe752e7f80c4dcc5aa25fa94c93622f6877a7ba252862",
        "ml-10M100K",
        "dat",
        "utf-8",
        _RESEARCH_ONLY,
        (10_000_054, 69_878, 10_677),
    ),
    _Release(
        "ml_20m",
        198_702_078,
        "96f243c338a8665f6bcc89c53edf6ee39162a846940de6b7c8c48aeada765ff3",
        "ml-20m",
        "csv",
        "utf-8",
        _RESEARCH_ONLY,
        (20_000_263, 138_493, 26_744),
    ),
    _Release(
        "ml_25m",
        261_978_986,
        "8b21cfb7eb1706b4ec0aac894368d90acf26ebdfb6aced3ebd4ad5bd1eb9c6aa",
        "ml-25m",
        "csv",
        "utf-8",
        _SEE_README,
        (25_000_095, 162_541, 59_047),
    ),
    _Release(
        "ml_32m",
        238_950_008,
        "e4a68655d7386b8f95f2f2424b2ff975dfdd15ffd59e0d864a14dca43e99d6ee",
        "ml-32m",
        "csv",
        "utf-8",
        _SEE_README,
        (32_000_204, 200_948, None),
    ),
)

RELEASES: Mapping[str, _Release] = {release.name: release for release in _ALL}


@dataclass(frozen=True)
class MovieLens(ArchiveSource):
    """A MovieLens release, from the publisher's archive.

    The archive is taken from the first location that has it: the file named by `archive`, the cache folder,
    the mirrors, the publisher's address. It is verified in any case.

    Parameters
    ----------
    name : {"ml_100k", "ml_latest_small", "ml_1m", "ml_10m", "ml_20m", "ml_25m", "ml_32m"}
        The release.
    mirror, cache, archive, sha256, offline
        As of :class:`Locations`.
    relevant_from : float, optional
        Lowest rating that makes a held-out item relevant; None means that every rating does.
    prepared : bool
        Whether to keep what was read in the cache folder, so that the next load is fast; archives below 1 MiB
        are always read.

    Raises
    ------
    ConfigError
        If a parameter is not valid.

    Notes
    -----
    Items are the rated movies only, in the order of their ids; the rows keep the publisher's order. Genres
    are the publisher's, without the markers for "none" ("unknown", "(no genres listed)"): an item that has
    only such a marker has no feature.

    An archive is accepted as the publisher's by size and sha256; else if the members that are read have the
    publisher's digests; else if the user pins it, by `sha256` or by a ``SHA256SUMS`` file in a mirror folder.
    ``Dataset.provenance`` says which.

    ml_100k has published splits: u1..u5, five folds, and ua and ub, ten test rows of each user.

    References
    ----------
    .. [1] F. M. Harper, J. A. Konstan, "The MovieLens Datasets: History and Context", ACM Transactions on
           Interactive Intelligent Systems 5(4), 2015.

    Examples
    --------
    >>> MovieLens("ml_100k").relevant_from
    4.0
    >>> MovieLens("ml_5m")
    Traceback (most recent call last):
    recgauge.errors.ConfigError: MovieLens: name must be one of ml_100k, ml_latest_small, ml_1m, ml_10m,
    ml_20m, ml_25m, ml_32m; got 'ml_5m'.
    """

    name: str
    relevant_from: Real | None = 4.0
    prepared: bool = True

    def __post_init__(self) -> None:
        check_choice("MovieLens: name", self.name, RELEASES)
        super().__post_init__()

    @property
    def files(self) -> tuple[PublishedFile]:
        """The publisher's archive."""
        return (RELEASES[self.name].file,)

    @classmethod
    def about(cls, settings: Mapping[str, Any]) -> About:
        """Return the counts, terms and archive of a release."""
        release = RELEASES.get(settings.get("name", ""))
        if release is None:
            return About()
        return About(*release.counts, terms=release.terms[1], files=(release.file,))

    def load(self, progress: Progress | None = None) -> Dataset:
        """Find, verify and read the archive.

        Raises
        ------
        MissingDataError
            If no location has the archive.
        IntegrityError
            If the archive is not what it should be, or is damaged.
        SchemaError
            If a pinned archive is not laid out as the publisher's.
        """
        progress = progress or Progress()
        release = RELEASES[self.name]
        (file,) = self.fetch_all(progress)
        kept, _ = load_prepared(
            partial(_read, file, release),
            [file.path],
            {"source": "movielens", "release": self.name},
            progress,
            cache=self.cache,
            prepared=self.prepared,
            digests=[file.sha256],
        )
        return Dataset(
            name=self.name,
            interactions=kept.interactions,
            feedback="explicit",
            relevant_from=self.relevant_from,
            sha256=file.sha256,
            provenance=file.provenance,
            source=release.file.address,
            licence=release.terms[0],
            citation=CITATION,
            item_titles=kept.item_titles,
            item_features=kept.item_features,
            published=_splits_of(release, file.path),
        )


_RATINGS: Mapping[Layout, tuple[str, TextFormat]] = {
    "u": ("u.data", TextFormat("\t", header=False, quotes=False)),
    "dat": ("ratings.dat", TextFormat("::", header=False, quotes=False)),
    "csv": ("ratings.csv", TextFormat(",", header=True, quotes=False)),
}
_COLUMNS = Roles(TABLE, tuple(TABLE), cells=CellFormat(implausible="keep"))


def _read(file: VerifiedFile, release: _Release) -> Prepared:
    member, how = _RATINGS[release.layout]
    rows = read_members(file.path, [f"{release.folder}/{member}"], _COLUMNS, how)
    try:
        with zipfile.ZipFile(file.path) as archive:
            titles, genres = _read_movies(archive, release, rows.item_ids.tolist())
    except (KeyError, *UNPACKING_ERRORS) as error:
        raise IntegrityError(
            f"{release.name}: {file.path} cannot be unpacked: {error}. Download {release.file.address} again."
        ) from error
    return Prepared(rows, titles, genres)


def _read_movies(
    archive: zipfile.ZipFile, release: _Release, item_ids: list[int]
) -> tuple[npt.NDArray[Any], ItemFeatures]:
    """Return titles and genres of the items, whose movies are some of those listed."""
    try:
        fields, genres, names = _listed_movies(archive, release)
        row_of = {int(row[0]): number for number, row in enumerate(fields)}
        titles = [row[1] for row in fields]
    except (ValueError, IndexError) as error:
        raise SchemaError(
            f"{release.name}: the list of movies is not laid out as published: {error}."
        ) from error
    unlisted = [item for item in item_ids if item not in row_of]
    if unlisted:
        raise SchemaError(
            f"{len(unlisted)} rated movies are not in the list of movies, the first has id {unlisted[0]}. "
            "The members of the archive do not belong together: download it again."
        )
    rows = [row_of[item] for item in item_ids]
    names = [name for name in names if name not in ("(no genres listed)", "unknown", "")]
    column = {name: code for code, name in enumerate(names)}
    columns = [sorted(column[name] for name in genres[row] if name in column) for row in rows]
    indptr = np.cumsum([0, *map(len, columns)])
    indices = np.array([code for row in columns for code in row], dtype=np.int32)
    ones = np.ones(len(indices), dtype=np.float32)
    matrix = sparse.csr_array((ones, indices, indptr), shape=(len(rows), len(names)))
    return np.array([titles[row] for row in rows], dtype=object), ItemFeatures(matrix, tuple(names))


def _listed_movies(
    archive: zipfile.ZipFile, release: _Release
) -> tuple[list[list[str]], list[list[str]], list[str]]:
    """Return the fields and the genres of each listed movie, and all genres in their order."""

    def text(member: str) -> str:
        return archive.read(f"{release.folder}/{member}").decode(release.encoding)

    def lines(member: str, separator: str) -> list[list[str]]:
        # Not splitlines: it also cuts at bytes that ISO-8859-1 titles may hold.
        return [line.rstrip("\r").split(separator) for line in text(member).split("\n") if line]

    if release.layout == "u":
        names = [row[0] for row in lines("u.genre", "|")]
        fields = lines("u.item", "|")
        # The genre flags end the line: one a name of u.genre, in its order.
        genres = [[name for name, flag in zip(names, row[5:], strict=True) if flag == "1"] for row in fields]
        return fields, genres, names
    if release.layout == "csv":
        fields = list(csv.reader(io.StringIO(text("movies.csv"), newline="")))[1:]
    else:
        fields = lines("movies.dat", "::")
    genres = [row[2].split("|") for row in fields]
    return fields, genres, sorted({name for row in genres for name in row})


_SPLITS = ("u1", "u2", "u3", "u4", "u5", "ua", "ub")  # of ml_100k: the training rows (.base) are all others


def _splits_of(release: _Release, path: Path) -> PublishedSplits | None:
    """Return the splits in a release's archive, or None; nothing is read before it is requested."""
    if release.name != "ml_100k":
        return None
    members = {name: f"{release.folder}/{name}.test" for name in _SPLITS}
    return PublishedSplits(
        release.name, {name: partial(_read_test, path, member) for name, member in members.items()}
    )


def _read_test(path: Path, member: str) -> PublishedParts:
    """Return the test rows of one split."""
    return PublishedParts(test=read_members(path, [member], PAIRS, TextFormat("\t", header=False)))
