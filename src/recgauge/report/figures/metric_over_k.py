"""A metric against the cutoff, one line a model."""

from collections.abc import Mapping, Sequence

import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator

from recgauge.report.figures.style import (
    MARKERS,
    MUTED,
    SMALL,
    check_labels,
    check_numbers,
    color,
    label_ends,
    line_style,
    look,
    new_figure,
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
    """Draw a metric at each cutoff, one line a label, with 95 % intervals where standard errors are given.

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
        If there is nothing to draw, a line has not one number for each cutoff, or a number is not finite.

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
        for place, (label, line) in enumerate(check_labels(owner, values).items()):
            numbers = check_numbers(owner, label, line, len(ks))
            widths = None
            if label in errors:
                widths = _Z * check_numbers(owner, f"stderr of {label}", errors[label], len(ks))
            axes.errorbar(
                ks,
                numbers,
                widths,
                color=color(place),
                linestyle=line_style(place),
                marker=MARKERS[place % len(MARKERS)],
                markersize=5,
                capsize=2.5,
                elinewidth=1.1,
                label=label,
            )
            ends.append((float(numbers[-1]), label, color(place)))
        _set_axes(axes, ks, metric)
        label_ends(axes, ends)
        if errors:
            note = "bars: 95 % intervals over users"
            axes.set_title(note, color=MUTED, fontsize=SMALL - 0.5)
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
