"""Figures: functions of results that return a matplotlib figure, in one look, and how to store one.

Nothing here is imported by a run that draws nothing, since matplotlib takes half a second to import.
"""

from recgauge.report.figures.activity import plot_activity_and_popularity
from recgauge.report.figures.bars import plot_bars
from recgauge.report.figures.coverage import plot_coverage
from recgauge.report.figures.drift import plot_drift
from recgauge.report.figures.long_tail import plot_long_tail
from recgauge.report.figures.metric_over_k import plot_metric_over_k
from recgauge.report.figures.over_time import plot_over_time
from recgauge.report.figures.precision_recall_curve import plot_precision_recall_curve
from recgauge.report.figures.precision_recall_over_k import plot_precision_recall_over_k
from recgauge.report.figures.predicted_against_actual import plot_predicted_against_actual
from recgauge.report.figures.rating_distribution import plot_rating_distribution
from recgauge.report.figures.roc import plot_roc
from recgauge.report.figures.similarity import plot_personalization_and_similarity
from recgauge.report.figures.style import save_png

__all__ = [
    "plot_activity_and_popularity",
    "plot_bars",
    "plot_coverage",
    "plot_drift",
    "plot_long_tail",
    "plot_metric_over_k",
    "plot_over_time",
    "plot_personalization_and_similarity",
    "plot_precision_recall_curve",
    "plot_precision_recall_over_k",
    "plot_predicted_against_actual",
    "plot_rating_distribution",
    "plot_roc",
    "save_png",
]
