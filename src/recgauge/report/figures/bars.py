"""One number of each label as bars, for any metric."""

from collections.abc import Mapping

from matplotlib.figure import Figure

from recgauge.report.figures._bars import bar_height, draw_bars
from recgauge.report.figures.style import look, new_figure


def plot_bars(
    values: Mapping[str, float],
    *,
    metric: str = "value",
    stderr: Mapping[str, float] | None = None,
    title: str | None = None,
) -> Figure:
    """Draw one bar a label with its value, and its 95 % interval where there is a standard error.

    Parameters
    ----------
    values : mapping of str to float
        Such as ``{"svd": 0.18, "popularity": 0.09}``; the first is on top.
    metric : str
        Name of the axis.
    stderr : mapping of str to float, optional
        Standard errors; a label may be left out.
    title : str or None

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    MetricError
        If there is nothing to draw, or a number is not finite.

    Examples
    --------
    >>> figure = plot_bars({"svd": 0.18, "popularity": 0.09}, metric="nDCG@10")
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['0.180', '0.090']
    """
    with look():
        figure, (axes,) = new_figure(title, height=bar_height(len(values)))
        draw_bars(axes, "plot_bars", values, text=lambda value: f"{value:.3f}", stderr=stderr)
        axes.set_xlabel(metric)
    return figure
