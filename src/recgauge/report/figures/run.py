"""The figures of a run and of its data: long tail, activity, ratings, predictions, curves."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from recgauge.data.card import count_ratings
from recgauge.data.dataset import Dataset
from recgauge.data.interactions import Interactions, at_least
from recgauge.data.popularity import by_popularity, short_head
from recgauge.errors import SchemaError
from recgauge.evaluation.evaluate_ratings import RatingPredictions
from recgauge.judging import judge
from recgauge.metrics.curves import precision_recall_curve, precision_recall_over_k, roc_curve
from recgauge.metrics.curves.full_ranking import FullRankings, full_ranking_curves
from recgauge.report.figures.metrics import (
    plot_coverage,
    plot_metric_over_k,
    plot_precision_recall_curve,
    plot_precision_recall_over_k,
    plot_roc,
)
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
from recgauge.utils.checks import DoubleArray, LongArray, check_choice, check_real

if TYPE_CHECKING:
    from recgauge.runs.record import RankingResult, RunResult

# metrics in [0, 1] that one axis can hold, drawn if the run has them
_DRAWN = ("ndcg", "recall", "map", "mrr", "hit_rate", "f1", "precision")
_MOST_NAMED = 12  # bars with their share on top
_MOST_VALUES, _BINS = 20, 10


def run_figures(result: "RunResult", model: str, dataset: str) -> Iterator[tuple[str, Figure]]:
    """Draw the training rows' long tail, the ratings, and what lists or predictions show, with names."""
    yield from data_figures(result.split.train, result.dataset, f"{dataset}, train")
    if result.ranking is not None:
        yield from _ranking_figures(result.ranking, f"{model} on {dataset}")
    if result.rating is not None:
        made = result.rating.predictions
        title = f"Predicted against actual ratings, {model} on {dataset}"
        figure = plot_predicted_against_actual(made.actual, made.predicted, title=title)
        yield "predicted_against_actual", figure
        liked_from = result.dataset.relevant_from
        if liked_from is not None:
            yield from _rating_curves(made, liked_from, f"{model} on {dataset}")


def _ranking_figures(lists: "RankingResult", title: str) -> Iterator[tuple[str, Figure]]:
    results = [entry for entry in lists.evaluation.results if entry.name in _DRAWN and entry.k is not None]
    cutoffs = sorted({entry.k for entry in results if entry.k is not None})
    lines = {entry.name: [other for other in results if other.name == entry.name] for entry in results}
    whole = {name: line for name, line in lines.items() if len(line) == len(cutoffs)}
    if len(cutoffs) > 1 and whole:
        figure = plot_metric_over_k(
            cutoffs,
            {name: [entry.value for entry in line] for name, line in whole.items()},
            stderr={name: [entry.stderr or 0.0 for entry in line] for name, line in whole.items()},
            metric="mean over users",
            title=f"Metrics over k, {title}",
        )
        yield "metrics_over_k", figure
    curve = precision_recall_over_k(judge(lists.top_k, lists.relevant), lists.top_k.items.shape[1])
    figure = plot_precision_recall_over_k({title: curve}, title=f"Precision and recall over k, {title}")
    yield "precision_recall_over_k", figure
    if shares := _coverage(lists):
        yield "coverage", plot_coverage(shares, title=f"Catalogue coverage, {title}")
    if lists.rankings is not None:
        yield from _curves(lists.rankings, np.diff(lists.relevant.start), title)


def _coverage(lists: "RankingResult") -> dict[str, float]:
    """Return the first coverage of the suite as a share at each cutoff; nothing if the suite has none."""
    results = lists.evaluation.results
    coverages = [entry for entry in results if entry.definition.startswith("CatalogCoverage(scale=")]
    scales = {"scale=fraction": 1.0, "scale=percent": 100.0}
    return {
        f"{entry.name} @{entry.k}": entry.value / divisor
        for entry in coverages
        for scale, divisor in scales.items()
        if entry.name == coverages[0].name and scale in entry.definition
    }


def _curves(rankings: FullRankings, n_relevant: LongArray, title: str) -> Iterator[tuple[str, Figure]]:
    roc, over_k = full_ranking_curves(rankings, n_relevant)
    if roc is not None:
        yield "roc", plot_roc({"mean over users": roc}, title=f"ROC curve, {title}")
    figure = plot_precision_recall_over_k(
        {"mean": over_k}, title=f"Precision and recall at all ranks, {title}"
    )
    yield "precision_recall", figure


def _rating_curves(made: RatingPredictions, liked_from: float, title: str) -> Iterator[tuple[str, Figure]]:
    """Yield the curves of predicted ratings, all rows pooled: liked against not liked."""
    liked = at_least(made.actual, liked_from)
    if liked.all() or not liked.any():
        return
    rows = f"rated {liked_from:g} or more, all rows"
    figure = plot_roc({rows: roc_curve(liked, made.predicted)}, title=f"ROC curve of ratings, {title}")
    yield "rating_roc", figure
    curve = precision_recall_curve(liked, made.predicted)
    title = f"Precision-recall curve of ratings, {title}"
    share = float(liked.mean())
    yield "rating_precision_recall", plot_precision_recall_curve({rows: curve}, relevant=share, title=title)


def data_figures(rows: Interactions, dataset: Dataset, title: str) -> Iterator[tuple[str, Figure]]:
    """Draw rows of a data set: long tail, activity and popularity, ratings; each name is fit for a file."""
    users, items = rows.user_counts(), rows.item_counts()
    yield "long_tail", plot_long_tail(items, title=f"Long tail of {title}")
    figure = plot_activity_and_popularity(users, items, title=f"Activity and popularity in {title}")
    yield "activity_and_popularity", figure
    if dataset.feedback == "explicit":
        yield "rating_distribution", plot_rating_distribution(rows.value, title=f"Ratings of {title}")


def plot_long_tail(
    counts: LongArray, *, head: float = 0.5, boundary: str = "tail", title: str | None = "Long tail"
) -> Figure:
    """Draw the rows of each item, most popular first, with head and tail shaded and named.

    Parameters
    ----------
    counts : ndarray of int, shape (n_items,)
        Such as ``interactions.item_counts()``; items without rows are left out.
    head : float
        Share of all rows that the head holds.
    boundary : {"head", "tail"}
        The part that gets the item with which the share is crossed.

    Raises
    ------
    SchemaError
        If every count is zero.

    Notes
    -----
    The defaults split and draw as recmetrics' long_tail_plot does; ``head=0.8, boundary="head"`` is the
    short head of Elliot and of `LongTailShare`.

    References
    ----------
    .. [1] C. Anderson, "The Long Tail", Hyperion, 2006.

    Examples
    --------
    >>> figure = plot_long_tail(np.array([9, 4, 2, 1, 1]), head=0.8)
    >>> figure.axes[0].get_xlabel()
    'items, most popular first'
    """
    check_real("plot_long_tail: head", head, low=0, high=1, low_open=True)
    check_choice("plot_long_tail: boundary", boundary, ("head", "tail"))
    items = by_popularity(counts)[: int(np.count_nonzero(counts))]
    if len(items) == 0:
        raise SchemaError("plot_long_tail: counts must hold rows, got none.")
    rows, in_head = counts[items], short_head(counts, head, boundary)[items]
    with new_figure(title) as (figure, (axes,)):
        n_items, n_head = len(items), int(in_head.sum())
        rank = np.arange(1, n_items + 1)
        shown = np.union1d(thin(n_items), thin(min(n_items, 300)))  # the steep beginning keeps every item
        ink = {"head": PALETTE[0], "tail": PALETTE[1]}
        for part, first, last in (("head", 0, n_head), ("tail", n_head, n_items)):
            inside = shown[(shown >= first) & (shown < last)]
            if len(inside):
                # each item is a column one wide, so that the parts meet without a gap
                edges = np.append(rank[inside] - 0.5, last + 0.5)
                heights = np.append(rows[inside], rows[inside[-1]])
                axes.fill_between(
                    edges, heights, step="post", color=ink[part], alpha=0.8, linewidth=0, label=part
                )
        if 0 < n_head < n_items:
            axes.axvline(n_head + 0.5, **REFERENCE)
        axes.set(xlim=(0.5, n_items + 0.5), ylim=(0, float(rows[0]) * 1.05))
        axes.set(xlabel="items, most popular first", ylabel="rows")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(MaxNLocator(nbins=8, steps=[1, 2, 5, 10], integer=True))
            count_axis(axis)
        total = rows.sum()
        # the shares stand in the upper right, which the tail leaves empty
        for line, (part, members) in enumerate((("head", in_head), ("tail", ~in_head))):
            n_inside = int(members.sum())
            share = rows[members].sum() / total
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
    user_counts: LongArray, item_counts: LongArray, *, title: str | None = "Activity and popularity"
) -> Figure:
    """Draw the shares of users, and of items, that have at least so many rows; both axes are logarithmic.

    Parameters
    ----------
    user_counts, item_counts : ndarray of int, shapes (n_users,) and (n_items,)
        Such as ``interactions.user_counts()`` and ``interactions.item_counts()``; users and items without
        rows are left out.

    Raises
    ------
    SchemaError
        If every count is zero.

    Examples
    --------
    >>> figure = plot_activity_and_popularity(np.array([1, 2, 4]), np.array([3, 4, 0]))
    >>> users, items = figure.axes[0].lines
    >>> users.get_xdata().tolist(), [round(float(share), 3) for share in users.get_ydata()]
    ([1, 2, 4], [1.0, 0.667, 0.333])
    """
    with new_figure(title) as (figure, (axes,)):
        for index, (name, counts) in enumerate({"users": user_counts, "items": item_counts}.items()):
            rising = np.sort(counts[counts > 0])
            if len(rising) == 0:
                raise SchemaError("plot_activity_and_popularity: counts must hold rows, got none.")
            at_least, first = np.unique(rising, return_index=True)
            shares = 1 - first / len(rising)
            axes.plot(at_least, shares, label=f"{len(rising):,} {name}", color=PALETTE[index])
        axes.set(xscale="log", yscale="log", xlabel="at least so many rows", ylabel="share")
        count_axis(axes.xaxis)
        percent_axis(axes.yaxis)
        axes.legend()
    return figure


def plot_rating_distribution(ratings: npt.ArrayLike, *, title: str | None = "Rating distribution") -> Figure:
    """Draw the share of each rating value, and the mean.

    Parameters
    ----------
    ratings : array-like of float, shape (n,)
        Such as ``interactions.value``; more than 100 distinct ones are drawn in 20 bins of equal width.

    Notes
    -----
    What recmetrics' rating_distribution_plot draws, whose axis are counts.

    Examples
    --------
    >>> figure = plot_rating_distribution([4.0, 3.5, 4.0, 1.0])
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['25.0 %', '25.0 %', '50.0 %', 'mean 3.12']
    """
    numbers = check_numbers("plot_rating_distribution", "ratings", ratings)
    values, counts, _ = count_ratings(numbers)
    shares, mean = counts / counts.sum(), float(numbers.mean())
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
        axes.set(ylim=(0, top), xlabel="rating", ylabel=f"share of {len(numbers):,} ratings")
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
            names = [f"{value:g}\n{n:,}" for value, n in zip(values, counts, strict=True)]
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
