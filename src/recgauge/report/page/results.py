"""Sections of what the runs reached: the answer, the leaderboard, pairs, every metric over cutoffs."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from recgauge.comparison import MetricComparison, Pair
from recgauge.comparison.claims import metric_label
from recgauge.comparison.series import best_values
from recgauge.metrics import HEADLINE, metric_class
from recgauge.report.blocks import (
    Block,
    Cell,
    Folded,
    Lines,
    Picture,
    Pictures,
    Rank,
    Row,
    Section,
    TableBlock,
    lines,
    slug,
)
from recgauge.report.comparison_tables import (
    heading,
    interval,
    leaderboard_table,
    number,
    on_dataset,
    p_value,
    pair_table,
    rank_table,
    shown,
)
from recgauge.report.page.data import DatasetPart, ReportData, Told, section

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_FIGURES = 6  # metrics over cutoffs that are drawn; the table has all
MOST_IN_MATRIX = 24  # runs: with more, the list of pairs is easier to read


def answer(data: ReportData) -> Section:
    """Return the claims: by the first metric for all to see, by the others below."""
    comparison = data.comparison
    first = [result for result in comparison.results if result.metric == comparison.metrics[0]]
    rest = [result for result in comparison.results if result.metric != comparison.metrics[0]]
    blocks: list[Block] = [Lines(tuple(claim for result in first for claim in result.claims), "claims")]
    blocks += lines(claim for over in comparison.over_datasets[:1] for claim in over.claims)
    more = [claim for result in rest for claim in result.claims]
    more += [claim for over in comparison.over_datasets[1:] for claim in over.claims]
    if more:
        labels = ", ".join(metric_label(metric) for metric in comparison.metrics[1:])
        blocks.append(Folded(f"By other metrics: {labels}", (Lines(tuple(more)),)))
    blocks += lines([*data.marks, *comparison.notes, *data.notes], "notes")
    runs = "; ".join(heading(on_dataset(comparison, dataset)) for dataset in comparison.datasets)
    return Section("The answer", f"{runs}.", tuple(blocks))


def leaderboards(data: ReportData) -> Section:
    """Return a table for each data set, and mean ranks over several."""
    blocks: list[Block] = []
    leads = []
    for dataset in data.comparison.datasets:
        some = on_dataset(data.comparison, dataset)
        best = some[0].rows[0]
        place = f" on {dataset}" if data.several else ""
        what = metric_label(some[0].metric)
        leads.append(f"{best.run} has the best {what}{place}, {number(best.mean)} {interval(best)}")
        blocks.append(leaderboard_table(some, data.costs, data.comparison.procedure))
    ranks = list(map(rank_table, data.comparison.over_datasets))
    blocks += ranks[:1]
    blocks += [Folded("Mean ranks by other metrics", tuple(ranks[1:]))] if ranks[1:] else []
    return Section("Leaderboard", f"{'; '.join(leads)}.", tuple(blocks))


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
        blocks.append(Folded(title, tuple(pair_table(result) for result in some if result.pairs)))
    alpha = 1 - data.comparison.procedure.confidence
    lead = f"{'; '.join(leads)}, at a corrected p of at most {alpha:.3g}."
    return Section("Pairs of runs", lead, tuple(blocks)) if blocks else None


def _matrix(result: MetricComparison) -> TableBlock:
    runs = [row.run for row in result.rows]
    rows: list[Row] = []
    for place, name in enumerate(runs[:-1]):
        cells = [
            _difference(result.pair(name, other)) if column > place else ""
            for column, other in enumerate(runs[1:], 1)
        ]
        rows.append((name, *cells))
    where = f" on {result.dataset}" if result.dataset else ""
    caption = f"{metric_label(result.metric)}{where}: row less column, corrected p below"
    note = "Bold: shown to differ; grey: not shown."
    return TableBlock(caption, ("run", *runs[1:]), tuple(rows), note=note, look="matrix")


def _difference(pair: Pair) -> Cell:
    look = "shown" if pair.differs else "faint"
    return Cell(number(pair.difference, sign=True), (f"p {p_value(pair.p_adjusted)}",), look=look)


def over_cutoffs(data: ReportData) -> Section | None:
    """Return every metric at every cutoff: figures of the first ones, a table of all."""
    made = section("Every metric over cutoffs", data, _over_cutoffs)
    winners: Counter[str] = Counter()
    n_counted = 0
    for part in data.parts:
        counted = [key for key, (name, _) in _keys(part).items() if not is_beyond(name)]
        n_counted += len(counted)
        best = best_values(list(part.runs.values()), counted)
        for name, series in part.runs.items():
            winners[name] += sum(best.get((series.comparable, key)) == series.mean(key) for key in counted)
    told = ", ".join(f"{name} {count} times" for name, count in winners.most_common(3) if count)
    lead = f"Best in {n_counted} combinations of an accuracy metric and a cutoff: {told or 'nobody alone'}."
    return None if made is None else Section(made.title, lead, made.blocks, folded=True)


def _over_cutoffs(_: ReportData, part: DatasetPart) -> Told:
    pictures = tuple(_cutoff_pictures(part))
    drawn: list[Block] = [Pictures(pictures, "metric" if len(pictures) > 2 else "")] if pictures else []
    return "", [*drawn, Folded(f"Every metric, every cutoff: {part.name}", (_every_metric(part),))]


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
    by_name: dict[str, list[int]] = {}
    for name, k in _keys(part).values():
        if k is not None:
            by_name.setdefault(name, []).append(k)
    drawn = [name for name, ks in by_name.items() if len(ks) > 1]
    drawn.sort(key=lambda name: HEADLINE.index(name) if name in HEADLINE else len(HEADLINE))
    for name in drawn[:MOST_FIGURES]:
        label, ks = metric_label(name), by_name[name]
        yield Picture(
            f"cutoffs_{slug(part.name)}_{slug(name)}",
            partial(_draw_cutoffs, part, name, ks),
            f"{label} of {', '.join(part.runs)} on {part.name} at the cutoffs {', '.join(map(str, ks))}; "
            "the table below has the numbers",
            f"{label} over cutoffs, {part.name}",
            group=name,
        )


def _draw_cutoffs(part: DatasetPart, name: str, ks: Sequence[int]) -> "Figure":
    from recgauge.report.figures.compared import short_names
    from recgauge.report.figures.curves import plot_metric_over_k
    from recgauge.report.figures.style import COLUMN

    keys = [f"{name}_at_{k}" for k in ks]
    means, errors = {}, {}
    for label, (run, series) in zip(short_names(list(part.runs)), part.runs.items(), strict=True):
        means[label] = [series.mean(key) or 0.0 for key in keys]
        entries = [part.record(run).result(key) for key in keys]
        known = [entry.stderr for entry in entries if entry is not None and entry.stderr is not None]
        if len(series.jobs) == 1 and len(known) == len(keys):
            errors[label] = known
    return plot_metric_over_k(ks, means, stderr=errors, metric=metric_label(name), width=COLUMN)


def _every_metric(part: DatasetPart) -> TableBlock:
    """Return a row for each metric and run, a column for each cutoff."""
    keys = _keys(part)
    best = best_values(list(part.runs.values()), list(keys))
    cutoffs: list[int | None] = [*sorted({k for _, k in keys.values() if k is not None})]
    cutoffs += [None] if any(k is None for _, k in keys.values()) else []
    rows: list[Row] = []
    groups: list[str] = []
    for name in dict.fromkeys(name for name, _ in keys.values()):
        for run, series in part.runs.items():
            cells: list[str | Cell] = []
            for k in cutoffs:
                key = name if k is None else f"{name}_at_{k}"
                value = series.mean(key) if key in keys else None
                is_best = value is not None and value == best.get((series.comparable, key))
                rank: Rank = "best" if is_best else ""
                small = _spread(part, run, key)
                cells.append("" if value is None else Cell(number(value), small, rank, order=value))
            rows.append((run, metric_label(name), *cells))
            groups.append(metric_label(name))
    header = ("run", "metric", *("value" if k is None else f"@{k}" for k in cutoffs))
    repeated = any(len(series.jobs) > 1 for series in part.runs.values())
    spread = "deviation over seeds and folds" if repeated else "standard error over users"
    caption = f"{part.name}: every metric and cutoff, best in bold; ±: {spread}"
    return TableBlock(
        caption,
        header,
        tuple(rows),
        words=("metric",),
        names=2,
        sortable=True,
        look="every",
        groups=tuple(groups),
        chooser="metric",
    )


def _spread(part: DatasetPart, run: str, key: str) -> tuple[str, ...]:
    series = part.runs[run]
    entry = part.record(run).result(key)
    error = None if entry is None else entry.stderr
    spread = series.deviation(key) if len(series.jobs) > 1 else error
    return () if spread is None else (f"± {number(spread)}",)
