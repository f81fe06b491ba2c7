"""What cells of a column say: numbers, times in any unit, dates, or that they are missing."""

import re
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from recgauge.files.columns import LATEST, CellFormat, TimeUnit, is_date
from recgauge.files.stored import is_number, is_text, plain_type
from recgauge.utils.arrow import filled, to_numpy
from recgauge.utils.checks import BoolArray, DoubleArray, LongArray

_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_DATE = re.compile(r"[0-9]{1,4}[./-][0-9]{1,2}[./-][0-9]{1,4}")
_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_SAMPLE = 100  # cells that tell what times count


def is_whole(column: pa.ChunkedArray) -> bool:
    """Whether the type of a column alone says that all its cells are whole numbers."""
    return bool(pa.types.is_integer(column.type)) and column.null_count == 0


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


def texts_of(column: pa.ChunkedArray) -> npt.NDArray[Any]:
    """Return cells as text, empty where there is none."""
    return np.array(["" if cell is None else str(cell) for cell in column.to_pylist()], object)


def numbers_of(column: pa.ChunkedArray, cells: CellFormat | None = None) -> DoubleArray:
    """Return the cells as numbers; NaN where a cell is empty or no number."""
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        return _of_distinct(column, lambda texts: numbers_of(pa.chunked_array([texts]), cells))
    if is_text(column.type):
        column = column.cast(pa.large_string()) if pa.types.is_string_view(column.type) else column
        column = pc.utf8_trim_whitespace(column)
        if cells and (cells.thousands or cells.decimal == ","):
            column = _plain_numbers(column, cells)
        # Also keeps out what Arrow would take for a number, such as "nan" and "inf".
        column = pc.if_else(
            pc.match_substring_regex(column, _NUMBER), column, pa.nulls(len(column), column.type)
        )
    elif not is_number(column.type):
        return np.full(len(column), np.nan)
    return np.asarray(to_numpy(filled(column.cast(pa.float64(), safe=False), np.float64("nan"))))


def _of_distinct(column: pa.ChunkedArray, parse: Callable[[pa.Array], DoubleArray]) -> DoubleArray:
    """Parse each distinct cell of dictionaries once: a few long ones may stand in many rows."""
    parts = [np.empty(0)]
    for chunk in column.chunks:
        codes = to_numpy(filled(chunk.indices.cast(pa.int64()), np.int64(-1)))
        parts.append(np.append(parse(chunk.dictionary), np.nan)[codes])
    return np.concatenate(parts)


def _plain_numbers(column: pa.ChunkedArray, cells: CellFormat) -> pa.ChunkedArray:
    """Return numbers as Python writes them; one that is written otherwise becomes empty."""
    import pyarrow.compute as pc

    whole = f"([0-9]{{1,3}}({re.escape(cells.thousands)}[0-9]{{3}})+|[0-9]+)" if cells.thousands else "[0-9]+"
    fits = pc.match_substring_regex(
        column, f"^[+-]?{whole}({re.escape(cells.decimal)}[0-9]*)?([eE][+-]?[0-9]+)?$"
    )
    if cells.thousands:
        column = pc.replace_substring(column, cells.thousands, "")
    column = pc.replace_substring(column, cells.decimal, ".")
    return pc.if_else(fits, column, "")


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
    sample = column.slice(0, _SAMPLE).to_pylist()
    if any(is_date(cell) or _DATE.match(cell) for cell in sample if isinstance(cell, str)):
        return "date"
    numbers = [number for number in map(_as_number, sample) if number is not None]
    eights = bool(numbers) and bool(is_yyyymmdd(np.array(numbers)).all())
    if eights and bool(is_yyyymmdd(numbers_of(column)).all()):
        return "date"
    sizes = sorted(map(abs, numbers))
    middle = sizes[(len(sizes) - 1) // 2] if sizes else 0.0
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


def _as_number(cell: object) -> float | None:
    try:
        number = float(cell) if isinstance(cell, (int, float, str)) else float("nan")
    except (ValueError, OverflowError):
        return None
    return number if np.isfinite(number) else None


def read_times(
    column: pa.ChunkedArray, unit: TimeUnit, form: str | None = None
) -> tuple[LongArray, BoolArray]:
    """Return times in whole seconds since 1970-01-01 UTC, and which are in 1970..2100.

    `form` is how dates are written, as of strptime.
    """
    if pa.types.is_timestamp(column.type) or pa.types.is_date(column.type):
        column, unit = column.cast(pa.timestamp("s"), safe=False).cast(pa.int64()), "s"
    if unit == "s" and pa.types.is_int64(column.type) and column.null_count == 0:
        whole = to_numpy(column)
        return whole, (whole >= 0) & (whole <= LATEST)
    seconds = _dates(column, form) if unit == "date" else numbers_of(column) / _PER_SECOND[unit]
    good = (seconds >= 0) & (seconds <= LATEST)
    return np.floor(np.where(good, seconds, 0)).astype(np.int64), good


def has_parts_of_seconds(column: pa.ChunkedArray, unit: TimeUnit) -> bool:
    """Whether times lose the order of rows where they are held as whole seconds.

    Examples
    --------
    >>> has_parts_of_seconds(pa.chunked_array([[1000, 1500]]), "ms")
    True
    """
    import pyarrow.compute as pc

    if pa.types.is_timestamp(column.type):
        whole = column.cast(pa.timestamp("s", column.type.tz), safe=False).cast(column.type)
        return bool(pc.any(pc.not_equal(column, whole)).as_py())
    if unit == "date":
        return is_text(column.type) and bool(pc.any(pc.match_substring_regex(column, r"\.0*[1-9]")).as_py())
    if unit == "s" and pa.types.is_integer(column.type):
        return False
    for chunk in column.chunks:  # some rows at a time: all would take as much memory as the times
        rests = numbers_of(pa.chunked_array([chunk])) % _PER_SECOND[unit]
        if (rests > 0).any():  # NaN, of cells that are no numbers, is not
            return True
    return False


def _dates(column: pa.ChunkedArray, form: str | None) -> DoubleArray:
    """Return dates as seconds, NaN where a cell is none: ISO 8601, YYYYMMDD, or of a form as of strptime."""
    import pyarrow.compute as pc

    if not is_text(column.type):
        column = column.cast(pa.string())
    if form is not None or is_yyyymmdd(numbers_of(column)).all():
        dates = pa.chunked_array([column.dictionary_encode().combine_chunks()])
        return _of_distinct(dates, lambda texts: _seconds(texts, form or "%Y%m%d"))
    column = pc.replace_substring_regex(column, " UTC$", "Z")
    for unit, zone in (("s", None), ("us", None), ("us", "UTC"), ("ns", None), ("ns", "UTC")):
        try:
            moments = column.cast(pa.timestamp(unit, zone)).cast(pa.int64())
        except pa.ArrowInvalid:
            continue
        if not moments.null_count:
            return np.asarray(to_numpy(moments) // _PER_SECOND[unit], np.float64)
    return _seconds(column)


def _seconds(column: "pa.Array | pa.ChunkedArray", form: str | None = None) -> DoubleArray:
    return np.array([_second(str(cell).strip(), form) for cell in column.to_pylist()], np.float64)


def _second(text: str, form: str | None) -> float:
    if text.isdecimal() and form in ("%d%m%Y", "%m%d%Y"):  # whole numbers lose a zero at their beginning
        text = text.zfill(8)
    try:
        moment = datetime.strptime(text, form) if form else datetime.fromisoformat(text)
    except ValueError:
        return float("nan")
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
