"""The MovieLens data sets, read from the archives that GroupLens publishes."""

import zipfile
from collections.abc import Sequence
from dataclasses import dataclass

from recgauge.data.dataset import Dataset
from recgauge.datasets import About
from recgauge.datasets._copies import Prepared
from recgauge.datasets._digests import Watch
from recgauge.datasets._keeper import WORTH_KEEPING, Keeper, key_of
from recgauge.datasets._movielens_files import read_movies, read_ratings, splits_of
from recgauge.datasets._movielens_releases import CITATION, RELEASES, Release
from recgauge.datasets.archives import UNPACKING_ERRORS, ArchiveSource, PublishedFile, VerifiedFile
from recgauge.datasets.prepared import prepared_folder
from recgauge.errors import IntegrityError
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
    mirror : str or sequence of str, optional
        Folders or http(s) addresses that hold the publisher's archives under their names; one text may name
        several, separated by ``|``.
    cache : str, optional
        Folder that keeps downloads; by default the user's own cache folder.
    archive : str, optional
        A local archive; no other location is tried then.
    sha256 : str, optional
        Accept exactly the archive with this digest, even if it is not the publisher's.
    offline : bool
        Never use the network.
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
        return RELEASES[name].about() if name is not None and name in RELEASES else About()

    @property
    def terms(self) -> str:
        """The terms of the release, in short."""
        return RELEASES[self.name].licence

    def load(self, progress: Progress | None = None) -> Dataset:
        """Find, verify and read the archive.

        Parameters
        ----------
        progress : Progress, optional
            Notified about the download.

        Returns
        -------
        Dataset

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
        watch = Watch.over([file.path])

        def read() -> Prepared:
            found = _read(file, release)
            watch.check()
            return found

        if self.prepared and watch.size >= WORTH_KEEPING:
            key = key_of([file.sha256], {"source": "movielens", "release": self.name})
            folder = prepared_folder(self.cache)
            found = Keeper(folder, key, self.name, str(file.path), progress).get(read)
        else:
            found = read()
        return Dataset(
            name=self.name,
            interactions=found.interactions,
            feedback="explicit",
            relevant_from=self.relevant_from,
            sha256=file.sha256,
            provenance=file.provenance,
            source=release.file.address,
            licence=release.licence,
            citation=CITATION,
            item_titles=found.item_titles,
            item_features=found.item_features,
            published=splits_of(release, file),
        )


def _read(file: VerifiedFile, release: Release) -> Prepared:
    try:
        with zipfile.ZipFile(file.path) as archive:
            rows = read_ratings(archive, release)
            movies = read_movies(archive, release)
    except (KeyError, *UNPACKING_ERRORS) as error:
        raise IntegrityError(
            f"{release.name}: {file.path} cannot be unpacked: {error}. Download {release.file.address} again."
        ) from error
    titles, genres = movies.of_items(rows.item_ids)
    return Prepared(rows, titles, genres)
