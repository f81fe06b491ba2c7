"""Turns the ratings and times of a table into numbers, and tells which cells are none."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from recgauge.datasets._arrow import to_numpy
from recgauge.utils.checks import BoolArray, DoubleArray, FloatArray, LongArray

if TYPE_CHECKING:
    import pyarrow as pa

TimeUnit = Literal["s", "ms", "us", "ns", "date"]

_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_LATEST = 4_102_444_800  # the year 2100: a later time is more likely in another unit
_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"


def read_ratings(column: "pa.ChunkedArray") -> tuple[FloatArray, BoolArray | None]:
    """Return the ratings, and which of them are finite numbers; None if all are."""
    import pyarrow as pa

    if pa.types.is_float32(column.type) and column.null_count == 0:
        ratings = to_numpy(column, np.float32)
    else:
        with np.errstate(over="ignore"):
            ratings = _numbers(column).astype(np.float32)
    # A sum in float64 is finite if and only if all float32 are, and needs no memory for its answer.
    return ratings, None if np.isfinite(ratings.sum(dtype=np.float64)) else np.isfinite(ratings)


def read_times(column: "pa.ChunkedArray", unit: TimeUnit) -> tuple[LongArray, BoolArray | None]:
    """Return times in whole seconds since 1970-01-01 UTC, and which lie in 1970..2100; None if all do."""
    import pyarrow as pa

    if pa.types.is_timestamp(column.type) or pa.types.is_date(column.type):
        column, unit = column.cast(pa.timestamp("s"), safe=False).cast(pa.int64()), "s"
    if unit == "s" and pa.types.is_int64(column.type) and column.null_count == 0:
        whole = to_numpy(column, np.int64)
        if not len(whole) or (whole.min() >= 0 and whole.max() <= _LATEST):
            return whole, None
        return whole, (whole >= 0) & (whole <= _LATEST)
    seconds = _dates(column) if unit == "date" else _numbers(column) / _PER_SECOND[unit]
    good = (seconds >= 0) & (seconds <= _LATEST)
    return np.floor(np.where(good, seconds, 0)).astype(np.int64), good


def _numbers(column: "pa.ChunkedArray") -> DoubleArray:
    """Return the cells as numbers; NaN where a cell is empty or no number."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = pc.utf8_trim_whitespace(column)
        # Also keeps out what Arrow would take for a number, such as "nan" and "inf".
        column = pc.if_else(pc.match_substring_regex(column, _NUMBER), column, pa.scalar(None, column.type))
    elif pa.types.is_boolean(column.type) or pa.types.is_nested(column.type):
        column = pa.chunked_array([pa.nulls(len(column), pa.float64())])
    return np.asarray(column.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)


def _dates(column: "pa.ChunkedArray") -> DoubleArray:
    import pyarrow as pa

    try:
        return np.asarray(column.cast(pa.timestamp("s")).cast(pa.int64()).cast(pa.float64()).to_numpy())
    except pa.ArrowInvalid:
        return np.array([_seconds(cell) for cell in column.to_pylist()], dtype=np.float64)


def _seconds(cell: Any) -> float:
    try:
        moment = datetime.fromisoformat(str(cell).strip())
    except ValueError:
        return float("nan")
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
