"""The contract of a source that loads one data set."""

from abc import ABC, abstractmethod

from recgauge.data.dataset import Dataset as Dataset
from recgauge.utils.progress import Progress


class DatasetSource(ABC):
    """Something that loads one data set. Building it touches neither disk nor network."""

    @abstractmethod
    def load(self, progress: Progress | None = None) -> Dataset:
        """Return the data set.

        Parameters
        ----------
        progress : Progress, optional
            Told about long steps such as a download.

        Raises
        ------
        DataError
            If the data cannot be found, are not what was expected, or cannot be read.
        """

    def find(self, progress: Progress | None = None) -> None:  # noqa: B027 - some need no files
        """Find the files that `load` reads, and download those that are missing, without reading them.

        A run asks for this before it does anything else. Here there are no files.

        Parameters
        ----------
        progress : Progress, optional
            Told about a download.

        Raises
        ------
        MissingDataError
            If a file is absent and cannot be had.
        IntegrityError
            If an archive is not what it should be.
        """

    def digest(self, progress: Progress | None = None) -> str:
        """Return the ``sha256`` that the loaded data set has, without loading it where that is possible.

        Stored runs are found by it, and a grid asks every source for it before its first job starts. Here
        the data set is loaded, which is right for every source.

        Parameters
        ----------
        progress : Progress, optional
            Told about long steps such as a download.

        Raises
        ------
        DataError
            If the data cannot be found or are not what was expected.
        """
        return self.load(progress).sha256
