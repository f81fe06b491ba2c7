"""Columns of numbers and labels that Python hands over: aligned by their indexes, checked."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AnySet
from decimal import Decimal
from numbers import Real
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt

from recgauge.errors import SchemaError
from recgauge.utils.checks import DoubleArray, shown


def is_series(column: Any) -> bool:
    """Whether this is a Series of pandas: values with an index."""
    return hasattr(column, "iloc") and hasattr(column, "index") and not hasattr(column, "columns")


def is_row(values: Any) -> TypeGuard[Sequence[Any]]:
    """Whether values are in an order of their own: a list, a tuple, a range or the like, and no text."""
    return isinstance(values, Sequence) and not isinstance(values, (str, bytes, bytearray, memoryview))


def cells(values: Any) -> list[Any] | npt.NDArray[Any] | None:
    """Return the values of whatever holds one after the other, an array as such; None of anything else.

    Examples
    --------
    >>> cells((1, "a")), cells(np.ma.masked_array([1, 2], [False, True])), cells("ab") is None
    ([1, 'a'], [1, None], True)
    """
    if isinstance(values, np.ma.MaskedArray):
        return list(values.tolist())
    if type(values) is list or isinstance(values, np.ndarray):
        return values
    if is_row(values):
        return list(values)
    if hasattr(values, "to_numpy") and hasattr(type(values), "array"):  # a Series or Index of pandas
        column: npt.NDArray[Any] = values.to_numpy()
        return column
    for method in ("to_pylist", "to_list"):  # of Arrow and polars, whose arrays would have NaN for null
        if hasattr(values, method):
            return list(getattr(values, method)())
    return np.asarray(values) if hasattr(values, "__array__") else None  # tensors


def aligned(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return columns with the rows of Series and data frames of pandas in the order of the first of them.

    Rows are paired by the labels of the index, never by their places. Columns without an index, such as
    lists and arrays, stay as they are.

    Raises
    ------
    SchemaError
        If indexes hold different labels, or the same in another order and one of them twice; or a column is
        a set.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = {"actual": pd.Series([4, 2], ["a", "b"]), "predicted": pd.Series([1, 5], ["b", "a"])}
    >>> aligned(rows)["predicted"].tolist()
    [5, 1]
    """
    _refuse_sets(columns)
    indexed = {name: column for name, column in columns.items() if hasattr(column, "iloc")}
    if len(indexed) < 2:
        return dict(columns)
    first, model = next(iter(indexed.items()))
    ordered = dict(columns)
    for name, column in indexed.items():
        if column.index.equals(model.index):
            continue
        problem = ""
        if len(column) != len(model) or set(column.index) != set(model.index):
            problem = f"has other labels than that of {first}"
        elif not (column.index.is_unique and model.index.is_unique):
            problem = f"has the labels of {first} in another order, and some of them twice"
        if problem:
            raise SchemaError(
                f"{name}: its index {problem}. Rows are paired by the index; to pair them by "
                "their places, pass arrays: series.to_numpy()."
            )
        ordered[name] = column.reindex(model.index)
    return ordered


def _refuse_sets(columns: Mapping[str, Any]) -> None:
    if unordered := [name for name, column in columns.items() if isinstance(column, AnySet)]:
        raise SchemaError(f"{unordered[0]}: a set has no order, by which rows are paired. Write a list.")


def numbers(subject: str, values: Any) -> DoubleArray:
    """Return finite numbers as float64; text, times and what is missing are refused.

    Examples
    --------
    >>> numbers("grades", [1, 2.5, True]).tolist()
    [1.0, 2.5, 1.0]
    """
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise SchemaError(f"{subject}: numbers are needed, in rows of one length.") from error
    if np.ma.is_masked(values):
        raise SchemaError(f"{subject}: numbers are needed, and some are masked. Leave them out.")
    if array.dtype.kind == "O":
        strange = [cell for cell in array.ravel().tolist() if not isinstance(cell, (Real, Decimal, np.bool_))]
        if strange:
            raise SchemaError(f"{subject}: numbers are needed, got {shown(strange[0])}.")
    elif array.dtype.kind not in "iufb":
        example = f", got {shown(array.ravel()[0])}" if array.size else ""
        raise SchemaError(f"{subject}: numbers are needed{example}.")
    column: DoubleArray = array.astype(np.float64)
    if not np.isfinite(column).all():
        place = int(np.flatnonzero(~np.isfinite(column.ravel()))[0])
        raise SchemaError(
            f"{subject}: numbers must be finite, got {column.ravel()[place]} at position {place}."
        )
    return column
