"""One number per model as horizontal bars."""

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recgauge.errors import MetricError
from recgauge.report.figures.style import (
    INK,
    PALETTE,
    check_labels,
    check_numbers,
    name_rows,
    new_figure,
    percent_axis,
    write_beside,
)


def plot_bars(
    values: Mapping[str, float],
    *,
    metric: str = "value",
    stderr: Mapping[str, float] | None = None,
    title: str | None = None,
) -> Figure:
    """Draw one bar per label with its value, and its 95 % interval where there is a standard error.

    Parameters
    ----------
    values : mapping of str to float
        Such as ``{"svd": 0.18, "popularity": 0.09}``; the first is on top.
    metric : str
        Name of the axis.
    stderr : mapping of str to float, optional
        Standard errors; a label may be left out.

    Examples
    --------
    >>> figure = plot_bars({"svd": 0.18, "popularity": 0.09}, metric="nDCG@10")
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['0.180', '0.090']
    """
    with new_figure(title, height=_height(len(values))) as (figure, (axes,)):
        draw_bars(axes, "plot_bars", values, text=lambda value: f"{value:.3f}", stderr=stderr)
        axes.set_xlabel(metric)
    return figure


def plot_coverage(coverage: Mapping[str, float], *, title: str | None = "Catalogue coverage") -> Figure:
    """Draw the share of the catalogue that each model recommends to somebody, from 0 to 100 %.

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
    with new_figure(title, height=_height(len(coverage))) as (figure, (axes,)):
        draw_bars(axes, "plot_coverage", coverage, text=lambda value: f"{value * 100:.1f} %", highest=1.0)
        percent_axis(axes.xaxis)
        axes.set_xlabel("items in at least one list")
    return figure


def plot_personalization_and_similarity(
    personalization: Mapping[str, float],
    intra_list_similarity: Mapping[str, float],
    *,
    title: str | None = "Personalization and intra-list similarity",
) -> Figure:
    """Draw both numbers of each model side by side.

    Parameters
    ----------
    personalization : mapping of str to float
        One minus the mean similarity of two users' lists: 0 if all get the same list.
    intra_list_similarity : mapping of str to float
        Mean similarity of two items of a list: 1 if all are alike.

    Notes
    -----
    What recmetrics' personalization_plot and intra_list_similarity_plot draw.

    Examples
    --------
    >>> figure = plot_personalization_and_similarity({"svd": 0.9, "pop": 0.1}, {"svd": 0.3, "pop": 0.2})
    >>> [axes.get_xlabel() for axes in figure.axes]
    ['personalization', 'intra-list similarity']
    """
    owner = "plot_personalization_and_similarity"
    if personalization.keys() != intra_list_similarity.keys():
        raise MetricError(
            f"{owner}: both need the same labels, got "
            f"{', '.join(personalization) or 'none'} and {', '.join(intra_list_similarity) or 'none'}."
        )
    similarity = {label: intra_list_similarity[label] for label in personalization}
    named = {"personalization": personalization, "intra-list similarity": similarity}
    with new_figure(title, height=_height(len(personalization)), panels=2) as (figure, panels):
        for axes, (name, values) in zip(panels, named.items(), strict=True):
            first = axes is panels[0]
            draw_bars(axes, owner, values, text=lambda value: f"{value:.3f}", highest=1.0, names=first)
            axes.set_xlabel(name)
    return figure


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
    """Draw one bar per label, each with its value behind it, and its 95 % interval if there is an error.

    The axis ends at `highest`, such as 1 for shares, else a little beyond the longest bar; not `names`: the
    labels stand beside another panel.
    """
    labels = list(check_labels(owner, values))
    numbers = check_numbers(owner, "values", list(values.values()))
    errors = stderr or {}
    widths = 1.96 * check_numbers(owner, "stderr", [errors.get(label, 0.0) for label in labels])
    rows = np.arange(len(labels))
    axes.barh(rows, numbers, height=0.62, color=PALETTE[0])
    if errors:
        drawn: npt.NDArray[np.bool_] = widths > 0
        ends = numbers[drawn], rows[drawn]
        axes.errorbar(*ends, xerr=widths[drawn], fmt="none", ecolor=INK, elinewidth=1, capsize=2.5)
    for row, number in enumerate(numbers):
        end = max(float(number) + float(widths[row]), 0.0)
        write_beside(axes, text(float(number)), (end, row), (4, 0), va="center")
    low, longest = min(0.0, float((numbers - widths).min())), float((numbers + widths).max())
    if highest is None:
        high = max(longest, 0.0) or 1.0
        axes.set_xlim(low * 1.05, low + (high - low) * 1.16)
    else:
        axes.set_xlim(low * 1.05, max(highest, longest))
        axes.set_xticks(np.linspace(0, highest, 6))
    name_rows(axes, labels if names else [""] * len(labels))


def _height(n_bars: int) -> float:
    return 1.25 + 0.36 * n_bars
