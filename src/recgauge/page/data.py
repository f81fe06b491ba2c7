"""Content of a report: a comparison, and facts that come from the folders and the data of its runs."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from math import inf
from typing import TypeVar

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
from recgauge.data.split import Split
from recgauge.errors import RecgaugeError, said
from recgauge.report.blocks import Folded, Heading, PageBlock, Section, TableBlock, Text
from recgauge.runs.finished import FinishedRun
from recgauge.runs.record import RunRecord
from recgauge.runs.stored import LISTS, TEST
from recgauge.utils.files import read_own

CARD = "data_card.json"
FILES = (LISTS, TEST, CARD)
"""Files of a run that a report reads beside those that every comparison needs."""
GROUPS = ("activity", "item_popularity", "genre")
EXAMPLES = 2  # users with the largest gain, and as many with the largest loss
_Made = TypeVar("_Made")
Load = Callable[[FinishedRun], tuple[Dataset, Split]]
"""Loads data and split of a run again."""


@dataclass(eq=False)
class DatasetPart:
    """The runs on one data set, in the comparison's order, and facts about them.

    `notes` name the parts that are left out, with the reason.
    """

    name: str
    runs: Mapping[str, RunGroup]
    card: DataCard | None = None
    stability: Stability | None = None
    segments: Sequence[Segments] = ()
    stories: Sequence[TableBlock] = ()
    notes: list[str] = field(default_factory=list)

    def records(self) -> list[tuple[str, RunRecord]]:
        """Return the record of every seed and fold of every run, with the run's name."""
        return [(name, record) for name, group in self.runs.items() for record in group.records]

    def metrics(self) -> dict[str, dict[int | None, str]]:
        """Return the keys of the metrics that all runs have, by name and cutoff, in the suite's order."""
        records = [record for _, record in self.records()]
        common = set.intersection(*({entry.key for entry in record.results} for record in records))
        keys: dict[str, dict[int | None, str]] = {}
        for entry in records[0].results:
            if entry.key in common:
                keys.setdefault(entry.name, {})[entry.k] = entry.key
        return keys

    def attempt(self, title: str, make: Callable[[], _Made]) -> _Made | None:
        """Return what a function makes; None, with a note, where the runs or this machine lack the data."""
        try:
            return make()
        except Exception as error:  # one section less is better than no report
            self.notes.append(f"{title}: {said(error)}")
            return None


@dataclass(frozen=True, eq=False)
class ReportData:
    """The content of a report: the comparison, and a part for each data set."""

    comparison: Comparison
    parts: tuple[DatasetPart, ...]


Content = tuple[str, list[PageBlock]] | None
"""A sentence and blocks of one data set; None where there is nothing to show."""


def by_dataset(
    title: str, data: ReportData, show: Callable[[ReportData, DatasetPart], Content], *, folded: bool = True
) -> Section | None:
    """Return a section; each of several data sets is folded or has a heading; None if there is nothing."""
    section_lead, blocks = "", list[PageBlock]()
    for part in data.parts:
        if (content := show(data, part)) is None:
            continue
        lead, own = content
        if len(data.parts) == 1:
            section_lead, blocks = lead, own
        elif folded:
            blocks.append(Folded(f"{part.name}: {lead}", tuple(own), printed=True))
        else:
            blocks += [Heading(part.name), Text(lead), *own]
    return Section(title, section_lead, tuple(blocks)) if blocks else None


def report_data(comparison: Comparison, load: Load, *, most_rows: float = inf) -> ReportData:
    """Return the content of a report; a part that cannot be made is left out with a note.

    Data are loaded again if they have at most `most_rows`.
    """
    parts = dataset_parts(comparison)
    for part in parts:
        folders = [run for group in part.runs.values() for run in group.runs]
        with suppress(OSError, RecgaugeError):
            part.card = DataCard.from_json(read_own(folders[0].folder / CARD))
        confidence = comparison.procedure.confidence
        look = partial(stability_of, folders, comparison.metrics[0], confidence=confidence)
        part.stability = part.attempt("Does the winner stay?", look)
        if folders[0].record.dataset.n_rows <= most_rows:
            _add_data_parts(part, comparison, load)
        else:
            part.notes.append(
                "Who gains and who loses, example users: not looked at during the sweep, since the data set "
                "is large."
            )
    return ReportData(comparison, parts)


def dataset_parts(comparison: Comparison) -> tuple[DatasetPart, ...]:
    """Return the runs on each data set of a comparison, without anything that stored files show."""
    key, parts = comparison.metrics[0], []
    for dataset in comparison.datasets:
        rows = comparison.result(key, dataset).rows
        parts.append(DatasetPart(dataset, {row.run: comparison.groups[dataset, row.run] for row in rows}))
    return tuple(parts)


def _add_data_parts(part: DatasetPart, comparison: Comparison, load: Load) -> None:
    """Load the data of the runs again; add segments and example users."""
    key, procedure = comparison.metrics[0], comparison.procedure
    runs = {name: group.runs[0] for name, group in part.runs.items()}

    def loaded() -> tuple[Dataset, Split]:
        require_equal_rows(runs)
        return load(next(iter(runs.values())))

    data = part.attempt("Who gains and who loses, example users", loaded)
    if data is None:
        return
    dataset, split = data
    base = procedure.baseline or list(runs)[1]
    best = next(name for name in runs if name != base)
    two = {name: runs[name] for name in (base, best)}
    compared = partial(segments_by, baseline=base, confidence=procedure.confidence)
    groups = [by for by in GROUPS if by != "genre" or dataset.item_features is not None]
    made = [part.attempt(f"By {by}", partial(compared, by, two, key, dataset, split)) for by in groups]
    part.segments = [each for each in made if each is not None]
    if all(run.has_lists for run in two.values()):
        users = partial(stories, two, key, dataset, split, EXAMPLES)
        part.stories = part.attempt("Example users", users) or ()
