"""Ids of any hashable type turned into codes, the same codes for every table of an evaluation."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from recgauge.errors import SchemaError
from recgauge.utils.checks import IntArray, LongArray
from recgauge.utils.grouped import dense, encode_sorted

IdArray = npt.NDArray[Any]
_FEW = {"U": 100_000, "i": 1_000_000}  # texts and numbers that are sorted: hashing would import pandas


def as_ids(subject: str, values: Iterable[Any]) -> IdArray:
    """Return ids as an array that keeps their types: integers where all are, objects otherwise.

    Examples
    --------
    >>> as_ids("relevant", [3, 1]).dtype, as_ids("relevant", ["a", 1]).dtype
    (dtype('int64'), dtype('O'))
    """
    array = getattr(values, "to_numpy", None)
    if array is not None:
        values = array()
    if not isinstance(values, np.ndarray):
        values = values if isinstance(values, list) else list(values)
        kinds = set(map(type, values))
        if kinds and all(issubclass(kind, (int, np.integer)) and kind is not bool for kind in kinds):
            try:
                return np.fromiter(values, np.int64, len(values))
            except OverflowError:
                pass
        return np.fromiter(values, object, len(values))
    if values.ndim != 1:
        raise SchemaError(f"{subject}: ids must be one-dimensional, got shape {values.shape}.")
    if values.dtype.kind in "iu" and (values.dtype.itemsize < 8 or values.dtype.kind == "i"):
        return values.astype(np.int64, copy=False)
    if values.dtype.kind == "u" and int(values.max(initial=0)) < 1 << 63:
        return values.astype(np.int64)
    return values.astype(object)


def flatten(subject: str, lists: Sequence[Any]) -> IdArray:
    """Return the ids of all lists back to back."""
    if lists and all(isinstance(values, np.ndarray) for values in lists):
        kinds = {values.dtype.kind for values in lists}
        if kinds <= {"i", "u"}:
            return as_ids(subject, np.concatenate(lists))
    return as_ids(subject, list(chain.from_iterable(lists)))


def encode(
    subjects: Sequence[str], columns: Sequence[IdArray], *, in_order: bool
) -> tuple[IdArray, list[IntArray]]:
    """Return distinct ids and the codes of each column.

    Parameters
    ----------
    subjects : sequence of str
        What each column is, named where one of its ids cannot be used.
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
    >>> ids, codes = encode(["lists", "truth"], [np.array([30, 10]), np.array([10])], in_order=False)
    >>> ids.tolist(), [column.tolist() for column in codes]
    ([10, 30], [[1, 0], [0]])
    """
    edges = np.cumsum([0, *(len(column) for column in columns)])
    every = _joined(columns)
    few = len(every) < _FEW.get(every.dtype.kind, 0)
    if few or dense(every) or (every.dtype.kind == "U" and not in_order):
        ids, codes = encode_sorted(every)
        if in_order:
            first = np.empty(len(ids), np.int64)
            first[codes[::-1]] = np.arange(len(codes))[::-1]  # the first row is written last
            ids, codes = _reordered(ids, codes, np.argsort(first))
    else:
        _refuse_unusable(subjects, columns)
        ids, codes = _encode_hashed(every)
        if not in_order:
            ids, codes = _reordered(ids, codes, _sorted(ids))
    return ids, [codes[edges[i] : edges[i + 1]] for i in range(len(columns))]


def encode_runs(subject: str, column: IdArray) -> tuple[IdArray, IntArray]:
    """Return distinct ids in order of appearance and the codes of a column whose ids form long runs.

    Only the heads of runs are hashed: a table grouped by user has as many as it has users.

    Examples
    --------
    >>> encode_runs("users", np.array([7, 7, 3, 7]))
    (array([7, 3]), array([0, 0, 1, 0], dtype=int32))
    """
    starts = np.ones(len(column), bool)
    starts[1:] = column[1:] != column[:-1]
    heads = np.flatnonzero(starts)
    ids, (codes,) = encode([subject], [column[heads]], in_order=True)
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


def _refuse_unusable(subjects: Sequence[str], columns: Sequence[IdArray]) -> None:
    """Name the column that holds a missing or unhashable id; whole numbers and texts hold none."""
    import pandas as pd

    for subject, column in zip(subjects, columns, strict=True):
        if column.dtype.kind not in "Of":
            continue
        missing = pd.isna(column)
        if missing.any():
            found = column[int(np.flatnonzero(missing)[0])]
            raise SchemaError(f"{subject}: ids must not be missing, got {found!r}. Remove such rows.")
        if column.dtype == object:
            try:
                set(column)
            except TypeError as error:
                raise SchemaError(f"{subject}: ids must be hashable: {error}.") from error


def _sorted(ids: IdArray) -> LongArray:
    """Return the order of distinct ids."""
    if ids.dtype != object:
        return np.argsort(ids, kind="stable")
    try:
        return np.array(sorted(range(len(ids)), key=ids.__getitem__), np.int64)
    except TypeError:  # ids of several types have no order of their own
        return np.array(sorted(range(len(ids)), key=lambda i: (type(ids[i]).__name__, str(ids[i]))), np.int64)
