"""Ratings: how often each value was given, and what was predicted for it."""

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

from recgauge.report.distributions import RatingDistribution
from recgauge.report.figures.style import (
    INK,
    PALETTE,
    REFERENCE,
    check_numbers,
    look,
    new_figure,
    percent_axis,
    write_beside,
)
from recgauge.utils.checks import DoubleArray, LongArray

_MOST_NAMED = 12  # bars with their share on top
_MOST_VALUES, _BINS = 20, 10


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
    >>> from recgauge.report.distributions import rating_distribution
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
                write_beside(axes, f"{share * 100:.1f} %", (value, share), (0, 3), ha="center")
        top = float(shares.max()) * 1.24
        axes.plot(mean, top * 0.94, marker="v", color=INK, markersize=6, clip_on=False)
        write_beside(axes, f"mean {mean:.2f}", (mean, top * 0.94), (8, 0), va="center")
        axes.set_ylim(0, top)
        axes.grid(visible=False, axis="x")
        percent_axis(axes, "y")
        axes.set_xlabel("rating")
        axes.set_ylabel(f"share of {int(table.counts.sum()):,} ratings")
    return figure


def plot_predicted_against_actual(
    actual: npt.ArrayLike, predicted: npt.ArrayLike, *, title: str | None = "Predicted against actual ratings"
) -> Figure:
    """Draw, for each actual rating, where 90 % and where 50 % of the predictions are, and their median.

    Parameters
    ----------
    actual, predicted : array-like of float, shape (n,)
        Row by row, such as the columns of `RatingPredictions`.
    title : str or None

    Returns
    -------
    matplotlib.figure.Figure
        With more than 20 distinct actual ratings, these are put into 10 bins of equal width.

    Raises
    ------
    MetricError
        If there are no rows, the columns differ in length, or a number is not finite.

    Examples
    --------
    >>> figure = plot_predicted_against_actual([1, 1, 5, 5], [2.0, 3.0, 4.0, 4.5])
    >>> figure.axes[0].lines[-1].get_ydata().tolist()
    [2.5, 4.25]
    """
    owner = "plot_predicted_against_actual"
    truth = check_numbers(owner, "actual", actual)
    guess = check_numbers(owner, "predicted", predicted, len(truth))
    values, group = _groups(truth)
    points = np.array(
        [np.quantile(guess[group == g], (0.05, 0.25, 0.5, 0.75, 0.95)) for g in range(len(values))]
    )
    counts = np.bincount(group)
    with look():
        figure, (axes,) = new_figure(title, height=4.0)
        ends = [float(values[0]), float(values[-1])]
        axes.plot(ends, ends, label="perfect", **REFERENCE)
        ink = PALETTE[0]
        axes.vlines(values, points[:, 0], points[:, 4], color=ink, linewidth=2, label="90 % of predictions")
        axes.vlines(values, points[:, 1], points[:, 3], color=ink, linewidth=9, alpha=0.45, label="50 %")
        axes.plot(values, points[:, 2], "o", color=ink, markersize=7, markeredgecolor="white", label="median")
        axes.margins(x=0.06, y=0.1)
        if len(values) <= _MOST_VALUES:
            names = [f"{value:g}\n{_short(n)}" for value, n in zip(values, counts, strict=True)]
            axes.set_xticks(values, names, linespacing=1.5)
        axes.set_xlabel("actual rating, and number of rows with it")
        axes.set_ylabel("predicted rating")
        figure.legend(loc="outside right center")
    return figure


def _groups(actual: DoubleArray) -> tuple[DoubleArray, LongArray]:
    """Return the values on the axis and the group of each row."""
    values, group = np.unique(actual, return_inverse=True)
    if len(values) <= _MOST_VALUES:
        return values, group
    edges = np.linspace(values[0], values[-1], _BINS + 1)
    found = np.minimum(np.searchsorted(edges, actual, side="right") - 1, _BINS - 1)
    used, group = np.unique(found, return_inverse=True)
    middles: DoubleArray = (edges[1:] + edges[:-1])[used] / 2
    return middles, group


def _short(count: int) -> str:
    """Write a count in few characters.

    Examples
    --------
    >>> _short(950), _short(12_345), _short(3_400_000)
    ('950', '12.3k', '3.4M')
    """
    if count < 1000:
        return f"{count}"
    return f"{count / 1000:.1f}k" if count < 999_950 else f"{count / 1e6:.1f}M"
