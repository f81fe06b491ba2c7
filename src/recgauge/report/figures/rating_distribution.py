"""How often each rating was given."""

import numpy as np
from matplotlib.figure import Figure

from recgauge.report.figures.style import (
    INK,
    PALETTE,
    SMALL,
    look,
    new_figure,
    percent_axis,
)
from recgauge.report.rating_distribution import RatingDistribution

_MOST_NAMED = 12  # bars with their share on top


def plot_rating_distribution(
    table: RatingDistribution, *, title: str | None = "Rating distribution"
) -> Figure:
    """Draw the share of each rating value, and the mean.

    Parameters
    ----------
    table : RatingDistribution
        ``rating_distribution(interactions.value)``.
    title : str or None

    Returns
    -------
    matplotlib.figure.Figure

    Notes
    -----
    What recmetrics' rating_distribution_plot draws, whose axis are counts.

    Examples
    --------
    >>> from recgauge.report.rating_distribution import rating_distribution
    >>> figure = plot_rating_distribution(rating_distribution(np.array([4.0, 3.5, 4.0, 1.0])))
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['25.0 %', '25.0 %', '50.0 %', 'mean 3.12']
    """
    values, shares = table.values, table.shares
    mean = float(values @ shares)
    gap = float(np.diff(values).min()) if len(values) > 1 else 1.0
    with look():
        figure, (axes,) = new_figure(title)
        axes.bar(values, shares, width=0.8 * gap, color=PALETTE[0])
        if len(values) <= _MOST_NAMED:
            axes.set_xticks(values)
            for value, share in zip(values, shares, strict=True):
                axes.annotate(
                    f"{share * 100:.1f} %",
                    (value, share),
                    xytext=(0, 3),
                    textcoords="offset points",
                    ha="center",
                    fontsize=SMALL,
                )
        top = float(shares.max()) * 1.24
        axes.plot(mean, top * 0.94, marker="v", color=INK, markersize=6, clip_on=False)
        axes.annotate(
            f"mean {mean:.2f}",
            (mean, top * 0.94),
            xytext=(8, 0),
            textcoords="offset points",
            va="center",
            fontsize=SMALL,
        )
        axes.set_ylim(0, top)
        axes.grid(visible=False, axis="x")
        percent_axis(axes, "y")
        axes.set_xlabel("rating")
        axes.set_ylabel(f"share of {int(table.counts.sum()):,} ratings")
    return figure
