"""Metrics over the cutoff k."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy.typing as npt
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator

from recgauge.metrics.names import metric_label
from recgauge.report.figures.style import (
    COLUMN,
    MUTED,
    SMALL,
    WIDTH,
    check_numbers,
    line_look,
    new_figure,
)
from recgauge.utils.checks import check_cutoffs

if TYPE_CHECKING:
    from recgauge.evaluation import MetricResult
    from recgauge.runs.record import MetricValue

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
    lines = check_numbers(owner, values, len(ks))
    errors = check_numbers(f"{owner}: stderr", stderr, len(ks)) if stderr else {}
    with new_figure(title, width=width, height=3.2 if width == COLUMN else 3.7) as (figure, (axes,)):
        for index, (label, line) in enumerate(lines.items()):
            widths = _Z * errors[label] if label in errors else None
            drawn = line_look(index, marker=True)
            axes.errorbar(ks, line, widths, capsize=2.5, elinewidth=1.1, label=label, **drawn)
        if ks[-1] >= 50 * ks[0] and len(ks) > 2:
            axes.set_xscale("log")
        step = -(-len(ks) // _MOST_TICKS)
        axes.xaxis.set_major_locator(FixedLocator(list(ks[::-1][::step])))  # the last always has its tick
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0f}")
        axes.set(xlabel="cutoff k: items of each list", ylabel=metric)
        if axes.get_ylim()[0] > 0:
            axes.set_ylim(bottom=0)
        figure.legend(loc="outside right center")
        if errors:
            axes.set_title("bars: 95 % intervals over users", color=MUTED, fontsize=SMALL - 0.5)
        return figure


def plot_results(
    results: "Sequence[MetricResult | MetricValue]", names: Sequence[str], title: str
) -> Figure | None:
    """Draw those of some metrics that have a value at every cutoff of a run; None where none has."""
    ks = sorted({entry.k for entry in results if entry.k is not None})
    lines = {name: {entry.k: entry for entry in results if entry.name == name} for name in names}
    whole = {metric_label(name): [line[k] for k in ks] for name, line in lines.items() if {*ks} <= {*line}}
    if not ks or not whole:
        return None
    values = {name: [entry.value for entry in line] for name, line in whole.items()}
    errors = {
        name: [entry.stderr for entry in line if entry.stderr is not None]
        for name, line in whole.items()
        if line[0].stderr is not None
    }
    return plot_metric_over_k(ks, values, stderr=errors, metric="mean over users", title=title)
