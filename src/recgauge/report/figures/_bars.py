"""Horizontal bars with their values, drawn into a panel."""

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from recgauge.report.figures.style import INK, PALETTE, SMALL, check_labels, check_numbers


def bar_height(n_bars: int) -> float:
    """Return the height in inches of a figure with so many bars."""
    return 1.25 + 0.36 * n_bars


def draw_bars(
    axes: Axes,
    owner: str,
    values: Mapping[str, float],
    *,
    text: Callable[[float], str],
    stderr: Mapping[str, float] | None = None,
    highest: float | None = None,
    names: bool = True,
) -> None:
    """Draw one bar a label, first on top, each with its value behind it.

    Parameters
    ----------
    axes : Axes
    owner : str
        The function, for messages.
    values : mapping of str to float
    text : callable
        Writes a value.
    stderr : mapping of str to float, optional
        Standard errors, drawn as 95 % intervals; a label may be left out.
    highest : float, optional
        Where the axis ends; by default by the values.
    names : bool
        Whether the labels are written; panels beside the first share its own.

    Raises
    ------
    MetricError
        If there is nothing to draw, or a number is not finite.
    """
    labels = list(check_labels(owner, values))
    numbers = check_numbers(owner, "values", list(values.values()))
    errors = {} if stderr is None else stderr
    widths = 1.96 * check_numbers(owner, "stderr", [errors.get(label, 0.0) for label in labels])
    place = np.arange(len(labels))
    axes.barh(place, numbers, height=0.62, color=PALETTE[0])
    if errors:
        drawn: npt.NDArray[np.bool_] = widths > 0
        axes.errorbar(
            numbers[drawn],
            place[drawn],
            xerr=widths[drawn],
            fmt="none",
            ecolor=INK,
            elinewidth=1,
            capsize=2.5,
        )
    for row, number in enumerate(numbers):
        end = max(float(number) + float(widths[row]), 0.0)
        axes.annotate(
            text(float(number)),
            (end, row),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=SMALL,
        )
    low, high = min(0.0, float((numbers - widths).min())), float((numbers + widths).max())
    right = (highest or max(high, 0.0) or 1.0) - low
    axes.set_xlim(low * 1.05, low + right * 1.16)  # room for the value behind the longest bar
    axes.set_ylim(len(labels) - 0.45, -0.55)
    axes.set_yticks(place, labels if names else [""] * len(labels))
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.spines["left"].set_visible(False)
