"""Runs side by side: means with intervals, differences in groups of users, quality against cost."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

from recgauge.metrics.names import as_key, metric_label
from recgauge.report.comparison_tables import number
from recgauge.report.figures.style import (
    COLUMN,
    INK,
    PALETTE,
    REFERENCE,
    SMALL,
    draw_interval,
    line_look,
    name_rows,
    new_figure,
    short_name,
    short_names,
    write_at_edge,
)
from recgauge.report.segment_tables import ALL, group_words

if TYPE_CHECKING:
    from recgauge.comparison.results import MetricComparison
    from recgauge.comparison.segments import Segments


class _Interval(NamedTuple):
    """A row of a figure: a value between two ends, and a text at the edge."""

    name: str
    ends: tuple[float, float, float]  # low end, value, high end
    text: str
    filled: bool = True
    ink: str = PALETTE[0]
    marker: str = "o"


def plot_means(result: "MetricComparison", *, most: int | None = None) -> Figure:
    """Draw the means of the best runs with their intervals and letters, as wide as a telephone."""
    rows = [
        _Interval(row.run, (row.low, row.mean, row.high), f"{number(row.mean)}  {row.letters}".strip())
        for row in result.rows[:most]
    ]
    direction = "" if result.higher_is_better else " (lower is better)"
    with new_figure(None, height=0.75 + 0.3 * len(rows), width=COLUMN) as (figure, (axes,)):
        _draw_intervals(axes, rows, f"{metric_label(result.metric)}{direction}")
    return figure


def plot_gains(segments: "Segments", run: str) -> Figure:
    """Draw by how much a run is better than the baseline in each group, filled where that is shown.

    All users are a diamond without a verdict, which the comparison of the runs gives.
    """
    rows = [
        _Interval(
            pair.segment,
            (pair.low, pair.difference, pair.high),
            f"{pair.n_users:,} users",
            *((True, INK, "D") if pair.segment == ALL else (pair.differs,)),
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


def _draw_intervals(axes: Axes, rows: Sequence[_Interval], label: str) -> None:
    for place, row in enumerate(rows):
        draw_interval(axes, place, row.ends, filled=row.filled, ink=row.ink, marker=row.marker)
        write_at_edge(axes, row.text, place)
    name_rows(axes, short_names([row.name for row in rows]))
    axes.margins(x=0.12)
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.set_xlabel(label, fontsize=SMALL)


def plot_tradeoff(points: Mapping[str, tuple[float, float]], *, x_label: str, y_label: str) -> Figure:
    """Draw a point for each run; the x axis is logarithmic."""
    with new_figure(None, height=3.2, width=COLUMN) as (figure, (axes,)):
        for index, (name, (x, y)) in enumerate(zip(short_names(list(points)), points.values(), strict=True)):
            drawn = line_look(index, marker=True) | {"linestyle": "", "markersize": 7}
            axes.plot([x], [y], label=name, **drawn)
        axes.set_xscale("log")
        xs = [x for x, _ in points.values()]
        if max(xs) < 100 * min(xs):  # one power of ten, or none, may be among them
            few = max(xs) < 10 * min(xs)
            axes.xaxis.set_major_locator(MaxNLocator(4) if few else LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.6g}")
        axes.xaxis.set_minor_formatter(NullFormatter())  # else it writes formulas, which are not set
        axes.margins(x=0.1, y=0.1)
        axes.set(xlabel=x_label, ylabel=y_label)
        figure.legend(loc="outside right center")
    return figure
