"""How active users and how popular items are, on logarithmic axes."""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from recgauge.report.counts import share_with_at_least
from recgauge.report.figures.style import PALETTE, count_axis, look, new_figure
from recgauge.utils.checks import LongArray


def plot_activity_and_popularity(
    rows_per_user: LongArray, rows_per_item: LongArray, *, title: str | None = "Activity and popularity"
) -> Figure:
    """Draw the share of users, and of items, that have at least so many rows.

    Parameters
    ----------
    rows_per_user, rows_per_item : ndarray of int, shape (n_users,) and (n_items,)
        Such as ``interactions.user_counts()``; zeros are left out.
    title : str or None

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    SchemaError
        If every count is zero.

    Notes
    -----
    A straight line is a power law.

    Examples
    --------
    >>> figure = plot_activity_and_popularity(np.array([2, 2]), np.array([1, 3]))
    >>> [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    ['users (median 2 rows)', 'items (median 2 rows)']
    """
    with look():
        figure, (axes,) = new_figure(title)
        for place, (name, counts) in enumerate((("users", rows_per_user), ("items", rows_per_item))):
            curve = np.array(share_with_at_least(counts))
            median = float(np.median(counts[counts > 0]))
            axes.plot(
                curve[:, 0],
                curve[:, 1],
                drawstyle="steps-pre",
                color=PALETTE[place],
                marker="o" if len(curve) == 1 else None,  # a point has no line
                label=f"{name} (median {median:,.6g} rows)",
            )
        axes.set_xscale("log")
        axes.set_yscale("log")
        low, high = axes.get_xlim()
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 5000 * low else (1,)))
        count_axis(axes, "x")
        axes.yaxis.set_major_formatter(lambda value, _: f"{value * 100:g} %")
        axes.minorticks_off()
        axes.set_xlabel("rows")
        axes.set_ylabel("share with at least so many")
        axes.legend(loc="lower left")
    return figure
