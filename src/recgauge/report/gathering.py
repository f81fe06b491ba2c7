"""What a report shows beside a comparison: found in the stored runs and, where they are here, their data."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np

from recgauge.comparison.conditions import Condition, split_key
from recgauge.comparison.run_segments import SegmentOptions, segments_by
from recgauge.comparison.runs import ComparedRuns
from recgauge.comparison.segments import Segments
from recgauge.comparison.series import Series
from recgauge.comparison.stability_axes import stability_of
from recgauge.data.dataset import Dataset
from recgauge.data.split import Split
from recgauge.errors import RecgaugeError, said
from recgauge.report.blocks import Picture
from recgauge.report.compared_runs import marks_of
from recgauge.report.data_card import DataCard
from recgauge.report.distributions import shares_by_popularity
from recgauge.report.page import pictures, report_page
from recgauge.report.page.data import DatasetPart, PopularityShares, ReportData
from recgauge.report.stories import stories
from recgauge.runs.stored import LISTS, PREDICTIONS, TEST, RunFolder
from recgauge.utils.output_files import text_writer, write_files

CARD = "data_card.json"
WANTED = (LISTS, TEST, PREDICTIONS, CARD)
"""Files of a run that a report reads beside those that every comparison needs."""
GROUPS = ("activity", "item_popularity", "genre")
EXAMPLES = 2  # users with the largest gain, and as many with the largest loss
_Found = TypeVar("_Found")
Load = Callable[[RunFolder, Sequence[str]], tuple[Dataset, Split]]
"""Loads data and split of a run again, with classes of some packages."""


@dataclass(frozen=True)
class Effort:
    """How much work a report may be.

    Parameters
    ----------
    rows : int or None
        Rows of a data set up to which it is loaded again, for groups of users, titles and popularity.
    values : int or None
        Users times runs up to which lists are evaluated under other metrics, cutoffs and conventions.
    packages : tuple of str
        Packages other than recgauge whose data sets, filters and splits may be used.
    load : callable, optional
        Without it no data are loaded.
    """

    rows: int | None = None
    values: int | None = None
    packages: tuple[str, ...] = ()
    load: Load | None = None


def write_page(data: ReportData, path: Path) -> Path:
    """Write a report, whole or not at all.

    Raises
    ------
    ConfigError
        If the file cannot be written.
    """
    return write_files({path: text_writer(report_page(data))})[0]


def write_figures(data: ReportData, folder: Path) -> list[Path]:
    """Write every figure of a report as PNG and as SVG.

    Raises
    ------
    ConfigError
        If a file cannot be written.
    """
    from recgauge.report.figures.style import save_png
    from recgauge.report.figures.svg import svg_file

    def write(picture: Picture, file: Path) -> None:
        if file.suffix == ".png":
            save_png(picture.draw(), file)
        else:
            file.write_text(svg_file(picture.draw(), picture.alt, picture.name), encoding="utf-8")

    made = {folder / f"{one.name}{suffix}": one for one in pictures(data) for suffix in (".png", ".svg")}
    return write_files({path: partial(write, picture) for path, picture in made.items()})


def report_data(found: ComparedRuns, effort: Effort) -> ReportData:
    """Return everything that a report says of a comparison.

    What cannot be found out, such as who gains where the data are not on this machine, is left out with a
    note.

    Parameters
    ----------
    found : ComparedRuns
    effort : Effort
    """
    parts = tuple(_part(found, dataset, effort) for dataset in found.comparison.datasets)
    return ReportData(found.comparison, parts, found.costs, marks_of(found), found.notes)


def _part(found: ComparedRuns, dataset: str, effort: Effort) -> DatasetPart:
    key = found.comparison.metrics[0]
    first = found.comparison.result(key, dataset)
    runs = {row.run: found.series[dataset, row.run] for row in first.rows}
    notes: list[str] = []
    part = DatasetPart(dataset, runs, _card(next(iter(runs.values()))))
    confidence = found.comparison.procedure.confidence
    if _few(effort.values, first.n_users * sum(len(series.jobs) for series in runs.values())):
        folders = [folder for series in runs.values() for folder in _folders(series)]
        stability = _tried(
            "Does the winner stay?", notes, lambda: stability_of(folders, key, confidence=confidence)
        )
        part = replace(part, stability=stability)
    else:
        notes.append("Does the winner stay? Not looked at during the sweep: many users and runs.")
    if effort.load is not None and _few(effort.rows, part.record(next(iter(runs))).dataset.n_rows):
        part = _with_data(part, found, notes, effort)
    else:
        notes.append(
            "Who gains and who loses, example users, popularity: not looked at during the sweep, since the "
            "data set is large."
        )
    return replace(part, notes=tuple(notes))


def _few(most: int | None, n: int) -> bool:
    return most is None or n <= most


def _folders(series: Series) -> list[RunFolder]:
    return [RunFolder(job.record, job.folder) for job in series.jobs if job.record is not None]


def _tried(what: str, notes: list[str], make: Callable[[], _Found]) -> _Found | None:
    """Return what a function makes; None, with a note, where the runs or this machine lack the data."""
    try:
        return make()
    except Exception as error:  # one section less is better than no report
        # the rest of the message is for whoever sits at this machine: paths, and what to do
        notes.append(f"{what} {said(error).partition('. ')[0].removesuffix('.')}.")
        return None


def _card(series: Series) -> DataCard | None:
    try:
        return DataCard.from_json((series.jobs[0].folder / CARD).read_text(encoding="utf-8"))
    except (OSError, RecgaugeError):
        return None


def _with_data(part: DatasetPart, found: ComparedRuns, notes: list[str], effort: Effort) -> DatasetPart:
    """Load the data of the runs again, and add what only they show."""
    assert effort.load is not None
    load = effort.load
    names = list(part.runs)
    condition = Condition({name: _folders(series)[0] for name, series in part.runs.items()})
    subject = "Who gains and who loses, example users, popularity:"
    loaded = _tried(subject, notes, lambda: _loaded(condition, load, effort.packages))
    if loaded is None:
        return part
    dataset, split = loaded
    key = found.comparison.metrics[0]
    base = found.comparison.procedure.baseline or names[1]
    best = next(name for name in names if name != base)
    two = Condition({base: condition.runs[base], best: condition.runs[best]})
    confidence = found.comparison.procedure.confidence
    asked = SegmentOptions(baseline=base, confidence=confidence, packages=effort.packages)
    groups = [by for by in GROUPS if by != "genre" or dataset.item_features is not None]
    made = [_tried(f"By {by}:", notes, lambda by=by: _segments(by, two, key, asked, loaded)) for by in groups]  # type: ignore[misc]
    part = replace(part, segments=tuple(one for one in made if one is not None))
    if not all(run.has_lists for run in condition.runs.values()):
        return part
    told = _tried("Example users:", notes, lambda: stories(two, key, dataset, split, base, EXAMPLES))
    popularity = _tried("Popular and rare items:", notes, lambda: _popularity(condition, split, key))
    return replace(part, stories=tuple(told or ()), popularity=popularity)


def _loaded(
    condition: Condition,
    load: Load,
    packages: Sequence[str],
) -> tuple[Dataset, Split]:
    condition.check()
    return load(condition.first, packages)


def _segments(
    by: str, runs: Condition, key: str, asked: SegmentOptions, loaded: tuple[Dataset, Split]
) -> Segments:
    return segments_by(by, runs, key, asked, None, *loaded)


def _popularity(condition: Condition, split: Split, key: str) -> PopularityShares:
    """Return the shares of recommendations by tenths of the training rows."""
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
