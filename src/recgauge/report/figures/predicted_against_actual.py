"""What a model predicted for the held-out rows of each actual rating."""

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

from recgauge.report.figures.style import PALETTE, check_numbers, look, new_figure
from recgauge.utils.checks import DoubleArray, LongArray

_MOST_VALUES, _BINS = 20, 10


def plot_predicted_against_actual(
    actual: npt.ArrayLike, predicted: npt.ArrayLike, *, title: str | None = "Predicted against actual ratings"
) -> Figure:
    """Draw, for each actual rating, where 90 % and where 50 % of the predictions lie, and their median.

    Parameters
    ----------
    actual, predicted : array-like of float, shape (n,)
        Row by row, such as the columns of `RatingPredictions`.
    title : str or None

    Returns
    -------
    matplotlib.figure.Figure
        With more than 20 distinct actual ratings, these are put into 10 bins of equal width.

    Raises
    ------
    MetricError
        If there are no rows, the columns differ in length, or a number is not finite.

    Examples
    --------
    >>> figure = plot_predicted_against_actual([1, 1, 5, 5], [2.0, 3.0, 4.0, 4.5])
    >>> figure.axes[0].lines[-1].get_ydata().tolist()
    [2.5, 4.25]
    """
    owner = "plot_predicted_against_actual"
    truth = check_numbers(owner, "actual", actual)
    guess = check_numbers(owner, "predicted", predicted, len(truth))
    places, group = _groups(truth)
    points = np.array(
        [np.quantile(guess[group == g], (0.05, 0.25, 0.5, 0.75, 0.95)) for g in range(len(places))]
    )
    counts = np.bincount(group)
    with look():
        figure, (axes,) = new_figure(title, height=4.0)
        low, high = float(places[0]), float(places[-1])
        axes.plot(
            [low, high], [low, high], color="#9A9A9A", linewidth=1, linestyle=(0, (4, 3)), label="perfect"
        )
        ink = PALETTE[0]
        axes.vlines(places, points[:, 0], points[:, 4], color=ink, linewidth=2, label="90 % of predictions")
        axes.vlines(places, points[:, 1], points[:, 3], color=ink, linewidth=9, alpha=0.45, label="50 %")
        axes.plot(places, points[:, 2], "o", color=ink, markersize=7, markeredgecolor="white", label="median")
        axes.margins(x=0.06, y=0.1)
        if len(places) <= _MOST_VALUES:
            names = [f"{place:g}\n{_short(n)}" for place, n in zip(places, counts, strict=True)]
            axes.set_xticks(places, names, linespacing=1.5)
        axes.set_xlabel("actual rating, and rows with it")
        axes.set_ylabel("predicted rating")
        figure.legend(loc="outside right center")
    return figure


def _groups(actual: DoubleArray) -> tuple[DoubleArray, LongArray]:
    """Return the places on the axis and the group of each row."""
    places, group = np.unique(actual, return_inverse=True)
    if len(places) <= _MOST_VALUES:
        return places, group
    edges = np.linspace(places[0], places[-1], _BINS + 1)
    found = np.minimum(np.searchsorted(edges, actual, side="right") - 1, _BINS - 1)
    used, group = np.unique(found, return_inverse=True)
    middles: DoubleArray = (edges[1:] + edges[:-1])[used] / 2
    return middles, group


def _short(count: int) -> str:
    """Write a count in few signs.

    Examples
    --------
    >>> _short(950), _short(12_345), _short(3_400_000)
    ('950', '12.3k', '3.4M')
    """
    if count < 1000:
        return f"{count}"
    return f"{count / 1000:.1f}k" if count < 999_950 else f"{count / 1e6:.1f}M"
