"""Data frames of pandas, polars, Arrow and others as Arrow tables: cells as they are, or refused."""

from typing import Any

import pyarrow as pa

from recgauge.errors import SchemaError, said
from recgauge.files.columns import refuse_repeated
from recgauge.utils.arrow import without_views
from recgauge.utils.checks import shown


def is_frame(table: object) -> bool:
    """Whether an object is a table that `as_arrow` takes."""
    return hasattr(table, "__arrow_c_stream__") or hasattr(table, "__arrow_c_array__")


def as_arrow(table: Any, subject: str) -> pa.Table:
    """Return a data frame as an Arrow table, whose cells are what they were.

    Parameters
    ----------
    table : DataFrame of pandas or polars, Arrow table or batch, or anything with Arrow's PyCapsule protocol
        The index of a pandas frame becomes columns: one with a name under that name, one without as
        ``index``, unless it only counts the rows from 0.
    subject : str
        What messages call the table.

    Returns
    -------
    pyarrow.Table
        None, NaN of pandas, NaT and pandas.NA are null; numbers and texts stay what they are.

    Raises
    ------
    SchemaError
        If it is no such table, two columns have one name, or a column mixes values such as 1 and '1'.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"user": ["007", None], "hits": [1.0, float("nan")]})
    >>> as_arrow(frame, "users").to_pylist()
    [{'user': '007', 'hits': 1.0}, {'user': None, 'hits': None}]
    >>> as_arrow(pd.DataFrame({"user": [1, "1"]}), "users")
    Traceback (most recent call last):
    recgauge.errors.SchemaError: users: the column 'user' mixes int and str. Make it one type.
    """
    pandas = hasattr(table, "iloc")
    if not is_frame(table) or (pandas and not hasattr(table, "columns")):
        raise SchemaError(
            f"{subject} must be a table (a DataFrame of pandas or polars, or an Arrow table), got "
            f"{type(table).__name__}."
        )
    if pandas:
        columns = _columns(table, subject)
        arrays = [_column(values, f"{subject}: the column {shown(name)}") for name, values in columns]
        arrow = pa.Table.from_arrays(arrays, names=[name for name, _ in columns])
    else:
        try:
            # Arrow's own as they are: before version 25 it cannot export categories that are views
            arrow = table if isinstance(table, pa.Table) else pa.table(table)
        except (pa.ArrowException, TypeError, ValueError, NotImplementedError) as error:
            raise SchemaError(f"{subject}: the table cannot be read as Arrow: {said(error)}.") from error
    refuse_repeated(arrow.column_names, subject)
    return without_views(arrow)


def _columns(frame: Any, subject: str) -> list[tuple[str, Any]]:
    """Return the index, unless it only counts the rows, and the columns of a pandas frame."""
    import pandas as pd

    if frame.columns.nlevels > 1:
        raise SchemaError(f"{subject}: columns have names of {frame.columns.nlevels} levels. Give each one.")
    index = frame.index
    if index.nlevels > 1 or index.name is not None or not index.equals(pd.RangeIndex(len(frame))):
        if repeated := [name for name in index.names if name in frame.columns]:
            raise SchemaError(
                f"{subject}: the index and a column are both called {shown(repeated[0])}. Rename one, or "
                "drop the index with reset_index(drop=True)."
            )
        frame = frame.reset_index()
    return [(str(name), frame.iloc[:, at]) for at, name in enumerate(frame.columns)]


def _column(values: Any, subject: str) -> pa.ChunkedArray:
    """Return a column of pandas; one with several kinds of values is refused, not made text."""
    if values.dtype == object:
        kinds = {type(value) for value in values[values.notna()]}
        names = sorted(kind.__name__ for kind in kinds)
        if len(kinds) > 1 and kinds & {str, bool, bytes}:
            raise SchemaError(f"{subject} mixes {' and '.join(names)}. Make it one type.")
        if kinds & {set, frozenset}:
            raise SchemaError(f"{subject} holds a {names[0]}, which has no order. Write lists, or drop it.")
    try:
        column = pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise SchemaError(f"{subject} cannot be read: {said(error)}. Make it one type.") from error
    return column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
