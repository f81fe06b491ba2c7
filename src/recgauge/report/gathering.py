"""What a report shows beside a comparison: found in the stored runs and, where they are here, their data."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from pathlib import Path
from typing import TypeVar

import numpy as np

from recgauge.checks.checking import CheckResult, judge
from recgauge.checks.rules import Rules
from recgauge.checks.sides import read_side
from recgauge.comparison.conditions import Condition, split_key
from recgauge.comparison.run_segments import SegmentOptions, segments_by
from recgauge.comparison.runs import ComparedRuns
from recgauge.comparison.series import Series
from recgauge.comparison.stability_axes import stability_of
from recgauge.data.dataset import Dataset
from recgauge.data.split import Split
from recgauge.errors import ConfigError, RecgaugeError, said
from recgauge.report.blocks import Picture
from recgauge.report.compared_runs import marks_of
from recgauge.report.data_card import DataCard, shares_by_popularity
from recgauge.report.figures.style import save_png
from recgauge.report.figures.svg import svg_file
from recgauge.report.page import pictures, report_page
from recgauge.report.page.data import DatasetPart, PopularityShares, ReportData
from recgauge.report.stories import stories
from recgauge.runs.stored import LISTS, PREDICTIONS, TEST, RunFolder
from recgauge.utils.files import text_writer, write_files

CARD = "data_card.json"
WANTED = (LISTS, TEST, PREDICTIONS, CARD)
"""Files of a run that a report reads beside those that every comparison needs."""
GROUPS = ("activity", "item_popularity", "genre")
EXAMPLES = 2  # users with the largest gain, and as many with the largest loss
_Made = TypeVar("_Made")
Load = Callable[[RunFolder, Sequence[str]], tuple[Dataset, Split]]
"""Loads data and split of a run again, with classes of some packages."""


@dataclass(frozen=True)
class Effort:
    """How much work a report may be: up to which sizes its parts are found out, and how data are loaded."""

    rows: float = inf  # of a data set that is loaded again, for groups of users, titles and popularity
    values: float = inf  # users times runs whose lists are evaluated under other choices
    packages: tuple[str, ...] = ()  # others than recgauge whose data sets, filters and splits may be used
    load: Load | None = None  # without it no data are loaded
    rules: Rules | None = None  # of a check of every other run against the baseline


def write_page(data: ReportData, path: Path) -> Path:
    """Write a report, whole or not at all."""
    return write_files({path: text_writer(report_page(data))})[0]


def write_figures(data: ReportData, folder: Path) -> list[Path]:
    """Write every figure of a report as PNG and as SVG."""

    def write(picture: Picture, file: Path) -> None:
        if file.suffix == ".png":
            save_png(picture.draw(), file)
        else:
            file.write_text(svg_file(picture.draw(), picture.alt, picture.name), encoding="utf-8")

    made = {folder / f"{each.name}{suffix}": each for each in pictures(data) for suffix in (".png", ".svg")}
    return write_files({path: partial(write, picture) for path, picture in made.items()})


def report_data(compared: ComparedRuns, effort: Effort) -> ReportData:
    """Return everything that a report says; what cannot be found out is left out with a note."""
    parts = tuple(_part(compared, dataset, effort) for dataset in compared.comparison.datasets)
    return ReportData(compared.comparison, parts, compared.costs, marks_of(compared), compared.notes)


def _part(compared: ComparedRuns, dataset: str, effort: Effort) -> DatasetPart:
    key, confidence = compared.comparison.metrics[0], compared.comparison.procedure.confidence
    first = compared.comparison.result(key, dataset)
    runs = {row.run: compared.series[dataset, row.run] for row in first.rows}
    folders = {name: _folders(series) for name, series in runs.items()}
    notes: list[str] = []
    part = DatasetPart(dataset, runs, _card(folders[first.rows[0].run][0].folder))
    if first.n_users * sum(map(len, folders.values())) <= effort.values:
        every = [run for repeats in folders.values() for run in repeats]
        look = partial(stability_of, every, key, confidence=confidence)
        stability = _tried("Does the winner stay?", notes, look)
        part = replace(part, stability=stability)
    else:
        notes.append("Does the winner stay? Not looked at during the sweep: many users and runs.")
    if effort.rules is not None:
        part = replace(
            part, checks=_checks(part, compared.comparison.procedure.baseline, effort.rules, effort)
        )
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


def _checks(part: DatasetPart, baseline: str | None, rules: Rules, effort: Effort) -> tuple[CheckResult, ...]:
    """Judge every run but the baseline, which must be named."""
    if baseline is None:
        raise ConfigError("--rules: name what others are to replace, --baseline RUN.")
    sides = {name: read_side(series.jobs, name, name, keys=rules.keys) for name, series in part.runs.items()}
    base = sides.pop(baseline)
    return tuple(
        judge(side, base, rules, load=effort.load, packages=effort.packages) for side in sides.values()
    )


def _folders(series: Series) -> list[RunFolder]:
    return [RunFolder(job.record, job.folder) for job in series.jobs if job.record is not None]


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
