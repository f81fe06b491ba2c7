"""Data: the long tail of items, how many have at least so many rows, ratings given and predicted."""

from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator

from recgauge.report.distributions import LongTail, RatingDistribution, share_with_at_least
from recgauge.report.figures.style import (
    INK,
    PALETTE,
    REFERENCE,
    SMALL,
    check_numbers,
    count_axis,
    new_figure,
    percent_axis,
    thin,
    write_beside,
)
from recgauge.utils.checks import DoubleArray, LongArray

_MOST_NAMED = 12  # bars with their share on top
_MOST_VALUES, _BINS = 20, 10


def plot_long_tail(table: LongTail, *, title: str | None = "Long tail") -> Figure:
    """Draw the rows of each item, most popular first, with head and tail shaded and named.

    Parameters
    ----------
    table : LongTail
        ``long_tail(interactions.item_counts())``, which also decides where the head ends.

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
    with new_figure(title) as (figure, (axes,)):
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
        axes.set(xlim=(0.5, n_items + 0.5), ylim=(0, float(table.counts[0]) * 1.05))
        axes.set(xlabel="items, most popular first", ylabel="rows")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(MaxNLocator(nbins=8, steps=[1, 2, 5, 10], integer=True))
            count_axis(axis)
        total = table.counts.sum()
        # the shares stand in the upper right, which the tail leaves empty
        for line, (part, members) in enumerate((("head", table.in_head), ("tail", ~table.in_head))):
            n_inside = int(members.sum())
            share = table.counts[members].sum() / total
            text = (
                f"{part.capitalize()}: {n_inside:,} item{'s' * (n_inside != 1)} "
                f"({n_inside / n_items:.1%} of all)\nwith {share:.1%} of the rows"
            ).replace("%", " %")
            background = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 2}
            look: dict[str, Any] = {"color": ink[part], "fontsize": SMALL + 1.5, "bbox": background}
            place = (0.98, 0.95 - 0.22 * line)
            axes.text(*place, text, transform=axes.transAxes, ha="right", va="top", linespacing=1.35, **look)
    return figure


def plot_activity_and_popularity(
    rows_per_user: LongArray, rows_per_item: LongArray, *, title: str | None = "Activity and popularity"
) -> Figure:
    """Draw the share of users, and of items, that have at least so many rows.

    Parameters
    ----------
    rows_per_user, rows_per_item : ndarray of int, shape (n_users,) and (n_items,)
        Such as ``interactions.user_counts()``; zeros are left out.

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
    with new_figure(title) as (figure, (axes,)):
        for index, (name, counts) in enumerate((("users", rows_per_user), ("items", rows_per_item))):
            curve = np.array(share_with_at_least(counts))
            median = float(np.median(counts[counts > 0]))
            marker = "o" if len(curve) == 1 else None  # a point has no line
            label = f"{name} (median {median:,.6g} rows)"
            axes.plot(*curve.T, drawstyle="steps-pre", color=PALETTE[index], marker=marker, label=label)
        axes.set(xscale="log", yscale="log", xlabel="rows", ylabel="share with at least this many rows")
        low, high = axes.get_xlim()
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 5000 * low else (1,)))
        count_axis(axes.xaxis)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value * 100:g} %")
        axes.minorticks_off()
        axes.legend(loc="lower left")
    return figure


def plot_rating_distribution(
    table: RatingDistribution, *, title: str | None = "Rating distribution"
) -> Figure:
    """Draw the share of each rating value, and the mean.

    Parameters
    ----------
    table : RatingDistribution
        ``rating_distribution(interactions.value)``.

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
    with new_figure(title) as (figure, (axes,)):
        axes.bar(values, shares, width=0.8 * gap, color=PALETTE[0])
        if len(values) <= _MOST_NAMED:
            axes.set_xticks(values)
            for value, share in zip(values, shares, strict=True):
                write_beside(axes, f"{share * 100:.1f} %", (value, share), (0, 3), ha="center")
        top = float(shares.max()) * 1.24
        axes.plot(mean, top * 0.94, marker="v", color=INK, markersize=6, clip_on=False)
        write_beside(axes, f"mean {mean:.2f}", (mean, top * 0.94), (8, 0), va="center")
        axes.set(ylim=(0, top), xlabel="rating", ylabel=f"share of {int(table.counts.sum()):,} ratings")
        axes.grid(visible=False, axis="x")
        percent_axis(axes.yaxis)
    return figure


def plot_predicted_against_actual(
    actual: npt.ArrayLike, predicted: npt.ArrayLike, *, title: str | None = "Predicted against actual ratings"
) -> Figure:
    """Draw, for each actual rating, where 90 % and where 50 % of the predictions are, and their median.

    Parameters
    ----------
    actual, predicted : array-like of float, shape (n,)
        Row by row, such as the columns of `RatingPredictions`.

    Returns
    -------
    matplotlib.figure.Figure
        With more than 20 distinct actual ratings, these are put into 10 bins of equal width.

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
    with new_figure(title, height=4.0) as (figure, (axes,)):
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
        axes.set(xlabel="actual rating, and number of rows with it", ylabel="predicted rating")
        figure.legend(loc="outside right center")
    return figure


def _groups(actual: DoubleArray) -> tuple[DoubleArray, LongArray]:
    values, group = np.unique(actual, return_inverse=True)
    if len(values) <= _MOST_VALUES:
        return values, group
    edges = np.linspace(values[0], values[-1], _BINS + 1)
    bins = np.minimum(np.searchsorted(edges, actual, side="right") - 1, _BINS - 1)
    used, group = np.unique(bins, return_inverse=True)
    middles: DoubleArray = (edges[1:] + edges[:-1])[used] / 2
    return middles, group


def _short(count: int) -> str:
    """Write a count in few characters."""
    if count < 1000:
        return f"{count}"
    return f"{count / 1000:.1f}k" if count < 999_950 else f"{count / 1e6:.1f}M"
