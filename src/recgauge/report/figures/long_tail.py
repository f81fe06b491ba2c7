"""The long tail: items by popularity, head and tail apart."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from recgauge.report.figures.style import PALETTE, SMALL, count_axis, look, new_figure, thin
from recgauge.report.long_tail import LongTail


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
    >>> from recgauge.report.long_tail import long_tail
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
            axes.axvline(n_head + 0.5, color="#9A9A9A", linewidth=1, linestyle=(0, (4, 3)))
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
