"""Sections of how models came about and what they predict: ratings, learning curves, searches."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from recgauge.comparison.claims import metric_label
from recgauge.errors import DataError
from recgauge.report.blocks import Block, Cell, Picture, Pictures, Row, Section, TableBlock, slug
from recgauge.report.comparison_tables import number
from recgauge.report.page.data import DatasetPart, ReportData, Told, section
from recgauge.runs.facts import SearchFacts
from recgauge.runs.stored import PREDICTIONS, read_table
from recgauge.utils.checks import DoubleArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from recgauge.report.figures.training import Line

BINS = 10
Predicted = Mapping[str, tuple[DoubleArray, DoubleArray]]
"""Ratings that were given and predicted, by run."""


def ratings(data: ReportData) -> Section | None:
    """Return how predicted ratings fit the given ones: calibration, and errors by rating."""
    return section("Predicted ratings", data, _ratings)


def _ratings(_: ReportData, part: DatasetPart) -> Told:
    found = {run: rows for run in part.runs if (rows := _predictions(part, run)) is not None}
    if not found:
        return None
    picture = Picture(
        f"calibration_{slug(part.name)}",
        partial(_draw_calibration, found),
        f"Mean rating given against mean predicted rating, by run: {', '.join(found)}",
        f"Calibration, {part.name}; on the dashed line predictions are right on average",
    )
    table, lead = _errors(part.name, found)
    return lead, [Pictures((picture,)), table]


def _predictions(part: DatasetPart, run: str) -> tuple[DoubleArray, DoubleArray] | None:
    """Return the ratings that were given and predicted, of the run's first seed and fold."""
    path = part.runs[run].jobs[0].folder / PREDICTIONS
    if not path.is_file():
        return None
    try:
        rows = read_table(path, ["rating", "predicted"])
    except DataError:
        return None
    actual, predicted = (rows[name].to_numpy().astype(np.float64) for name in ("rating", "predicted"))
    return (actual, predicted) if len(actual) else None


def _draw_calibration(found: Predicted) -> "Figure":
    from recgauge.report.figures.training import plot_calibration

    drawn: dict[str, Line] = {}
    for run, (actual, predicted) in found.items():
        order = np.argsort(predicted, kind="stable")
        bins = [rows for rows in np.array_split(order, BINS) if len(rows)]
        drawn[run] = (
            [float(predicted[rows].mean()) for rows in bins],
            [float(actual[rows].mean()) for rows in bins],
        )
    return plot_calibration(drawn)


def _errors(dataset: str, found: Predicted) -> tuple[TableBlock, str]:
    """Return mean errors by the rating that was given, and the largest of them in words."""
    values = np.unique(np.concatenate([actual for actual, _ in found.values()]))
    if len(values) > BINS:  # a fine scale: by whole ratings
        values = np.unique(np.round(values))
    rows: list[Row] = []
    worst = (0.0, "", 0.0)
    for run, (actual, predicted) in found.items():
        errors = [(predicted - actual)[np.round(actual, 6) == value] for value in values]
        if not all(map(len, errors)):
            nearest = np.abs(actual[:, None] - values[None, :]).argmin(axis=1)
            errors = [(predicted - actual)[nearest == place] for place in range(len(values))]
        means = [float(each.mean()) if len(each) else 0.0 for each in errors]
        for value, mean in zip(values.tolist(), means, strict=True):
            worst = max(worst, (abs(mean), run, value))
        rows.append((run, *(Cell(number(mean, sign=True), order=mean) for mean in means)))
    header = ("run", *(f"{value:g}" for value in values))
    caption = f"{dataset}: mean of predicted less given rating, by the rating that was given"
    off = f"by {number(worst[0])} with {worst[1]}"
    lead = f"On {dataset}, predictions for a rating of {worst[2]:g} are off most: {off}."
    return TableBlock(caption, header, tuple(rows), sortable=True), lead


def learning(data: ReportData) -> Section | None:
    """Return what was seen while models learned in epochs."""
    return section("Learning curves", data, _learning)


def _learning(data: ReportData, part: DatasetPart) -> Told:
    learned = {run: record for run in part.runs if (record := part.record(run)).learned}
    if not learned:
        return None
    values: dict[str, Line] = {}
    pictures: list[Picture] = []
    for number_, (run, record) in enumerate(learned.items()):
        points = record.learned
        if seen := [(float(point.epoch), point.value) for point in points if point.value is not None]:
            values[run] = ([epoch for epoch, _ in seen], [float(value) for _, value in seen])
        losses = ([float(point.epoch) for point in points], [point.loss for point in points])
        name, place = f"loss_{slug(part.name)}_{number_}", f"{run}, {part.name}"
        pictures.append(_lines_picture(name, {run: losses}, "training loss", place))
    if values:
        label = f"{metric_label(next(iter(learned.values())).learned[0].metric)} on validation rows"
        pictures.insert(0, _lines_picture(f"learned_{slug(part.name)}", values, label, part.name))
    kept = (
        f"{run} keeps epoch {record.kept_epoch} of {len(record.learned)}" for run, record in learned.items()
    )
    return f"{'; '.join(kept)}{data.place(part)}.", [Pictures(tuple(pictures))]


def _lines_picture(
    name: str,
    drawn: "Mapping[str, Line]",
    label: str,
    place: str,
    x_label: str = "epoch",
    *,
    steps: bool = False,
) -> Picture:
    told = "; ".join(f"{run} ends at {number(float(y[-1]))}" for run, (_, y) in drawn.items())
    draw = partial(_draw_lines, drawn, x_label, label, steps)
    return Picture(name, draw, f"{label} by {x_label}: {told}", f"{label} by {x_label}, {place}")


def _draw_lines(drawn: "Mapping[str, Line]", x_label: str, y_label: str, steps: bool) -> "Figure":
    from recgauge.report.figures.training import plot_lines

    return plot_lines(drawn, x_label=x_label, y_label=y_label, steps=steps)


def searches(data: ReportData) -> Section | None:
    """Return how settings were searched: the best value so far over trials, and what was chosen."""
    return section("Search history", data, _searches)


def _searches(data: ReportData, part: DatasetPart) -> Told:
    found = {run: search for run in part.runs if (search := part.record(run).search) is not None}
    if not found:
        return None
    curves = {run: curve for run, search in found.items() if (curve := _best_so_far(search)) is not None}
    metric = metric_label(next(iter(found.values())).metric)
    rows = tuple(
        (
            run,
            f"{len(search.trials)}",
            search.sampler,
            f"{search.seconds:.1f}",
            number(float(search.chosen.value or 0.0)),
            search.chosen.words,
        )
        for run, search in found.items()
    )
    header = ("run", "trials", "by", "seconds", f"{metric}, validation", "chosen")
    caption = f"{part.name}: settings chosen by validation rows; test rows were not looked at"
    blocks: list[Block] = []
    if curves:
        label, name = f"best {metric} so far, validation rows", f"search_{slug(part.name)}"
        blocks.append(Pictures((_lines_picture(name, curves, label, part.name, "trial", steps=True),)))
    blocks.append(TableBlock(caption, header, rows, words=("by", "chosen")))
    return f"The settings of {', '.join(found)} were searched{data.place(part)}.", blocks


def _best_so_far(search: SearchFacts) -> "Line | None":
    """Return the trials from 1 and the best finished value up to each."""
    best: float | None = None
    x, y = [], []
    for trial in search.trials:
        if trial.state == "finished" and trial.value is not None:
            better = max if search.higher_is_better else min
            best = trial.value if best is None else better(best, trial.value)
        if best is not None:
            x.append(float(trial.number + 1))
            y.append(best)
    return (x, y) if x else None
