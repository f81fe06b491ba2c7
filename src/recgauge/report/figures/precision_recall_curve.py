"""Precision-recall curves over all thresholds of a score."""

from collections.abc import Mapping

from matplotlib.figure import Figure

from recgauge.metrics.curves.precision_recall import PrecisionRecallCurve
from recgauge.report.figures.style import (
    check_labels,
    check_numbers,
    color,
    line_style,
    look,
    new_figure,
    thin,
)


def plot_precision_recall_curve(
    curves: Mapping[str, PrecisionRecallCurve],
    *,
    relevant: float | None = None,
    title: str | None = "Precision-recall curve",
) -> Figure:
    """Draw precision against recall in steps, with the average precision of each label.

    Parameters
    ----------
    curves : mapping of str to PrecisionRecallCurve
        Of each model: ``precision_recall_curve(relevant, scores)``.
    relevant : float, optional
        Share of relevant rows, which is the precision of chance.
    title : str or None

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    MetricError
        If there is nothing to draw, or a number is not finite.

    Examples
    --------
    >>> from recgauge.metrics.curves.precision_recall import precision_recall_curve
    >>> figure = plot_precision_recall_curve({"svd": precision_recall_curve([1, 0, 1], [0.9, 0.7, 0.5])})
    >>> [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    ['svd (average precision 0.833)']
    """
    owner = "plot_precision_recall_curve"
    with look():
        figure, (axes,) = new_figure(title, height=4.0)
        for place, (label, curve) in enumerate(check_labels(owner, curves).items()):
            size = len(check_numbers(owner, f"recall of {label}", curve.recall))
            check_numbers(owner, f"precision of {label}", curve.precision, size)
            shown = thin(size)
            axes.step(
                curve.recall[shown],
                curve.precision[shown],
                where="post",
                color=color(place),
                linestyle=line_style(place),
                label=f"{label} (average precision {curve.average_precision():.3f})",
            )
        if relevant is not None:
            axes.axhline(relevant, color="#9A9A9A", linewidth=1, linestyle=(0, (4, 3)), label="chance")
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1.02)
        axes.set_xlabel("recall")
        axes.set_ylabel("precision")
        axes.legend(loc="upper right")
    return figure
