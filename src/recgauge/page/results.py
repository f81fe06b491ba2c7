"""Sections of what the runs reached, whether it holds, and what it costs."""

from collections.abc import Iterator, Sequence
from functools import partial

from matplotlib.figure import Figure

from recgauge.comparison.results import Cost
from recgauge.comparison.run_groups import best_values
from recgauge.errors import listed
from recgauge.metrics.names import importance, label, metric_label
from recgauge.page.data import Content, DatasetPart, ReportData
from recgauge.page.tuned import tuned_table, with_chosen
from recgauge.report import comparison_tables as tables
from recgauge.report import segment_tables
from recgauge.report.blocks import (
    Cell,
    Folded,
    PageBlock,
    Picture,
    Pictures,
    Row,
    Section,
    TableBlock,
    lines,
    slug,
)
from recgauge.report.figures.compared import (
    plot_gains,
    plot_stability,
    plot_tradeoff,
)
from recgauge.report.figures.metrics import plot_metric_over_k
from recgauge.report.figures.style import COLUMN, short_names
from recgauge.report.stability_tables import stability_blocks

MOST_FIGURES = 6  # metrics over cutoffs that are drawn; the table has all
MOST_PAIRS = 45  # of ten runs; more are folded
_CHOICES = {"relevant from": "threshold", "candidates": "candidate rule", "filters": "filter"}
"""Choices of an axis of stability in words, where its name is none."""
SHORTEST = 1e-3  # seconds that are drawn


def leaderboards(data: ReportData) -> Section:
    """Return a table for each data set, and mean ranks over several."""
    blocks: list[PageBlock] = []
    leads = []
    for dataset in data.comparison.datasets:
        results = tables.on_dataset(data.comparison, dataset)
        best = results[0].rows[0]
        label, value = metric_label(results[0].metric), f"{tables.number(best.mean)} {tables.interval(best)}"
        leads.append(f"{best.run} has the best {label}{data.place(dataset)}, {value}")
        board = tables.leaderboard_table(results, data.comparison.costs, data.comparison.procedure)
        part = next(part for part in data.parts if part.name == dataset)
        blocks += [with_chosen(board, part), *tuned_table(part)]
    ranks = list(map(tables.rank_table, data.comparison.over_datasets))
    blocks += ranks[:1]
    blocks += [Folded("Mean ranks by other metrics", tuple(ranks[1:]))] if ranks[1:] else []
    return Section("Leaderboard", f"{'; '.join(leads)}.", tuple(blocks))


def pairs(data: ReportData) -> Section | None:
    """Return the differences between runs: by the first metric for all to see, by the others below."""
    blocks: list[PageBlock] = []
    leads = []
    for dataset in data.comparison.datasets:
        first, *rest = tables.on_dataset(data.comparison, dataset)
        if not first.pairs:
            continue
        place = data.place(dataset)
        n_pairs = f"{len(first.pairs)} pair{'s' if len(first.pairs) != 1 else ''}"
        n_shown = sum(pair.differs for pair in first.pairs)
        leads.append(f"{n_shown} of {n_pairs}{place} differ in {metric_label(first.metric)}")
        shown, folded = [first], [result for result in rest if result.pairs]
        if len(first.pairs) > MOST_PAIRS:
            shown, folded = [], [first, *folded]
        blocks += map(tables.pair_table, shown)
        if folded:
            title = f"Pairs{place} by {', '.join(label(result.metric) for result in folded)}"
            blocks.append(Folded(title, tuple(map(tables.pair_table, folded))))
    alpha = 1 - data.comparison.procedure.confidence
    lead = f"{'; '.join(leads)}, at a corrected p of at most {alpha:.3g}."
    return Section("Pairs of runs", lead, tuple(blocks)) if blocks else None


def segments(data: ReportData, part: DatasetPart) -> Content:
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


def stories(data: ReportData, part: DatasetPart) -> Content:  # noqa: ARG001 - as every section
    """Return users with the largest gain and loss: their history and both lists."""
    if not part.stories:
        return None
    lead = "The users with the largest gain and loss: both lists, and what they had in training."
    return lead, list(part.stories)


def stability(data: ReportData, part: DatasetPart) -> Content:
    """Return whether the winner stays under other metrics, cutoffs, splits and seeds."""
    result = part.stability
    if result is None:
        return None
    changing = [axis.axis for axis in result.axes if axis.other_winners()]
    options = f"whichever {' or '.join(_CHOICES.get(axis.axis, axis.axis) for axis in result.axes)} is chosen"
    if changing:
        names = [f"{_CHOICES.get(axis, axis)}s" for axis in changing]
        sure = any(turn for axis in result.axes for _, turn in axis.other_winners().values())
        options = (
            f"another run does under some {' and '.join(filter(None, [', '.join(names[:-1]), names[-1]]))}"
        )
        options += "" if sure else ", all within noise"
    first = result.axes[0]
    winner = first.winner(first.reference)
    caption = f"Pairs of models whose order turns, {part.name}; solid: beyond noise, hatched: within noise"
    draw = partial(plot_stability, result, title=None)
    lead = f"{winner} wins{data.place(part.name)}{';' if changing else ','} {options}."
    picture = Picture(f"stability_{slug(part.name)}", draw, caption, lead, wide=True)
    blocks: list[PageBlock] = [
        *([Pictures((picture,))] if any(any(axis.n_turned) for axis in result.axes) else []),
        Folded(f"Every choice: {part.name}", tuple(stability_blocks(result))),
    ]
    return lead, blocks


def over_cutoffs(_: ReportData, part: DatasetPart) -> Content:
    """Return every metric at every cutoff: figures of the first ones, a table of all."""
    pictures = tuple(_cutoff_pictures(part))
    drawn: list[PageBlock] = [Pictures(pictures)] if pictures else []
    lead = "Does a run lead at some cutoffs only, or by some metrics only?"
    return lead, [*drawn, Folded(f"Every metric, every cutoff: {part.name}", (_metric_table(part),))]


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
    return f"{'; '.join(f'{run} leads at {listed(cutoffs)}' for run, cutoffs in leaders.items())}."


def _draw_cutoffs(part: DatasetPart, name: str, ks: Sequence[int]) -> Figure:
    keys = [f"{name}_at_{k}" for k in ks]
    means, errors = {}, {}
    for short, (run, group) in zip(short_names(list(part.runs)), part.runs.items(), strict=True):
        means[short] = [group.mean(key) or 0.0 for key in keys]
        entries = [part.record(run).result(key) for key in keys]
        stderrs = [entry.stderr for entry in entries if entry is not None and entry.stderr is not None]
        if len(group.runs) == 1 and len(stderrs) == len(keys):
            errors[short] = stderrs
    return plot_metric_over_k(ks, means, stderr=errors, metric=metric_label(name), width=COLUMN)


def _metric_table(part: DatasetPart) -> TableBlock:
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


def costs(data: ReportData, part: DatasetPart) -> Content:
    """Return quality against the seconds of training."""
    first = data.comparison.result(data.comparison.metrics[0], part.name)
    costs = data.comparison.costs
    seconds = {row.run: costs.get((part.name, row.run), Cost()).fit_seconds for row in first.rows}
    times = {run: max(time, SHORTEST) for run, time in seconds.items() if time is not None}
    if len(times) < 2:
        return None
    quality = {row.run: row.mean if first.higher_is_better else -row.mean for row in first.rows}
    fastest: list[str] = []  # runs that are better than all that are faster
    for run in sorted(times, key=lambda run: (times[run], -quality[run])):
        if not fastest or quality[run] > quality[fastest[-1]]:
            fastest.append(run)
    lead = f"No run{data.place(part.name)} is both faster and better than {', '.join(fastest)}."
    points = {row.run: (times[row.run], row.mean) for row in first.rows if row.run in times}
    metric, cost = metric_label(first.metric), "training, s (logarithmic)"
    draw = partial(plot_tradeoff, points, x_label=cost, y_label=metric)
    picture = Picture(f"cost_{slug(part.name)}", draw, f"{metric} against {cost}, {part.name}", lead)
    return lead, [Pictures((picture,))]
