"""Receiver operating characteristics."""

from collections.abc import Mapping

from matplotlib.figure import Figure

from recgauge.metrics.curves.roc import RocCurve
from recgauge.report.figures.style import (
    check_labels,
    check_numbers,
    color,
    line_style,
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
    >>> from recgauge.metrics.curves.roc import roc_curve
    >>> figure = plot_roc({"svd": roc_curve([1, 0, 1, 0], [0.9, 0.7, 0.7, 0.1])})
    >>> [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    ['svd (area 0.875)', 'chance (area 0.5)']
    """
    owner = "plot_roc"
    with look():
        figure, (axes,) = new_figure(title, height=4.0)
        for place, (label, curve) in enumerate(check_labels(owner, curves).items()):
            size = len(check_numbers(owner, f"false positives of {label}", curve.false_positive_rate))
            check_numbers(owner, f"true positives of {label}", curve.true_positive_rate, size)
            shown = thin(size)
            axes.plot(
                curve.false_positive_rate[shown],
                curve.true_positive_rate[shown],
                color=color(place),
                linestyle=line_style(place),
                label=f"{label} (area {curve.area():.3f})",
            )
        axes.plot(
            [0, 1], [0, 1], color="#9A9A9A", linewidth=1, linestyle=(0, (4, 3)), label="chance (area 0.5)"
        )
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1.02)
        axes.set_xlabel("false positive rate")
        axes.set_ylabel("true positive rate")
        axes.legend(loc="lower right")
    return figure
