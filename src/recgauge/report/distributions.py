"""How rows fall on users, items and ratings: counts as tables to draw, quantiles, curves, concentration."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from recgauge.errors import SchemaError
from recgauge.metrics.beyond.long_tail import by_popularity, short_head
from recgauge.utils.checks import BoolArray, DoubleArray, LongArray, check_choice, check_real, read_only

CURVE_POINTS = 40  # enough for a smooth line over six decades, few enough for a readable record
Boundary = Literal["head", "tail"]


@dataclass(frozen=True, slots=True, eq=False)
class LongTail:
    """Items with interactions, most popular first."""

    items: LongArray  # codes; equal counts by rising code
    counts: LongArray  # interactions, falling
    cumulative_share: DoubleArray  # of all interactions, that the items down to each one hold; the last is 1
    in_head: BoolArray  # true down to where the tail begins

    def __post_init__(self) -> None:
        for name in ("items", "counts", "cumulative_share", "in_head"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def n_head(self) -> int:
        """Number of items in the head."""
        return int(self.in_head.sum())

    @property
    def n_tail(self) -> int:
        """Number of items with interactions in the tail."""
        return len(self.items) - self.n_head


def long_tail(counts: LongArray, head: float = 0.5, boundary: Boundary = "tail") -> LongTail:
    """Sort items by popularity and split them into head and tail.

    Parameters
    ----------
    counts : ndarray of int, shape (n_items,)
        Interactions of each item.
    head : float
        Share of all interactions that the head holds.
    boundary : {"head", "tail"}
        The part that gets the item with which the share is crossed.

    Returns
    -------
    LongTail
        Items without interactions are left out.

    Raises
    ------
    ConfigError
        If `head` or `boundary` is not valid.
    SchemaError
        If no item has an interaction.

    Notes
    -----
    The defaults split as recmetrics' long_tail_plot does; ``head=0.8, boundary="head"`` is the short head
    of Elliot and of `LongTailShare`.

    References
    ----------
    .. [1] C. Anderson, "The Long Tail", Hyperion, 2006.

    Examples
    --------
    >>> table = long_tail(np.array([1, 6, 0, 3]), head=0.8)
    >>> table.items.tolist(), table.cumulative_share.tolist(), table.in_head.tolist()
    ([1, 3, 0], [0.6, 0.9, 1.0], [True, False, False])
    """
    check_real("long_tail: head", head, low=0, high=1, low_open=True)
    check_choice("long_tail: boundary", boundary, ("head", "tail"))
    total = int(counts.sum())
    if total == 0:
        raise SchemaError("long_tail: counts must hold interactions, got none.")
    items = by_popularity(counts)[: int(np.count_nonzero(counts))]
    ordered = counts[items].astype(np.int64)
    return LongTail(items, ordered, np.cumsum(ordered) / total, short_head(counts, head, boundary)[items])


@dataclass(frozen=True, slots=True, eq=False)
class RatingDistribution:
    """Counts of the distinct rating values."""

    values: DoubleArray  # rising
    counts: LongArray

    def __post_init__(self) -> None:
        for name in ("values", "counts"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def shares(self) -> DoubleArray:
        """Share of each value among all ratings, shape (v,); they add up to 1."""
        shares: DoubleArray = self.counts / self.counts.sum()
        return shares


def rating_distribution(values: npt.NDArray[np.floating]) -> RatingDistribution:
    """Count the ratings of each value.

    Parameters
    ----------
    values : ndarray of float, shape (n,)
        Ratings, such as ``interactions.value``.

    Returns
    -------
    RatingDistribution

    Raises
    ------
    SchemaError
        If there are no ratings, or one is not finite.

    Notes
    -----
    What recmetrics' rating_distribution_plot draws.

    Examples
    --------
    >>> table = rating_distribution(np.array([4.0, 3.5, 4.0, 1.0]))
    >>> table.values.tolist(), table.counts.tolist(), table.shares.tolist()
    ([1.0, 3.5, 4.0], [1, 1, 2], [0.25, 0.25, 0.5])
    """
    if len(values) == 0:
        raise SchemaError("rating_distribution: values must hold ratings, got none.")
    if not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values))[0])
        raise SchemaError(f"rating_distribution: values must be finite, got {values[row]} in row {row}.")
    distinct, counts = np.unique(values, return_counts=True)
    return RatingDistribution(distinct.astype(np.float64), counts.astype(np.int64))


@dataclass(frozen=True, slots=True)
class Quantiles:
    """The distribution of the counts, of those with at least one row; `highest_tenth` is the 0.9 quantile."""

    lowest: int
    lower_quartile: float
    median: float
    mean: float
    upper_quartile: float
    highest_tenth: float
    highest_hundredth: float
    highest: int


def quantiles(counts: LongArray) -> Quantiles:
    """Describe the counts above zero, interpolated between the two nearest."""
    known = counts[counts > 0]
    q25, q50, q75, q90, q99 = (float(value) for value in np.quantile(known, (0.25, 0.5, 0.75, 0.9, 0.99)))
    return Quantiles(int(known.min()), q25, q50, float(known.mean()), q75, q90, q99, int(known.max()))


def share_with_at_least(counts: LongArray) -> tuple[tuple[int, float], ...]:
    """Return the shares of users or items that have at least so many rows, those without rows left out.

    About 40 points, evenly spread over the logarithm; SchemaError if every count is zero.
    """
    ordered = np.sort(counts[counts > 0])
    if len(ordered) == 0:
        raise SchemaError("share_with_at_least: counts must hold rows, got none.")
    steps = np.unique(ordered)
    if len(steps) > CURVE_POINTS:
        wanted = np.geomspace(steps[0], steps[-1], CURVE_POINTS)
        wanted[-1] = steps[-1]  # whatever rounding makes of it
        steps = np.unique(steps[np.searchsorted(steps, wanted)])
    shares = (len(ordered) - np.searchsorted(ordered, steps, side="left")) / len(ordered)
    return tuple(zip(steps.tolist(), shares.tolist(), strict=True))


def shares_by_popularity(
    train: LongArray, test: LongArray, n_groups: int = 10
) -> tuple[DoubleArray, DoubleArray]:
    """Return the shares of training and of test rows of groups of items, the most popular ones first.

    Each group holds about the same share of the training rows; items without training rows are in the last.
    """
    order = np.argsort(-train, kind="stable")
    middle = (np.cumsum(train[order]) - train[order] / 2) / train.sum()
    group = np.minimum((middle * n_groups).astype(np.int64), n_groups - 1)
    shares = [
        np.bincount(group, counts[order].astype(np.float64), minlength=n_groups) / counts.sum()
        for counts in (train, test)
    ]
    return shares[0], shares[1]
