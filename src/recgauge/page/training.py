"""Sections of how models learned, how their settings were searched, and how ratings were predicted."""

from collections.abc import Mapping
from functools import partial

import numpy as np

from recgauge.errors import DataError
from recgauge.metrics.names import metric_label
from recgauge.page.data import DatasetPart, ReportData, Told
from recgauge.report import comparison_tables as tables
from recgauge.report.blocks import Cell, Picture, Pictures, Row, TableBlock, slug
from recgauge.report.figures.compared import Line, plot_lines
from recgauge.runs.record import SearchFacts
from recgauge.runs.stored import read_table
from recgauge.utils.checks import DoubleArray

PREDICTIONS = "predictions.parquet"
BINS = 10  # of predicted ratings, by tenths of the rows
MOST_RATINGS = 10  # that errors are shown for; of finer scales, whole ratings


def learning(data: ReportData, part: DatasetPart) -> Told:
    """Return what was seen while models learned in epochs."""
    learned = {run: record for run in part.runs if (record := part.record(run)).learned}
    if not learned:
        return None
    losses: list[Picture] = []
    values: dict[str, Line] = {}
    kept = []
    for place, (run, record) in enumerate(learned.items()):
        kept.append(f"{run} keeps epoch {record.kept_epoch} of {len(record.learned)}")
        line = [point.epoch for point in record.learned], [point.loss for point in record.learned]
        name, where = f"loss_{slug(part.name)}_{place}", f"{run}, {part.name}"
        losses.append(_lines(name, {run: line}, "epoch", "training loss", where, f"{kept[-1]}."))
        if seen := [(point.epoch, point.value) for point in record.learned if point.value is not None]:
            values[run] = [epoch for epoch, _ in seen], [value for _, value in seen]
    lead = f"{'; '.join(kept)}{data.place(part.name)}."
    pictures = []
    if values:
        label = f"{metric_label(next(iter(learned.values())).learned[0].metric)} on validation rows"
        pictures.append(_lines(f"learned_{slug(part.name)}", values, "epoch", label, part.name, lead))
    return lead, [Pictures((*pictures, *losses))]


def searches(data: ReportData, part: DatasetPart) -> Told:
    """Return how settings were searched: the best value so far over trials, and what was chosen."""
    found = {run: search for run in part.runs if (search := part.record(run).search) is not None}
    if not found:
        return None
    metric = metric_label(next(iter(found.values())).metric)
    rows: list[Row] = []
    for run, search in found.items():
        value = tables.number(float(search.chosen.value or 0.0))
        about = f"{len(search.trials)}", search.sampler, tables.seconds(search.seconds)
        rows.append((run, *about, value, search.chosen.words))
    lead = f"The settings of {', '.join(found)} were searched{data.place(part.name)}."
    lines = {run: _best_so_far(search) for run, search in found.items()}
    name, label = f"search_{slug(part.name)}", f"best {metric} so far, validation rows"
    picture = _lines(name, lines, "trial", label, part.name, lead, steps=True)
    header = ("run", "trials", "by", "seconds", f"{metric}, validation", "chosen")
    caption = f"{part.name}: settings chosen by validation rows; test rows were not looked at"
    return lead, [Pictures((picture,)), TableBlock(caption, header, tuple(rows), words=("by", "chosen"))]


def _best_so_far(search: SearchFacts) -> Line:
    ended = [trial for trial in search.trials if trial.state == "finished" and trial.value is not None]
    values = np.array([trial.value for trial in ended], np.float64)
    best = np.maximum if search.higher_is_better else np.minimum
    return [trial.number + 1 for trial in ended], best.accumulate(values).tolist()


def ratings(data: ReportData, part: DatasetPart) -> Told:
    """Return how predicted ratings fit the given ones: calibration, and errors by rating."""
    predicted = {run: pair for run in part.runs if (pair := _predictions(part, run)) is not None}
    if not predicted:
        return None
    table, worst = _errors(part.name, predicted)
    lines: dict[str, Line] = {}
    for run, (actual, guess) in predicted.items():
        bins = [rows for rows in np.array_split(np.argsort(guess, kind="stable"), BINS) if len(rows)]
        lines[run] = (
            [float(guess[rows].mean()) for rows in bins],
            [float(actual[rows].mean()) for rows in bins],
        )
    lead = f"Predictions{data.place(part.name)} for a rating of {worst}."
    picture = _lines(
        *(f"calibration_{slug(part.name)}", lines, "mean predicted rating, in tenths of the rows"),
        *("mean rating given", f"{part.name}; predictions on the dashed line are right on average", lead),
        diagonal=True,
    )
    return lead, [Pictures((picture,)), table]


def _predictions(part: DatasetPart, run: str) -> tuple[DoubleArray, DoubleArray] | None:
    """Return the ratings of a run's first seed and fold, given and predicted; None if it has none."""
    try:
        rows = read_table(part.runs[run].runs[0].folder / PREDICTIONS, ["rating", "predicted"])
    except DataError:
        return None
    actual, predicted = (rows[name].to_numpy().astype(np.float64) for name in ("rating", "predicted"))
    return (actual, predicted) if len(actual) else None


def _errors(dataset: str, predicted: Mapping[str, tuple[DoubleArray, DoubleArray]]) -> tuple[TableBlock, str]:
    """Return mean errors by the rating that was given, and the largest of them in words."""
    values = np.unique(np.concatenate([actual for actual, _ in predicted.values()]))
    if len(values) > MOST_RATINGS:
        values = np.unique(np.round(values))
    rows: list[Row] = []
    worst = (0.0, "", 0.0)
    for run, (actual, guess) in predicted.items():
        nearest = np.abs(actual[:, None] - values[None, :]).argmin(axis=1)
        n = np.bincount(nearest, minlength=len(values))
        means = np.bincount(nearest, guess - actual, len(values)) / np.maximum(n, 1)
        worst = max(worst, *((abs(mean), run, value) for mean, value in zip(means, values, strict=True)))
        cells = [tables.number(mean, sign=True) if some else "" for mean, some in zip(means, n, strict=True)]
        rows.append(
            (run, *(Cell(text, order=mean) for text, mean in zip(cells, means.tolist(), strict=True)))
        )
    header = ("run", *(f"{value:g}" for value in values))
    caption = f"{dataset}: mean of predicted less given rating, by the rating that was given"
    table = TableBlock(caption, header, tuple(rows), sortable=True)
    return table, f"{worst[2]:g} are off most, by {tables.number(worst[0])} with {worst[1]}"


def _lines(  # noqa: PLR0913 - what a figure shows, and what is said of it
    name: str,
    lines: Mapping[str, Line],
    x_label: str,
    y_label: str,
    place: str,
    shows: str,
    *,
    steps: bool = False,
    diagonal: bool = False,
) -> Picture:
    draw = partial(plot_lines, lines, x_label=x_label, y_label=y_label, steps=steps, diagonal=diagonal)
    return Picture(name, draw, f"{y_label} by {x_label}, {place}", shows)
