"""Rows by day, week, month and year, against a calendar."""

from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recgauge.errors import SchemaError
from recgauge.report.data_card.build import over_time


def seconds(*days):
    return np.array([datetime(*day, tzinfo=UTC).timestamp() for day in days], dtype=np.int64)


def test_weeks_begin_on_monday():
    table = over_time({"all": seconds((2026, 11, 21), (2026, 11, 22), (2026, 11, 23))}, "week")
    assert table.starts == ("2026-11-16", "2026-11-23")
    assert table.counts["all"] == (2, 1)


@pytest.mark.parametrize(
    ("last", "unit"),
    [((2000, 2, 1), "day"), ((2001, 1, 1), "week"), ((2015, 1, 1), "month"), ((2060, 1, 1), "year")],
)
def test_the_unit_follows_the_span(last, unit):
    assert over_time({"all": seconds((2000, 1, 1), last)}).unit == unit


@given(
    st.lists(st.integers(-10_000_000_000, 100_000_000_000), min_size=1, max_size=30),
    st.sampled_from(["month", "year"]),
)
def test_every_row_is_in_the_period_that_the_calendar_says(times, unit):
    table = over_time({"all": np.array(times)}, unit)
    expected = {}
    for time in times:
        day = datetime.fromtimestamp(time, UTC).date()
        start = day.replace(day=1) if unit == "month" else day.replace(month=1, day=1)
        expected[start.isoformat()] = expected.get(start.isoformat(), 0) + 1
    found = {s: n for s, n in zip(table.starts, table.counts["all"], strict=True) if n}
    assert found == expected


def test_milliseconds_are_refused_with_the_remedy():
    with pytest.raises(SchemaError, match="Are they milliseconds"):
        over_time({"all": np.array([1_700_000_000_000_000])})
    with pytest.raises(SchemaError, match="must hold rows"):
        over_time({"all": np.array([], np.int64)})
