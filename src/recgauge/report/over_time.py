"""Rows over time, by day, week, month or year."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Literal

import numpy as np

from recgauge.errors import SchemaError
from recgauge.utils.checks import LongArray

Unit = Literal["day", "week", "month", "year"]

_DAY = 86_400
PIECE = 1 << 17  # rows that are counted at once, so that temporary columns stay in the processor's cache
# longest span in days that a unit is drawn for: about a hundred bars, and all of MovieLens' months
_SPANS: tuple[tuple[Unit, int], ...] = (("day", 92), ("week", 730), ("month", 14_610))
_EARLIEST, _LATEST = -719_162, 2_932_896  # days of the years 1 and 9999, the limits of Python's calendar


@dataclass(frozen=True, slots=True)
class RowsOverTime:
    """Rows of each part in each period; plain types, so that a data card can keep it as JSON.

    Parameters
    ----------
    unit : {"day", "week", "month", "year"}
        Length of a period; weeks begin on Monday.
    starts : tuple of str
        ISO date of the first day of each period (UTC), without gaps.
    counts : dict of str to tuple of int
        Rows of each part, one count per period.
    """

    unit: str
    starts: tuple[str, ...]
    counts: dict[str, tuple[int, ...]]


def over_time(timestamps: dict[str, LongArray], unit: Unit | None = None) -> RowsOverTime:
    """Count the rows of each period.

    Parameters
    ----------
    timestamps : dict of str to ndarray of int64, shape (n,)
        Seconds since 1970-01-01 UTC of the rows of each part.
    unit : {"day", "week", "month", "year"}, optional
        By default days up to three months, weeks up to two years, months up to forty years, else years.

    Returns
    -------
    RowsOverTime

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


def group_days(per_day: dict[str, tuple[int, LongArray]], unit: Unit | None = None) -> RowsOverTime:
    """Add up days to periods.

    Parameters
    ----------
    per_day : dict of str to (int, ndarray of int64)
        What `count_days` returns, of each part.
    unit : {"day", "week", "month", "year"}, optional
        As in `over_time`.

    Returns
    -------
    RowsOverTime

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
    starts = _periods(day_date(first), day_date(last), unit)
    ordinals = np.array([start.toordinal() for start in starts])
    counts = {}
    for name, (start, days) in per_day.items():
        ordinal = np.arange(len(days)) + day_date(start).toordinal()
        period = np.searchsorted(ordinals, ordinal, side="right") - 1
        added = np.bincount(period, days.astype(np.float64), minlength=len(starts))
        counts[name] = tuple(added.astype(np.int64).tolist())
    return RowsOverTime(unit, tuple(start.isoformat() for start in starts), counts)


def count_days(timestamps: LongArray) -> tuple[int, LongArray]:
    """Count the rows of each day.

    Parameters
    ----------
    timestamps : ndarray of int64, shape (n,)
        Seconds since 1970-01-01 UTC, n > 0.

    Returns
    -------
    int
        The first day, counted from 1970-01-01.
    ndarray of int64, shape (n_days,)
        Rows of that day and each day after it.

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


def day_date(day: int) -> date:
    """Return the date of a day counted from 1970-01-01."""
    return date(1970, 1, 1) + timedelta(days=day)


def second_text(second: int) -> str:
    """Return a time as text, such as ``2018-09-24 14:27:30`` (UTC).

    Examples
    --------
    >>> second_text(1_577_836_800)
    '2020-01-01 00:00:00'
    """
    return f"{datetime.fromtimestamp(second, UTC):%Y-%m-%d %H:%M:%S}"


def _unit(n_days: int) -> Unit:
    for unit, days in _SPANS:
        if n_days < days:
            return unit
    return "year"


def _periods(first: date, last: date, unit: Unit) -> tuple[date, ...]:
    """Return the first day of every period from that of `first` to that of `last`."""
    if unit in ("day", "week"):
        start = first - timedelta(days=first.weekday()) if unit == "week" else first
        step = 7 if unit == "week" else 1
        return tuple(start + timedelta(days=n) for n in range(0, (last - start).days + 1, step))
    if unit == "year":
        return tuple(date(year, 1, 1) for year in range(first.year, last.year + 1))
    months = range(first.year * 12 + first.month - 1, last.year * 12 + last.month)
    return tuple(date(month // 12, month % 12 + 1, 1) for month in months)
