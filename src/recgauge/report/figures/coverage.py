"""Coverage: how much of the catalogue each model's lists reach."""

from collections.abc import Mapping

from matplotlib.figure import Figure

from recgauge.report.figures._bars import bar_height, draw_bars
from recgauge.report.figures.style import look, new_figure, percent_axis


def plot_coverage(coverage: Mapping[str, float], *, title: str | None = "Catalogue coverage") -> Figure:
    """Draw the share of the catalogue that each model recommends to somebody, from 0 to 100 %.

    Parameters
    ----------
    coverage : mapping of str to float
        Shares in [0, 1], such as the metric ``item_coverage`` of each model; the first is on top.
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
    What recmetrics' coverage_plot draws, whose coverage is a percentage: divide it by 100.

    Examples
    --------
    >>> figure = plot_coverage({"svd": 0.42, "random": 0.995})
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['42.0 %', '99.5 %']
    """
    with look():
        figure, (axes,) = new_figure(title, height=bar_height(len(coverage)))
        draw_bars(axes, "plot_coverage", coverage, text=lambda value: f"{value * 100:.1f} %", highest=1.0)
        axes.set_xticks([0, 0.2, 0.4, 0.6, 0.8, 1.0])
        percent_axis(axes, "x")
        axes.set_xlabel("items in at least one list")
    return figure
