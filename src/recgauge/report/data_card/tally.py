"""Counts the rows of a part by user, item, rating and day, in pieces that stay in the processor's cache."""

from dataclasses import dataclass

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.errors import SchemaError
from recgauge.report.over_time import PIECE, count_days
from recgauge.utils.checks import DoubleArray, FloatArray, LongArray

MOST_VALUES = 100  # distinct ratings; more are counted in bins
_BINS = 20

Days = tuple[int, LongArray]  # the first day, and the rows of each day from there on


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """Counts of a part's rows.

    Parameters
    ----------
    users, items : ndarray of int64, shape (n_users,) and (n_items,)
    values : (ndarray of float64, ndarray of int64, bool) or None
        As `count_values` returns them; None for implicit feedback.
    days : (int, ndarray of int64) or None
        As `count_days` returns them; None without times.
    """

    users: LongArray
    items: LongArray
    values: tuple[DoubleArray, LongArray, bool] | None
    days: Days | None


def tally(part: Interactions, *, explicit: bool) -> Tally:
    """Count the rows of a part.

    Parameters
    ----------
    part : Interactions
    explicit : bool
        Whether its values are ratings.

    Returns
    -------
    Tally
    """
    users, items = np.zeros(part.n_users, np.int64), np.zeros(part.n_items, np.int64)
    step = max(PIECE, 4 * part.n_users)  # adding up the counts must not outweigh counting
    for first in range(0, len(part), step):
        users += np.bincount(part.user[first : first + step], minlength=part.n_users)
        items += np.bincount(part.item[first : first + step], minlength=part.n_items)
    return Tally(users, items, count_values(part.value) if explicit else None, _days(part.timestamp))


def count_values(values: FloatArray) -> tuple[DoubleArray, LongArray, bool]:
    """Count the distinct ratings, in bins where there are more than 100.

    Parameters
    ----------
    values : ndarray of float32, shape (n,)
        n > 0.

    Returns
    -------
    ndarray of float64, shape (v,)
        Rising.
    ndarray of int64, shape (v,)
    bool
        Whether these are middles of bins.
    """
    quarters = _count_quarters(values)
    if quarters is not None and len(quarters[0]) <= MOST_VALUES:
        return (*quarters, False)
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) <= MOST_VALUES:
        return distinct.astype(np.float64), counts.astype(np.int64), False
    counts, edges = np.histogram(values, bins=_BINS)
    return (edges[1:] + edges[:-1]).astype(np.float64) / 2, counts.astype(np.int64), True


def _count_quarters(values: FloatArray) -> tuple[DoubleArray, LongArray] | None:
    """Count ratings that are whole, half or quarter stars, without sorting millions; None for others."""
    low = float(values.min()) * 4
    span = float(values.max()) * 4 - low
    if span >= 4 * MOST_VALUES or not low.is_integer():
        return None
    counts = np.zeros(int(span) + 1, np.int64)
    for first in range(0, len(values), PIECE):
        quarters = values[first : first + PIECE] * np.float32(4) - np.float32(low)
        codes = quarters.astype(np.int32)
        if not np.array_equal(codes, quarters):
            return None
        counts += np.bincount(codes, minlength=len(counts))
    (found,) = np.nonzero(counts)
    return (found + low) / 4, counts[found]


def _days(timestamps: LongArray | None) -> Days | None:
    """Return the rows of each day; None without times, or with times that no calendar knows."""
    try:
        return None if timestamps is None else count_days(timestamps)
    except SchemaError:
        return None  # a card must not end a run whose models never look at times
