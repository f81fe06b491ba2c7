"""What cells of a column say: numbers, times in any unit, dates, or that they are missing."""

import re
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from recgauge.errors import SchemaError
from recgauge.files.columns import LATEST, CellFormat, TimeUnit, is_date
from recgauge.files.stored import is_number, is_text, plain_type
from recgauge.utils.arrow import filled, to_numpy
from recgauge.utils.checks import BoolArray, DoubleArray, LongArray

_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_DATE = re.compile(r"[0-9]{1,4}[./-][0-9]{1,2}[./-][0-9]{1,4}")
_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_SAMPLE = 100  # cells that tell what times count


def without(column: pa.ChunkedArray, missing: Collection[str]) -> tuple[pa.ChunkedArray, BoolArray]:
    """Return a column in which cells that are missing are null, and which these are."""
    import pyarrow.compute as pc

    kind = plain_type(column.type)
    if pa.types.is_nested(kind) or not (is_text(kind) or {*missing} - {""}):
        return column, np.zeros(len(column), np.bool_)
    column = column.cast(kind)
    texts = pc.utf8_trim_whitespace(column.cast(pa.large_string()))
    absent = pc.is_in(texts, pa.array(missing, pa.large_string()))
    mask = to_numpy(absent.cast(pa.uint8())) == 1
    return pc.if_else(absent, pa.nulls(len(column), kind), column) if mask.any() else column, mask


def require_ids(kind: pa.DataType, subject: str) -> None:
    """Refuse a column of ids whose type is neither that of whole numbers nor of texts."""
    kind = plain_type(kind)
    if not (is_text(kind) or pa.types.is_integer(kind) or pa.types.is_null(kind)):
        raise SchemaError(
            f"{subject} has the type {kind}; ids must be whole numbers or text. In pandas: "
            "frame.astype({COLUMN: 'Int64'})."
        )


def texts_of(column: pa.ChunkedArray) -> npt.NDArray[Any]:
    """Return cells as text, empty where there is none."""
    return np.array(["" if cell is None else str(cell) for cell in column.to_pylist()], object)


def numbers_of(column: "pa.ChunkedArray | pa.Array", cells: CellFormat | None = None) -> DoubleArray:
    """Return the cells as numbers; NaN where a cell is empty or no number."""
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):  # a few long texts may stand in many rows
        parts = [np.empty(0)]
        for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
            values = np.append(numbers_of(chunk.dictionary, cells), np.nan)
            parts.append(values[to_numpy(filled(chunk.indices.cast(pa.int64()), np.int64(-1)))])
        return np.concatenate(parts)
    if is_text(column.type):
        column = column.cast(pa.large_string()) if pa.types.is_string_view(column.type) else column
        column = pc.utf8_trim_whitespace(column)
        if cells and cells.decimal == ",":
            written = _NUMBER.replace(r"\.", ",")
            column = pc.if_else(pc.match_substring_regex(column, written), column, "")
            column = pc.replace_substring(column, ",", ".")
        # Also keeps out what Arrow would take for a number, such as "nan" and "inf".
        is_written = pc.match_substring_regex(column, _NUMBER)
        column = pc.if_else(is_written, column, pa.scalar(None, column.type))
    elif not is_number(column.type):
        return np.full(len(column), np.nan)
    return np.asarray(to_numpy(filled(column.cast(pa.float64(), safe=False), np.float64("nan"))))


def unit_of(column: pa.ChunkedArray, cells: CellFormat) -> TimeUnit:
    """Return what the times of a column count: dates, or the unit in which the middle one is before 2100.

    Examples
    --------
    >>> import pyarrow as pa
    >>> unit_of(pa.chunked_array([[1356998400000]]), CellFormat())
    'ms'
    >>> unit_of(pa.chunked_array([["2024-01-02 03:04:05"]]), CellFormat())
    'date'
    """
    if cells.time_format or cells.time_unit:
        return "date" if cells.time_format else cells.time_unit or "s"
    sample = column.slice(0, _SAMPLE)
    if any(is_date(cell) or _DATE.match(cell) for cell in sample.to_pylist() if isinstance(cell, str)):
        return "date"
    numbers = numbers_of(sample)
    numbers = np.sort(np.abs(numbers[np.isfinite(numbers)]))
    if not len(numbers):
        return "s"
    if is_yyyymmdd(numbers).all() and is_yyyymmdd(numbers_of(column)).all():
        return "date"
    middle = numbers[(len(numbers) - 1) // 2]
    units: tuple[TimeUnit, ...] = ("s", "ms", "us", "ns")
    return next((unit for unit in units if middle / _PER_SECOND[unit] <= LATEST), "s")


def is_yyyymmdd(numbers: "DoubleArray | LongArray") -> BoolArray:
    """Return which numbers are calendar dates such as 20240131, of 1900 to 2100.

    Examples
    --------
    >>> is_yyyymmdd(np.array([20240131, 20241301, 31012024])).tolist()
    [True, False, False]
    """
    year, rest = np.divmod(np.asarray(numbers, np.float64), 10_000)  # small types do not hold 10,000
    month, day = np.divmod(rest, 100)
    in_range = (year >= 1900) & (year <= 2100) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)
    return np.asarray(in_range & (day == np.floor(day)), np.bool_)


def read_times(
    column: pa.ChunkedArray, unit: TimeUnit, form: str | None = None
) -> tuple[LongArray, BoolArray, bool]:
    """Return times in whole seconds since 1970-01-01 UTC, which are in 1970..2100, and whether any was cut.

    `form` is how dates are written, as of strptime.

    Examples
    --------
    >>> times, in_range, is_cut = read_times(pa.chunked_array([[1000, 1500]]), "ms")
    >>> times.tolist(), is_cut
    ([1, 1], True)
    """
    if pa.types.is_date(column.type):
        column = column.cast(pa.timestamp("s"))
    if not pa.types.is_timestamp(column.type) and unit == "date":
        column = _moments(column, form)
    if pa.types.is_timestamp(column.type):
        unit, column = column.type.unit, column.cast(pa.int64())
    per = _PER_SECOND.get(unit, 1)
    if pa.types.is_integer(column.type):
        ticks = to_numpy(filled(column.cast(pa.int64(), safe=False), np.int64(-1)))
        whole, rest = (ticks, 0) if per == 1 else np.divmod(ticks, per)
    else:
        seconds = numbers_of(column) / per
        whole = np.floor(np.where(np.abs(seconds) <= LATEST, seconds, -1)).astype(np.int64)
        rest = seconds != whole
    good = (whole >= 0) & (whole <= LATEST)
    return whole if good.all() else np.where(good, whole, 0), good, bool(np.any(good & (rest != 0)))


def _moments(column: pa.ChunkedArray, form: str | None) -> pa.ChunkedArray:
    """Return dates as times or seconds, null where a cell is none: ISO 8601, YYYYMMDD, or as of strptime."""
    import pyarrow.compute as pc

    texts = column.cast(plain_type(column.type)).cast(pa.string())
    if form is None and is_yyyymmdd(numbers_of(texts)).all():
        form = "%Y%m%d"
    if form is None:
        texts = pc.replace_substring_regex(texts, " UTC$", "Z")
        for zone in (None, "UTC"):
            try:
                moments = texts.cast(pa.timestamp("ns", zone))
            except pa.ArrowInvalid:
                continue
            if not moments.null_count:
                return moments
    dates = texts.dictionary_encode().combine_chunks()
    seconds = pa.array(
        [_second(str(cell).strip(), form) for cell in dates.dictionary.to_pylist()], pa.float64()
    )
    return pa.chunked_array([seconds.take(dates.indices)])


def _second(text: str, form: str | None) -> float | None:
    if text.isdecimal() and form in ("%d%m%Y", "%m%d%Y"):  # whole numbers lose a zero at their beginning
        text = text.zfill(8)
    try:
        moment = datetime.strptime(text, form) if form else datetime.fromisoformat(text)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
