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
