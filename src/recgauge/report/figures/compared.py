"""Runs side by side: means, differences, ranks, costs, groups of users, what turns their order."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullFormatter

from recgauge.metrics.names import as_key, metric_label
from recgauge.report.comparison_tables import number
from recgauge.report.figures.style import (
    COLUMN,
    INK,
    MUTED,
    PALETTE,
    REFERENCE,
    RULE,
    SMALL,
    draw_interval,
    explain_filled,
    line_look,
    name_rows,
    new_figure,
    short_name,
    short_names,
    write_at_edge,
    write_beside,
)
from recgauge.report.segment_tables import ALL, group_words
from recgauge.report.stability_tables import winner_text

_LONGEST_WINNER = 100  # characters of the line below a bar
_WITHIN_NOISE: dict[str, Any] = {
    "color": "white",
    "edgecolor": PALETTE[0],
    "hatch": "////",
    "linewidth": 0.8,
}

if TYPE_CHECKING:
    from recgauge.comparison.over_datasets import DatasetsResult
    from recgauge.comparison.results import Comparison, MetricComparison, RunRow
    from recgauge.comparison.segments import Segments
    from recgauge.comparison.stability import Stability


def forest(comparison: "Comparison", metric: str | None = None, dataset: str | None = None) -> Figure:
    """Return a figure of every run's mean, and of its difference to the baseline, else to the best run.

    Points are filled where the corrected test shows a difference, open where it does not. Of several metrics
    or data sets it is the first if none is named; ConfigError if there is no such one.
    """
    result = comparison.result(metric or comparison.metrics[0], dataset)
    reference = comparison.procedure.baseline or result.rows[0].run
    where = f" on {result.dataset}" if result.dataset else ""
    title = f"{metric_label(result.metric)}{where}, {result.n_users:,} {result.unit}"
    differences = []
    for row in result.rows:
        if row.run == reference:
            differences.append(_Interval("", (0.0, 0.0, 0.0), "", ink=INK))
            continue
        pair = result.pair(row.run, reference)
        sign = 1 if pair.a == row.run else -1
        low, middle, high = sorted(sign * end for end in (pair.low, pair.difference, pair.high))
        differences.append(_Interval("", (low, middle, high), number(middle, sign=True), pair.differs))
    confidence = f"{100 * comparison.procedure.confidence:g} % interval"
    with new_figure(title, height=1.5 + 0.3 * len(differences), panels=2) as (figure, (left, right)):
        _draw_intervals(left, _means(result.rows), f"mean over {result.unit},\n{confidence}")
        _draw_intervals(right, differences, f"difference to {short_name(reference)},\n{confidence}")
        right.axvline(0.0, **REFERENCE)
        explain_filled(figure, " after correction for all pairs")
    return figure


def plot_means(result: "MetricComparison", *, most: int) -> Figure:
    """Draw the means of the best runs with their intervals and letters, as wide as a telephone."""
    rows = _means(result.rows[:most])
    direction = "" if result.higher_is_better else " (lower is better)"
    with new_figure(None, height=0.75 + 0.3 * len(rows), width=COLUMN) as (figure, (axes,)):
        _draw_intervals(axes, rows, f"{metric_label(result.metric)}{direction}")
    return figure


def plot_gains(segments: "Segments", run: str) -> Figure:
    """Draw by how much a run is better than the baseline in each group, filled where that is shown."""
    rows = [
        _Interval(
            pair.segment,
            (pair.low, pair.difference, pair.high),
            f"{pair.n_users:,} users",
            pair.differs,
            INK if pair.segment == ALL else PALETTE[0],
        )
        for pair in segments.pairs
        if pair.a == run
    ]
    direction = "" if segments.higher_is_better else " (lower is better)"
    metric, base = metric_label(as_key(segments.metric)), short_name(segments.runs[0])
    label = f"{metric}: {short_name(run)} − {base}{direction}"
    with new_figure(None, height=1.3 + 0.3 * len(rows), width=COLUMN) as (figure, (axes,)):
        _draw_intervals(axes, rows, label)
        axes.axvline(0.0, **REFERENCE)
        axes.set_ylabel(group_words(segments).replace(", in ", "\nin "), fontsize=SMALL)
    return figure


class _Interval(NamedTuple):
    """A row of a figure: a value between two ends, and a text at the edge."""

    name: str
    ends: tuple[float, float, float]  # low end, value, high end
    text: str
    filled: bool = True
    ink: str = PALETTE[0]


def _means(rows: "Sequence[RunRow]") -> list[_Interval]:
    return [
        _Interval(row.run, (row.low, row.mean, row.high), f"{number(row.mean)}  {row.letters}".strip())
        for row in rows
    ]


def _draw_intervals(axes: Axes, rows: Sequence[_Interval], label: str) -> None:
    for place, row in enumerate(rows):
        draw_interval(axes, place, row.ends, filled=row.filled, ink=row.ink)
        write_at_edge(axes, row.text, place)
    name_rows(axes, short_names([row.name for row in rows]))
    axes.margins(x=0.12)
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.set_xlabel(label, fontsize=SMALL)


def critical_difference_diagram(result: "DatasetsResult") -> Figure:
    """Draw mean ranks on a line; runs under one bar are not shown to differ.

    References
    ----------
    .. [1] J. Demsar, "Statistical comparisons of classifiers over multiple data sets", Journal of Machine
       Learning Research 7, 2006, figure 1.

    Examples
    --------
    >>> from recgauge.comparison import compare_datasets
    >>> result = compare_datasets({"svd": {"a": 0.3, "b": 0.2}, "popularity": {"a": 0.1, "b": 0.1}})
    >>> [text.get_text() for text in critical_difference_diagram(result).axes[0].texts]
    ['svd  1.00 ', ' 2.00  popularity', '  critical difference 1.39', '1', '2']
    """
    n, groups = len(result.runs), result.groups
    half, first_name = (n + 1) // 2, -0.6 - 0.32 * len(groups)
    title = f"Mean ranks by {metric_label(result.metric)} on {len(result.datasets)} data sets; 1 is best"
    with new_figure(title, height=1.5 + 0.3 * half + 0.12 * len(groups)) as (figure, (axes,)):
        for place, run in enumerate(result.runs):
            # written at the side and joined to the line, so that no two lines cross
            rank, left = result.mean_ranks[run], place < half
            height = first_name - 0.55 * (place if left else n - 1 - place)
            end = 1 - 0.06 * (n - 1) if left else n + 0.06 * (n - 1)
            axes.plot([rank, rank, end], [0, height, height], color=MUTED, linewidth=1)
            name, side = (f"{run}  {rank:.2f} ", "right") if left else (f" {rank:.2f}  {run}", "left")
            axes.text(end, height, name, ha=side, va="center")
        for level, group in enumerate(groups):
            ends = [result.mean_ranks[group[0]] - 0.04, result.mean_ranks[group[-1]] + 0.04]
            axes.plot(ends, [-0.35 - 0.32 * level] * 2, color=INK, linewidth=4, solid_capstyle="butt")
        if (length := result.critical_difference) is not None:
            axes.plot([1, 1 + length], [1.15, 1.15], color=INK, linewidth=1.2)
            for end in (1, 1 + length):
                axes.plot([end, end], [1.0, 1.3], color=INK, linewidth=1.2)
            axes.text(1 + length, 1.15, f"  critical difference {length:.2f}", ha="left", va="center")
        axes.set_ylim(first_name - 0.55 * half, 1.6)
        axes.set_xlim(1 - 0.42 * (n - 1), n + 0.42 * (n - 1))
        axes.plot([1, n], [0, 0], color=INK, linewidth=1.2)
        for rank in range(1, n + 1):
            axes.plot([rank, rank], [0, 0.15], color=INK, linewidth=1.2)
            axes.annotate(f"{rank}", (rank, 0.22), ha="center", va="bottom", annotation_clip=False)
        axes.axis("off")
    return figure


def plot_tradeoff(points: Mapping[str, tuple[float, float]], *, x_label: str, y_label: str) -> Figure:
    """Draw a point for each run; the x axis is logarithmic."""
    with new_figure(None, height=3.2, width=COLUMN) as (figure, (axes,)):
        for index, (name, (x, y)) in enumerate(zip(short_names(list(points)), points.values(), strict=True)):
            drawn = line_look(index, marker=True) | {"linestyle": "", "markersize": 7}
            axes.plot([x], [y], label=name, **drawn)
        axes.set_xscale("log")
        xs = [x for x, _ in points.values()]
        if max(xs) < 10 * min(xs):  # no power of ten need be among them
            axes.xaxis.set_major_locator(MaxNLocator(4))
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.6g}")
        axes.xaxis.set_minor_formatter(NullFormatter())  # else it writes formulas, which are not set
        axes.margins(x=0.1, y=0.1)
        axes.set(xlabel=x_label, ylabel=y_label)
        figure.legend(loc="outside right center")
    return figure


def plot_stability(stability: "Stability", *, title: str | None = "Does the order of models stay?") -> Figure:
    """Draw one bar per choice: the share of pairs of models that turn, its dark part beyond noise.

    The line below a bar says which model wins, and under which options another one does.
    """
    axes_of = stability.axes
    with new_figure(title, height=1.35 + 0.62 * len(axes_of)) as (figure, (axes,)):
        for row, axis in enumerate(axes_of):
            turned, surely = axis.n_turned
            sure, end = 100 * surely / axis.n_pairs, 100 * turned / axis.n_pairs
            axes.barh(row, 100, height=0.42, color=RULE, zorder=0)
            axes.barh(row, sure, height=0.42, color=PALETTE[0])
            axes.barh(row, end - sure, left=sure, height=0.42, **_WITHIN_NOISE)
            write_at_edge(axes, f"{turned} of {axis.n_pairs} pairs", row)
            winner = short_name(f"winner {winner_text(axis)}", _LONGEST_WINNER)
            write_beside(axes, winner, (0, row + 0.21), (0, -2), va="top")
        axes.set_xlim(0, 100)
        name_rows(axes, [f"{axis.axis}\n{len(axis.options)} options" for axis in axes_of])
        n_models = len(axes_of[0].models)
        label = f"pairs of the {n_models} models whose order turns between two options, in %\n"
        axes.set_xlabel(f"{label}solid and !: beyond noise; hatched: within noise")
    return figure
