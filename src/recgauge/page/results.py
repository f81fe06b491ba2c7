"""Sections of what the runs reached, whether it holds, and what it costs."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from matplotlib.figure import Figure

from recgauge.comparison import MetricComparison, Pair
from recgauge.comparison.results import Cost
from recgauge.comparison.run_groups import best_values
from recgauge.errors import listed
from recgauge.metrics.names import importance, label, metric_label
from recgauge.page.data import DatasetPart, ReportData, Told, cutoff_of
from recgauge.report import comparison_tables as tables
from recgauge.report import segment_tables, stability_tables
from recgauge.report.blocks import (
    Cell,
    Folded,
    Lines,
    PageBlock,
    Picture,
    Pictures,
    Row,
    Section,
    TableBlock,
    lines,
    slug,
)
from recgauge.report.data_card import percent
from recgauge.report.figures.compared import (
    plot_gains,
    plot_popularity_shares,
    plot_stability,
    plot_tradeoff,
)
from recgauge.report.figures.metrics import plot_metric_over_k
from recgauge.report.figures.style import COLUMN, short_names

MOST_FIGURES = 6  # metrics over cutoffs that are drawn; the table has all
MOST_IN_MATRIX = 24  # runs: with more, the list of pairs is easier to read
BEYOND = (
    *("catalog_coverage", "novelty", "diversity", "intra_list_similarity", "personalization", "gini"),
    *("serendipity", "long_tail_share"),
)
"""Metrics beyond accuracy, the first ones of which are drawn against quality."""
MOST_BEYOND = 4
SHORTEST = 1e-3  # seconds that are drawn


def answer(data: ReportData) -> Section:
    """Return the claims: by the first metric for all to see, by the others below."""
    comparison = data.comparison
    first, over = comparison.metrics[0], comparison.over_datasets
    claims = [claim for result in comparison.results if result.metric == first for claim in result.claims]
    blocks: list[PageBlock] = [Lines(tuple(claims), "claims")]
    blocks += lines(claim for result in over[:1] for claim in result.claims)
    more = [claim for result in comparison.results if result.metric != first for claim in result.claims]
    more += [claim for result in over[1:] for claim in result.claims]
    if more:
        labels = ", ".join(map(metric_label, comparison.metrics[1:]))
        blocks.append(Folded(f"By other metrics: {labels}", (Lines(tuple(more)),)))
    blocks += lines([*tables.marks_of(comparison), *comparison.notes], "notes")
    runs = [tables.heading(tables.on_dataset(comparison, dataset)) for dataset in comparison.datasets]
    return Section("The answer", f"{'; '.join(runs)}.", tuple(blocks))


def leaderboards(data: ReportData) -> Section:
    """Return a table for each data set, and mean ranks over several."""
    blocks: list[PageBlock] = []
    leads = []
    for dataset in data.comparison.datasets:
        results = tables.on_dataset(data.comparison, dataset)
        best = results[0].rows[0]
        label, value = metric_label(results[0].metric), f"{tables.number(best.mean)} {tables.interval(best)}"
        leads.append(f"{best.run} has the best {label}{data.place(dataset)}, {value}")
        blocks.append(tables.leaderboard_table(results, data.comparison.costs, data.comparison.procedure))
    ranks = list(map(tables.rank_table, data.comparison.over_datasets))
    blocks += ranks[:1]
    blocks += [Folded("Mean ranks by other metrics", tuple(ranks[1:]))] if ranks[1:] else []
    return Section("Leaderboard", f"{'; '.join(leads)}.", tuple(blocks))


def pairs(data: ReportData) -> Section | None:
    """Return the differences between runs: a matrix by the first metric, and the list of all pairs."""
    blocks: list[PageBlock] = []
    leads = []
    for dataset in data.comparison.datasets:
        results = tables.on_dataset(data.comparison, dataset)
        first, place = results[0], data.place(dataset)
        if not first.pairs:
            continue
        n_pairs = f"{len(first.pairs)} pair{'s' if len(first.pairs) != 1 else ''}"
        n_shown = sum(pair.differs for pair in first.pairs)
        leads.append(f"{n_shown} of {n_pairs}{place} differ in {metric_label(first.metric)}")
        if data.comparison.procedure.baseline is None and len(first.rows) <= MOST_IN_MATRIX:
            blocks.append(_matrix(first))
        by = f"{len(results)} metrics" if len(results) > 1 else label(first.metric)
        title = f"All pairs{place}: differences, intervals and tests by {by}"
        blocks.append(Folded(title, tuple(tables.pair_table(result) for result in results if result.pairs)))
    alpha = 1 - data.comparison.procedure.confidence
    lead = f"{'; '.join(leads)}, at a corrected p of at most {alpha:.3g}."
    return Section("Pairs of runs", lead, tuple(blocks)) if blocks else None


def _matrix(result: MetricComparison) -> TableBlock:
    runs = [row.run for row in result.rows]
    rows: list[Row] = []
    for place, name in enumerate(runs[:-1]):
        others = runs[place + 1 :]
        rows.append((name, *[""] * place, *(_difference(result.pair(name, other)) for other in others)))
    where = f" on {result.dataset}" if result.dataset else ""
    caption = f"{metric_label(result.metric)}{where}: row less column, corrected p below"
    note = "Bold: shown to differ; grey: not shown."
    return TableBlock(caption, ("run", *runs[1:]), tuple(rows), note=note, look="matrix")


def _difference(pair: Pair) -> Cell:
    p = f"p {tables.p_value(pair.p_adjusted)}"
    return Cell(tables.number(pair.difference, sign=True), (p,), look="shown" if pair.differs else "faint")


def segments(data: ReportData, part: DatasetPart) -> Told:
    """Return who gains and who loses, by groups of users or items."""
    if not part.segments:
        return None
    claims = [segment_tables.claims(result)[0] for result in part.segments]
    named = [result.by.replace("_", " ") for result in part.segments]
    drawn = []
    for result, by, claim in zip(part.segments, named, claims, strict=True):
        base, run = result.runs
        name = f"gain_{slug(part.name)}_{slug(by)}"
        caption = f"{run} less {base} by {by}, {part.name}; filled: shown to differ"
        drawn.append(Picture(name, partial(plot_gains, result, run), caption, claim))
    blocks: list[PageBlock] = [
        *lines(claims[1:]),
        Pictures(tuple(drawn)),
        Folded(
            f"Tables by {', '.join(named)}: {part.name}",
            tuple(map(segment_tables.segment_table, part.segments)),
        ),
    ]
    return (f"{part.name}: {claims[0]}" if data.several else claims[0]), blocks


def stories(data: ReportData, part: DatasetPart) -> Told:  # noqa: ARG001 - as every section
    """Return users with the largest gain and loss: their history and both lists."""
    if not part.stories:
        return None
    lead = "The users with the largest gain and loss: both lists, and what they had in training."
    return lead, list(part.stories)


def stability(data: ReportData, part: DatasetPart) -> Told:
    """Return whether the winner stays under other metrics, cutoffs, conventions, seeds."""
    result = part.stability
    if result is None:
        return None
    changing = [axis.axis for axis in result.axes if axis.other_winners()]
    told = f"under every option of {len(result.axes)} choices"
    if changing:
        told = f"but not under every {' and every '.join(changing)}"
    first = result.axes[0]
    winner = first.winner(first.reference)
    claims = tuple(stability_tables.claims(result))
    caption = f"Pairs of models whose order turns, {part.name}; solid: beyond noise, hatched: within noise"
    draw = partial(plot_stability, result, title=None)
    lead = f"{winner} wins{data.place(part.name)}{',' if changing else ''} {told}."
    picture = Picture(f"stability_{slug(part.name)}", draw, caption, lead, wide=True)
    own = (stability_tables.choice_table(result), stability_tables.option_table(result))
    blocks: list[PageBlock] = [
        Lines(claims),
        *([Pictures((picture,))] if any(axis.turns() for axis in result.axes) else []),
        Folded(f"Every choice and option: {part.name}", (*own, *lines(result.notes, "notes"))),
    ]
    return lead, blocks


def over_cutoffs(_: ReportData, part: DatasetPart) -> Told:
    """Return every metric at every cutoff: figures of the first ones, a table of all."""
    pictures = tuple(_cutoff_pictures(part))
    drawn: list[PageBlock] = [Pictures(pictures)] if pictures else []
    lead = "Does a run lead at some cutoffs only, or by some metrics only?"
    return lead, [*drawn, Folded(f"Every metric, every cutoff: {part.name}", (_every_metric(part),))]


def _cutoff_pictures(part: DatasetPart) -> Iterator[Picture]:
    by_name: dict[str, list[int]] = {}
    for name, k in part.common_keys().values():
        if k is not None:
            by_name.setdefault(name, []).append(k)
    drawn = [name for name, ks in by_name.items() if len(ks) > 1]
    drawn.sort(key=importance)
    for name in drawn[:MOST_FIGURES]:
        label, ks = metric_label(name), by_name[name]
        yield Picture(
            f"cutoffs_{slug(part.name)}_{slug(name)}",
            partial(_draw_cutoffs, part, name, ks),
            f"{label} over cutoffs, {part.name}",
            _leaders(part, name, ks),
        )


def _leaders(part: DatasetPart, name: str, ks: Sequence[int]) -> str:
    """Say which run is the best at which cutoffs."""
    lower = not next(iter(part.runs.values())).higher_is_better(f"{name}_at_{ks[0]}")
    leaders: dict[str, list[int]] = {}
    for k in ks:
        means = {run: part.mean(run, f"{name}_at_{k}") for run in part.runs}
        best = (min if lower else max)(means, key=means.__getitem__)
        leaders.setdefault(best, []).append(k)
    return f"{'; '.join(f'{run} leads at {listed(some)}' for run, some in leaders.items())}."


def _draw_cutoffs(part: DatasetPart, name: str, ks: Sequence[int]) -> Figure:
    keys = [f"{name}_at_{k}" for k in ks]
    means, errors = {}, {}
    for short, (run, group) in zip(short_names(list(part.runs)), part.runs.items(), strict=True):
        means[short] = [group.mean(key) or 0.0 for key in keys]
        entries = [part.record(run).result(key) for key in keys]
        known = [entry.stderr for entry in entries if entry is not None and entry.stderr is not None]
        if len(group.runs) == 1 and len(known) == len(keys):
            errors[short] = known
    return plot_metric_over_k(ks, means, stderr=errors, metric=metric_label(name), width=COLUMN)


def _every_metric(part: DatasetPart) -> TableBlock:
    keys = part.common_keys()
    best = best_values(list(part.runs.values()), list(keys))
    cutoffs: list[int | None] = [*sorted({k for _, k in keys.values() if k is not None})]
    cutoffs += [None] if any(k is None for _, k in keys.values()) else []
    repeated = any(len(group.runs) > 1 for group in part.runs.values())
    rows: list[Row] = []
    for name in dict.fromkeys(name for name, _ in keys.values()):
        for run, group in part.runs.items():
            cells: list[str | Cell] = []
            for key in (name if k is None else f"{name}_at_{k}" for k in cutoffs):
                value = group.mean(key) if key in keys else None
                is_best = value is not None and value == best.get((group.protocol, key))
                cells.append("" if value is None else _mean(part, run, key, value, is_best=is_best))
            rows.append((run, metric_label(name), *cells))
    spread = "deviation over seeds and folds" if repeated else "standard error over users"
    return TableBlock(
        f"{part.name}: every metric and cutoff, best in bold; ±: {spread}",
        ("run", "metric", *("value" if k is None else f"@{k}" for k in cutoffs)),
        tuple(rows),
        words=("metric",),
        names=2,
        sortable=True,
    )


def _mean(part: DatasetPart, run: str, key: str, value: float, *, is_best: bool) -> Cell:
    group, entry = part.runs[run], part.record(run).result(key)
    error = None if entry is None else entry.stderr
    spread = group.deviation(key) if len(group.runs) > 1 else error
    small = () if spread is None or (len(group.runs) > 1 and not spread) else (f"± {tables.number(spread)}",)
    return Cell(tables.number(value), small, "best" if is_best else "", order=value)


def costs(data: ReportData, part: DatasetPart) -> Told:
    """Return quality against the seconds of training."""
    first = data.comparison.result(data.comparison.metrics[0], part.name)
    costs = data.comparison.costs
    known = {row.run: costs.get((part.name, row.run), Cost()).fit_seconds for row in first.rows}
    times = {run: max(time, SHORTEST) for run, time in known.items() if time is not None}
    if len(times) < 2:
        return None
    quality = {row.run: row.mean if first.higher_is_better else -row.mean for row in first.rows}
    fastest: list[str] = []  # runs that are better than all that are faster
    for run in sorted(times, key=lambda run: (times[run], -quality[run])):
        if not fastest or quality[run] > quality[fastest[-1]]:
            fastest.append(run)
    lead = f"No run{data.place(part.name)} is both faster and better than {', '.join(fastest)}."
    name, x_label = f"cost_{slug(part.name)}", "training, s (logarithmic)"
    return lead, [Pictures((_tradeoff(name, part, times, x_label, first, lead, log_x=True),))]


def beyond(data: ReportData, part: DatasetPart) -> Told:
    """Return accuracy against coverage, novelty and diversity: of metrics at the first metric's cutoff."""
    first = data.comparison.result(data.comparison.metrics[0], part.name)
    k, common = first.metric.rpartition("_at_")[2], part.common_keys()
    keys = [key for name in BEYOND if (key := f"{name}_at_{k}") in common][:MOST_BEYOND]
    if not keys:
        return None
    best, drawn = data.best(part), []
    told = ", ".join(f"{metric_label(key)} {tables.number(part.mean(best, key))}" for key in keys)
    lead = f"The most accurate run{data.place(part.name)}, {best}, has {told}."
    for key in keys:
        values = {run: part.mean(run, key) for run in part.runs}
        name = f"beyond_{slug(part.name)}_{slug(key)}"
        drawn.append(_tradeoff(name, part, values, metric_label(key), first, lead))
    return lead, [Pictures(tuple(drawn))]


def _tradeoff(
    name: str,
    part: DatasetPart,
    values: Mapping[str, float],
    x_label: str,
    result: MetricComparison,
    shows: str,
    *,
    log_x: bool = False,
) -> Picture:
    """Return the metric of a comparison against another value of the runs that have one."""
    points = {row.run: (values[row.run], row.mean) for row in result.rows if row.run in values}
    y_label = metric_label(result.metric)
    draw = partial(plot_tradeoff, points, x_label=x_label, y_label=y_label, log_x=log_x)
    return Picture(name, draw, f"{y_label} against {x_label}, {part.name}", shows)


def long_tail(data: ReportData, part: DatasetPart) -> Told:
    """Return what each run recommends of popular and of rare items."""
    if not part.popularity:
        return None
    best, k = data.best(part), cutoff_of(data.comparison.metrics[0])
    shares = {name: [percent(float(share)) for share in each] for name, each in part.popularity.items()}
    lead = (
        f"The most popular items with a tenth of the training rows get {shares[best][0]} of what {best} "
        f"recommends{data.place(part.name)}, the rarest with a tenth of the rows {shares[best][-1]}."
    )
    draw = partial(plot_popularity_shares, part.popularity, k=k)
    caption = f"What is recommended, by popularity in training, {part.name}"
    header = ("run", *(f"{place}." for place in range(1, len(shares[best]) + 1)))
    table = TableBlock(
        f"{part.name}: share of the top {k} recommendations by tenths of the training rows",
        header,
        tuple((name, *texts) for name, texts in shares.items()),
    )
    return lead, [Pictures((Picture(f"tail_{slug(part.name)}", draw, caption, lead),)), table]
