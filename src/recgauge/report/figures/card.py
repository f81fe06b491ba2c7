"""The figures of a data card."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from recgauge.data.dataset import Dataset
from recgauge.data.split import Split
from recgauge.report.card_numbers import split_parts
from recgauge.report.data_card import DataCard
from recgauge.report.figures.activity import plot_activity_and_popularity
from recgauge.report.figures.drift import plot_drift
from recgauge.report.figures.long_tail import plot_long_tail
from recgauge.report.figures.over_time import plot_over_time
from recgauge.report.figures.rating_distribution import plot_rating_distribution
from recgauge.report.long_tail import long_tail
from recgauge.report.rating_distribution import RatingDistribution


def card_figures(card: DataCard, dataset: Dataset, split: Split | None) -> Iterator[tuple[str, Figure]]:
    """Draw what a card can show: long tail, ratings, activity and popularity, time, train beside test.

    Parameters
    ----------
    card : DataCard
    dataset : Dataset
        What the card was made from.
    split : Split or None
        Likewise.

    Yields
    ------
    str
        Name of the figure, fit for a file, such as ``long_tail``.
    matplotlib.figure.Figure
        Without ratings, without times, without a split: theirs are left out.
    """
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
        parts = {card.name: rows} if split is None else split_parts(split)
        times = {name: part.timestamp for name, part in parts.items() if part.timestamp is not None}
        yield "rows_over_time", plot_over_time(times, title=f"{card.name} over time")
    if split is not None:
        yield "train_and_test", plot_drift(card, title=f"Train and test: {card.name}, split {split.name}")
