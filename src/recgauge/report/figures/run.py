"""The figures that a run leaves behind."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from recgauge.evaluation.evaluate_ratings import RatingPredictions
from recgauge.judging import judge
from recgauge.metrics.curves import precision_recall_curve, precision_recall_over_k, roc_curve
from recgauge.metrics.curves.full_ranking import FullRankings, full_ranking_curves
from recgauge.report.figures.data import data_figures, plot_predicted_against_actual
from recgauge.report.figures.metrics import (
    plot_coverage,
    plot_metric_over_k,
    plot_precision_recall_curve,
    plot_precision_recall_over_k,
    plot_roc,
)
from recgauge.runs.record import RankingResult, RunResult
from recgauge.utils.checks import LongArray

# metrics in [0, 1] that one axis can hold, drawn if the run has them
_DRAWN = ("precision", "recall", "f1", "hit_rate", "mrr", "map", "ndcg")


def run_figures(result: RunResult, model: str, dataset: str) -> Iterator[tuple[str, Figure]]:
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


def _ranking_figures(lists: RankingResult, title: str) -> Iterator[tuple[str, Figure]]:
    results = [one for one in lists.evaluation.results if one.name in _DRAWN and one.k is not None]
    cutoffs = sorted({one.k for one in results if one.k is not None})
    lines = {one.name: [r for r in results if r.name == one.name] for one in results}
    whole = {name: line for name, line in lines.items() if len(line) == len(cutoffs)}
    if len(cutoffs) > 1 and whole:
        figure = plot_metric_over_k(
            cutoffs,
            {name: [one.value for one in line] for name, line in whole.items()},
            stderr={name: [one.stderr or 0.0 for one in line] for name, line in whole.items()},
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


def _coverage(lists: RankingResult) -> dict[str, float]:
    """Return the first coverage of the suite as a share at each cutoff; nothing if the suite has none."""
    found = [one for one in lists.evaluation.results if one.definition.startswith("CatalogCoverage(scale=")]
    scales = {"scale=fraction": 1.0, "scale=percent": 100.0}
    return {
        f"{one.name} @{one.k}": one.value / divisor
        for one in found
        for scale, divisor in scales.items()
        if one.name == found[0].name and scale in one.definition
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
    liked = made.actual >= liked_from
    if liked.all() or not liked.any():
        return
    rows = f"rated {liked_from:g} or more, all rows"
    figure = plot_roc({rows: roc_curve(liked, made.predicted)}, title=f"ROC curve of ratings, {title}")
    yield "rating_roc", figure
    curve = precision_recall_curve(liked, made.predicted)
    title = f"Precision-recall curve of ratings, {title}"
    share = float(liked.mean())
    yield "rating_precision_recall", plot_precision_recall_curve({rows: curve}, relevant=share, title=title)
