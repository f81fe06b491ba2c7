"""The contract of a source that loads one data set."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from recgauge.data.dataset import Dataset as Dataset
from recgauge.errors import SchemaError
from recgauge.utils.checks import Checked, shown
from recgauge.utils.lazy import lazy_names
from recgauge.utils.progress import Progress

if TYPE_CHECKING:
    from recgauge.datasets.demo import Demo as Demo
    from recgauge.datasets.gowalla import Gowalla as Gowalla
    from recgauge.datasets.movielens import MovieLens as MovieLens
    from recgauge.datasets.prepared import Prepared as Prepared
    from recgauge.datasets.published_files import Locations as Locations
    from recgauge.datasets.published_files import PublishedFile as PublishedFile
    from recgauge.datasets.published_files import VerifiedFile as VerifiedFile
    from recgauge.datasets.split_files import SplitFile as SplitFile
    from recgauge.datasets.split_files import SplitFiles as SplitFiles
    from recgauge.datasets.table import Table as Table
else:
    __getattr__, __dir__ = lazy_names(__name__)


@dataclass(frozen=True)
class About:
    """What is known of a data set before anything is loaded; ``recgauge data list`` prints it.

    Parameters
    ----------
    n_rows, n_users, n_items : int or None
        Users and items with rows; None where not known.
    terms : str
        In few words; the data card has them in full.
    files : tuple of PublishedFile
        What its publisher offers: an archive, or several files.
    origin : str
        Source of the rows if there are no such files, in one or two words.
    """

    n_rows: int | None = None
    n_users: int | None = None
    n_items: int | None = None
    terms: str = ""
    files: "tuple[PublishedFile, ...]" = ()
    origin: str = ""


class DatasetSource(Checked, ABC):
    """Something that loads one data set. Building it touches neither disk nor network."""

    @abstractmethod
    def load(self, progress: Progress | None = None) -> Dataset:
        """Return the data set.

        Parameters
        ----------
        progress : Progress, optional
            Notified about long steps such as a download.

        Raises
        ------
        DataError
            If the data cannot be found, are not what was expected, or cannot be read.
        """

    def find(self, progress: Progress | None = None) -> None:
        """Find the files that `load` reads, and download those that are missing, without reading them.

        A run asks for this before it does anything else. Here there are no files.

        Parameters
        ----------
        progress : Progress, optional
            Notified about a download.

        Raises
        ------
        MissingDataError
            If a file is absent and cannot be had.
        IntegrityError
            If an archive is not what it should be.
        """

    def digest(self) -> str:
        """Return the ``sha256`` that the loaded data set has, without loading it where that is possible.

        Stored runs are found by it, and a grid asks every source for it before its first job starts. Here
        the data set is loaded, which is right for every source.

        Raises
        ------
        DataError
            If the data cannot be found or are not what was expected.
        """
        return self.load().sha256

    def with_attributes(self, names: Sequence[str]) -> Self:
        """Return the source with further columns of its rows, which filters and splits name; by default none.

        Raises
        ------
        SchemaError
            If the data set has no further columns.
        """
        if names:
            raise SchemaError(
                f"{type(self).__name__} has no column {shown(names[0])}: only tables of your own "
                "(dataset=table) bring further columns. Leave out the filter or the setting that names it."
            )
        return self

    @property
    def label(self) -> str:
        """What runs call the data set; empty: the name of its YAML file."""
        return ""

    @classmethod
    def about(cls, settings: Mapping[str, Any]) -> About:  # noqa: ARG003 - contract
        """Return what is known of the data set before it is loaded; here nothing.

        Parameters
        ----------
        settings : mapping
            The settings of its YAML file.
        """
        return About()
