"""Sections of what quality comes with: costs, coverage and novelty, single users, popularity."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from recgauge.comparison import MetricComparison
from recgauge.comparison.claims import metric_label
from recgauge.errors import DataError
from recgauge.report.comparison_tables import COSTS, Cost, cost_cells, number
from recgauge.report.data_card.page import percent
from recgauge.report.html.blocks import Block, Cell, Heading, Picture, Pictures, Row, Section, Table, slug
from recgauge.report.html.data import DatasetPart, Popularity, ReportData
from recgauge.report.html.results import is_beyond
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
Points = Mapping[str, tuple[float, float]]


def costs(data: ReportData) -> Section | None:
    """Return quality against the seconds of training and of making lists."""
    blocks: list[Block] = []
    leads = []
    for part in data.parts:
        first = data.comparison.result(data.comparison.metrics[0], part.name)
        means = {row.run: row.mean for row in first.rows}
        known = {run: data.costs.get((part.name, run)) for run in means}
        pictures = tuple(_cost_pictures(part.name, known, means, first))
        if pictures:
            blocks += [Heading(part.name)] if data.several else []
            blocks.append(Pictures(pictures))
            leads.append(
                _best_buys(part.name, known, means, higher=first.higher_is_better, several=data.several)
            )
    return Section("Quality against cost", f"{' '.join(leads)}", tuple(blocks)) if blocks else None


def _seconds(known: Mapping[str, Cost | None], what: str) -> dict[str, float]:
    """Return what each run took, at least a millisecond; of the runs that say so."""
    found = {run: getattr(cost, what) for run, cost in known.items() if cost is not None}
    return {run: max(float(value), 1e-3) for run, value in found.items() if value is not None}


def _cost_pictures(
    dataset: str, known: Mapping[str, Cost | None], means: Mapping[str, float], first: MetricComparison
) -> Iterator[Picture]:
    label, best = metric_label(first.metric), "upper" if first.higher_is_better else "lower"
    for what, axis in TIMES.items():
        points = {run: (seconds, means[run]) for run, seconds in _seconds(known, what).items()}
        if len(points) > 1:
            place = list(COSTS).index(what)
            told = "; ".join(
                f"{run} {cost_cells(known[run])[place]} s and {number(means[run])}" for run in points
            )
            yield Picture(
                f"cost_{slug(dataset)}_{what}",
                partial(_draw_tradeoff, points, axis, label, log_x=True),
                f"{label} against {axis.partition(',')[0]}: {told}",
                f"{label} against seconds of {axis.partition(',')[0]}, {dataset}; {best} left is best",
            )


def _draw_tradeoff(points: Points, x_label: str, y_label: str, *, log_x: bool = False) -> "Figure":
    from recgauge.report.figures.compared import plot_tradeoff

    return plot_tradeoff(points, x_label=x_label, y_label=y_label, log_x=log_x)


def _best_buys(
    dataset: str, known: Mapping[str, Cost | None], means: Mapping[str, float], *, higher: bool, several: bool
) -> str:
    """Say which runs are at least as good as all that train faster."""
    seconds = _seconds(known, "fit_seconds") or _seconds(known, "recommend_seconds")
    sign = 1 if higher else -1
    order = sorted(seconds, key=lambda run: (seconds[run], -sign * means[run]))
    kept: list[str] = []
    for run in order:
        if not kept or sign * means[run] > sign * means[kept[-1]]:
            kept.append(run)
    where = f"On {dataset}, " if several else ""
    return f"{where}{'no' if where else 'No'} run is both faster and better than {', '.join(kept)}."


def beyond(data: ReportData) -> Section | None:
    """Return accuracy against coverage, novelty and diversity."""
    blocks: list[Block] = []
    leads = []
    for part in data.parts:
        first = data.comparison.metrics[0]
        keys = _beyond_keys(part, first)
        if not keys:
            continue
        blocks += [Heading(part.name)] if data.several else []
        means = {row.run: row.mean for row in data.comparison.result(first, part.name).rows}
        drawn = keys[:MOST_BEYOND]
        blocks.append(Pictures(tuple(_beyond_picture(part, key, first, means) for key in drawn)))
        blocks.append(_beyond_table(part, keys[:MOST_IN_TABLE]))
        best = next(iter(means))
        told = ", ".join(f"{metric_label(key)} {number(_mean(part, best, key))}" for key in keys[:3])
        place = f" on {part.name}" if data.several else ""
        leads.append(f"The most accurate run{place}, {best}, has {told}.")
    return Section("Beyond accuracy", " ".join(leads), tuple(blocks)) if blocks else None


def _beyond_keys(part: DatasetPart, first: str) -> list[str]:
    """Return the keys of metrics beyond accuracy that all runs have at the first metric's cutoff."""
    k = first.rpartition("_at_")[2]
    records = [record for _, record in part.records()]
    common = set.intersection(*({entry.key for entry in record.results} for record in records))
    found = [key for name in BEYOND if (key := f"{name}_at_{k}") in common]
    more = [e.key for e in records[0].results if is_beyond(e.name) and e.key in common and str(e.k) == k]
    return list(dict.fromkeys([*found, *more]))


def _mean(part: DatasetPart, run: str, key: str) -> float:
    value = part.runs[run].mean(key)
    return float("nan") if value is None else value


def _beyond_picture(part: DatasetPart, key: str, first: str, means: Mapping[str, float]) -> Picture:
    points = {run: (_mean(part, run, key), means[run]) for run in part.runs}
    told = "; ".join(f"{run} {number(x)} and {number(y)}" for run, (x, y) in points.items())
    x_label, y_label = metric_label(key), metric_label(first)
    return Picture(
        f"beyond_{slug(part.name)}_{slug(key)}",
        partial(_draw_tradeoff, points, x_label, y_label),
        f"{y_label} against {x_label}: {told}",
        f"{y_label} against {x_label}, {part.name}",
    )


def _beyond_table(part: DatasetPart, keys: Sequence[str]) -> Table:
    rows: list[Row] = []
    for run in part.runs:
        values = [_mean(part, run, key) for key in keys]
        rows.append((run, *(Cell(number(value), order=value) for value in values)))
    header = ("run", *(metric_label(key) for key in keys))
    return Table(f"{part.name}: metrics of the lists as a whole", header, tuple(rows), sortable=True)


def distribution(data: ReportData) -> Section | None:
    """Return where the values of single users lie, by the first metric."""
    blocks: list[Block] = []
    leads = []
    key = data.comparison.metrics[0]
    for part in data.parts:
        values = {run: found for run in part.runs if (found := _user_values(part, run, key)) is not None}
        if not values:
            continue
        label = metric_label(key)
        best = data.comparison.result(key, part.name).rows[0].run
        if best in values:
            half, zero = float(np.median(values[best])), float((values[best] == 0).mean())
            place = f" on {part.name}" if data.several else ""
            leads.append(
                f"With {best}{place}, half of the users have {label} of at most {number(half)}, "
                f"{percent(zero)} have 0."
            )
        picture = Picture(
            f"users_{slug(part.name)}",
            partial(_draw_users, values, label),
            f"Quantiles of {label} over users, by run; the table has the numbers",
            f"{label} of single users, {part.name}",
        )
        blocks += [Heading(part.name)] if data.several else []
        blocks += [Pictures((picture,)), _quantile_table(part.name, values, label)]
    return Section("Single users", " ".join(leads), tuple(blocks)) if blocks else None


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


def _quantile_table(dataset: str, values: Mapping[str, DoubleArray], label: str) -> Table:
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
    names = ("10 %", "25 %", "median", "75 %", "90 %", "mean")
    header = ("run", "users", "have 0", *names)
    return Table(
        f"{dataset}: {label} over users; of several seeds or folds, the first", header, rows, sortable=True
    )


def long_tail(data: ReportData) -> Section | None:
    """Return what each run recommends of popular and of rare items."""
    blocks: list[Block] = []
    leads = []
    for part in data.parts:
        found = part.popularity
        if found is None:
            continue
        best = data.comparison.result(data.comparison.metrics[0], part.name).rows[0].run
        if best in found.shares:
            place = f" on {part.name}" if data.several else ""
            first, last = (percent(float(found.shares[best][end])) for end in (0, -1))
            leads.append(
                f"The most popular items with a tenth of the training rows get {first} of what {best} "
                f"recommends{place}, the rarest with a tenth of the rows {last}."
            )
        told = "; ".join(f"{run} {percent(float(each[0]))}" for run, each in found.shares.items())
        picture = Picture(
            f"tail_{slug(part.name)}",
            partial(_draw_tail, found),
            f"Share of recommendations by popularity of items. The most popular tenth gets: {told}",
            f"What is recommended, by popularity in training, {part.name}",
        )
        columns = [f"{place}." for place in range(1, len(found.train) + 1)]
        rows = [
            (name, *(percent(float(share)) for share in each))
            for name, each in {"training rows": found.train, **found.shares}.items()
        ]
        caption = f"{part.name}: share of the top {found.k} recommendations by tenths of the training rows"
        blocks += [Heading(part.name)] if data.several else []
        blocks += [Pictures((picture,)), Table(caption, ("run", *columns), tuple(rows))]
    return Section("Popular and rare items", " ".join(leads), tuple(blocks)) if blocks else None


def _draw_tail(found: Popularity) -> "Figure":
    from recgauge.report.figures.compared import plot_popularity_shares

    return plot_popularity_shares(found.shares, found.train, k=found.k)
