"""The figures of a run and of its data: long tail, ratings, predictions, curves."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from recgauge.data.dataset import Dataset
from recgauge.data.interactions import Interactions, at_least
from recgauge.data.popularity import by_popularity, short_head
from recgauge.errors import SchemaError
from recgauge.evaluation.evaluate_ratings import RatingPredictions
from recgauge.judging import judge
from recgauge.metrics.curves import (
    PrecisionRecallOverK,
    RocCurve,
    precision_recall_curve,
    precision_recall_over_k,
    roc_curve,
)
from recgauge.metrics.curves.full_ranking import NAMED_CUTOFFS, full_ranking_curves
from recgauge.report.figures.metrics import plot_curves, plot_results
from recgauge.report.figures.style import (
    PALETTE,
    REFERENCE,
    SMALL,
    check_numbers,
    count_axis,
    new_figure,
    percent_axis,
)
from recgauge.utils.checks import DoubleArray, LongArray

if TYPE_CHECKING:
    from recgauge.runs.record import RankingResult, RunResult

# metrics in [0, 1] that one axis can hold, drawn if the run has them
_DRAWN = ("ndcg", "recall", "map", "mrr", "hit_rate", "f1", "precision")
_COVERAGE = (
    "CatalogCoverage(scale=fraction"  # beginning of the definitions of coverages, which are drawn, too
)
_MOST_VALUES, _BINS = 20, 10
_HEAD = 0.5  # of all rows, without the item that crosses it


def run_figures(result: "RunResult", model: str, dataset: str) -> Iterator[tuple[str, Figure]]:
    """Draw the training rows' long tail, the ratings, and what lists or predictions show, with names."""
    yield from data_figures(result.split.train, result.dataset, f"{dataset}, train")
    title = f"{model} on {dataset}"
    if result.ranking is not None:
        yield from _ranking_figures(result.ranking, title)
    if result.rating is not None:
        rows = result.rating.predictions
        yield (
            "predicted_against_actual",
            plot_predicted_against_actual(
                rows.actual, rows.predicted, title=f"Predicted against actual ratings, {title}"
            ),
        )
        if result.dataset.relevant_from is not None:
            yield from _rating_curves(rows, result.dataset.relevant_from, title)


def data_figures(rows: Interactions, dataset: Dataset, title: str) -> Iterator[tuple[str, Figure]]:
    """Draw rows of a data set: long tail, ratings; each name is fit for a file."""
    yield "long_tail", plot_long_tail(rows.item_counts(), title=f"Long tail of {title}")
    if dataset.feedback == "explicit":
        yield "rating_distribution", plot_rating_distribution(rows.value, title=f"Ratings of {title}")


def _ranking_figures(lists: "RankingResult", title: str) -> Iterator[tuple[str, Figure]]:
    results = lists.evaluation.results
    coverages = [entry.name for entry in results if entry.definition.startswith(_COVERAGE)]
    figure = plot_results(results, (*_DRAWN, *dict.fromkeys(coverages)), f"Metrics over k, {title}")
    if figure is not None:
        yield "metrics_over_k", figure
    curve = precision_recall_over_k(judge(lists.top_k, lists.relevant), lists.top_k.items.shape[1])
    yield "precision_recall_over_k", _precision_recall(curve, f"Precision and recall over k, {title}")
    if lists.rankings is not None:
        roc, over_k = full_ranking_curves(lists.rankings, np.diff(lists.relevant.start))
        if roc is not None:
            yield "roc", _roc(roc, "mean over users", f"ROC curve, {title}")
        yield "precision_recall", _precision_recall(over_k, f"Precision and recall at all ranks, {title}")


def _rating_curves(rows: RatingPredictions, liked_from: float, title: str) -> Iterator[tuple[str, Figure]]:
    """Yield the curves of predicted ratings, all rows pooled: liked against not liked."""
    liked = at_least(rows.actual, liked_from)
    if liked.all() or not liked.any():
        return
    label = f"rated {liked_from:g} or more, all rows"
    yield "rating_roc", _roc(roc_curve(liked, rows.predicted), label, f"ROC curve of ratings, {title}")
    curve, share = precision_recall_curve(liked, rows.predicted), float(liked.mean())
    # precision is that of a step, not of a line between two points
    recall, precision = np.repeat(curve.recall, 2)[1:], np.repeat(curve.precision, 2)[:-1]
    yield (
        "rating_precision_recall",
        plot_curves(
            {f"{label} (average precision {curve.average_precision():.3f})": (recall, precision)},
            x_label="recall",
            y_label="precision",
            chance=(share, share),
            title=f"Precision-recall curve of ratings, {title}",
        ),
    )


def _roc(curve: RocCurve, label: str, title: str) -> Figure:
    return plot_curves(
        {f"{label} (area {curve.area():.3f})": (curve.false_positive_rate, curve.true_positive_rate)},
        x_label="false positive rate",
        y_label="true positive rate",
        chance=(0.0, 1.0),
        title=title,
    )


def _precision_recall(curve: PrecisionRecallOverK, title: str) -> Figure:
    points = {
        f"k = {k}": (float(recall), float(precision))
        for k, recall, precision in zip(curve.k, curve.recall, curve.precision, strict=True)
        if k in NAMED_CUTOFFS or k == curve.k[-1]
    }
    lines = {"mean over users": (curve.recall, curve.precision)}
    return plot_curves(lines, x_label="recall", y_label="precision", title=title, points=points)


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


def plot_rating_distribution(ratings: npt.ArrayLike, *, title: str | None = "Rating distribution") -> Figure:
    """Draw the share of each rating.

    Parameters
    ----------
    ratings : array-like of float, shape (n,)
        Such as ``interactions.value``; more than 20 distinct ones are put into 10 bins of equal width.

    Notes
    -----
    What recmetrics' rating_distribution_plot draws, whose axis are counts.

    Examples
    --------
    >>> figure = plot_rating_distribution([4.0, 3.5, 4.0, 1.0])
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['25.0 %', '25.0 %', '50.0 %']
    """
    numbers = check_numbers("plot_rating_distribution", {"ratings": ratings})["ratings"]
    values, group = _rating_groups(numbers)
    with new_figure(title) as (figure, (axes,)):
        bars = axes.bar(range(len(values)), np.bincount(group) / len(group), color=PALETTE[0])
        axes.bar_label(bars, fmt=lambda share: f"{100 * share:.1f} %", fontsize=SMALL - 1)
        axes.set_xticks(range(len(values)), [f"{value:.3g}" for value in values])
        axes.set(xlabel=f"rating; mean {numbers.mean():.2f}", ylabel=f"share of {len(numbers):,} ratings")
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
    columns = check_numbers("plot_predicted_against_actual", {"actual": actual, "predicted": predicted})
    values, group = _rating_groups(columns["actual"])
    rows = [columns["predicted"][group == number] for number in range(len(values))]
    points = np.array([np.quantile(own, (0.05, 0.25, 0.5, 0.75, 0.95)) for own in rows])
    with new_figure(title, height=4.0) as (figure, (axes,)):
        ends = [float(values[0]), float(values[-1])]
        axes.plot(ends, ends, label="perfect", **REFERENCE)
        ink = PALETTE[0]
        axes.vlines(values, points[:, 0], points[:, 4], color=ink, linewidth=2, label="90 % of predictions")
        axes.vlines(values, points[:, 1], points[:, 3], color=ink, linewidth=9, alpha=0.45, label="50 %")
        axes.plot(values, points[:, 2], "o", color=ink, markersize=7, markeredgecolor="white", label="median")
        axes.margins(x=0.06, y=0.1)
        names = [f"{value:.3g}\n{len(own):,}" for value, own in zip(values, rows, strict=True)]
        axes.set_xticks(values, names, linespacing=1.5)
        axes.set(xlabel="actual rating, and number of rows with it", ylabel="predicted rating")
        figure.legend(loc="outside right center")
    return figure


def _rating_groups(ratings: npt.NDArray[np.floating]) -> tuple[DoubleArray, LongArray]:
    """Return distinct ratings, or the middles of ten bins of many, and the place of each row among them."""
    values, group = np.unique(ratings.astype(np.float64), return_inverse=True)
    if len(values) > _MOST_VALUES:
        edges = np.linspace(values[0], values[-1], _BINS + 1)
        middles = (edges[1:] + edges[:-1]) / 2
        bins = np.clip(np.digitize(ratings, edges) - 1, 0, _BINS - 1)
        values, group = np.unique(middles[bins], return_inverse=True)
    return values, group
