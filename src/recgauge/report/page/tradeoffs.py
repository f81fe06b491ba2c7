"""Sections of what quality comes with: costs, coverage and novelty, single users, popularity."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from recgauge.comparison.claims import metric_label
from recgauge.errors import DataError
from recgauge.report.blocks import Block, Cell, Picture, Pictures, Row, Section, TableBlock, slug
from recgauge.report.comparison_tables import number, seconds
from recgauge.report.data_card.page import percent
from recgauge.report.page.data import DatasetPart, PopularityShares, ReportData, Told, section
from recgauge.report.page.results import is_beyond
from recgauge.runs.stored import user_table
from recgauge.utils.arrow import to_numpy
from recgauge.utils.checks import DoubleArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BEYOND = (
    *("catalog_coverage", "novelty", "diversity", "intra_list_similarity", "personalization", "gini"),
    *("serendipity", "long_tail_share"),
)
"""Metrics beyond accuracy, the first ones of which are drawn against quality."""
MOST_BEYOND, MOST_IN_TABLE = 4, 6
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
TIMES = {"fit_seconds": "training, s (logarithmic)", "recommend_seconds": "all lists, s (logarithmic)"}
SHORTEST = 1e-3  # seconds that are drawn
Points = Mapping[str, tuple[float, float]]


def costs(data: ReportData) -> Section | None:
    """Return quality against the seconds of training and of making lists."""
    return section("Quality against cost", data, _costs)


def _costs(data: ReportData, part: DatasetPart) -> Told:
    first = data.comparison.result(data.comparison.metrics[0], part.name)
    means = {row.run: row.mean for row in first.rows}
    known = {
        what: {
            run: float(value)
            for run in means
            if (value := getattr(data.costs.get((part.name, run)), what, None)) is not None
        }
        for what in TIMES
    }
    label, best = metric_label(first.metric), "upper" if first.higher_is_better else "lower"
    pictures = tuple(
        _cost_picture(part.name, what, known[what], means, label, best)
        for what in TIMES
        if len(known[what]) > 1
    )
    if not pictures:
        return None
    sign = 1 if first.higher_is_better else -1
    goodness = {run: sign * mean for run, mean in means.items()}
    fastest = _best_buys(known["fit_seconds"] or known["recommend_seconds"], goodness)
    lead = f"No run{data.place(part)} is both faster and better than {', '.join(fastest)}."
    return lead, [Pictures(pictures)]


def _cost_picture(
    dataset: str,
    what: str,
    times: Mapping[str, float],
    means: Mapping[str, float],
    label: str,
    best: str,
) -> Picture:
    points = {run: (max(time, SHORTEST), means[run]) for run, time in times.items()}
    told = "; ".join(f"{run} {seconds(time)} s and {number(means[run])}" for run, time in times.items())
    name = TIMES[what].partition(",")[0]
    return Picture(
        f"cost_{slug(dataset)}_{what}",
        partial(_draw_tradeoff, points, TIMES[what], label, log_x=True),
        f"{label} against {name}: {told}",
        f"{label} against seconds of {name}, {dataset}; {best} left is best",
    )


def _draw_tradeoff(points: Points, x_label: str, y_label: str, *, log_x: bool = False) -> "Figure":
    from recgauge.report.figures.compared import plot_tradeoff

    return plot_tradeoff(points, x_label=x_label, y_label=y_label, log_x=log_x)


def _best_buys(times: Mapping[str, float], goodness: Mapping[str, float]) -> list[str]:
    """Return the runs that are better than all that are faster."""
    kept: list[str] = []
    for run in sorted(times, key=lambda run: (max(times[run], SHORTEST), -goodness[run])):
        if not kept or goodness[run] > goodness[kept[-1]]:
            kept.append(run)
    return kept


def beyond(data: ReportData) -> Section | None:
    """Return accuracy against coverage, novelty and diversity."""
    return section("Beyond accuracy", data, _beyond)


def _beyond(data: ReportData, part: DatasetPart) -> Told:
    first = data.comparison.metrics[0]
    keys = _beyond_keys(part, first)
    if not keys:
        return None
    means = {row.run: row.mean for row in data.comparison.result(first, part.name).rows}
    best = data.best(part)
    told = ", ".join(f"{metric_label(key)} {number(part.mean(best, key))}" for key in keys[:3])
    drawn = tuple(_beyond_picture(part, key, first, means) for key in keys[:MOST_BEYOND])
    blocks: list[Block] = [Pictures(drawn), _beyond_table(part, keys[:MOST_IN_TABLE])]
    return f"The most accurate run{data.place(part)}, {best}, has {told}.", blocks


def _beyond_keys(part: DatasetPart, first: str) -> list[str]:
    """Return the keys of metrics beyond accuracy that all runs have at the first metric's cutoff."""
    k = first.rpartition("_at_")[2]
    records = [record for _, record in part.records()]
    common = set.intersection(*({entry.key for entry in record.results} for record in records))
    named = [key for name in BEYOND if (key := f"{name}_at_{k}") in common]
    more = [e.key for e in records[0].results if is_beyond(e.name) and e.key in common and str(e.k) == k]
    return list(dict.fromkeys([*named, *more]))


def _beyond_picture(part: DatasetPart, key: str, first: str, means: Mapping[str, float]) -> Picture:
    points = {run: (part.mean(run, key), means[run]) for run in part.runs}
    told = "; ".join(f"{run} {number(x)} and {number(y)}" for run, (x, y) in points.items())
    x_label, y_label = metric_label(key), metric_label(first)
    return Picture(
        f"beyond_{slug(part.name)}_{slug(key)}",
        partial(_draw_tradeoff, points, x_label, y_label),
        f"{y_label} against {x_label}: {told}",
        f"{y_label} against {x_label}, {part.name}",
    )


def _beyond_table(part: DatasetPart, keys: Sequence[str]) -> TableBlock:
    rows: list[Row] = []
    for run in part.runs:
        values = [part.mean(run, key) for key in keys]
        rows.append((run, *(Cell(number(value), order=value) for value in values)))
    header = ("run", *(metric_label(key) for key in keys))
    return TableBlock(f"{part.name}: metrics of the lists as a whole", header, tuple(rows), sortable=True)


def distribution(data: ReportData) -> Section | None:
    """Return where the values of single users lie, by the first metric."""
    return section("Single users", data, _distribution)


def _distribution(data: ReportData, part: DatasetPart) -> Told:
    key = data.comparison.metrics[0]
    values = {run: found for run in part.runs if (found := _user_values(part, run, key)) is not None}
    if not values:
        return None
    label, best, lead = metric_label(key), data.best(part), ""
    if best in values:
        half, zero = float(np.median(values[best])), float((values[best] == 0).mean())
        lead = (
            f"With {best}{data.place(part)}, half of the users have {label} of at most {number(half)}, "
            f"{percent(zero)} have 0."
        )
    picture = Picture(
        f"users_{slug(part.name)}",
        partial(_draw_users, values, label),
        f"Quantiles of {label} over users, by run; the table has the numbers",
        f"{label} of single users, {part.name}",
    )
    return lead, [Pictures((picture,)), _quantile_table(part.name, values, label)]


def _user_values(part: DatasetPart, run: str, key: str) -> DoubleArray | None:
    """Return the values of the users who have one, of the run's first seed and fold."""
    job = part.runs[run].jobs[0]
    try:
        column = to_numpy(user_table(job.folder, part.record(run), [key])[key])
    except DataError:
        return None
    known: DoubleArray = column[np.isfinite(column)].astype(np.float64)
    return known if len(known) else None


def _draw_users(values: Mapping[str, DoubleArray], label: str) -> "Figure":
    from recgauge.report.figures.compared import plot_user_values

    return plot_user_values(values, metric=label)


def _quantile_table(dataset: str, values: Mapping[str, DoubleArray], label: str) -> TableBlock:
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
    caption = f"{dataset}: {label} over users; of several seeds or folds, the first"
    return TableBlock(caption, header, rows, sortable=True)


def long_tail(data: ReportData) -> Section | None:
    """Return what each run recommends of popular and of rare items."""
    return section("Popular and rare items", data, _long_tail)


def _long_tail(data: ReportData, part: DatasetPart) -> Told:
    found, best, lead = part.popularity, data.best(part), ""
    if found is None:
        return None
    if best in found.shares:
        first, last = (percent(float(found.shares[best][end])) for end in (0, -1))
        lead = (
            f"The most popular items with a tenth of the training rows get {first} of what {best} "
            f"recommends{data.place(part)}, the rarest with a tenth of the rows {last}."
        )
    told = "; ".join(f"{run} {percent(float(each[0]))}" for run, each in found.shares.items())
    picture = Picture(
        f"tail_{slug(part.name)}",
        partial(_draw_tail, found),
        f"Share of recommendations by popularity of items. The most popular tenth gets: {told}",
        f"What is recommended, by popularity in training, {part.name}",
    )
    return lead, [Pictures((picture,)), _tail_table(part.name, found)]


def _tail_table(dataset: str, found: PopularityShares) -> TableBlock:
    rows = tuple(_tail_rows(found))
    header = ("run", *(f"{place}." for place in range(1, len(found.train) + 1)))
    caption = f"{dataset}: share of the top {found.k} recommendations by tenths of the training rows"
    return TableBlock(caption, header, rows)


def _tail_rows(found: PopularityShares) -> Iterator[Row]:
    for name, shares in {"training rows": found.train, **found.shares}.items():
        yield (name, *(percent(float(share)) for share in shares))


def _draw_tail(found: PopularityShares) -> "Figure":
    from recgauge.report.figures.compared import plot_popularity_shares

    return plot_popularity_shares(found.shares, found.train, k=found.k)
