"""How the test part differs from the training part: ratings, popularity, time."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, date2num
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from recgauge.errors import MetricError
from recgauge.report.data_card import DataCard, Drift, RatingFacts, RowsOverTime
from recgauge.report.figures.style import PALETTE, look, new_figure, percent_axis
from recgauge.utils.checks import DoubleArray, LongArray

_TRAIN, _TEST = PALETTE[0], PALETTE[1]


def plot_drift(card: DataCard, *, title: str | None = "Train and test") -> Figure:
    """Draw train beside test: shares of each rating, of items by popularity, and of the rows up to a time.

    Parameters
    ----------
    card : DataCard
        Of a data set with a split.
    title : str or None

    Returns
    -------
    matplotlib.figure.Figure
        Two or three panels: without ratings or times, theirs is left out.

    Raises
    ------
    MetricError
        If the card has no split.

    Examples
    --------
    >>> from recgauge.datasets.demo import Demo
    >>> from recgauge.report.card_numbers import data_card
    >>> plot_drift(data_card(Demo().load()))
    Traceback (most recent call last):
    recgauge.errors.MetricError: plot_drift: the card of demo has no split; make it with one.
    """
    if card.drift is None:
        raise MetricError(f"plot_drift: the card of {card.name} has no split; make it with one.")
    train, test, times = card.parts["train"], card.parts["test"], card.over_time
    has_ratings = card.drift.ratings is not None
    with look():
        figure, panels = new_figure(title, height=3.3, panels=1 + has_ratings + (times is not None))
        remaining = iter(panels)
        if train.ratings is not None and test.ratings is not None and has_ratings:
            _draw_ratings(next(remaining), train.ratings, test.ratings)
        _draw_popularity(next(remaining), card.drift)
        if times is not None:
            _draw_times(next(remaining), times)
        panels[0].set_ylabel("share of rows")
        handles = [Patch(color=_TRAIN, label="train"), Patch(color=_TEST, label="test")]
        figure.legend(handles=handles, loc="outside upper right", ncols=2)
    return figure


def _draw_ratings(axes: Axes, train: RatingFacts, test: RatingFacts) -> None:
    values = sorted({value for part in (train, test) for value, _ in part.values})
    shares = []
    for part in (train, test):
        counted = dict(part.values)
        shares.append(np.array([counted.get(value, 0) for value in values]) / sum(counted.values()))
    _pairs(axes, np.array(values), shares[0], shares[1])
    whole = [value for value in values if value == int(value)]
    if len(values) <= 5 or 1 < len(whole) <= 6:
        axes.set_xticks(values if len(values) <= 5 else whole)
    axes.set_xlabel("rating")


def _draw_popularity(axes: Axes, drift: Drift) -> None:
    shares = np.array(drift.groups)
    groups = np.arange(1, len(shares) + 1)
    _pairs(axes, groups, shares[:, 0], shares[:, 1])
    axes.set_xticks([1, len(shares)], ["most\npopular", "least\npopular"])
    axes.set_xlabel("items, in tenths of the training rows")


def _draw_times(axes: Axes, times: RowsOverTime) -> None:
    days = date2num(np.array(times.starts, dtype="datetime64[D]"))
    length = float(days[-1] - days[-2]) if len(days) > 1 else 1.0
    edges = np.append(days, days[-1] + length)
    for name, ink, line in (("train", _TRAIN, "-"), ("test", _TEST, (0, (2.5, 1.5)))):
        reached = np.cumsum([0, *times.counts[name]])
        axes.plot(edges, reached / reached[-1], color=ink, linestyle=line)
    locator = AutoDateLocator(minticks=2, maxticks=4)
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))
    axes.set_ylim(bottom=0)
    axes.set_xlabel("share up to then")
    percent_axis(axes, "y")


def _pairs(axes: Axes, places: DoubleArray | LongArray, train: DoubleArray, test: DoubleArray) -> None:
    gap = float(np.diff(places).min()) if len(places) > 1 else 1.0
    for side, shares, ink in ((-1, train, _TRAIN), (1, test, _TEST)):
        axes.bar(places + side * 0.2 * gap, shares, width=0.4 * gap, color=ink)
    axes.grid(visible=False, axis="x")
    percent_axis(axes, "y")
