"""Sections of single runs beside their quality: costs, lists, users, items, ratings, learning, searches."""

from collections.abc import Mapping
from functools import partial

import numpy as np
from matplotlib.figure import Figure

from recgauge.comparison.claims import metric_label
from recgauge.errors import DataError
from recgauge.report.blocks import Cell, PageBlock, Picture, Pictures, Row, TableBlock, slug
from recgauge.report.comparison_tables import number, seconds
from recgauge.report.data_card import percent
from recgauge.report.figures.compared import (
    Line,
    plot_calibration,
    plot_lines,
    plot_popularity_shares,
    plot_tradeoff,
    plot_user_values,
)
from recgauge.report.page.data import DatasetPart, PopularityShares, ReportData, Told
from recgauge.report.page.results import is_beyond
from recgauge.runs.record import SearchFacts
from recgauge.runs.stored import PREDICTIONS, read_table, user_table
from recgauge.utils.arrow import to_numpy
from recgauge.utils.checks import DoubleArray

BEYOND = (
    *("catalog_coverage", "novelty", "diversity", "intra_list_similarity", "personalization", "gini"),
    *("serendipity", "long_tail_share"),
)
"""Metrics beyond accuracy, the first ones of which are drawn against quality."""
MOST_BEYOND, MOST_IN_TABLE = 4, 6
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
TIMES = {"fit_seconds": "training", "recommend_seconds": "all lists"}
SHORTEST = 1e-3  # seconds that are drawn
BINS = 10
Predicted = Mapping[str, tuple[DoubleArray, DoubleArray]]
"""Ratings that were given and predicted, by run."""


def costs(data: ReportData, part: DatasetPart) -> Told:
    """Return quality against the seconds of training and of making lists."""
    first = data.comparison.result(data.comparison.metrics[0], part.name)
    means = {row.run: row.mean for row in first.rows}
    known: dict[str, dict[str, float]] = {what: {} for what in TIMES}
    for what, run in ((what, run) for what in TIMES for run in means):
        if (value := getattr(data.costs.get((part.name, run)), what, None)) is not None:
            known[what][run] = float(value)
    label, best = metric_label(first.metric), "upper" if first.higher_is_better else "lower"
    pictures = []
    for what, times in known.items():
        points = {run: (max(time, SHORTEST), means[run]) for run, time in times.items()}
        told = "; ".join(f"{run} {seconds(time)} s and {number(means[run])}" for run, time in times.items())
        x_label = f"{TIMES[what]}, s (logarithmic)"
        picture = Picture(
            f"cost_{slug(part.name)}_{what}",
            partial(plot_tradeoff, points, x_label=x_label, y_label=label, log_x=True),
            f"{label} against {TIMES[what]}: {told}",
            f"{label} against seconds of {TIMES[what]}, {part.name}; {best} left is best",
        )
        pictures += [picture] if len(times) > 1 else []
    if not pictures:
        return None
    sign = 1 if first.higher_is_better else -1
    goodness = {run: sign * mean for run, mean in means.items()}
    fastest = _best_buys(known["fit_seconds"] or known["recommend_seconds"], goodness)
    lead = f"No run{data.place(part.name)} is both faster and better than {', '.join(fastest)}."
    return lead, [Pictures(tuple(pictures))]


def _best_buys(times: Mapping[str, float], goodness: Mapping[str, float]) -> list[str]:
    """Return the runs that are better than all that are faster."""
    kept: list[str] = []
    for run in sorted(times, key=lambda run: (max(times[run], SHORTEST), -goodness[run])):
        if not kept or goodness[run] > goodness[kept[-1]]:
            kept.append(run)
    return kept


def beyond(data: ReportData, part: DatasetPart) -> Told:
    """Return accuracy against coverage, novelty and diversity."""
    first = data.comparison.metrics[0]
    keys = _beyond_keys(part, first)
    if not keys:
        return None
    means = {row.run: row.mean for row in data.comparison.result(first, part.name).rows}
    best = data.best(part)
    told = ", ".join(f"{metric_label(key)} {number(part.mean(best, key))}" for key in keys[:3])
    drawn = tuple(_beyond_picture(part, key, first, means) for key in keys[:MOST_BEYOND])
    shown = keys[:MOST_IN_TABLE]
    table = TableBlock(
        f"{part.name}: metrics of the lists as a whole",
        ("run", *map(metric_label, shown)),
        tuple((run, *(_cell(part.mean(run, key)) for key in shown)) for run in part.runs),
        sortable=True,
    )
    return f"The most accurate run{data.place(part.name)}, {best}, has {told}.", [Pictures(drawn), table]


def _cell(value: float, *, sign: bool = False) -> Cell:
    return Cell(number(value, sign=sign), order=value)


def _beyond_keys(part: DatasetPart, first: str) -> list[str]:
    """Return the keys of metrics beyond accuracy that all runs have at the first metric's cutoff."""
    k, common = first.rpartition("_at_")[2], part.common_keys()
    named = [key for name in BEYOND if (key := f"{name}_at_{k}") in common]
    more = [key for key, (name, its_k) in common.items() if is_beyond(name) and str(its_k) == k]
    return list(dict.fromkeys([*named, *more]))


def _beyond_picture(part: DatasetPart, key: str, first: str, means: Mapping[str, float]) -> Picture:
    points = {run: (part.mean(run, key), means[run]) for run in part.runs}
    told = "; ".join(f"{run} {number(x)} and {number(y)}" for run, (x, y) in points.items())
    x_label, y_label = metric_label(key), metric_label(first)
    return Picture(
        f"beyond_{slug(part.name)}_{slug(key)}",
        partial(plot_tradeoff, points, x_label=x_label, y_label=y_label),
        f"{y_label} against {x_label}: {told}",
        f"{y_label} against {x_label}, {part.name}",
    )


def user_values(data: ReportData, part: DatasetPart) -> Told:
    """Return where the values of single users lie, by the first metric."""
    key = data.comparison.metrics[0]
    values = {run: numbers for run in part.runs if len(numbers := _user_values(part, run, key))}
    if not values:
        return None
    label, best, lead = metric_label(key), data.best(part), ""
    if best in values:
        half, zero = float(np.median(values[best])), float((values[best] == 0).mean())
        lead = (
            f"With {best}{data.place(part.name)}, half of the users have {label} of at most {number(half)}, "
            f"{percent(zero)} have 0."
        )
    picture = Picture(
        f"users_{slug(part.name)}",
        partial(plot_user_values, values, metric=label),
        f"Quantiles of {label} over users, by run; the table has the numbers",
        f"{label} of single users, {part.name}",
    )
    rows = tuple(
        (
            run,
            f"{len(numbers):,}",
            percent(float((numbers == 0).mean())),
            *(number(float(q)) for q in np.quantile(numbers, QUANTILES)),
            number(float(numbers.mean())),
        )
        for run, numbers in values.items()
    )
    header = ("run", "users", "have 0", "10 %", "25 %", "median", "75 %", "90 %", "mean")
    caption = f"{part.name}: {label} over users; of several seeds or folds, the first"
    return lead, [Pictures((picture,)), TableBlock(caption, header, rows, sortable=True)]


def _user_values(part: DatasetPart, run: str, key: str) -> DoubleArray:
    """Return the values of the users who have one, of the run's first seed and fold."""
    job = part.runs[run].jobs[0]
    try:
        column = to_numpy(user_table(job.folder, part.record(run), [key])[key])
    except DataError:
        return np.empty(0)
    known: DoubleArray = column[np.isfinite(column)].astype(np.float64)
    return known


def long_tail(data: ReportData, part: DatasetPart) -> Told:
    """Return what each run recommends of popular and of rare items."""
    popularity, best, lead = part.popularity, data.best(part), ""
    if popularity is None:
        return None
    if best in popularity.shares:
        first, last = (percent(float(popularity.shares[best][end])) for end in (0, -1))
        lead = (
            f"The most popular items with a tenth of the training rows get {first} of what {best} "
            f"recommends{data.place(part.name)}, the rarest with a tenth of the rows {last}."
        )
    told = "; ".join(f"{run} {percent(float(each[0]))}" for run, each in popularity.shares.items())
    picture = Picture(
        f"tail_{slug(part.name)}",
        partial(plot_popularity_shares, popularity.shares, popularity.train, k=popularity.k),
        f"Share of recommendations by popularity of items. The most popular tenth gets: {told}",
        f"What is recommended, by popularity in training, {part.name}",
    )
    return lead, [Pictures((picture,)), _tail_table(part.name, popularity)]


def _tail_table(dataset: str, popularity: PopularityShares) -> TableBlock:
    lines = {"training rows": popularity.train, **popularity.shares}
    rows = tuple((name, *(percent(float(share)) for share in shares)) for name, shares in lines.items())
    header = ("run", *(f"{place}." for place in range(1, len(popularity.train) + 1)))
    caption = f"{dataset}: share of the top {popularity.k} recommendations by tenths of the training rows"
    return TableBlock(caption, header, rows)


def ratings(data: ReportData, part: DatasetPart) -> Told:  # noqa: ARG001 - as every section
    """Return how predicted ratings fit the given ones: calibration, and errors by rating."""
    predicted = {run: rows for run in part.runs if (rows := _predictions(part, run)) is not None}
    if not predicted:
        return None
    picture = Picture(
        f"calibration_{slug(part.name)}",
        partial(_draw_calibration, predicted),
        f"Mean rating given against mean predicted rating, by run: {', '.join(predicted)}",
        f"Calibration, {part.name}; on the dashed line predictions are right on average",
    )
    table, lead = _errors(part.name, predicted)
    return lead, [Pictures((picture,)), table]


def _predictions(part: DatasetPart, run: str) -> tuple[DoubleArray, DoubleArray] | None:
    try:
        rows = read_table(part.runs[run].jobs[0].folder / PREDICTIONS, ["rating", "predicted"])
    except DataError:
        return None
    actual, predicted = (rows[name].to_numpy().astype(np.float64) for name in ("rating", "predicted"))
    return (actual, predicted) if len(actual) else None


def _draw_calibration(predicted: Predicted) -> Figure:
    drawn: dict[str, Line] = {}
    for run, (actual, guess) in predicted.items():
        bins = [rows for rows in np.array_split(np.argsort(guess, kind="stable"), BINS) if len(rows)]
        drawn[run] = (
            [float(guess[rows].mean()) for rows in bins],
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
        rows.append((run, *(_cell(mean, sign=True) for mean in means)))
    header = ("run", *(f"{value:g}" for value in values))
    caption = f"{dataset}: mean of predicted less given rating, by the rating that was given"
    off = f"by {number(worst[0])} with {worst[1]}"
    lead = f"On {dataset}, predictions for a rating of {worst[2]:g} are off most: {off}."
    return TableBlock(caption, header, tuple(rows), sortable=True), lead


def learning(data: ReportData, part: DatasetPart) -> Told:
    """Return what was seen while models learned in epochs."""
    learned = {run: record for run in part.runs if (record := part.record(run)).learned}
    if not learned:
        return None
    values: dict[str, Line] = {}
    pictures: list[Picture] = []
    for place, (run, record) in enumerate(learned.items()):
        points = record.learned
        if seen := [(float(point.epoch), point.value) for point in points if point.value is not None]:
            values[run] = ([epoch for epoch, _ in seen], [value for _, value in seen])
        losses = {run: ([float(point.epoch) for point in points], [point.loss for point in points])}
        name, where = f"loss_{slug(part.name)}_{place}", f"{run}, {part.name}"
        pictures.append(_lines_picture(name, losses, "training loss", where))
    if values:
        label = f"{metric_label(next(iter(learned.values())).learned[0].metric)} on validation rows"
        pictures.insert(0, _lines_picture(f"learned_{slug(part.name)}", values, label, part.name))
    kept = [
        f"{run} keeps epoch {record.kept_epoch} of {len(record.learned)}" for run, record in learned.items()
    ]
    return f"{'; '.join(kept)}{data.place(part.name)}.", [Pictures(tuple(pictures))]


def _lines_picture(
    name: str, drawn: Mapping[str, Line], label: str, place: str, by: str = "epoch", *, steps: bool = False
) -> Picture:
    told = "; ".join(f"{run} ends at {number(float(y[-1]))}" for run, (_, y) in drawn.items())
    draw = partial(plot_lines, drawn, x_label=by, y_label=label, steps=steps)
    return Picture(name, draw, f"{label} by {by}: {told}", f"{label} by {by}, {place}")


def searches(data: ReportData, part: DatasetPart) -> Told:
    """Return how settings were searched: the best value so far over trials, and what was chosen."""
    found = {run: search for run in part.runs if (search := part.record(run).search) is not None}
    if not found:
        return None
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
    blocks: list[PageBlock] = []
    if curves := {run: curve for run, search in found.items() if (curve := _best_so_far(search))[0]}:
        label, name = f"best {metric} so far, validation rows", f"search_{slug(part.name)}"
        blocks.append(Pictures((_lines_picture(name, curves, label, part.name, "trial", steps=True),)))
    blocks.append(TableBlock(caption, header, rows, words=("by", "chosen")))
    return f"The settings of {', '.join(found)} were searched{data.place(part.name)}.", blocks


def _best_so_far(search: SearchFacts) -> Line:
    better = max if search.higher_is_better else min
    x: list[float] = []
    y: list[float] = []
    for trial in search.trials:
        value = trial.value if trial.state == "finished" else None
        best = better([*y[-1:], *([] if value is None else [value])], default=None)
        if best is not None:
            x.append(float(trial.number + 1))
            y.append(best)
    return x, y
