"""What a report is made from: a comparison, its runs, and what was found out about each data set."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from recgauge.comparison import Comparison
from recgauge.comparison.orders import Stability
from recgauge.comparison.segment_results import Segments
from recgauge.report.comparison_tables import Cost
from recgauge.report.data_card import DataCard
from recgauge.report.segment_tables import Story
from recgauge.report.series import Series
from recgauge.runs.record import RunRecord
from recgauge.utils.checks import DoubleArray


@dataclass(frozen=True, slots=True, eq=False)
class Popularity:
    """Which share of its recommendations each run takes from groups of items.

    Parameters
    ----------
    train : ndarray of float64, shape (n_groups,)
        Of the training rows; the most popular items first.
    shares : dict of str to ndarray of float64, shape (n_groups,)
        By run.
    k : int
        Ranks that count.
    """

    train: DoubleArray
    shares: Mapping[str, DoubleArray]
    k: int


@dataclass(frozen=True, slots=True, eq=False)
class DatasetPart:
    """The runs on one data set, and what is known beside their numbers.

    Parameters
    ----------
    name : str
    runs : dict of str to Series
        By the name that the comparison gives them, in its order.
    card : DataCard or None
    stability : Stability or None
    segments : tuple of Segments
    stories : tuple of Story
    popularity : Popularity or None
    notes : tuple of str
        What is left out, and why.
    """

    name: str
    runs: Mapping[str, Series]
    card: DataCard | None = None
    stability: Stability | None = None
    segments: tuple[Segments, ...] = ()
    stories: tuple[Story, ...] = ()
    popularity: Popularity | None = None
    notes: tuple[str, ...] = ()

    def records(self) -> list[tuple[str, RunRecord]]:
        """Return the record of every seed and fold of every run, with the run's name."""
        return [
            (name, job.record)
            for name, series in self.runs.items()
            for job in series.jobs
            if job.record is not None
        ]

    def record(self, run: str) -> RunRecord:
        """Return the record of a run's first seed and fold."""
        record = self.runs[run].jobs[0].record
        assert record is not None
        return record


@dataclass(frozen=True, slots=True, eq=False)
class ReportData:
    """Everything that a report says.

    Parameters
    ----------
    comparison : Comparison
    parts : tuple of DatasetPart
        In the order of the comparison's data sets.
    costs : dict of (str, str) to Cost
    marks, notes : tuple of str
        What a reader of the numbers must know.
    """

    comparison: Comparison
    parts: tuple[DatasetPart, ...]
    costs: Mapping[tuple[str, str], Cost] = field(default_factory=dict)
    marks: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def several(self) -> bool:
        """Whether there are several data sets, so that parts must say which one they are of."""
        return len(self.parts) > 1
