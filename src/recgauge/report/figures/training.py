"""How models came about and what they predict: learning curves, searches, calibration of ratings."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from recgauge.report.figures.compared import short_names
from recgauge.report.figures.style import (
    COLUMN,
    INK,
    REFERENCE,
    check_labels,
    color,
    label_ends,
    line_look,
    new_figure,
)

Line = tuple[Sequence[float], Sequence[float]]
"""Horizontal and vertical coordinates, equally many."""


def plot_lines(
    lines: Mapping[str, Line],
    *,
    x_label: str,
    y_label: str,
    steps: bool = False,
    title: str | None = None,
) -> Figure:
    """Draw a line for each label, named at its end: values over epochs, or the best so far over trials.

    Parameters
    ----------
    x_label, y_label : str
        With units.
    steps : bool
        Whether a value holds until the next one.

    Examples
    --------
    >>> lines = {"ials": ([1, 2, 3], [0.1, 0.2, 0.22])}
    >>> figure = plot_lines(lines, x_label="epoch", y_label="nDCG@10 on validation rows")
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['ials']
    """
    names = short_names(list(check_labels("plot_lines", lines)))
    with new_figure(title, height=3.2, width=COLUMN) as (figure, (axes,)):
        ends = []
        for index, (x, y) in enumerate(lines.values()):
            look = line_look(index, marker=len(x) <= 30)
            axes.plot(x, y, drawstyle="steps-post" if steps else "default", **look)
            ends.append((float(y[-1]), names[index], color(index)))
        axes.xaxis.set_major_locator(MaxNLocator(nbins=8, integer=True))
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
        axes.set_xlim(right=max(x[-1] for x, _ in lines.values()))
        label_ends(axes, ends)
    return figure


def plot_calibration(lines: Mapping[str, Line], *, title: str | None = None) -> Figure:
    """Draw the mean rating that users gave against the mean rating that was predicted, in bins.

    Parameters
    ----------
    lines : mapping of str to (sequence of float, sequence of float)
        By run, mean predicted and mean actual rating of each bin.

    Examples
    --------
    >>> figure = plot_calibration({"bias": ([2.0, 3.0, 4.0], [1.8, 3.1, 4.2])})
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['as predicted', 'bias']
    """
    names = short_names(list(check_labels("plot_calibration", lines)))
    with new_figure(title, height=3.6, width=COLUMN) as (figure, (axes,)):
        ends = []
        for index, (predicted, actual) in enumerate(lines.values()):
            axes.plot(predicted, actual, clip_on=False, **line_look(index, marker=True))
            ends.append((float(actual[-1]), names[index], color(index)))
        every = np.concatenate([np.concatenate(line) for line in lines.values()])
        low, high = float(every.min()), float(every.max())
        axes.plot([low, high], [low, high], **REFERENCE)
        axes.set_xlim(low, high)
        axes.set_ylim(low, high)
        axes.set_xlabel("mean predicted rating, in tenths of the rows")
        axes.set_ylabel("mean rating given")
        label_ends(axes, [(high, "as predicted", INK), *ends])
    return figure
