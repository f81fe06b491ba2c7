"""What a report is made from: a comparison, and what stored runs and their data show beside it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf
from pathlib import Path
from typing import TypeVar

import numpy as np

from recgauge.comparison import Comparison
from recgauge.comparison.claims import split_key
from recgauge.comparison.results import Cost
from recgauge.comparison.run_segments import SegmentOptions, segments_by
from recgauge.comparison.runs import ComparedRuns, Condition
from recgauge.comparison.segments import Segments
from recgauge.comparison.series import Series
from recgauge.comparison.stability import Stability
from recgauge.comparison.stability_axes import stability_of
from recgauge.data.dataset import Dataset
from recgauge.data.split import Split
from recgauge.errors import RecgaugeError, said
from recgauge.report.blocks import Heading, PageBlock, Section, TableBlock
from recgauge.report.comparison_tables import marks_of
from recgauge.report.data_card import DataCard, shares_by_popularity
from recgauge.report.segment_tables import stories
from recgauge.runs.record import RunRecord
from recgauge.runs.stored import LISTS, TEST, RunFolder
from recgauge.utils.checks import DoubleArray

CARD = "data_card.json"
WANTED = (LISTS, TEST, CARD)
"""Files of a run that a report reads beside those that every comparison needs."""
GROUPS = ("activity", "item_popularity", "genre")
EXAMPLES = 2  # users with the largest gain, and as many with the largest loss
_Made = TypeVar("_Made")
Load = Callable[[RunFolder, Sequence[str]], tuple[Dataset, Split]]
"""Loads data and split of a run again, with classes of some packages."""


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
    stories: tuple[TableBlock, ...] = ()
    popularity: PopularityShares | None = None
    notes: tuple[str, ...] = ()

    def records(self) -> list[tuple[str, RunRecord]]:
        """Return the record of every seed and fold of every run, with the run's name."""
        return [(name, record) for name, series in self.runs.items() for record in series.records]

    def record(self, run: str) -> RunRecord:
        """Return the record of a run's first seed and fold."""
        return self.runs[run].records[0]

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


@dataclass(frozen=True)
class Effort:
    """How much work a report may be: up to which sizes its parts are found out, and how data are loaded."""

    rows: float = inf  # of a data set that is loaded again, for groups of users, titles and popularity
    values: float = inf  # users times runs whose lists are evaluated under other choices
    packages: tuple[str, ...] = ()  # others than recgauge whose data sets, filters and splits may be used
    load: Load | None = None  # without it no data are loaded


def report_data(compared: ComparedRuns, effort: Effort) -> ReportData:
    """Return everything that a report says; what cannot be found out is left out with a note."""
    parts = tuple(_part(compared, dataset, effort) for dataset in compared.comparison.datasets)
    return ReportData(compared.comparison, parts, compared.costs, marks_of(compared), compared.notes)


def _part(compared: ComparedRuns, dataset: str, effort: Effort) -> DatasetPart:
    key, confidence = compared.comparison.metrics[0], compared.comparison.procedure.confidence
    first = compared.comparison.result(key, dataset)
    runs = {row.run: compared.series[dataset, row.run] for row in first.rows}
    folders = {name: series.folders for name, series in runs.items()}
    notes: list[str] = []
    part = DatasetPart(dataset, runs, _card(folders[first.rows[0].run][0].folder))
    if first.n_users * sum(map(len, folders.values())) <= effort.values:
        every = [run for repeats in folders.values() for run in repeats]
        look = partial(stability_of, every, key, confidence=confidence)
        stability = _tried("Does the winner stay?", notes, look)
        part = replace(part, stability=stability)
    else:
        notes.append("Does the winner stay? Not looked at during the sweep: many users and runs.")
    if effort.load is not None and part.record(first.rows[0].run).dataset.n_rows <= effort.rows:
        condition = Condition({name: repeats[0] for name, repeats in folders.items()})
        base = compared.comparison.procedure.baseline or list(runs)[1]
        part = _with_data(part, condition, key, base, confidence, notes, effort)
    else:
        notes.append(
            "Who gains and who loses, example users, popularity: not looked at during the sweep, since the "
            "data set is large."
        )
    return replace(part, notes=tuple(notes))


def _tried(what: str, notes: list[str], make: Callable[[], _Made]) -> _Made | None:
    """Return what a function makes; None, with a note, where the runs or this machine lack the data."""
    try:
        return make()
    except Exception as error:  # one section less is better than no report
        # the rest of the message is for whoever sits at this machine: paths, and what to do
        notes.append(f"{what} {said(error).partition('. ')[0].removesuffix('.')}.")
        return None


def _card(folder: Path) -> DataCard | None:
    try:
        return DataCard.from_json((folder / CARD).read_text(encoding="utf-8"))
    except (OSError, RecgaugeError):
        return None


def _with_data(
    part: DatasetPart,
    condition: Condition,
    key: str,
    base: str,
    confidence: float,
    notes: list[str],
    effort: Effort,
) -> DatasetPart:
    """Load the data of the runs again, and add what only they show."""

    def loaded() -> tuple[Dataset, Split]:
        assert effort.load is not None
        condition.check()
        return effort.load(condition.first, effort.packages)

    data = _tried("Who gains and who loses, example users, popularity:", notes, loaded)
    if data is None:
        return part
    dataset, split = data
    best = next(name for name in part.runs if name != base)
    two = Condition({base: condition.runs[base], best: condition.runs[best]})
    options = SegmentOptions(baseline=base, confidence=confidence, packages=effort.packages)
    groups = [by for by in GROUPS if by != "genre" or dataset.item_features is not None]
    made = [
        _tried(f"By {by}:", notes, partial(segments_by, by, two, key, options, None, dataset, split))
        for by in groups
    ]
    part = replace(part, segments=tuple(segments for segments in made if segments is not None))
    if not all(run.has_lists for run in condition.runs.values()):
        return part
    users = _tried("Example users:", notes, lambda: stories(two, key, dataset, split, base, EXAMPLES))
    popularity = _tried("Popular and rare items:", notes, lambda: _popularity(condition, split, key))
    return replace(part, stories=tuple(users or ()), popularity=popularity)


def _popularity(condition: Condition, split: Split, key: str) -> PopularityShares:
    import pandas as pd

    k = split_key(key)[1] or 10
    train = split.train.item_counts()
    places = pd.Series(np.arange(len(train)), split.train.item_ids)
    shares = {}
    for name, run in condition.runs.items():
        lists = run.recommended()
        items: pd.Series = lists[lists["rank"] <= k]["item_id"].map(places).dropna()
        counts = np.bincount(items.to_numpy(np.int64), minlength=len(train))
        shares[name] = shares_by_popularity(train, counts)[1]
    return PopularityShares(shares_by_popularity(train, train)[0], shares, k)
