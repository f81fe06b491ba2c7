"""Counts rows by user, item, rating and day, in pieces that stay in the processor's cache."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from recgauge.data.interactions import PIECE, Interactions
from recgauge.errors import SchemaError
from recgauge.report.data_card import RowsOverTime
from recgauge.utils.checks import DoubleArray, FloatArray, LongArray

MOST_VALUES = 100  # distinct ratings; more are counted in bins
_BINS = 20
_DAY = 86_400
_EARLIEST, _LATEST = -719_162, 2_932_896  # days of the years 1 and 9999, which dates are written with

Unit = Literal["day", "week", "month", "year"]
# longest span in days that a unit is drawn for: about a hundred bars, and all of MovieLens' months
_SPANS: tuple[tuple[Unit, int], ...] = (("day", 92), ("week", 730), ("month", 14_610))
Days = tuple[int, LongArray]  # the first day, and the rows of each day from there on


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """Counts of a part's rows: `values` as `count_values` returns them, `days` as `count_days` does."""

    users: LongArray
    items: LongArray
    values: tuple[DoubleArray, LongArray, bool] | None
    days: Days | None


def tally(part: Interactions, *, explicit: bool) -> Tally:
    """Count the rows of a part; `explicit`: its values are ratings."""
    values = count_values(part.value) if explicit else None
    return Tally(part.user_counts(), part.item_counts(), values, _days(part.timestamp))


def count_values(values: FloatArray) -> tuple[DoubleArray, LongArray, bool]:
    """Return the distinct ratings, rising, their counts, and whether these are bins (of more than 100)."""
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


def count_days(timestamps: LongArray) -> Days:
    """Return the first day, counted from 1970-01-01, and the rows of that day and each day after it.

    Raises
    ------
    SchemaError
        If a time is outside the years 1 to 9999.
    """
    first, last = int(timestamps.min()) // _DAY, int(timestamps.max()) // _DAY
    if first < _EARLIEST or last > _LATEST:
        raise SchemaError(
            f"Times must be in the years 1 to 9999, got {int(timestamps.min())} to {int(timestamps.max())} "
            "seconds since 1970. Are they milliseconds? Set dataset.time_unit."
        )
    counts = np.zeros(last - first + 1, np.int64)
    step = max(PIECE, 4 * len(counts))
    for begin in range(0, len(timestamps), step):
        counts += np.bincount(timestamps[begin : begin + step] // _DAY - first, minlength=len(counts))
    return first, counts


def over_time(timestamps: Mapping[str, LongArray], unit: Unit | None = None) -> RowsOverTime:
    """Count the rows of each period.

    Parameters
    ----------
    timestamps : mapping of str to ndarray of int64, shape (n,)
        Seconds since 1970-01-01 UTC of the rows of each part.
    unit : {"day", "week", "month", "year"}, optional
        By default days up to three months, weeks up to two years, months up to forty years, else years.

    Raises
    ------
    SchemaError
        If there are no rows, or a time is outside the years 1 to 9999.

    Examples
    --------
    >>> found = over_time({"train": np.array([0, 86_399, 86_400])})
    >>> found.unit, found.starts, found.counts["train"]
    ('day', ('1970-01-01', '1970-01-02'), (2, 1))
    """
    return group_days({name: count_days(times) for name, times in timestamps.items() if len(times)}, unit)


def group_days(per_day: Mapping[str, Days], unit: Unit | None = None) -> RowsOverTime:
    """Add up the days of each part to periods.

    Raises
    ------
    SchemaError
        If there is no part.
    """
    if not per_day:
        raise SchemaError("over_time: timestamps must hold rows, got none.")
    first = min(start for start, _ in per_day.values())
    last = max(start + len(counts) - 1 for start, counts in per_day.values())
    unit = unit or _unit(last - first)
    starts = _periods(first, last, unit)
    counts = {}
    for name, (start, days) in per_day.items():
        period = np.searchsorted(starts, start + np.arange(len(days)), side="right") - 1
        added = np.bincount(period, days.astype(np.float64), minlength=len(starts))
        counts[name] = tuple(added.astype(np.int64).tolist())
    return RowsOverTime(unit, tuple(map(day_text, starts)), counts)


def day_text(day: int) -> str:
    """Return the ISO date of a day counted from 1970-01-01."""
    return str(np.datetime64(int(day), "D"))


def _unit(n_days: int) -> Unit:
    for unit, days in _SPANS:
        if n_days < days:
            return unit
    return "year"


def _periods(first: int, last: int, unit: Unit) -> LongArray:
    """Return the first day of every period from that of `first` to that of `last`."""
    if unit == "day":
        return np.arange(first, last + 1)
    if unit == "week":
        return np.arange(first - (first + 3) % 7, last + 1, 7)  # 1970 began on a Thursday
    ends = np.array([first, last], dtype="datetime64[D]").astype(f"datetime64[{unit[0].upper()}]")
    return np.arange(ends[0], ends[1] + 1).astype("datetime64[D]").astype(np.int64)
