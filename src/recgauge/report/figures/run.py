"""The figures of a run: the long tail of its training rows, its metrics over cutoffs."""

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from recgauge.data.interactions import Interactions
from recgauge.data.popularity import by_popularity, short_head
from recgauge.errors import SchemaError
from recgauge.report.figures.metrics import plot_results
from recgauge.report.figures.style import PALETTE, REFERENCE, SMALL, count_axis, new_figure
from recgauge.utils.checks import LongArray

if TYPE_CHECKING:
    from recgauge.runs.record import RunRecord

# metrics in [0, 1] that one axis can hold, drawn if the run has them
_DRAWN = ("ndcg", "recall", "map", "mrr", "hit_rate", "f1", "precision")
_HEAD = 0.5  # of all rows, without the item that crosses it


def run_figures(record: "RunRecord", train: Interactions) -> dict[str, Figure]:
    """Draw the training rows' long tail, and metrics over cutoffs if there are any, by file names."""
    dataset = record.names["dataset"]
    title = f"Metrics over k, {record.names['model']} on {dataset}"
    figures = {
        "long_tail": plot_long_tail(train.item_counts(), title=f"Long tail of {dataset}, train"),
        "metrics_over_k": plot_results(record.results, _DRAWN, title),
    }
    return {name: figure for name, figure in figures.items() if figure is not None}


def plot_long_tail(counts: LongArray, *, title: str | None = "Long tail") -> Figure:
    """Draw the rows of each item, most popular first, with head and tail shaded and named.

    The head are the most popular items with half of all rows, without the item that crosses the half.

    Parameters
    ----------
    counts : ndarray of int, shape (n_items,)
        Such as ``interactions.item_counts()``; items without rows are left out.

    Raises
    ------
    SchemaError
        If every count is zero.

    Notes
    -----
    Splits and draws as recmetrics' long_tail_plot does.

    References
    ----------
    .. [1] C. Anderson, "The Long Tail", Hyperion, 2006.

    Examples
    --------
    >>> figure = plot_long_tail(np.array([9, 4, 2, 1, 1]))
    >>> figure.axes[0].get_xlabel()
    'items, most popular first'
    """
    items = by_popularity(counts)[: int(np.count_nonzero(counts))]
    if len(items) == 0:
        raise SchemaError("plot_long_tail: counts must hold rows, got none.")
    rows, n_items = counts[items], len(items)
    n_head = int(short_head(counts, _HEAD, "tail").sum())
    with new_figure(title) as (figure, (axes,)):
        parts = {"Head": (0, n_head, PALETTE[0], 0.95), "Tail": (n_head, n_items, PALETTE[1], 0.73)}
        for part, (first, last, ink, height) in parts.items():
            edges, n_inside = np.arange(first, last + 1) + 0.5, last - first
            axes.stairs(rows[first:last], edges, fill=True, color=ink, alpha=0.8)
            share, held = 100 * n_inside / n_items, 100 * rows[first:last].sum() / rows.sum()
            text = f"{part}: {n_inside:,} items ({share:.1f} % of all)\nwith {held:.1f} % of the rows"
            # the shares stand in the upper right, which the tail leaves empty
            place: dict[str, Any] = {"transform": axes.transAxes, "ha": "right", "va": "top"}
            axes.text(0.98, height, text, color=ink, fontsize=SMALL + 1.5, linespacing=1.35, **place)
        axes.axvline(n_head + 0.5, **REFERENCE)
        axes.set(xlim=(0.5, n_items + 0.5), ylim=(0, float(rows[0]) * 1.05))
        axes.set(xlabel="items, most popular first", ylabel="rows of the item")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(MaxNLocator(nbins=8, steps=[1, 2, 5, 10], integer=True))
            count_axis(axis)
    return figure
