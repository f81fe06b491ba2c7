"""Numbers of models: metrics over the cutoff k, precision against recall, ROC, and bars."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator

from recgauge.metrics.curves import PrecisionRecallCurve, PrecisionRecallOverK, RocCurve
from recgauge.metrics.curves.full_ranking import NAMED_CUTOFFS
from recgauge.report.figures.style import (
    COLUMN,
    MUTED,
    PALETTE,
    REFERENCE,
    SMALL,
    WIDTH,
    check_labels,
    check_numbers,
    line_look,
    name_rows,
    new_figure,
    percent_axis,
    thin,
    write_beside,
)
from recgauge.utils.checks import DoubleArray, check_cutoffs

_Z = 1.96  # standard errors on each side that hold 95 % of a normal distribution
_MOST_TICKS = 12


def plot_metric_over_k(
    cutoffs: Sequence[int],
    values: Mapping[str, npt.ArrayLike],
    *,
    stderr: Mapping[str, npt.ArrayLike] | None = None,
    metric: str = "value",
    title: str | None = None,
    width: float = WIDTH,
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
    width : float
        Inches.

    Examples
    --------
    >>> figure = plot_metric_over_k([5, 10], {"svd": [0.2, 0.3]}, stderr={"svd": [0.01, 0.02]}, metric="nDCG")
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['svd']
    """
    owner = "plot_metric_over_k"
    ks = check_cutoffs(f"{owner}: cutoffs", cutoffs)
    errors = stderr or {}
    with new_figure(title, width=width, height=3.2 if width == COLUMN else 3.7) as (figure, (axes,)):
        for index, (label, line) in enumerate(check_labels(owner, values).items()):
            numbers = check_numbers(owner, label, line, len(ks))
            widths = None
            if label in errors:
                widths = _Z * check_numbers(owner, f"stderr of {label}", errors[label], len(ks))
            drawn = line_look(index, marker=True)
            axes.errorbar(ks, numbers, widths, capsize=2.5, elinewidth=1.1, label=label, **drawn)
        if ks[-1] >= 50 * ks[0] and len(ks) > 2:
            axes.set_xscale("log")
        step = -(-len(ks) // _MOST_TICKS)
        axes.xaxis.set_major_locator(FixedLocator(list(ks[::-1][::step])))  # the last always has its tick
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0f}")
        axes.set(xlabel="cutoff k", ylabel=metric)
        low, high = axes.get_ylim()
        if 0 < low < 0.5 * high:  # near enough to zero to show it
            axes.set_ylim(0, high)
        figure.legend(loc="outside right center")
        if errors:
            axes.set_title("bars: 95 % intervals over users", color=MUTED, fontsize=SMALL - 0.5)
        return figure


def plot_precision_recall_over_k(
    curves: Mapping[str, PrecisionRecallOverK], *, title: str | None = "Precision and recall over k"
) -> Figure:
    """Draw mean precision against mean recall at every cutoff, with some cutoffs marked and named.

    Parameters
    ----------
    curves : mapping of str to PrecisionRecallOverK
        Of each model: ``precision_recall_over_k(judge(lists, relevant), max_k)``.

    Notes
    -----
    What recmetrics' precision_recall_plot of lists draws.

    Examples
    --------
    >>> from recgauge.metrics.curves import precision_recall_over_k
    >>> from recgauge.metrics.examples import judged_example
    >>> figure = plot_precision_recall_over_k({"svd": precision_recall_over_k(judged_example(), 3)})
    >>> figure.axes[0].lines[0].get_xdata().tolist()
    [0.5, 0.5, 1.0]
    """
    owner = "plot_precision_recall_over_k"
    check_labels(owner, curves)
    outermost = max(curves, key=lambda label: float(curves[label].precision.max(initial=0)))
    with new_figure(title, height=4.0) as (figure, (axes,)):
        for index, (label, curve) in enumerate(curves.items()):
            size = len(check_numbers(owner, f"recall of {label}", curve.recall))
            check_numbers(owner, f"precision of {label}", curve.precision, size)
            marked = [row for row, k in enumerate(curve.k) if k in NAMED_CUTOFFS or row == size - 1]
            drawn = line_look(index, marker=True) | {"markevery": marked, "clip_on": False}
            axes.plot(curve.recall, curve.precision, label=label, **drawn)
            for row in marked if label == outermost else ():
                text = f"k = {curve.k[row]}" if row == marked[0] else f"{curve.k[row]}"
                point = float(curve.recall[row]), float(curve.precision[row])
                write_beside(axes, text, point, (5, 4), color=MUTED, fontsize=SMALL - 0.5)
        axes.set_xlim(0, 1.08 * max(float(curve.recall.max()) for curve in curves.values()) or 1)
        axes.set_ylim(0, 1.08 * max(float(curve.precision.max()) for curve in curves.values()) or 1)
        axes.set(xlabel="recall", ylabel="precision")
        if len(curves) > 1:
            axes.legend(loc="upper right")
    return figure


def plot_roc(curves: Mapping[str, RocCurve], *, title: str | None = "ROC curve") -> Figure:
    """Draw the true against the false positive rate, with the area of each label, and chance.

    Parameters
    ----------
    curves : mapping of str to RocCurve
        Of each model: ``roc_curve(relevant, scores)``.

    Notes
    -----
    What recmetrics' roc_plot draws.

    Examples
    --------
    >>> from recgauge.metrics.curves import roc_curve
    >>> figure = plot_roc({"svd": roc_curve([1, 0, 1, 0], [0.9, 0.7, 0.7, 0.1])})
    >>> [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    ['svd (area 0.875)', 'chance (area 0.5)']
    """
    rates = {
        f"{label} (area {curve.area():.3f})": (curve.false_positive_rate, curve.true_positive_rate)
        for label, curve in curves.items()
    }
    with new_figure(title, height=4.0) as (figure, (axes,)):
        _draw_curves(axes, "plot_roc", rates)
        axes.plot([0, 1], [0, 1], label="chance (area 0.5)", **REFERENCE)
        axes.set(xlabel="false positive rate", ylabel="true positive rate")
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

    Examples
    --------
    >>> from recgauge.metrics.curves import precision_recall_curve
    >>> figure = plot_precision_recall_curve({"svd": precision_recall_curve([1, 0, 1], [0.9, 0.7, 0.5])})
    >>> [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    ['svd (average precision 0.833)']
    """
    points = {
        f"{label} (average precision {curve.average_precision():.3f})": (curve.recall, curve.precision)
        for label, curve in curves.items()
    }
    with new_figure(title, height=4.0) as (figure, (axes,)):
        _draw_curves(axes, "plot_precision_recall_curve", points, drawstyle="steps-post")
        if relevant is not None:
            axes.axhline(relevant, label="chance", **REFERENCE)
        axes.set(xlabel="recall", ylabel="precision")
        axes.legend(loc="upper right")
    return figure


def _draw_curves(
    axes: Axes, owner: str, curves: Mapping[str, tuple[DoubleArray, DoubleArray]], drawstyle: str = "default"
) -> None:
    for index, (label, (x, y)) in enumerate(check_labels(owner, curves).items()):
        shown = thin(len(check_numbers(owner, label, x)))
        axes.plot(x[shown], y[shown], label=label, drawstyle=drawstyle, **line_look(index))
    axes.set(xlim=(0, 1), ylim=(0, 1.02))


def plot_coverage(coverage: Mapping[str, float], *, title: str | None = "Catalogue coverage") -> Figure:
    """Draw the share of the catalogue that each model recommends at all, from 0 to 100 %.

    Parameters
    ----------
    coverage : mapping of str to float
        Shares in [0, 1], such as the metric ``item_coverage`` of each model; the first is on top.

    Notes
    -----
    What recmetrics' coverage_plot draws, whose coverage is a percentage: divide it by 100.

    Examples
    --------
    >>> figure = plot_coverage({"svd": 0.42, "random": 0.995})
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['42.0 %', '99.5 %']
    """
    with new_figure(title, height=1.25 + 0.36 * len(coverage)) as (figure, (axes,)):
        draw_bars(axes, "plot_coverage", coverage)
        percent_axis(axes.xaxis)
        axes.set_xlabel("items in at least one list")
    return figure


def draw_bars(
    axes: Axes, owner: str, shares: Mapping[str, float], *, decimals: int = 1, names: bool = True
) -> None:
    """Draw one bar per label from 0 to 100 %, each with its share behind it.

    Not `names`: the labels stand beside another panel.
    """
    labels = list(check_labels(owner, shares))
    numbers = check_numbers(owner, "values", list(shares.values()))
    axes.barh(range(len(labels)), numbers, height=0.62, color=PALETTE[0])
    for row, number in enumerate(numbers):
        write_beside(axes, f"{number * 100:.{decimals}f} %", (max(number, 0.0), row), (4, 0), va="center")
    axes.set_xlim(0, max(1.0, numbers.max()))
    axes.set_xticks(np.linspace(0, 1, 6))
    name_rows(axes, labels if names else [""] * len(labels))
