"""When the rows of each part happened."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, date2num
from matplotlib.figure import Figure

from recgauge.report.figures.style import check_labels, color, count_axis, look, new_figure
from recgauge.report.over_time import OverTime, over_time
from recgauge.utils.checks import LongArray


def plot_over_time(timestamps: Mapping[str, LongArray], *, title: str | None = "Rows over time") -> Figure:
    """Draw the rows of each day, week, month or year, the parts stacked.

    Parameters
    ----------
    timestamps : mapping of str to ndarray of int64, shape (n,)
        Seconds since 1970-01-01 UTC, of each part: ``{"train": ..., "test": ...}``.
    title : str or None

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    MetricError
        If there is no part.
    SchemaError
        If there are no rows, or a time lies outside the years 1 to 9999.

    Examples
    --------
    >>> figure = plot_over_time({"train": np.array([0, 90_000])})
    >>> figure.axes[0].get_ylabel()
    'rows per day'
    """
    table = over_time(dict(check_labels("plot_over_time", timestamps)))
    with look():
        figure, (axes,) = new_figure(title)
        draw_over_time(axes, table)
        axes.set_ylabel(f"rows per {table.unit}")
        if len(table.counts) > 1:
            figure.legend(loc="outside upper right", ncols=len(table.counts))
    return figure


def draw_over_time(axes: Axes, table: OverTime) -> None:
    """Draw the stacked parts into a panel, whose horizontal axis becomes one of dates."""
    days = date2num(np.array(table.starts, dtype="datetime64[D]"))
    length = {"day": 1, "week": 7, "month": 31, "year": 366}[table.unit]
    edges = np.append(days, days[-1] + length)
    below = np.zeros(len(edges))
    for place, (name, counts) in enumerate(table.counts.items()):
        above = below + np.append(counts, counts[-1])
        axes.fill_between(
            edges, below, above, step="post", color=color(place), alpha=0.85, linewidth=0, label=name
        )
        below = above
    axes.set_xlim(edges[0], edges[-1])
    axes.set_ylim(0, max(float(below.max()) * 1.05, 1.0))
    locator = AutoDateLocator(minticks=3, maxticks=8)
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))
    count_axis(axes, "y")
