"""Sections of what the runs reached, whether it holds, and what it costs, of one data set each."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from matplotlib.figure import Figure

from recgauge.comparison.run_groups import Best, RunGroup, best_values
from recgauge.errors import listed
from recgauge.metrics.names import importance, label, metric_label
from recgauge.page.data import Content, DatasetPart, ReportData
from recgauge.page.tuned import tuned_table
from recgauge.report import comparison_tables as tables
from recgauge.report import segment_tables
from recgauge.report.blocks import Cell, Folded, Picture, Pictures, Row, TableBlock, lines, slug
from recgauge.report.figures.compared import plot_gains, plot_tradeoff
from recgauge.report.figures.metrics import plot_metric_over_k
from recgauge.report.figures.style import COLUMN, short_names
from recgauge.report.stability_tables import winner_claim

MOST_FIGURES = 6  # metrics over cutoffs that are drawn; the table has all
SHORTEST = 1e-3  # seconds that are drawn


def leaderboard(data: ReportData, part: DatasetPart) -> Content:
    """Return means, intervals, letters and costs; of tuned runs what was chosen."""
    comparison = data.comparison
    results = tables.on_dataset(comparison, part.name)
    best, metric = results[0].rows[0], metric_label(results[0].metric)
    board = tables.leaderboard_table(results, comparison.costs, comparison.procedure)
    lead = f"{best.run} has the best {metric}, {tables.number(best.mean)} {tables.interval(best)}."
    return lead, [board, *tuned_table(part)]


def pairs(data: ReportData, part: DatasetPart) -> Content:
    """Return the differences between runs: the first ones for all to see, all by every metric below."""
    results = [result for result in tables.on_dataset(data.comparison, part.name) if result.pairs]
    if not results:
        return None
    first, alpha = results[0], data.comparison.procedure.alpha
    n_shown, n_pairs = sum(pair.differs for pair in first.pairs), len(first.pairs)
    metric = metric_label(first.metric)
    lead = f"Shown to differ in {metric}: {n_shown} of {n_pairs}, at a corrected p of at most {alpha:.3g}."
    shown = tables.few_pairs(first)
    if len(shown.rows) == n_pairs:
        del results[0]
    title = f"All pairs by {', '.join(label(result.metric) for result in results)}"
    folded = tuple(replace(tables.pair_table(result), note="") for result in results)
    return lead, [shown, *([Folded(title, folded)] if folded else [])]


def segments(_: ReportData, part: DatasetPart) -> Content:
    """Return who gains and who loses, by groups of users or items."""
    if not part.segments:
        return None
    claims = [segment_tables.claims(result)[0] for result in part.segments]
    drawn, repeated = [], any(len(run_group.runs) > 1 for run_group in part.runs.values())
    for result, claim in zip(part.segments, claims, strict=True):
        base, run = result.runs
        by = result.by.replace("_", " ")
        caption = (
            f"{run} less {base} by {by}. Bars: {100 * result.confidence:g} % intervals, each by itself; "
            "filled: shown to differ, corrected for the number of groups; diamond: all"
            + (" of the first seed or fold" if repeated else ", see Pairs of runs")
        )
        name = f"gain_{slug(part.name)}_{slug(by)}"
        drawn.append(Picture(name, partial(plot_gains, result, run), caption, claim))
    all_tables = tuple(map(segment_tables.segment_table, part.segments))
    notes = lines(dict.fromkeys(note for result in part.segments for note in result.notes), "notes")
    return claims[0], [
        *lines(claims[1:]),
        *notes,
        Pictures(tuple(drawn)),
        Folded("All groups as tables", all_tables),
    ]


def over_cutoffs(_: ReportData, part: DatasetPart) -> Content:
    """Return every metric at every cutoff: figures of the first ones, a table of all."""
    drawn: list[Picture] = []
    for name, keys in sorted(part.metrics().items(), key=lambda item: importance(item[0])):
        by_cutoff = {k: key for k, key in keys.items() if k is not None}
        if len(by_cutoff) > 1 and len(drawn) < MOST_FIGURES:
            draw = partial(_draw_cutoffs, part, name, by_cutoff)
            caption, shows = f"{metric_label(name)} over cutoffs", _leaders(part, by_cutoff)
            drawn.append(Picture(f"cutoffs_{slug(part.name)}_{slug(name)}", draw, caption, shows))
    pictures = [Pictures(tuple(drawn))] if drawn else []
    lead = "Does a run lead at some cutoffs only, or by some metrics only?"
    return lead, [*pictures, Folded("Every metric, every cutoff", (_metric_table(part),))]


def _leaders(part: DatasetPart, by_cutoff: Mapping[int, str]) -> str:
    """Say which run is the best at which cutoffs."""
    leaders: dict[str, list[int]] = {}
    for k, key in by_cutoff.items():
        values = {run: group.mean(key) or 0.0 for run, group in part.runs.items()}
        higher = next(iter(part.runs.values())).higher_is_better(key)
        leaders.setdefault((max if higher else min)(values, key=values.__getitem__), []).append(k)
    return f"{'; '.join(f'{run} leads at {listed(ks)}' for run, ks in leaders.items())}."


def _draw_cutoffs(part: DatasetPart, name: str, by_cutoff: Mapping[int, str]) -> Figure:
    means, errors = {}, {}
    for short, group in zip(short_names(list(part.runs)), part.runs.values(), strict=True):
        means[short] = [group.mean(key) or 0.0 for key in by_cutoff.values()]
        spreads = [_spread(group, key) for key in by_cutoff.values()]
        if len(group.runs) == 1 and None not in spreads:
            errors[short] = [spread or 0.0 for spread in spreads]
    return plot_metric_over_k(list(by_cutoff), means, stderr=errors, metric=metric_label(name), width=COLUMN)


def _metric_table(part: DatasetPart) -> TableBlock:
    metrics, groups = part.metrics(), part.runs
    ks = {k for keys in metrics.values() for k in keys}
    cutoffs = [*sorted(k for k in ks if k is not None), *([None] if None in ks else [])]
    best = best_values(list(groups.values()), [key for keys in metrics.values() for key in keys.values()])
    rows: list[Row] = []
    for name, keys in metrics.items():
        for run, group in groups.items():
            cells = [_cell(group, keys[k], best) if k in keys else Cell("") for k in cutoffs]
            rows.append((run, metric_label(name), *cells))
    return TableBlock(
        "Best in bold; ±: standard error over users, of several seeds or folds the deviation of their means",
        ("run", "metric", *("value" if k is None else f"@{k}" for k in cutoffs)),
        tuple(rows),
        words=("metric",),
        names=2,
        sortable=True,
    )


def _cell(group: RunGroup, key: str, best: Best) -> Cell:
    value, spread = group.mean(key) or 0.0, _spread(group, key)
    small = (f"± {tables.number(spread)}",) if spread else ()
    is_best = value == best.get((group.protocol, key))
    return Cell(tables.number(value), small, "best" if is_best else "", order=value)


def _spread(group: RunGroup, key: str) -> float | None:
    """Return the deviation over seeds and folds, of a single run the standard error over users."""
    if len(group.runs) > 1:
        return group.deviation(key)
    entry = group.records[0].result(key)
    return None if entry is None else entry.stderr


def costs(data: ReportData, part: DatasetPart) -> Content:
    """Return quality against the seconds of training."""
    first = data.comparison.result(data.comparison.metrics[0], part.name)
    points: dict[str, tuple[float, float]] = {}
    for row in first.rows:
        seconds = part.runs[row.run].cost.fit_seconds
        if seconds is not None:
            points[row.run] = max(seconds, SHORTEST), row.mean
    if len(points) < 2:
        return None
    lead = _fast_and_good({run: time for run, (time, _) in points.items()})
    metric, cost = metric_label(first.metric), "seconds of training (logarithmic scale)"
    draw = partial(plot_tradeoff, points, x_label=cost, y_label=metric)
    caption = f"{metric} against the seconds of training, at least {SHORTEST:g}, without those of a search"
    picture = Picture(f"cost_{slug(part.name)}", draw, caption, lead)
    return lead, [Pictures((picture,))]


def _fast_and_good(seconds: Mapping[str, float]) -> str:
    """Say which runs are the fastest, the best, or neither; they stand best first.

    Examples
    --------
    >>> _fast_and_good({"svd": 2.0, "ease": 3.0, "popularity": 0.1})
    'popularity is the fastest to train, svd the best; ease is neither faster nor better than svd.'
    """
    faster: dict[str, list[str]] = {}  # each than all better ones, with those that it beats in both
    for run, time in seconds.items():
        last = next(reversed(faster), None)
        if last is None or time < 0.9 * seconds[last]:  # less is the noise of clocks
            faster[run] = []
        else:
            faster[last].append(run)
    best, *between = faster
    text = f"{best} is the best and the fastest to train"
    if between:
        text = f"{between.pop()} is the fastest to train, {best} the best"
        text += f", {listed(between)} between" if between else ""
    beaten = [
        f"{listed(runs)} {'is' if len(runs) == 1 else 'are'} neither faster nor better than {run}"
        for run, runs in faster.items()
        if runs
    ]
    return f"{'; '.join([text, *beaten])}."


def stability(_: ReportData, part: DatasetPart) -> Content:
    """Return whether the winner stays under other metrics, cutoffs, splits and seeds."""
    if part.stability is None:
        return None
    return winner_claim(part.stability), [*part.stability.blocks()]


def stories(_: ReportData, part: DatasetPart) -> Content:
    """Return users with the largest gain and loss: their history and both lists."""
    lead = "The users with the largest gain and loss: both lists, and what they had in training."
    return (lead, list(part.stories)) if part.stories else None
