"""Sections of what the runs reached: the answer, the leaderboard, pairs, every metric over cutoffs."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from recgauge.comparison import DatasetsResult, MetricComparison, Pair, RunRow
from recgauge.comparison.claims import metric_label
from recgauge.metrics import metric_class
from recgauge.report.comparison_tables import (
    COSTS,
    PAIR_COLUMNS,
    cost_cells,
    deviation,
    explanation,
    heading,
    interval,
    leaderboard,
    number,
    on_dataset,
    p_value,
    pair_cells,
    rank_grid,
    shown,
)
from recgauge.report.html.blocks import (
    Bar,
    Block,
    Cell,
    Folded,
    Heading,
    Lines,
    Picture,
    Pictures,
    Rank,
    Row,
    Section,
    Table,
    Text,
    slug,
)
from recgauge.report.html.data import DatasetPart, ReportData
from recgauge.report.series import best_values
from recgauge.runs import HEADLINE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_FIGURES = 6  # metrics over cutoffs that are drawn; the table has all
MOST_IN_MATRIX = 24  # runs: with more, the list of pairs is easier to read


def answer(data: ReportData) -> Section:
    """Return the claims: by the first metric for all to see, by the others below."""
    comparison = data.comparison
    first = [one for one in comparison.results if one.metric == comparison.metrics[0]]
    rest = [one for one in comparison.results if one.metric != comparison.metrics[0]]
    blocks: list[Block] = [Lines(tuple(claim for one in first for claim in one.claims), "claims")]
    over = [claim for one in comparison.over_datasets[:1] for claim in one.claims]
    blocks += [Lines(tuple(over))] if over else []
    more = tuple(claim for one in rest for claim in one.claims)
    more += tuple(claim for one in comparison.over_datasets[1:] for claim in one.claims)
    if more:
        labels = ", ".join(metric_label(metric) for metric in comparison.metrics[1:])
        blocks.append(Folded(f"By other metrics: {labels}", (Lines(more),)))
    told = [*data.marks, *comparison.notes, *data.notes]
    blocks += [Lines(tuple(told), "notes")] if told else []
    runs = "; ".join(heading(on_dataset(comparison, dataset)) for dataset in comparison.datasets)
    return Section("The answer", f"{runs}.", tuple(blocks))


def leaderboards(data: ReportData) -> Section:
    """Return a table for each data set: means with intervals, letters and costs."""
    blocks: list[Block] = []
    leads = []
    for dataset in data.comparison.datasets:
        some = on_dataset(data.comparison, dataset)
        best = some[0].rows[0]
        place = f" on {dataset}" if data.several else ""
        what = metric_label(some[0].metric)
        leads.append(f"{best.run} has the best {what}{place}, {number(best.mean)} {interval(best)}")
        blocks += [
            _leaderboard(some, data),
            Text(explanation(data.comparison.procedure, some), "explanation"),
        ]
    ranks = [_ranks(over) for over in data.comparison.over_datasets]
    blocks += ranks[:1]
    blocks += [Folded("Mean ranks by other metrics", tuple(ranks[1:]))] if ranks[1:] else []
    return Section("Leaderboard", f"{'; '.join(leads)}.", tuple(blocks))


def _ranks(over: DatasetsResult) -> Table:
    header, rows = rank_grid(over)
    caption = f"Mean ranks over {len(over.datasets)} data sets, {shown(over.metric)}"
    return Table(caption, tuple(header), tuple(map(tuple, rows)), sortable=True)


def _leaderboard(some: Sequence[MetricComparison], data: ReportData) -> Table:
    dataset = some[0].dataset
    known = {row.run: cost_cells(data.costs.get((dataset, row.run))) for row in some[0].rows}
    costs = [place for place in range(len(COSTS)) if any(cells[place] for cells in known.values())]
    names = list(COSTS.values())
    scales = [_scale(one) for one in some]
    rows: list[Row] = [
        (
            run,
            *(_mean_cell(row, *scale) for row, scale in zip(cells, scales, strict=True)),
            *(known[run][place] for place in costs),
        )
        for run, cells in leaderboard(some)
    ]
    header = ("run", *(shown(one.metric) for one in some), *(names[place] for place in costs))
    return Table(heading(some), header, tuple(rows), sortable=True, look="leaderboard")


def _scale(one: MetricComparison) -> tuple[float, float]:
    """Return where the scale of a column's intervals begins and ends."""
    ends = [end for row in one.rows for end in (row.low, row.mean, row.high)]
    low, high = min(ends), max(ends)
    return low, (high - low) or 1.0


def _mean_cell(row: RunRow, low: float, width: float) -> Cell:
    ends = [100 * (end - low) / width for end in (row.low, row.mean, row.high)]
    rank: Rank = "best" if row.is_best else "second" if row.is_second else ""
    small = tuple(text for text in (interval(row), deviation(row)) if text)
    return Cell(number(row.mean), small, rank, row.letters, Bar(*ends), order=row.mean)


def pairs(data: ReportData) -> Section | None:
    """Return the differences between runs: a matrix by the first metric, and the list of all pairs."""
    blocks: list[Block] = []
    leads = []
    for dataset in data.comparison.datasets:
        some = on_dataset(data.comparison, dataset)
        first = some[0]
        if not first.pairs:
            continue
        n_shown = sum(pair.differs for pair in first.pairs)
        place = f" on {dataset}" if data.several else ""
        n_pairs = f"{len(first.pairs)} pair{'s' if len(first.pairs) != 1 else ''}"
        leads.append(f"{n_shown} of {n_pairs}{place} differ in {metric_label(first.metric)}")
        if data.comparison.procedure.baseline is None and len(first.rows) <= MOST_IN_MATRIX:
            blocks += [_matrix(first)]
        by = f"{len(some)} metrics" if len(some) > 1 else shown(first.metric)
        title = f"All pairs{place}: differences, intervals and tests by {by}"
        blocks.append(Folded(title, tuple(_pair_table(one) for one in some if one.pairs)))
    alpha = 1 - data.comparison.procedure.confidence
    lead = f"{'; '.join(leads)}, at a corrected p of at most {alpha:.3g}."
    return Section("Pairs of runs", lead, tuple(blocks)) if blocks else None


def _matrix(one: MetricComparison) -> Table:
    runs = [row.run for row in one.rows]
    rows = []
    for place, row_run in enumerate(runs[:-1]):
        cells: list[str | Cell] = [row_run]
        for other, column in enumerate(runs[1:], 1):
            cells.append(_difference(one.pair(row_run, column)) if other > place else "")
        rows.append(tuple(cells))
    where = f" on {one.dataset}" if one.dataset else ""
    caption = (
        f"{metric_label(one.metric)}{where}: row less column, corrected p below. Bold: shown to differ; "
        "grey: not shown"
    )
    return Table(caption, ("run", *runs[1:]), tuple(rows), look="matrix")


def _difference(pair: Pair) -> Cell:
    look = "shown" if pair.differs else "faint"
    return Cell(number(pair.difference, sign=True), (f"p {p_value(pair.p_adjusted)}",), look=look)


def _pair_table(one: MetricComparison) -> Table:
    where = f"{one.dataset}, " if one.dataset else ""
    rows: list[Row] = []
    for pair in one.pairs:
        look = "" if pair.differs else "faint"
        rows.append((pair.a, pair.b, *(Cell(text, look=look) for text in pair_cells(pair))))
    header = ("a", "b", *PAIR_COLUMNS)
    return Table(f"{where}{shown(one.metric)}: a less b", header, tuple(rows), words=("b",), sortable=True)


def over_cutoffs(data: ReportData) -> Section:
    """Return every metric at every cutoff: figures of the first ones, a table of all."""
    blocks: list[Block] = []
    winners: Counter[str] = Counter()
    n_counted = 0
    for part in data.parts:
        blocks += [Heading(part.name)] if data.several else []
        pictures = tuple(_cutoff_pictures(part))
        blocks += [Pictures(pictures, "metric" if len(pictures) > 2 else "")] if pictures else []
        blocks += [Folded(f"Every metric, every cutoff: {part.name}", (_every_metric(part),))]
        counted = [key for key, (name, _) in _keys(part).items() if not is_beyond(name)]
        n_counted += len(counted)
        best = best_values(list(part.runs.values()), counted)
        for name, series in part.runs.items():
            winners[name] += sum(best.get((series.comparable, key)) == series.mean(key) for key in counted)
    told = ", ".join(f"{name} {count} times" for name, count in winners.most_common(3) if count)
    lead = f"Best in {n_counted} combinations of an accuracy metric and a cutoff: {told or 'nobody alone'}."
    return Section("Every metric over cutoffs", lead, tuple(blocks))


def is_beyond(name: str) -> bool:
    """Whether a metric is of lists as a whole, whatever is relevant."""
    known = metric_class(name)
    return known is not None and ".beyond." in known.__module__


def _keys(part: DatasetPart) -> dict[str, tuple[str, int | None]]:
    """Return the metrics that all runs have, as key to name and cutoff, in the order of the suite."""
    records = [record for _, record in part.records()]
    common = set.intersection(*({entry.key for entry in record.results} for record in records))
    return {entry.key: (entry.name, entry.k) for entry in records[0].results if entry.key in common}


def _cutoff_pictures(part: DatasetPart) -> Iterator[Picture]:
    keys = _keys(part)
    by_name: dict[str, list[int]] = {}
    for name, k in keys.values():
        if k is not None:
            by_name.setdefault(name, []).append(k)
    drawn = [name for name, ks in by_name.items() if len(ks) > 1]
    drawn.sort(key=lambda name: HEADLINE.index(name) if name in HEADLINE else len(HEADLINE))
    for name in drawn[:MOST_FIGURES]:
        label = metric_label(name)
        runs = ", ".join(part.runs)
        yield Picture(
            f"cutoffs_{slug(part.name)}_{slug(name)}",
            partial(_draw_cutoffs, part, name, by_name[name]),
            f"{label} of {runs} on {part.name} at the cutoffs {', '.join(map(str, by_name[name]))}; the "
            "table below has the numbers",
            f"{label} over cutoffs, {part.name}",
            group=name,
        )


def _draw_cutoffs(part: DatasetPart, name: str, ks: Sequence[int]) -> "Figure":
    from recgauge.report.figures.compared import short_names
    from recgauge.report.figures.curves import plot_metric_over_k
    from recgauge.report.figures.style import COLUMN

    lines, errors = {}, {}
    for run, series in zip(short_names(list(part.runs)), part.runs.values(), strict=True):
        keys = [f"{name}_at_{k}" for k in ks]
        lines[run] = [series.mean(key) or 0.0 for key in keys]
        record = series.jobs[0].record
        assert record is not None
        found = [record.result(key) for key in keys]
        known = [entry.stderr for entry in found if entry is not None and entry.stderr is not None]
        if len(series.jobs) == 1 and len(known) == len(keys):
            errors[run] = known
    return plot_metric_over_k(ks, lines, stderr=errors, metric=metric_label(name), width=COLUMN)


def _every_metric(part: DatasetPart) -> Table:
    """Return a row for each metric and run, a column for each cutoff."""
    keys = _keys(part)
    best = best_values(list(part.runs.values()), list(keys))
    cutoffs = sorted({k for _, k in keys.values() if k is not None})
    columns: list[int | None] = [*cutoffs, *([None] if any(k is None for _, k in keys.values()) else [])]
    rows: list[Row] = []
    groups: list[str] = []
    for name in dict.fromkeys(name for name, _ in keys.values()):
        for run, series in part.runs.items():
            cells: list[str | Cell] = [run, metric_label(name)]
            for k in columns:
                key = name if k is None else f"{name}_at_{k}"
                value = series.mean(key) if key in keys else None
                top = best.get((series.comparable, key))
                rank: Rank = "best" if value is not None and value == top else ""
                cells.append(
                    "" if value is None else Cell(number(value), _spread(part, run, key), rank, order=value)
                )
            rows.append(tuple(cells))
            groups.append(metric_label(name))
    header = ("run", "metric", *("value" if k is None else f"@{k}" for k in columns))
    spread = "standard error over users"
    if any(len(series.jobs) > 1 for series in part.runs.values()):
        spread = (
            "deviation over seeds and folds. Each seed and fold counts its own users; the leaderboard first "
            "averages every user's values, so its means may differ a little"
        )
    caption = f"{part.name}: every metric and cutoff, best in bold; ±: {spread}"
    return Table(caption, header, tuple(rows), ("metric",), True, "every", tuple(groups), "metric")


def _spread(part: DatasetPart, run: str, key: str) -> tuple[str, ...]:
    series = part.runs[run]
    if len(series.jobs) > 1:
        found = series.deviation(key)
    else:
        entry = part.record(run).result(key)
        found = None if entry is None else entry.stderr
    return () if found is None else (f"± {number(found)}",)
