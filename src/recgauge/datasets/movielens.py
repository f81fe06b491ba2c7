"""The MovieLens data sets, read from the archives that GroupLens publishes."""

import csv
import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from recgauge.data.dataset import Dataset, ItemFeatures
from recgauge.datasets import About
from recgauge.datasets._keeper import Inputs
from recgauge.datasets._movielens_releases import CITATION, RELEASES, Layout, Release, splits_of
from recgauge.datasets.archives import ArchiveSource, read_members
from recgauge.datasets.prepared import Prepared
from recgauge.datasets.published_files import PublishedFile, VerifiedFile
from recgauge.errors import IntegrityError, SchemaError
from recgauge.files.columns import TABLE, Wanted
from recgauge.files.opening import UNPACKING_ERRORS
from recgauge.files.text import TextFormat
from recgauge.utils.checks import check_bool, check_choice, check_real
from recgauge.utils.progress import NoProgress, Progress


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
    mirror: str | Sequence[str] | None = None
    cache: str | None = None
    archive: str | None = None
    sha256: str | None = None
    offline: bool = False
    relevant_from: float | None = 4.0
    prepared: bool = True

    def __post_init__(self) -> None:
        check_choice("MovieLens: name", self.name, RELEASES)
        if self.relevant_from is not None:
            infinity = float("inf")
            check_real("MovieLens: relevant_from", self.relevant_from, low=-infinity, high=infinity)
        check_bool("MovieLens: prepared", self.prepared)
        _ = self.locations  # checks its settings

    @property
    def published(self) -> PublishedFile:
        """The publisher's archive."""
        return RELEASES[self.name].file

    @classmethod
    def about(cls, name: str | None = None) -> About:
        """Return the counts, terms and archive of a release."""
        if name is None or name not in RELEASES:
            return About()
        release = RELEASES[name]
        return About(*release.counts, terms=release.terms[1], archive=release.file)

    @property
    def terms(self) -> str:
        """The terms of the release, in short."""
        return RELEASES[self.name].terms[0]

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
        progress = progress or NoProgress()
        release = RELEASES[self.name]
        file = self.fetch(progress)
        found = Inputs([file.path], self.cache, prepared=self.prepared).get(
            partial(_read, file, release),
            [file.sha256],
            {"source": "movielens", "release": self.name},
            self.name,
            progress,
        )
        return Dataset(
            name=self.name,
            interactions=found.interactions,
            feedback="explicit",
            relevant_from=self.relevant_from,
            sha256=file.sha256,
            provenance=file.provenance,
            source=self.published.address,
            licence=self.terms,
            citation=CITATION,
            item_titles=found.item_titles,
            item_features=found.item_features,
            published=splits_of(release, file),
        )


_RATINGS: Mapping[Layout, tuple[str, TextFormat]] = {
    "u": ("u.data", TextFormat("\t", header=False, quotes=False)),
    "dat": ("ratings.dat", TextFormat("::", header=False, quotes=False)),
    "csv": ("ratings.csv", TextFormat(",", header=True, quotes=False)),
}
_COLUMNS = Wanted(TABLE, tuple(TABLE))


def _read(file: VerifiedFile, release: Release) -> Prepared:
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
    archive: zipfile.ZipFile, release: Release, item_ids: list[int]
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
    archive: zipfile.ZipFile, release: Release
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
