"""Ids turned into codes, the same codes for every table of an evaluation; what no id can be is refused."""

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AnySet
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from recgauge.data.columns import cells
from recgauge.errors import SchemaError
from recgauge.utils.checks import IntArray, LongArray, shown
from recgauge.utils.grouped import dense, encode_sorted

IdArray = npt.NDArray[Any]
_FEW = {"U": 100_000, "i": 1_000_000}  # texts and numbers that are sorted: hashing would import pandas
_SIMPLE = (int, np.integer, str, bytes)


def as_ids(subject: str, values: Any, place: Callable[[int], str] = "at position {}".format) -> IdArray:
    """Return ids as an array that keeps their types: integers where all are, objects otherwise.

    An id is a whole number or text. What is missing, fractions, times, True and False, and other objects are
    refused: they come from columns of another meaning, and Python takes ``True``, ``1`` and ``1.0`` for one
    key.

    Parameters
    ----------
    subject : str
        What the ids are of, for messages.
    values : list, tuple, set, ndarray, Series, Index or Arrow array, shape (n,)
    place : callable
        Where the id of a position is, in words.

    Raises
    ------
    SchemaError
        If a value is no id; the message says which, and where.

    Examples
    --------
    >>> as_ids("relevant", [3, 1]).dtype, as_ids("relevant", ["a", 1]).dtype
    (dtype('int64'), dtype('O'))
    """
    column = _column(subject, values)
    if isinstance(column, np.ndarray):
        kind = column.dtype.kind
        if kind == "i" or (kind == "u" and (column.itemsize < 8 or int(column.max(initial=0)) < 1 << 63)):
            return column.astype(np.int64, copy=False)
        if kind in "uUS":
            return column.astype(object)
        # of other types, numpy's scalars: lists would have the times of some units as numbers
        column = column.tolist() if kind == "O" else list(column)
    kinds = set(map(type, column))
    if strange := {kind for kind in kinds if kind is bool or not issubclass(kind, _SIMPLE)}:
        raise _refusal(
            subject, [(at, value) for at, value in enumerate(column) if type(value) in strange], place
        )
    if kinds and all(issubclass(kind, (int, np.integer)) for kind in kinds):
        try:
            return np.fromiter(column, np.int64, len(column))
        except OverflowError:
            pass
    return np.fromiter(column, object, len(column))


def _column(subject: str, values: Any) -> "IdArray | list[Any]":
    """Return values of whatever holds one id after the other."""
    column = list(values) if isinstance(values, AnySet) else cells(values)
    if column is None:
        raise SchemaError(
            f"{subject}: ids must be a list or an array, got {type(values).__name__}. Write list(...)."
        )
    if isinstance(column, np.ndarray) and column.ndim != 1:
        raise SchemaError(f"{subject}: ids must be one-dimensional, got shape {column.shape}.")
    return column


def _refusal(subject: str, strange: Sequence[tuple[int, Any]], place: Callable[[int], str]) -> SchemaError:
    """Name the first value that is missing, else the first that is no id, of positions and values.

    A column of fractions mostly holds whole numbers and is one because others are missing.
    """
    import pandas as pd

    for position, value in strange:
        if pd.isna(value) is True:
            return SchemaError(
                f"{subject}: ids must not be missing, got {shown(value)} {place(position)}. Leave them out."
            )
    position, value = strange[0]
    return SchemaError(
        f"{subject}: ids must be whole numbers or text, got {shown(value)} {place(position)}. Convert them, "
        "such as series.astype(int) or series.astype(str); a mask chooses rows, such as items[mask]."
    )


def flatten(subject: str, rows: Sequence[Any], users: Sequence[Any]) -> IdArray:
    """Return the ids of the rows of all users back to back."""
    kinds = set(map(type, rows))
    if kinds == {np.ndarray} and {row.dtype.kind for row in rows} <= {"i", "u"}:
        return as_ids(subject, np.concatenate(rows))

    def place(position: int) -> str:
        ends = np.cumsum([len(row) for row in rows])
        at = int(np.searchsorted(ends, position, side="right"))
        return f"of user {shown(users[at])} at position {position - int(ends[at]) + len(rows[at])}"

    return as_ids(
        subject, list(chain.from_iterable(rows if kinds <= {list} else map(_own_cells, rows))), place
    )


def _own_cells(row: Any) -> Iterator[Any]:
    """Return the values of a row; Python's own are faster than numpy's."""
    return iter(row.tolist() if isinstance(row, np.ndarray) and row.dtype.kind in "iuUS" else row)


def encode(columns: Sequence[IdArray], *, in_order: bool) -> tuple[IdArray, list[IntArray]]:
    """Return distinct ids and the codes of each column.

    Parameters
    ----------
    columns : sequence of ndarray
        As :func:`as_ids` gives them.
    in_order : bool
        Codes in order of first appearance; otherwise codes rise with the ids.

    Returns
    -------
    ndarray
        The id of every code.
    list of ndarray of int32

    Examples
    --------
    >>> ids, codes = encode([np.array([30, 10]), np.array([10])], in_order=False)
    >>> ids.tolist(), [column.tolist() for column in codes]
    ([10, 30], [[1, 0], [0]])
    """
    edges = np.cumsum([0, *(len(column) for column in columns)])
    joined = _joined(columns)
    few = len(joined) < _FEW.get(joined.dtype.kind, 0)
    if few or dense(joined) or (joined.dtype.kind == "U" and not in_order):
        ids, codes = encode_sorted(joined)
        if in_order:
            first = np.empty(len(ids), np.int64)
            first[codes[::-1]] = np.arange(len(codes))[::-1]  # the first row is written last
            ids, codes = _reordered(ids, codes, np.argsort(first))
    else:
        ids, codes = _encode_hashed(joined)
        if not in_order:
            ids, codes = _reordered(ids, codes, _sorted(ids))
    return ids, [codes[edges[i] : edges[i + 1]] for i in range(len(columns))]


def encode_runs(column: IdArray) -> tuple[IdArray, IntArray]:
    """Return distinct ids in order of appearance and the codes of a column whose ids form long runs.

    Only the heads of runs are hashed: a table grouped by user has as many as it has users.

    Examples
    --------
    >>> encode_runs(np.array([7, 7, 3, 7]))
    (array([7, 3]), array([0, 0, 1, 0], dtype=int32))
    """
    starts = np.ones(len(column), bool)
    starts[1:] = column[1:] != column[:-1]
    heads = np.flatnonzero(starts)
    ids, (codes,) = encode([column[heads]], in_order=True)
    return ids, np.repeat(codes, np.diff(np.append(heads, len(column))))


def _joined(columns: Sequence[IdArray]) -> IdArray:
    filled = [column for column in columns if len(column)]
    if not filled:
        return np.empty(0, np.int64)
    if len({column.dtype for column in filled}) > 1:
        filled = [column.astype(object) for column in filled]
    return filled[0] if len(filled) == 1 else np.concatenate(filled)


def _reordered(ids: IdArray, codes: IntArray, order: LongArray) -> tuple[IdArray, IntArray]:
    position = np.empty(len(ids), np.int32)
    position[order] = np.arange(len(ids), dtype=np.int32)
    return ids[order], position[codes]


def _encode_hashed(ids: IdArray) -> tuple[IdArray, IntArray]:
    import pandas as pd

    codes, distinct = pd.factorize(ids)
    return np.asarray(distinct), codes.astype(np.int32)


def _sorted(ids: IdArray) -> LongArray:
    """Return the order of distinct ids."""
    if ids.dtype != object:
        return np.argsort(ids, kind="stable")
    try:
        return np.array(sorted(range(len(ids)), key=ids.__getitem__), np.int64)
    except TypeError:  # ids of several types have no order of their own
        return np.array(sorted(range(len(ids)), key=lambda i: (type(ids[i]).__name__, str(ids[i]))), np.int64)
