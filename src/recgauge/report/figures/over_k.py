"""Metrics as lists grow: over the cutoff k, and precision against recall."""

from collections.abc import Mapping, Sequence

import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator

from recgauge.metrics.curves.averaged import NAMED_CUTOFFS
from recgauge.metrics.curves.points import PrecisionRecallOverK
from recgauge.report.figures.style import (
    MUTED,
    SMALL,
    check_labels,
    check_numbers,
    color,
    label_ends,
    line_look,
    look,
    new_figure,
    write_beside,
)
from recgauge.utils.checks import check_cutoffs

_Z = 1.96  # standard errors on each side that hold 95 % of a normal distribution
_MOST_TICKS = 12


def plot_metric_over_k(
    cutoffs: Sequence[int],
    values: Mapping[str, npt.ArrayLike],
    *,
    stderr: Mapping[str, npt.ArrayLike] | None = None,
    metric: str = "value",
    title: str | None = None,
) -> Figure:
    """Draw a metric at each cutoff, one line per label, with 95 % intervals where there are standard errors.

    Parameters
    ----------
    cutoffs : sequence of int
        Rising.
    values : mapping of str to array-like of float, shape (n_cutoffs,)
        Such as ``{"svd": [0.18, 0.21], "popularity": [0.09, 0.12]}``.
    stderr : mapping of str to array-like of float, shape (n_cutoffs,), optional
        Standard errors; a label may be left out.
    metric : str
        Name of the vertical axis.
    title : str or None

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    MetricError
        If there is nothing to draw, a line lacks a number for a cutoff, or a number is not finite.

    Examples
    --------
    >>> figure = plot_metric_over_k([5, 10], {"svd": [0.2, 0.3]}, stderr={"svd": [0.01, 0.02]}, metric="nDCG")
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['svd']
    """
    owner = "plot_metric_over_k"
    ks = check_cutoffs(f"{owner}: cutoffs", cutoffs)
    errors = stderr or {}
    ends = []
    with look():
        figure, (axes,) = new_figure(title)
        for index, (label, line) in enumerate(check_labels(owner, values).items()):
            numbers = check_numbers(owner, label, line, len(ks))
            widths = None
            if label in errors:
                widths = _Z * check_numbers(owner, f"stderr of {label}", errors[label], len(ks))
            drawn = line_look(index, marker=True)
            axes.errorbar(ks, numbers, widths, capsize=2.5, elinewidth=1.1, label=label, **drawn)
            ends.append((float(numbers[-1]), label, color(index)))
        _set_axes(axes, ks, metric)
        label_ends(axes, ends)
        if errors:
            axes.set_title("bars: 95 % intervals over users", color=MUTED, fontsize=SMALL - 0.5)
        return figure


def _set_axes(axes: Axes, ks: tuple[int, ...], metric: str) -> None:
    if ks[-1] >= 50 * ks[0] and len(ks) > 2:
        axes.set_xscale("log")
    every = -(-len(ks) // _MOST_TICKS)
    axes.xaxis.set_major_locator(FixedLocator(list(ks[::-1][::every])))  # the last always has its tick
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0f}")
    axes.set_xlabel("cutoff k")
    axes.set_ylabel(metric)
    low, high = axes.get_ylim()
    if 0 < low < 0.5 * high:  # near enough to zero to show it
        axes.set_ylim(0, high)


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
    >>> from recgauge.metrics.curves.points import precision_recall_over_k
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
        for index, (label, curve) in enumerate(curves.items()):
            size = len(check_numbers(owner, f"recall of {label}", curve.recall))
            check_numbers(owner, f"precision of {label}", curve.precision, size)
            marked = [row for row, k in enumerate(curve.k) if k in NAMED_CUTOFFS or row == size - 1]
            drawn = line_look(index, marker=True) | {"markevery": marked, "clip_on": False}
            axes.plot(curve.recall, curve.precision, label=label, **drawn)
            if label == outermost:
                _name_cutoffs(axes, curve, marked)
        axes.set_xlim(0, 1.08 * max(float(curve.recall.max()) for curve in curves.values()) or 1)
        axes.set_ylim(0, 1.08 * max(float(curve.precision.max()) for curve in curves.values()) or 1)
        axes.set_xlabel("recall")
        axes.set_ylabel("precision")
        if len(curves) > 1:
            axes.legend(loc="upper right")
    return figure


def _name_cutoffs(axes: Axes, curve: PrecisionRecallOverK, marked: Sequence[int]) -> None:
    for row in marked:
        text = f"k = {curve.k[row]}" if row == marked[0] else f"{curve.k[row]}"
        point = float(curve.recall[row]), float(curve.precision[row])
        write_beside(axes, text, point, (5, 4), color=MUTED, fontsize=SMALL - 0.5)
