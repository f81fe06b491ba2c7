"""Sections of how models came about and what they predict: ratings, learning curves, searches."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from recgauge.comparison.claims import metric_label
from recgauge.errors import DataError
from recgauge.report.comparison_tables import number
from recgauge.report.html.blocks import Block, Cell, Heading, Picture, Pictures, Row, Section, Table, slug
from recgauge.report.html.data import DatasetPart, ReportData
from recgauge.runs.facts import SearchFacts
from recgauge.runs.stored import read_table
from recgauge.utils.checks import DoubleArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from recgauge.report.figures.training import Line

PREDICTIONS = "predictions.parquet"
BINS = 10


def ratings(data: ReportData) -> Section | None:
    """Return how predicted ratings fit the given ones: calibration, and errors by rating."""
    blocks: list[Block] = []
    leads = []
    for part in data.parts:
        found = {run: rows for run in part.runs if (rows := _predictions(part, run)) is not None}
        if not found:
            continue
        picture = Picture(
            f"calibration_{slug(part.name)}",
            partial(_draw_calibration, found),
            f"Mean rating given against mean predicted rating, by run: {', '.join(found)}",
            f"Calibration, {part.name}; on the dashed line predictions are right on average",
        )
        table, lead = _errors(part.name, found)
        leads.append(lead)
        blocks += [Heading(part.name)] if data.several else []
        blocks += [Pictures((picture,)), table]
    return Section("Predicted ratings", " ".join(leads), tuple(blocks)) if blocks else None


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


def _draw_calibration(found: Mapping[str, tuple[DoubleArray, DoubleArray]]) -> "Figure":
    from recgauge.report.figures.training import plot_calibration

    lines: dict[str, Line] = {}
    for run, (actual, predicted) in found.items():
        order = np.argsort(predicted, kind="stable")
        bins = [part for part in np.array_split(order, BINS) if len(part)]
        lines[run] = (
            [float(predicted[part].mean()) for part in bins],
            [float(actual[part].mean()) for part in bins],
        )
    return plot_calibration(lines)


def _errors(dataset: str, found: Mapping[str, tuple[DoubleArray, DoubleArray]]) -> tuple[Table, str]:
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
    return Table(caption, header, tuple(rows), sortable=True), lead


def learning(data: ReportData) -> Section | None:
    """Return what was seen while models learned in epochs."""
    blocks: list[Block] = []
    leads = []
    for part in data.parts:
        learned = {run: part.record(run) for run in part.runs if part.record(run).learned}
        if not learned:
            continue
        values, losses = {}, {}
        for run, record in learned.items():
            seen = [(p.epoch, p.value) for p in record.learned if p.value is not None]
            if seen:
                values[run] = ([float(epoch) for epoch, _ in seen], [float(value) for _, value in seen])
            epochs = [float(p.epoch) for p in record.learned]
            losses[run] = (epochs, [p.loss for p in record.learned])
            leads.append(f"{run} keeps epoch {record.kept_epoch} of {len(record.learned)}")
        metric = next(iter(learned.values())).learned[0].metric
        label = f"{metric_label(metric)} on validation rows"
        blocks += [Heading(part.name)] if data.several else []
        pictures = [_lines_picture(f"learned_{slug(part.name)}", values, label, part.name)] if values else []
        for number_, (run, line) in enumerate(losses.items()):
            name = f"loss_{slug(part.name)}_{number_}"
            pictures.append(_lines_picture(name, {run: line}, "training loss", f"{run}, {part.name}"))
        blocks.append(Pictures(tuple(pictures)))
    return Section("Learning curves", f"{'; '.join(leads)}.", tuple(blocks)) if blocks else None


def _lines_picture(
    name: str,
    lines: "Mapping[str, Line]",
    label: str,
    place: str,
    x_label: str = "epoch",
    *,
    steps: bool = False,
) -> Picture:
    told = "; ".join(f"{run} ends at {number(float(y[-1]))}" for run, (_, y) in lines.items())
    draw = partial(_draw_lines, lines, x_label, label, steps)
    return Picture(name, draw, f"{label} by {x_label}: {told}", f"{label} by {x_label}, {place}")


def _draw_lines(lines: "Mapping[str, Line]", x_label: str, y_label: str, steps: bool) -> "Figure":
    from recgauge.report.figures.training import plot_lines

    return plot_lines(lines, x_label=x_label, y_label=y_label, steps=steps)


def searches(data: ReportData) -> Section | None:
    """Return how settings were searched: the best value so far over trials, and what was chosen."""
    blocks: list[Block] = []
    leads = []
    for part in data.parts:
        found = {run: s for run in part.runs if (s := part.record(run).search) is not None}
        if not found:
            continue
        lines = {run: line for run, search in found.items() if (line := _best_so_far(search)) is not None}
        metric = next(iter(found.values())).metric
        rows = [
            (
                run,
                f"{len(search.trials)}",
                search.sampler,
                f"{search.seconds:.1f}",
                number(float(search.chosen.value or 0.0)),
                search.chosen.words,
            )
            for run, search in found.items()
        ]
        header = ("run", "trials", "by", "seconds", f"{metric_label(metric)}, validation", "chosen")
        caption = f"{part.name}: settings chosen by validation rows; test rows were not looked at"
        blocks += [Heading(part.name)] if data.several else []
        if lines:
            label = f"best {metric_label(metric)} so far, validation rows"
            picture = _lines_picture(
                f"search_{slug(part.name)}", lines, label, part.name, "trial", steps=True
            )
            blocks.append(Pictures((picture,)))
        blocks.append(Table(caption, header, tuple(rows), words=("by", "chosen")))
        place = f" on {part.name}" if data.several else ""
        leads.append(f"The settings of {', '.join(found)} were searched{place}.")
    return Section("Search history", " ".join(leads), tuple(blocks)) if blocks else None


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
