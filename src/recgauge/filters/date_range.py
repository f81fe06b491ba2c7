"""Rows outside a range of times are dropped."""

from dataclasses import dataclass
from datetime import UTC, datetime
from math import ceil

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.errors import ConfigError, EmptySplitError, SchemaError
from recgauge.filters import RowFilter
from recgauge.utils.checks import BoolArray

EARLIEST = 100_000_000  # March 1973; below it a whole number is a year or a date without dashes


@dataclass(frozen=True)
class DateRange(RowFilter):
    """Keep rows with ``start <= time < end``.

    Parameters
    ----------
    start, end : str, int or None
        An ISO 8601 date or time (``2018-01-31``, ``2018-01-31T12:00``, UTC unless it names an offset), or
        seconds since 1970-01-01 UTC; None: no limit. The start belongs to the range, the end does not, so
        that ranges that follow one another share no row.

    Raises
    ------
    ConfigError
        If a limit cannot be read, both are None, or the range is empty.

    Examples
    --------
    >>> ratings = Interactions.from_ids(["a", "a"], [1, 2], timestamp=[1_514_764_799, 1_514_764_800])
    >>> DateRange(start="2018-01-01").keep(ratings).tolist()
    [False, True]
    >>> print(DateRange(start="2018-01-01", end="2019-01-01"))
    rows outside 2018-01-01..2019-01-01 (end left out)
    """

    start: str | int | None = None
    end: str | int | None = None

    def __post_init__(self) -> None:
        start, end = self._limits()
        if start is None and end is None:
            raise ConfigError("DateRange: no limit is set; set start, end or both.")
        if start is not None and end is not None and start >= end:
            raise ConfigError(
                f"DateRange: start must be before end, got start={self.start} and end={self.end}; the end "
                "itself is left out, so name the day after the last one."
            )

    def _limits(self) -> tuple[int | None, int | None]:
        return _seconds("start", self.start), _seconds("end", self.end)

    def keep(self, interactions: Interactions) -> BoolArray:
        """Return the mask of the rows that stay, shape (n,).

        Raises
        ------
        SchemaError
            If the rows have no times.
        EmptySplitError
            If no row is in the range.
        """
        times = interactions.timestamp
        if times is None:
            raise SchemaError(
                "DateRange: rows must have times, these have none. Name the column of the time "
                "(dataset.time=...) if there is one, or leave the filter out."
            )
        start, end = self._limits()
        kept = np.ones(len(times), dtype=bool)
        if start is not None:
            kept &= times >= start
        if end is not None:
            kept &= times < end
        if len(times) and not kept.any():
            raise EmptySplitError(
                f"DateRange: dropping {self} leaves no row; the data reach from "
                f"{_text(int(times.min()))} to {_text(int(times.max()))}. Choose a range inside."
            )
        return kept

    def __str__(self) -> str:
        start, end = self._limits()
        if end is None:
            return f"rows before {_text(start or 0)}"
        if start is None:
            return f"rows from {_text(end)} on"
        return f"rows outside {_text(start)}..{_text(end)} (end left out)"


def _seconds(name: str, limit: object) -> int | None:
    if limit is None:
        return None
    if isinstance(limit, int) and not isinstance(limit, bool) and limit >= EARLIEST:
        return limit
    if isinstance(limit, str):
        try:
            moment = datetime.fromisoformat(limit)
        except ValueError:
            pass
        else:
            return ceil((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
    raise ConfigError(
        f"DateRange: {name} must be an ISO date or time such as 2018-01-31 or 2018-01-31T12:00, or whole "
        f"seconds since 1970 of at least {EARLIEST:,} (March 1973), got {limit!r}."
    )


def _text(seconds: int) -> str:
    """Return a time as a date, with the time of day unless it is midnight."""
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.strftime("%Y-%m-%d" if seconds % 86_400 == 0 else "%Y-%m-%dT%H:%M:%SZ")
