"""Runs side by side: costs, values of single users, popularity, groups, learning curves, calibration."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, LogLocator, MaxNLocator, NullLocator

from recgauge.comparison.segments import ALL, Segments
from recgauge.report.figures.style import (
    COLUMN,
    INK,
    MARKERS,
    PALETTE,
    REFERENCE,
    SMALL,
    color,
    draw_interval,
    label_ends,
    line_look,
    name_points,
    name_rows,
    new_figure,
    percent_axis,
    short_name,
    short_names,
    write_at_edge,
)
from recgauge.utils.checks import DoubleArray

_QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
_MOST_MARKED = 30  # points of a line
Line = tuple[Sequence[float], Sequence[float]]
"""Horizontal and vertical coordinates, equally many."""


def plot_tradeoff(
    points: Mapping[str, tuple[float, float]], *, x_label: str, y_label: str, log_x: bool = False
) -> Figure:
    """Draw a named point for each run; `log_x`: x is positive and spans orders of magnitude."""
    names = short_names(list(points))
    with new_figure(None, height=3.4, width=COLUMN) as (figure, (axes,)):
        for index, (x, y) in enumerate(points.values()):
            axes.plot([x], [y], marker=MARKERS[index % len(MARKERS)], color=color(index), markersize=7)
        if log_x:
            axes.set_xscale("log")
            low, high = axes.get_xlim()
            axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 100 * low else (1,)))
            axes.xaxis.set_minor_locator(NullLocator())
            axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.6g}")
        else:
            axes.xaxis.set_major_locator(MaxNLocator(nbins=6))
        axes.margins(x=0.16, y=0.14)
        axes.set(xlabel=x_label, ylabel=y_label)
        name_points(axes, dict(zip(names, points.values(), strict=True)))
    return figure


def plot_user_values(values: Mapping[str, DoubleArray], *, metric: str) -> Figure:
    """Draw where the values of single users lie: the middle half, the middle four fifths, median and mean."""
    names = short_names(list(values))
    with new_figure(None, height=1.3 + 0.3 * len(names), width=COLUMN) as (figure, (axes,)):
        for row, known in enumerate(values.values()):
            low, lower, median, upper, high = np.quantile(known, _QUANTILES)
            axes.plot([low, high], [row, row], color=PALETTE[0], linewidth=1.2)
            axes.plot([lower, upper], [row, row], color=PALETTE[0], linewidth=6, solid_capstyle="butt")
            axes.plot([median], [row], marker="|", markersize=11, markeredgewidth=2, color=INK)
            axes.plot([known.mean()], [row], marker="D", markersize=4.5, color=INK, markerfacecolor="white")
            if (share := float((known == 0).mean())) > 0:
                write_at_edge(axes, f"{100 * share:.0f} % have 0", row)
        name_rows(axes, names)
        figure.supxlabel(f"{metric} of a user: bar 25–75 %, line 10–90 %, | median, ◇ mean", fontsize=SMALL)
    return figure


def plot_popularity_shares(shares: Mapping[str, DoubleArray], train: DoubleArray, *, k: int) -> Figure:
    """Draw which share of its top `k` each run takes from groups of items; `train`: of the training rows."""
    groups = range(len(train), 0, -1)  # the popular ones, where runs differ most, are on the right
    with new_figure(None, height=3.4, width=COLUMN) as (figure, (axes,)):
        axes.plot(groups, train[::-1], **REFERENCE | {"linewidth": 1.6, "color": INK})
        ends = _draw_lines(axes, {name: (groups, line[::-1]) for name, line in shares.items()})
        axes.set_ylim(bottom=0)
        axes.set_xlim(len(train), 1)
        axes.xaxis.set_major_locator(FixedLocator(list(groups)))
        figure.supxlabel("tenths of the training rows, most popular items (1) on the right", fontsize=SMALL)
        axes.set_ylabel(f"share of recommendations, top {k}")
        percent_axis(axes.yaxis)
        label_ends(axes, [(float(train[0]), "training rows", INK), *ends])
    return figure


def plot_gains(segments: Segments, run: str) -> Figure:
    """Draw by how much a run is better than the baseline in each group, filled where that is shown."""
    pairs = [pair for pair in segments.pairs if pair.a == run]
    with new_figure(None, height=1.3 + 0.3 * len(pairs), width=COLUMN) as (figure, (axes,)):
        axes.axvline(0.0, **REFERENCE)
        for row, pair in enumerate(pairs):
            ink = INK if pair.segment == ALL else PALETTE[0]
            draw_interval(axes, row, (pair.low, pair.difference, pair.high), filled=pair.differs, ink=ink)
            write_at_edge(axes, f"{pair.n_users:,} users", row)
        name_rows(axes, short_names([pair.segment for pair in pairs]))
        axes.margins(x=0.12)
        axes.set_ylabel(segments.by.replace("_", " "))
        wanted = "" if segments.higher_is_better else " (lower is better)"
        base = short_name(segments.runs[0])
        axes.set_xlabel(f"{segments.metric.replace('_at_', '@')}: {short_name(run)} − {base}{wanted}")
    return figure


def plot_lines(lines: Mapping[str, Line], *, x_label: str, y_label: str, steps: bool = False) -> Figure:
    """Draw a line for each label, named at its end; `steps`: a value holds until the next one."""
    with new_figure(None, height=3.2, width=COLUMN) as (figure, (axes,)):
        ends = _draw_lines(axes, lines, steps=steps)
        axes.xaxis.set_major_locator(MaxNLocator(nbins=8, integer=True))
        axes.set(xlabel=x_label, ylabel=y_label)
        axes.set_xlim(right=max(x[-1] for x, _ in lines.values()))
        label_ends(axes, ends)
    return figure


def plot_calibration(lines: Mapping[str, Line]) -> Figure:
    """Draw the mean rating that users gave against the mean predicted one, in bins."""
    with new_figure(None, height=3.6, width=COLUMN) as (figure, (axes,)):
        ends = _draw_lines(axes, lines)
        every = np.concatenate([np.concatenate(line) for line in lines.values()])
        low, high = float(every.min()), float(every.max())
        axes.plot([low, high], [low, high], **REFERENCE)
        axes.set(xlim=(low, high), ylim=(low, high))
        axes.set(xlabel="mean predicted rating, in tenths of the rows", ylabel="mean rating given")
        label_ends(axes, [(high, "as predicted", INK), *ends])
    return figure


def _draw_lines(
    axes: Axes, lines: Mapping[str, Line], *, steps: bool = False
) -> list[tuple[float, str, str]]:
    """Draw a line for each label, and return for `label_ends` where it ends."""
    ends = []
    for index, (name, (x, y)) in enumerate(zip(short_names(list(lines)), lines.values(), strict=True)):
        drawn = line_look(index, marker=len(x) <= _MOST_MARKED)
        axes.plot(x, y, drawstyle="steps-post" if steps else "default", clip_on=False, **drawn)
        ends.append((float(y[-1]), name, color(index)))
    return ends
