"""Precision against recall as lists grow, one line a model."""

from collections.abc import Mapping

from matplotlib.figure import Figure

from recgauge.metrics.curves.precision_recall import PrecisionRecallOverK
from recgauge.report.figures.style import (
    MARKERS,
    MUTED,
    SMALL,
    check_labels,
    check_numbers,
    color,
    line_style,
    look,
    new_figure,
)

NAMED_CUTOFFS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
"""Cutoffs with a mark; the last has one, too."""


def plot_precision_recall_over_k(
    curves: Mapping[str, PrecisionRecallOverK], *, title: str | None = "Precision and recall over k"
) -> Figure:
    """Draw mean precision against mean recall at every cutoff, with some cutoffs marked and named.

    Parameters
    ----------
    curves : mapping of str to PrecisionRecallOverK
        Of each model: ``precision_recall_over_k(judge(lists, relevant), max_k)``.
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
    What recmetrics' precision_recall_plot of lists draws.

    Examples
    --------
    >>> from recgauge.metrics.curves.precision_recall import precision_recall_over_k
    >>> from recgauge.metrics.examples import judged_example
    >>> figure = plot_precision_recall_over_k({"svd": precision_recall_over_k(judged_example(), 3)})
    >>> figure.axes[0].lines[0].get_xdata().tolist()
    [0.5, 0.5, 1.0]
    """
    owner = "plot_precision_recall_over_k"
    check_labels(owner, curves)
    outermost = max(curves, key=lambda label: float(curves[label].precision.max(initial=0)))
    with look():
        figure, (axes,) = new_figure(title, height=4.0)
        for place, (label, curve) in enumerate(curves.items()):
            size = len(check_numbers(owner, f"recall of {label}", curve.recall))
            check_numbers(owner, f"precision of {label}", curve.precision, size)
            marked = [row for row, k in enumerate(curve.k) if k in NAMED_CUTOFFS or row == size - 1]
            axes.plot(
                curve.recall,
                curve.precision,
                color=color(place),
                linestyle=line_style(place),
                marker=MARKERS[place % len(MARKERS)],
                markersize=5,
                markevery=marked,
                clip_on=False,
                label=label,
            )
            if label != outermost:
                continue
            for row in marked:
                axes.annotate(
                    f"k = {curve.k[row]}" if row == marked[0] else f"{curve.k[row]}",
                    (curve.recall[row], curve.precision[row]),
                    xytext=(5, 4),
                    textcoords="offset points",
                    color=MUTED,
                    fontsize=SMALL - 0.5,
                )
        axes.set_xlim(0, 1.08 * max(float(curve.recall.max()) for curve in curves.values()) or 1)
        axes.set_ylim(0, 1.08 * max(float(curve.precision.max()) for curve in curves.values()) or 1)
        axes.set_xlabel("recall")
        axes.set_ylabel("precision")
        if len(curves) > 1:
            axes.legend(loc="upper right")
    return figure
