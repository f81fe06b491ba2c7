"""Runs side by side: what quality costs, values of single users, popularity of recommendations, groups."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, LogLocator, MaxNLocator, NullLocator

from recgauge.comparison.segments import ALL, SegmentPair, Segments
from recgauge.errors import printable
from recgauge.report.figures.style import (
    COLUMN,
    INK,
    MARKERS,
    MUTED,
    PALETTE,
    REFERENCE,
    SMALL,
    check_labels,
    check_numbers,
    color,
    label_ends,
    line_look,
    name_points,
    new_figure,
    percent_axis,
    write_beside,
)
from recgauge.utils.checks import DoubleArray

_LONGEST = 26  # characters of a run's name beside a row or a point
_QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)


def short_name(name: str, longest: int = _LONGEST) -> str:
    r"""Return a name as figures write it: on one line, its end replaced by an ellipsis where it is long.

    Examples
    --------
    >>> short_name("svd\nn_factors=8"), short_name("a" * 30, 5)
    ('svd\\nn_factors=8', 'aaaa…')
    """
    text = printable(name)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def short_names(names: Sequence[str], longest: int = _LONGEST) -> list[str]:
    """Return names as figures write them; names that would look the same are numbered.

    Examples
    --------
    >>> short_names(["svd", "aaaaaab", "aaaaaac"], 5)
    ['svd', 'aaa…2', 'aaa…3']
    """
    found = [short_name(name, longest) for name in names]
    return [
        f"{short_name(name, longest - len(str(place)))[: longest - len(str(place))]}{place}"
        if found.count(short) > 1
        else short
        for place, (name, short) in enumerate(zip(names, found, strict=True), 1)
    ]


def plot_tradeoff(
    points: Mapping[str, tuple[float, float]],
    *,
    x_label: str,
    y_label: str,
    log_x: bool = False,
    title: str | None = None,
) -> Figure:
    """Draw a named point for each run.

    Parameters
    ----------
    x_label, y_label : str
        With units.
    log_x : bool
        Whether x spans orders of magnitude; then it must be positive.

    Examples
    --------
    >>> figure = plot_tradeoff({"svd": (0.2, 0.18)}, x_label="training, s", y_label="nDCG@10", log_x=True)
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['svd']
    """
    check_labels("plot_tradeoff", points)
    with new_figure(title, height=3.4, width=COLUMN) as (figure, (axes,)):
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
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
        name_points(axes, dict(zip(short_names(list(points)), points.values(), strict=True)))
    return figure


def plot_user_values(values: Mapping[str, DoubleArray], *, metric: str, title: str | None = None) -> Figure:
    """Draw where the values of single users lie: the middle half, the middle four fifths, median and mean.

    Parameters
    ----------
    values : mapping of str to ndarray of float64, shape (n_users,)
        By run, the first on top; NaN is left out.

    Examples
    --------
    >>> figure = plot_user_values({"svd": np.array([0.0, 0.0, 0.5, 1.0])}, metric="nDCG@10")
    >>> figure.axes[0].texts[0].get_text()
    '50 % have 0'
    """
    names = short_names(list(check_labels("plot_user_values", values)))
    with new_figure(title, height=1.3 + 0.3 * len(names), width=COLUMN) as (figure, (axes,)):
        for row, numbers in enumerate(values.values()):
            known = check_numbers("plot_user_values", names[row], numbers[np.isfinite(numbers)])
            low, lower, median, upper, high = np.quantile(known, _QUANTILES)
            axes.plot([low, high], [row, row], color=PALETTE[0], linewidth=1.2)
            axes.plot([lower, upper], [row, row], color=PALETTE[0], linewidth=6, solid_capstyle="butt")
            axes.plot([median], [row], marker="|", markersize=11, markeredgewidth=2, color=INK)
            axes.plot([known.mean()], [row], marker="D", markersize=4.5, color=INK, markerfacecolor="white")
            if (share := float((known == 0).mean())) > 0:
                told = f"{100 * share:.0f} % have 0"
                at_edge = axes.get_yaxis_transform()
                write_beside(axes, told, (1.0, row), (6, 0), xycoords=at_edge, va="center", color=MUTED)
        _rows(axes, names)
        axes.set_xlabel(f"{metric} of a user: bar 25–75 %, line 10–90 %, | median, ◇ mean", fontsize=SMALL)
    return figure


def _rows(axes: Axes, names: Sequence[str]) -> None:
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_yticks(range(len(names)), list(names))
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.spines["left"].set_visible(False)


def plot_popularity_shares(
    shares: Mapping[str, DoubleArray], train: DoubleArray, *, k: int, title: str | None = None
) -> Figure:
    """Draw which share of its recommendations each run takes from ten groups of items.

    Parameters
    ----------
    shares : mapping of str to ndarray of float64, shape (n_groups,)
        By run; of the first ranks of all lists.
    train : ndarray of float64, shape (n_groups,)
        Of the training rows; groups hold about equally many of them, the most popular items first.
    k : int
        How many ranks.

    Examples
    --------
    >>> figure = plot_popularity_shares({"svd": np.array([0.8, 0.2])}, np.array([0.5, 0.5]), k=10)
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['training rows', 'svd']
    """
    groups = np.arange(1, len(train) + 1)  # the popular ones, where runs differ most, are on the right
    names = short_names(list(check_labels("plot_popularity_shares", shares)))
    with new_figure(title, height=3.4, width=COLUMN) as (figure, (axes,)):
        axes.plot(groups, train, **REFERENCE | {"linewidth": 1.6, "color": INK})
        ends = [(float(train[0]), "training rows", INK)]
        for index, (name, line) in enumerate(zip(names, shares.values(), strict=True)):
            axes.plot(groups, line, clip_on=False, **line_look(index, marker=True))
            ends.append((float(line[0]), name, color(index)))
        axes.set_ylim(bottom=0)
        axes.set_xlim(len(train), 1)
        axes.xaxis.set_major_locator(FixedLocator(groups.tolist()))
        axes.set_xlabel("tenths of the training rows, most popular items (1) on the right")
        axes.set_ylabel(f"share of recommendations, top {k}")
        percent_axis(axes.yaxis)
        label_ends(axes, ends)
    return figure


def plot_gains(segments: Segments, run: str, *, title: str | None = None) -> Figure:
    """Draw by how much a run is better than the baseline in each group, with intervals.

    Parameters
    ----------
    run : str
        Any but the baseline.

    Notes
    -----
    Points are filled where the corrected test shows a difference.

    Examples
    --------
    >>> import pandas as pd
    >>> from recgauge.comparison.segments import compare_segments
    >>> values = pd.DataFrame({"old": [0.1, 0.2, 0.5], "new": [0.3, 0.5, 0.4]}, index=list("abc"))
    >>> figure = plot_gains(compare_segments(values, {"a": "few", "b": "few", "c": "many"}), "new")
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['all', 'few', 'many']
    """
    pairs = [pair for pair in segments.pairs if pair.a == run]
    names = short_names([pair.segment for pair in pairs])
    with new_figure(title, height=1.3 + 0.3 * len(pairs), width=COLUMN) as (figure, (axes,)):
        axes.axvline(0.0, **REFERENCE)
        for row, pair in enumerate(pairs):
            _gain(axes, row, pair)
        _rows(axes, names)
        axes.margins(x=0.12)
        axes.set_ylabel(segments.by.replace("_", " "))
        wanted = "" if segments.higher_is_better else " (lower is better)"
        base = short_name(segments.runs[0])
        axes.set_xlabel(f"{segments.metric.replace('_at_', '@')}: {short_name(run)} − {base}{wanted}")
    return figure


def _gain(axes: Axes, row: int, pair: SegmentPair) -> None:
    ink = INK if pair.segment == ALL else PALETTE[0]
    if np.isfinite(pair.low):
        axes.plot([pair.low, pair.high], [row, row], color=ink, linewidth=1.6, solid_capstyle="butt")
    face = ink if pair.differs else "white"
    axes.plot([pair.difference], [row], marker="o", markersize=6, color=ink, markerfacecolor=face)
    text = f"{pair.n_users:,} users"
    at_edge = axes.get_yaxis_transform()
    write_beside(axes, text, (1.0, row), (6, 0), xycoords=at_edge, va="center", color=MUTED)
