"""Content of a report: a comparison, and facts that come from the folders and the data of its runs."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf
from typing import TypeVar

import numpy as np

from recgauge.comparison import Comparison
from recgauge.comparison.example_users import stories
from recgauge.comparison.run_groups import RunGroup
from recgauge.comparison.run_segments import segments_by
from recgauge.comparison.runs import require_equal_rows
from recgauge.comparison.segments import Segments
from recgauge.comparison.stability import Stability
from recgauge.comparison.stability_axes import stability_of
from recgauge.data.card import DataCard
from recgauge.data.dataset import Dataset
from recgauge.data.popularity import shares_by_popularity
from recgauge.data.split import Split
from recgauge.errors import RecgaugeError, said
from recgauge.metrics.names import split_key
from recgauge.report.blocks import Heading, PageBlock, Section, TableBlock
from recgauge.runs.finished import FinishedRun
from recgauge.runs.record import RunRecord
from recgauge.runs.stored import LISTS, TEST
from recgauge.utils.checks import DoubleArray
from recgauge.utils.files import read_own

CARD = "data_card.json"
FILES = (LISTS, TEST, CARD)
"""Files of a run that a report reads beside those that every comparison needs."""
GROUPS = ("activity", "item_popularity", "genre")
EXAMPLES = 2  # users with the largest gain, and as many with the largest loss
TRAINING = "training rows"
"""Name of the row of the training part beside the runs, in shares of popular items."""
_Made = TypeVar("_Made")
Load = Callable[[FinishedRun], tuple[Dataset, Split]]
"""Loads data and split of a run again."""


@dataclass(eq=False)
class DatasetPart:
    """The runs on one data set, in the comparison's order, and facts about them.

    `popularity` has the shares of each run's recommendations, and of the training rows, that go to groups of
    items, the most popular ones first; `notes` name the parts that are left out, with the reason.
    """

    name: str
    runs: Mapping[str, RunGroup]
    card: DataCard | None = None
    stability: Stability | None = None
    segments: Sequence[Segments] = ()
    stories: Sequence[TableBlock] = ()
    popularity: Mapping[str, DoubleArray] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def records(self) -> list[tuple[str, RunRecord]]:
        """Return the record of every seed and fold of every run, with the run's name."""
        return [(name, record) for name, group in self.runs.items() for record in group.records]

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

    def attempt(self, title: str, make: Callable[[], _Made]) -> _Made | None:
        """Return what a function makes; None, with a note, where the runs or this machine lack the data."""
        try:
            return make()
        except Exception as error:  # one section less is better than no report
            # later sentences of a message are paths and remedies, which help on this machine alone
            self.notes.append(f"{title} {said(error).partition('. ')[0].removesuffix('.')}.")
            return None


@dataclass(frozen=True, eq=False)
class ReportData:
    """The content of a report: the comparison, and a part for each data set."""

    comparison: Comparison
    parts: tuple[DatasetPart, ...]

    @property
    def several(self) -> bool:
        """Whether there are several data sets, so that parts must say which one they are of."""
        return len(self.parts) > 1

    def place(self, dataset: str) -> str:
        """Return " on" and the data set's name where there are several."""
        return f" on {dataset}" if self.several else ""


Content = tuple[str, list[PageBlock]] | None
"""A sentence and blocks of one data set; None where there is nothing to show."""


def by_dataset(
    title: str, data: ReportData, show: Callable[[ReportData, DatasetPart], Content]
) -> Section | None:
    """Return a section on each data set; None if there is nothing to show of any."""
    leads: list[str] = []
    blocks: list[PageBlock] = []
    for part in data.parts:
        content = show(data, part)
        if content is not None:
            lead, own = content
            leads += [lead] if lead and lead not in leads else []
            blocks += [Heading(part.name), *own] if data.several else own
    return Section(title, " ".join(leads), tuple(blocks)) if blocks else None


def report_data(
    comparison: Comparison,
    load: Load,
    *,
    most_rows: float = inf,
) -> ReportData:
    """Return the content of a report; a part that cannot be made is left out with a note.

    Data are loaded again if they have at most `most_rows`.
    """
    key, procedure = comparison.metrics[0], comparison.procedure
    parts = dataset_parts(comparison)
    for part in parts:
        best, second, *_ = part.runs
        folders = [run for group in part.runs.values() for run in group.runs]
        with suppress(OSError, RecgaugeError):
            part.card = DataCard.from_json(read_own(folders[0].folder / CARD))
        look = partial(stability_of, folders, key, confidence=procedure.confidence)
        part.stability = part.attempt("Does the winner stay?", look)
        if part.record(best).dataset.n_rows <= most_rows:
            base = procedure.baseline or second
            _add_data_parts(part, key, base, procedure.confidence, load)
        else:
            part.notes.append(
                "Who gains and who loses, example users, popularity: not looked at during the sweep, since "
                "the data set is large."
            )
    return ReportData(comparison, parts)


def dataset_parts(comparison: Comparison) -> tuple[DatasetPart, ...]:
    """Return the runs on each data set of a comparison, without anything that stored files show."""
    key, parts = comparison.metrics[0], []
    for dataset in comparison.datasets:
        rows = comparison.result(key, dataset).rows
        parts.append(DatasetPart(dataset, {row.run: comparison.groups[dataset, row.run] for row in rows}))
    return tuple(parts)


def _add_data_parts(part: DatasetPart, key: str, base: str, confidence: float, load: Load) -> None:
    """Load the data of the runs again; add segments, example users and shares of popular items."""
    runs = {name: group.runs[0] for name, group in part.runs.items()}
    first = next(iter(runs.values()))

    def loaded() -> tuple[Dataset, Split]:
        require_equal_rows(runs)
        return load(first)

    data = part.attempt("Who gains and who loses, example users, popularity:", loaded)
    if data is None:
        return
    dataset, split = data
    best = next(name for name in part.runs if name != base)
    two = {name: runs[name] for name in (base, best)}
    groups = [by for by in GROUPS if by != "genre" or dataset.item_features is not None]
    compared = partial(segments_by, baseline=base, confidence=confidence)
    made = [part.attempt(f"By {by}:", partial(compared, by, two, key, dataset, split)) for by in groups]
    repeat = max(len(group.runs) for group in part.runs.values()) > 1
    note = f"Of one run of each model, seed {first.record.seed}, whose users these are."
    part.segments = [replace(each, notes=(note,) if repeat else ()) for each in made if each is not None]
    if all(run.has_lists for run in runs.values()):
        users = partial(stories, two, key, dataset, split, base, EXAMPLES)
        part.stories = part.attempt("Example users:", users) or ()
        shares = partial(_popularity, runs, split, cutoff_of(key))
        part.popularity = part.attempt("Popular and rare items:", shares) or {}


def cutoff_of(key: str) -> int:
    """Return how much of the lists is looked at beside a metric: as much as it does, else 10."""
    return split_key(key)[1] or 10


def _popularity(runs: Mapping[str, FinishedRun], split: Split, k: int) -> dict[str, DoubleArray]:
    import pandas as pd

    train = split.train.item_counts()
    codes = pd.Series(np.arange(len(train)), split.train.item_ids)
    shares = {TRAINING: shares_by_popularity(train, train)[0]}
    for name, run in runs.items():
        lists = run.recommended()
        items: pd.Series = lists[lists["rank"] <= k]["item_id"].map(codes).dropna()
        counts = np.bincount(items.to_numpy(np.int64), minlength=len(train))
        shares[name] = shares_by_popularity(train, counts)[1]
    return shares
