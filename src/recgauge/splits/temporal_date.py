"""Everything from a date on is held out: one cut in time for everybody."""

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.errors import ConfigError, EmptySplitError
from recgauge.splits import Assignment, Splitter
from recgauge.splits._dates import Date, seconds_of, shown_date
from recgauge.splits._order import times_of
from recgauge.utils.checks import BoolArray, LongArray


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
        given = [
            (setting, seconds_of(f"TemporalDate: {setting}", value))
            for setting in ("validation_from", "test_from", "test_until")
            if (value := getattr(self, setting)) is not None
        ]
        for (early, first), (late, second) in pairwise(given):
            if first >= second:
                raise ConfigError(
                    f"TemporalDate: {early} must be before {late}, got {getattr(self, early)!r} and "
                    f"{getattr(self, late)!r}."
                )

    def assign(self, interactions: Interactions, *, rng: np.random.Generator) -> Assignment:  # noqa: ARG002
        """Return which rows are held out; no chance is involved."""
        times = times_of(interactions, "TemporalDate")
        if self.test_from is None:
            raise ConfigError(
                f"TemporalDate: test_from is not set. Set split.test_from=DATE; {_span(times)}."
            )
        begin = seconds_of("TemporalDate: test_from", self.test_from)
        later = times >= begin
        unused: tuple[tuple[str, BoolArray], ...] = ()
        in_test = later
        if self.test_until is not None:
            after = times >= seconds_of("TemporalDate: test_until", self.test_until)
            in_test, unused = later & ~after, (("rows after the test part", after),)
        in_validation = None
        if self.validation_from is not None:
            first = seconds_of("TemporalDate: validation_from", self.validation_from)
            in_validation = (times >= first) & ~later
        assignment = Assignment(in_test, in_validation, unused=unused)
        if not in_test.any() or not assignment.train.any():
            raise EmptySplitError(_outside(times, "test" if assignment.train.any() else "train"))
        return assignment


def _outside(times: LongArray, part: str) -> str:
    return f"TemporalDate: {part} has no rows; {_span(times)}. Choose dates inside."


def _span(times: LongArray) -> str:
    if len(times) == 0:
        return "the data have no rows"
    return f"the data span {shown_date(int(times.min()))} to {shown_date(int(times.max()))} (UTC)"
