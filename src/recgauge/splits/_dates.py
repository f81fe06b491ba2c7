"""Dates in settings: ISO 8601 text or seconds since 1970."""

from datetime import UTC, datetime

import numpy as np

from recgauge.errors import ConfigError

Date = str | int | float


def seconds_of(subject: str, value: object) -> int:
    """Return a date as seconds since 1970-01-01 UTC.

    Parameters
    ----------
    subject : str
        The setting, for messages.
    value : object
        ISO 8601 text, UTC unless it says otherwise, or a whole number of seconds.

    Raises
    ------
    ConfigError
        If it is neither.

    Examples
    --------
    >>> seconds_of("from", "1998-03-01"), seconds_of("from", "1998-03-01T12:00+02:00")
    (888710400, 888746400)
    """
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            pass
        else:
            return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
    raise ConfigError(
        f"{subject} must be a date such as 1998-03-01 or 1998-03-01T12:30 (UTC), or a whole number of "
        f"seconds since 1970-01-01, got {value!r}."
    )


def shown_date(seconds: int) -> str:
    """Return seconds since 1970 as an ISO date in UTC, for messages."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")
