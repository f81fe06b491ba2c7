"""Figures: functions of results that return a matplotlib figure, all in one style, and how to save one.

Where there is nothing to draw, or numbers are not finite or do not fit together, each raises a MetricError. A
run that draws nothing does not import this package, since matplotlib takes half a second to import.
"""

from recgauge.report.figures.metrics import plot_metric_over_k
from recgauge.report.figures.run import plot_long_tail
from recgauge.report.figures.style import save_png

__all__ = ["plot_long_tail", "plot_metric_over_k", "save_png"]
