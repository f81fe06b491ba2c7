"""Popularity of items and activity of users: the long tail, and how many have at least so many rows."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator

from recgauge.report.distributions import LongTail, share_with_at_least
from recgauge.report.figures.style import PALETTE, REFERENCE, SMALL, count_axis, look, new_figure, thin
from recgauge.utils.checks import LongArray


def plot_long_tail(table: LongTail, *, title: str | None = "Long tail") -> Figure:
    """Draw the rows of each item, most popular first, with head and tail shaded and named.

    Parameters
    ----------
    table : LongTail
        ``long_tail(interactions.item_counts())``, which also decides where the head ends.
    title : str or None

    Returns
    -------
    matplotlib.figure.Figure

    Notes
    -----
    What recmetrics' long_tail_plot draws.

    Examples
    --------
    >>> from recgauge.report.distributions import long_tail
    >>> figure = plot_long_tail(long_tail(np.array([9, 4, 2, 1, 1]), head=0.8))
    >>> figure.axes[0].get_xlabel()
    'items, most popular first'
    """
    with look():
        figure, (axes,) = new_figure(title)
        n_items, n_head = len(table.items), table.n_head
        rank = np.arange(1, n_items + 1)
        shown = np.union1d(thin(n_items), thin(min(n_items, 300)))  # the steep beginning keeps every item
        ink = {"head": PALETTE[0], "tail": PALETTE[1]}
        for part, first, last in (("head", 0, n_head), ("tail", n_head, n_items)):
            inside = shown[(shown >= first) & (shown < last)]
            if len(inside):
                # each item is a column one wide, so that the parts meet without a gap
                edges = np.append(rank[inside] - 0.5, last + 0.5)
                heights = np.append(table.counts[inside], table.counts[inside[-1]])
                axes.fill_between(
                    edges, heights, step="post", color=ink[part], alpha=0.8, linewidth=0, label=part
                )
        if 0 < n_head < n_items:
            axes.axvline(n_head + 0.5, **REFERENCE)
        axes.set_xlim(0.5, n_items + 0.5)
        axes.set_ylim(0, float(table.counts[0]) * 1.05)
        axes.set_xlabel("items, most popular first")
        axes.set_ylabel("rows")
        for which, axis in (("x", axes.xaxis), ("y", axes.yaxis)):
            axis.set_major_locator(MaxNLocator(nbins=8, steps=[1, 2, 5, 10], integer=True))
            count_axis(axes, which)
        _name_parts(axes, table, ink)
    return figure


def _name_parts(axes: Axes, table: LongTail, ink: dict[str, str]) -> None:
    """Write the shares into the upper right, which the tail leaves empty."""
    n_items, total = len(table.items), table.counts.sum()
    for line, (part, inside) in enumerate((("Head", table.in_head), ("Tail", ~table.in_head))):
        n_inside = int(inside.sum())
        text = (
            f"{part}: {n_inside:,} item{'s' * (n_inside != 1)} ({n_inside / n_items:.1%} of all)\n"
            f"with {table.counts[inside].sum() / total:.1%} of the rows"
        ).replace("%", " %")
        axes.annotate(
            text,
            (0.98, 0.95 - 0.22 * line),
            xycoords="axes fraction",
            ha="right",
            va="top",
            color=ink[part.lower()],
            fontsize=SMALL + 1.5,
            linespacing=1.35,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 2},
        )


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
        for index, (name, counts) in enumerate((("users", rows_per_user), ("items", rows_per_item))):
            curve = np.array(share_with_at_least(counts))
            median = float(np.median(counts[counts > 0]))
            axes.plot(
                curve[:, 0],
                curve[:, 1],
                drawstyle="steps-pre",
                color=PALETTE[index],
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
        axes.set_ylabel("share with at least this many rows")
        axes.legend(loc="lower left")
    return figure
