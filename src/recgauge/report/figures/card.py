"""The figures of a data card: rows over time, train next to test, and all that a card can show."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter, date2num
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from recgauge.data.dataset import Dataset
from recgauge.data.split import Split
from recgauge.errors import MetricError
from recgauge.report.data_card import DataCard, RatingFacts, RowsOverTime
from recgauge.report.data_card.build import over_time
from recgauge.report.distributions import RatingDistribution, long_tail
from recgauge.report.figures.data import (
    plot_activity_and_popularity,
    plot_long_tail,
    plot_rating_distribution,
)
from recgauge.report.figures.style import (
    PALETTE,
    check_labels,
    color,
    count_axis,
    new_figure,
    percent_axis,
)
from recgauge.utils.checks import DoubleArray, LongArray

_TRAIN, _TEST = PALETTE[0], PALETTE[1]


def card_figures(card: DataCard, dataset: Dataset, split: Split | None) -> Iterator[tuple[str, Figure]]:
    """Draw what a card can show of the data that it was made from; each figure's name is fit for a file."""
    rows = dataset.interactions
    yield "long_tail", plot_long_tail(long_tail(rows.item_counts()), title=f"Long tail of {card.name}")
    if card.data.ratings is not None:
        values, counts = np.array(card.data.ratings.values).T
        table = RatingDistribution(values, counts.astype(np.int64))
        yield "rating_distribution", plot_rating_distribution(table, title=f"Ratings of {card.name}")
    title = f"Activity and popularity in {card.name}"
    counts_of = rows.user_counts(), rows.item_counts()
    yield "activity_and_popularity", plot_activity_and_popularity(*counts_of, title=title)
    if card.over_time is not None:
        yield "rows_over_time", _over_time_figure(card.over_time, f"Rows of {card.name} over time")
    if split is not None:
        yield "train_and_test", plot_drift(card, title=f"Train and test: {card.name}, split {split.name}")


def plot_over_time(timestamps: Mapping[str, LongArray], *, title: str | None = "Rows over time") -> Figure:
    """Draw the rows of each day, week, month or year, the parts stacked.

    Parameters
    ----------
    timestamps : mapping of str to ndarray of int64, shape (n,)
        Seconds since 1970-01-01 UTC, of each part: ``{"train": ..., "test": ...}``.

    Raises
    ------
    SchemaError
        If there are no rows, or a time is outside the years 1 to 9999.

    Examples
    --------
    >>> figure = plot_over_time({"train": np.array([0, 90_000])})
    >>> figure.axes[0].get_ylabel()
    'rows per day'
    """
    return _over_time_figure(over_time(check_labels("plot_over_time", timestamps)), title)


def _over_time_figure(table: RowsOverTime, title: str | None) -> Figure:
    with new_figure(title) as (figure, (axes,)):
        edges = _edges(table)
        below = np.zeros(len(edges))
        for index, (name, counts) in enumerate(table.counts.items()):
            above = below + np.append(counts, counts[-1])
            look: dict[str, Any] = {"color": color(index), "alpha": 0.85, "linewidth": 0}
            axes.fill_between(edges, below, above, step="post", label=name, **look)
            below = above
        axes.set(xlim=(edges[0], edges[-1]), ylim=(0, max(float(below.max()) * 1.05, 1.0)))
        _name_dates(axes, least=3, most=8)
        count_axis(axes.yaxis)
        axes.set_ylabel(f"rows per {table.unit}")
        if len(table.counts) > 1:
            figure.legend(loc="outside upper right", ncols=len(table.counts))
    return figure


def _edges(table: RowsOverTime) -> DoubleArray:
    """Return where each period begins, and where the last one ends, as matplotlib counts days."""
    days: DoubleArray = date2num(np.array(table.starts, dtype="datetime64[D]"))
    return np.append(days, days[-1] + {"day": 1, "week": 7, "month": 31, "year": 366}[table.unit])


def _name_dates(axes: Axes, least: int, most: int) -> None:
    locator = AutoDateLocator(minticks=least, maxticks=most)
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))


def plot_drift(card: DataCard, *, title: str | None = "Train and test") -> Figure:
    """Draw train next to test: shares of each rating, of items by popularity, and of the rows up to a time.

    Parameters
    ----------
    card : DataCard
        Of a data set with a split.

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
    >>> from recgauge.report.data_card.build import data_card
    >>> plot_drift(data_card(Demo().load()))
    Traceback (most recent call last):
    recgauge.errors.MetricError: plot_drift: the card of demo has no split; make it with one.
    """
    if card.drift is None:
        raise MetricError(f"plot_drift: the card of {card.name} has no split; make it with one.")
    train, test, times = card.parts["train"], card.parts[card.held_out], card.over_time
    has_ratings = card.drift.ratings is not None
    with new_figure(title, height=3.3, panels=1 + has_ratings + (times is not None)) as (figure, panels):
        remaining = iter(panels)
        if train.ratings is not None and test.ratings is not None and has_ratings:
            _draw_ratings(next(remaining), train.ratings, test.ratings)
        popularity, shares = next(remaining), np.array(card.drift.groups)
        _draw_pairs(popularity, np.arange(1, len(shares) + 1), *shares.T)
        popularity.set_xticks([1, len(shares)], ["most\npopular", "least\npopular"])
        popularity.set_xlabel("items, in tenths of the training rows")
        if times is not None:
            _draw_times(next(remaining), times, card.held_out)
        panels[0].set_ylabel("share of rows")
        handles = [Patch(color=_TRAIN, label="train"), Patch(color=_TEST, label=card.held_out)]
        figure.legend(handles=handles, loc="outside upper right", ncols=2)
    return figure


def _draw_ratings(axes: Axes, train: RatingFacts, test: RatingFacts) -> None:
    values = sorted({value for part in (train, test) for value, _ in part.values})
    shares = []
    for part in (train, test):
        counted = dict(part.values)
        shares.append(np.array([counted.get(value, 0) for value in values]) / sum(counted.values()))
    _draw_pairs(axes, np.array(values), *shares)
    whole = [value for value in values if value == int(value)]
    if len(values) <= 5 or 1 < len(whole) <= 6:
        axes.set_xticks(values if len(values) <= 5 else whole)
    axes.set_xlabel("rating")


def _draw_times(axes: Axes, times: RowsOverTime, held_out: str) -> None:
    for name, ink, line in (("train", _TRAIN, "-"), (held_out, _TEST, (0, (2.5, 1.5)))):
        reached = np.cumsum([0, *times.counts[name]])
        axes.plot(_edges(times), reached / reached[-1], color=ink, linestyle=line)
    _name_dates(axes, least=2, most=4)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("rows up to this time")
    percent_axis(axes.yaxis)


def _draw_pairs(axes: Axes, places: DoubleArray | LongArray, train: DoubleArray, test: DoubleArray) -> None:
    gap = float(np.diff(places).min()) if len(places) > 1 else 1.0
    for side, shares, ink in ((-1, train, _TRAIN), (1, test, _TEST)):
        axes.bar(places + side * 0.2 * gap, shares, width=0.4 * gap, color=ink)
    axes.grid(visible=False, axis="x")
    percent_axis(axes.yaxis)
