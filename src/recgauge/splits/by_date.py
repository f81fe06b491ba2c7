"""One or more cuts in time for everybody: at dates, or in windows that roll on."""

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.errors import ConfigError, EmptySplitError
from recgauge.splits import Assignment, Splitter
from recgauge.splits._order import times_of
from recgauge.utils.checks import (
    BoolArray,
    Count,
    LongArray,
    NotNegative,
    Positive,
    check_int,
    check_time,
    time_text,
)

Date = str | int | float


@dataclass(frozen=True)
class TemporalDate(Splitter):
    """Hold out all rows from a date on: train ends before validation, validation before test.

    Parameters
    ----------
    test_from : str or int
        First moment of the test part: ISO 8601, UTC unless it says otherwise, or seconds since 1970. It must
        be given; if it is missing, the error names the span of the data.
    validation_from : str or int, optional
        First moment of the validation part, which ends where test begins; None makes no validation part.
    test_until : str or int, optional
        First moment after the test part; rows from then on are not used, and counted. None: no end.
    cold_users, cold_items : {"drop", "keep"}
        See `Splitter`. Many users and items have no row before the cut.
    whole : str or None
        See `Splitter`. Many users and items have no row before the cut.

    Raises
    ------
    ConfigError
        If a date is not valid, dates are not in order, or `test_from` is not given when rows are split.
    SchemaError
        If the data have no timestamps.
    EmptySplitError
        If no row is later, or none earlier.

    Notes
    -----
    Neither the order of the rows nor chance matters.

    Examples
    --------
    >>> ratings = Interactions.from_ids([1, 1, 2, 2], [1, 2, 1, 3], None, [0, 86400, 3600, 90000])
    >>> split = TemporalDate("1970-01-02").split(ratings, rng=np.random.default_rng(0))
    >>> split.test.timestamp.tolist()
    [86400, 90000]
    """

    test_from: Date | None = None
    validation_from: Date | None = None
    test_until: Date | None = None

    name: ClassVar[str] = "temporal_date"
    temporal: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        dates = [
            (setting, check_time(f"TemporalDate: {setting}", value))
            for setting in ("validation_from", "test_from", "test_until")
            if (value := getattr(self, setting)) is not None
        ]
        for (early, first), (late, second) in pairwise(dates):
            if first >= second:
                raise ConfigError(
                    f"TemporalDate: {early} must be before {late}, got {getattr(self, early)!r} and "
                    f"{getattr(self, late)!r}."
                )

    def assign(self, interactions: Interactions, *, rng: np.random.Generator) -> Assignment:  # noqa: ARG002
        """Return which rows are held out; no chance is involved."""
        times = times_of(interactions, "TemporalDate")
        if self.test_from is None:
            raise ConfigError(f"TemporalDate: test_from is not set. Set split.test_from=DATE; {span(times)}.")
        begin = check_time("TemporalDate: test_from", self.test_from)
        later = times >= begin
        unused: tuple[tuple[str, BoolArray], ...] = ()
        in_test = later
        if self.test_until is not None:
            after = times >= check_time("TemporalDate: test_until", self.test_until)
            in_test, unused = later & ~after, (("rows after the test part", after),)
        in_validation = None
        if self.validation_from is not None:
            first = check_time("TemporalDate: validation_from", self.validation_from)
            in_validation = (times >= first) & ~later
        assignment = Assignment(in_test, in_validation, unused=unused)
        if not in_test.any() or not assignment.train.any():
            part = "test" if assignment.train.any() else "train"
            raise EmptySplitError(f"TemporalDate: {part} has no rows; {span(times)}. Choose dates inside.")
        return assignment


def span(times: LongArray) -> str:
    """Return from when to when there are data, in words."""
    if len(times) == 0:
        return "the data have no rows"
    return f"the data span {time_text(int(times.min()))} to {time_text(int(times.max()))} (UTC)"


_DAY = 86_400


@dataclass(frozen=True)
class RollingWindow(Splitter):
    """Hold out one of `n_windows` spans of time, train on what comes before it.

    Parameters
    ----------
    n_windows : int
        Number of windows, >= 1; they follow each other without gaps, and the last ends with the last row.
    window : int
        The window that is tested, from 0, the earliest.
    test_days : float
        Length of a window, > 0.
    validation_days : float
        Length of the span right before the window that is the validation part, >= 0; 0 makes none.
    train_days : float, optional
        Length of the span before those that is trained on, > 0: a sliding window. None: everything before,
        an expanding window.
    cold_users, cold_items : {"drop", "keep"}
        See `Splitter`. Many users and items have no row before a window.
    whole : str or None
        See `Splitter`. Many users and items have no row before a window.

    Raises
    ------
    SchemaError
        If the data have no timestamps.
    EmptySplitError
        If there is nothing before the window, or nothing in it.

    Notes
    -----
    Rows after the window and rows before a sliding window are not used, and counted. Neither the order of the
    rows nor chance matters.

    Examples
    --------
    >>> days = np.arange(6) * 86_400
    >>> ratings = Interactions.from_ids([1] * 6, [1, 2, 3, 4, 5, 6], None, days)
    >>> windows = [RollingWindow(n_windows=2, window=window, test_days=2) for window in range(2)]
    >>> splits = [window.split(ratings, rng=np.random.default_rng(0)) for window in windows]
    >>> [(len(split.train), len(split.test)) for split in splits]
    [(2, 2), (4, 2)]
    """

    n_windows: Count = 5
    window: int = 0
    test_days: Positive = 14.0
    validation_days: NotNegative = 0.0
    train_days: Positive | None = None

    name: ClassVar[str] = "rolling_window"
    temporal: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_int("RollingWindow: window", self.window, minimum=0, maximum=self.n_windows - 1)
        if round(self.test_days * _DAY) == 0:
            raise ConfigError(f"RollingWindow: test_days must be at least a second, got {self.test_days!r}.")

    def assign(self, interactions: Interactions, *, rng: np.random.Generator) -> Assignment:  # noqa: ARG002
        """Return which rows are held out; no chance is involved."""
        times = times_of(interactions, "RollingWindow")
        if len(times) == 0:
            raise EmptySplitError("RollingWindow: there are no rows. Use more data.")
        length = round(self.test_days * _DAY)
        until = int(times.max()) + 1 - (self.n_windows - 1 - self.window) * length
        begin = until - length
        validate_from = begin - round(self.validation_days * _DAY)
        train_from = times.min() if self.train_days is None else validate_from - round(self.train_days * _DAY)
        in_test = (times >= begin) & (times < until)
        in_validation = (times >= validate_from) & (times < begin) if self.validation_days else None
        unused = (
            ("rows after the window", times >= until),
            ("rows before the window's training rows", (times < train_from) & (times < validate_from)),
        )
        assignment = Assignment(in_test, in_validation, unused=unused)
        for part, rows in (("train", assignment.train), ("test", in_test)):
            if not rows.any():
                raise EmptySplitError(
                    f"RollingWindow: {part} has no rows. Window {self.window} of {self.n_windows} is tested "
                    f"from {time_text(begin)} to before {time_text(until)}, and the data begin at "
                    f"{time_text(int(times.min()))} (UTC). Lower split.n_windows or split.test_days, or "
                    "choose a later split.window."
                )
        return assignment
