"""What a report is made from: a comparison, its runs, and what was found out about each data set."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from recgauge.checks.checking import CheckResult
from recgauge.comparison import Comparison
from recgauge.comparison.results import Cost
from recgauge.comparison.segments import Segments
from recgauge.comparison.series import Series
from recgauge.comparison.stability import Stability
from recgauge.report.blocks import Heading, PageBlock, Section, TableBlock
from recgauge.report.data_card import DataCard
from recgauge.runs.record import RunRecord
from recgauge.utils.checks import DoubleArray


@dataclass(frozen=True, slots=True, eq=False)
class PopularityShares:
    """Which share of its top `k` each run takes from groups of items, the most popular ones first."""

    train: DoubleArray
    shares: Mapping[str, DoubleArray]
    k: int


@dataclass(frozen=True, slots=True, eq=False)
class DatasetPart:
    """The runs on one data set, in the comparison's order; `notes` say what is left out, and why."""

    name: str
    runs: Mapping[str, Series]
    card: DataCard | None = None
    stability: Stability | None = None
    segments: tuple[Segments, ...] = ()
    checks: tuple[CheckResult, ...] = ()
    stories: tuple[TableBlock, ...] = ()
    popularity: PopularityShares | None = None
    notes: tuple[str, ...] = ()

    def records(self) -> list[tuple[str, RunRecord]]:
        """Return the record of every seed and fold of every run, with the run's name."""
        return [(name, record) for name in self.runs for record in self.records_of(name)]

    def records_of(self, run: str) -> list[RunRecord]:
        """Return the record of every seed and fold of a run."""
        return [job.record for job in self.runs[run].jobs if job.record is not None]

    def record(self, run: str) -> RunRecord:
        """Return the record of a run's first seed and fold."""
        return self.records_of(run)[0]

    def common_keys(self) -> dict[str, tuple[str, int | None]]:
        """Return the metrics that all runs have, as key to name and cutoff, in the order of the suite."""
        records = [record for _, record in self.records()]
        common = set.intersection(*({entry.key for entry in record.results} for record in records))
        return {entry.key: (entry.name, entry.k) for entry in records[0].results if entry.key in common}

    def mean(self, run: str, key: str) -> float:
        """Return a run's mean over seeds and folds; NaN if one of them lacks the metric."""
        value = self.runs[run].mean(key)
        return float("nan") if value is None else value


@dataclass(frozen=True, slots=True, eq=False)
class ReportData:
    """Everything that a report says; `marks` and `notes` are what a reader of the numbers must know."""

    comparison: Comparison
    parts: tuple[DatasetPart, ...]
    costs: Mapping[tuple[str, str], Cost] = field(default_factory=dict)
    marks: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def several(self) -> bool:
        """Whether there are several data sets, so that parts must say which one they are of."""
        return len(self.parts) > 1

    def place(self, dataset: str) -> str:
        """Return " on" and the data set's name where there are several."""
        return f" on {dataset}" if self.several else ""

    def best(self, part: DatasetPart) -> str:
        """Return the best run by the first metric."""
        return self.comparison.result(self.comparison.metrics[0], part.name).rows[0].run


Told = tuple[str, list[PageBlock]] | None
"""What a section says of one data set: a sentence, and blocks; None if there is nothing to say."""


def by_dataset(
    title: str, data: ReportData, tell: Callable[[ReportData, DatasetPart], Told], *, folded: bool = True
) -> Section | None:
    """Return a section of what is told of each data set; None if nothing is told of any."""
    leads: list[str] = []
    blocks: list[PageBlock] = []
    for part in data.parts:
        told = tell(data, part)
        if told is not None:
            lead, some = told
            leads += [lead] if lead and lead not in leads else []
            blocks += [Heading(part.name), *some] if data.several else some
    return Section(title, " ".join(leads), tuple(blocks), folded=folded) if blocks else None
