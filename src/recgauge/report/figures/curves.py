"""Curves over all thresholds of a score: ROC, and precision against recall."""

from collections.abc import Mapping

from matplotlib.figure import Figure

from recgauge.metrics.curves.points import PrecisionRecallCurve, RocCurve
from recgauge.report.figures.style import (
    REFERENCE,
    check_labels,
    check_numbers,
    line_look,
    look,
    new_figure,
    thin,
)


def plot_roc(curves: Mapping[str, RocCurve], *, title: str | None = "ROC curve") -> Figure:
    """Draw the true against the false positive rate, with the area of each label, and chance.

    Parameters
    ----------
    curves : mapping of str to RocCurve
        Of each model: ``roc_curve(relevant, scores)``.
    title : str or None

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    MetricError
        If there is nothing to draw, or a number is not finite.

    Notes
    -----
    What recmetrics' roc_plot draws.

    Examples
    --------
    >>> from recgauge.metrics.curves.points import roc_curve
    >>> figure = plot_roc({"svd": roc_curve([1, 0, 1, 0], [0.9, 0.7, 0.7, 0.1])})
    >>> [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    ['svd (area 0.875)', 'chance (area 0.5)']
    """
    owner = "plot_roc"
    with look():
        figure, (axes,) = new_figure(title, height=4.0)
        for index, (label, curve) in enumerate(check_labels(owner, curves).items()):
            x = check_numbers(owner, f"false positives of {label}", curve.false_positive_rate)
            y = check_numbers(owner, f"true positives of {label}", curve.true_positive_rate, len(x))
            shown = thin(len(x))
            axes.plot(x[shown], y[shown], label=f"{label} (area {curve.area():.3f})", **line_look(index))
        axes.plot([0, 1], [0, 1], label="chance (area 0.5)", **REFERENCE)
        axes.set(xlim=(0, 1), ylim=(0, 1.02), xlabel="false positive rate", ylabel="true positive rate")
        axes.legend(loc="lower right")
    return figure


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
    >>> from recgauge.metrics.curves.points import precision_recall_curve
    >>> figure = plot_precision_recall_curve({"svd": precision_recall_curve([1, 0, 1], [0.9, 0.7, 0.5])})
    >>> [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    ['svd (average precision 0.833)']
    """
    owner = "plot_precision_recall_curve"
    with look():
        figure, (axes,) = new_figure(title, height=4.0)
        for index, (label, curve) in enumerate(check_labels(owner, curves).items()):
            x = check_numbers(owner, f"recall of {label}", curve.recall)
            y = check_numbers(owner, f"precision of {label}", curve.precision, len(x))
            shown = thin(len(x))
            name = f"{label} (average precision {curve.average_precision():.3f})"
            axes.step(x[shown], y[shown], where="post", label=name, **line_look(index))
        if relevant is not None:
            axes.axhline(relevant, label="chance", **REFERENCE)
        axes.set(xlim=(0, 1), ylim=(0, 1.02), xlabel="recall", ylabel="precision")
        axes.legend(loc="upper right")
    return figure
