"""Users' lists and items as Python has them: what a row of a user may be, what order and numbers mean.

====================================  ============================  ===============================
a user's                              as a ranked list              as relevant items, or in training
====================================  ============================  ===============================
list, tuple, array of one dimension   the items, best first         the items
list of ``(item, score)``             the items, best first         refused
``{item: number}``, ``Counter``       by falling score              the items and their grades
set, frozenset                        refused: it has no order      the items
Series                                see `_of_series`              likewise
====================================  ============================  ===============================

Everything else is refused. -1 at the end of a list fills it up, as other libraries do, and is no item.
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AnySet
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import chain
from numbers import Real
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from recgauge.data.columns import cells, is_row, is_series, numbers
from recgauge.data.ids import IdArray, as_ids, encode_runs, flatten
from recgauge.data.interactions import Interactions
from recgauge.errors import SchemaError
from recgauge.utils.checks import BoolArray, DoubleArray, LongArray, shown


@dataclass(frozen=True, slots=True, eq=False)
class Ragged:
    """Users' items back to back: distinct users (m,), `lengths` (m,), items (n,) and scores or grades (n,).

    With `n_codes`, items are codes below this number, int32, with the same meaning in every table; else ids.
    `distinct`: nobody is known to have an item twice, so that it need not be looked for again.
    """

    users: IdArray
    lengths: LongArray
    items: IdArray
    values: DoubleArray | None
    n_codes: int | None = None
    distinct: bool = False

    def first(self, k: int) -> Self:
        """Return the first `k` items of each user.

        Examples
        --------
        >>> lists = Ragged(np.array([7, 8]), np.array([3, 1]), np.array([1, 2, 3, 4]), None)
        >>> lists.first(2).items.tolist(), lists.first(2).lengths.tolist()
        ([1, 2, 4], [2, 1])
        >>> Ragged(np.array([7, 8]), np.array([2, 2]), np.array([1, 2, 3, 4]), None).first(1).items.tolist()
        [1, 3]
        """
        if not (self.lengths > k).any():
            return self
        if len(set(self.lengths[[0, -1]].tolist())) == 1 and (self.lengths == self.lengths[0]).all():
            shape = len(self.lengths), int(self.lengths[0])  # many times faster than a mask

            def cut(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
                return np.ascontiguousarray(column.reshape(shape)[:, :k]).ravel()

            items, values = cut(self.items), None if self.values is None else cut(self.values)
        else:
            end = np.cumsum(self.lengths)
            place = np.arange(len(self.items)) - np.repeat(end - self.lengths, self.lengths)
            kept = place < k
            items, values = self.items[kept], None if self.values is None else self.values[kept]
        return replace(self, lengths=np.minimum(self.lengths, k), items=items, values=values)


PADDING = -1
"""What other libraries fill lists up with."""

Cells = Sequence[Any] | npt.NDArray[Any]


def read_lists(recommendations: Any, scores: Any) -> Ragged:
    """Read ranked lists, best first, of ``{user: list}``; `scores` in the same shape, if lists have none."""
    subject = "recommendations"
    users, rows = _by_user(subject, recommendations)
    items: list[Cells] = rows
    own: list[Cells | None] = [None] * len(rows)
    if not all(map(_is_plain, rows)) or any(len(row) and isinstance(row[0], tuple) for row in rows):
        pairs = [_row(subject, user, row, ranked=True) for user, row in zip(users, rows, strict=True)]
        items, own = [row for row, _ in pairs], [row for _, row in pairs]
    if scores is not None:
        if any(row is not None for row in own):
            raise SchemaError(
                "scores: the lists hold scores themselves, as {item: score}; pass none with them."
            )
        own = _scores(users, items, scores)
    ids = as_ids(f"{subject}: user", users)
    lists = Ragged(ids, _lengths(items), flatten(f"{subject}: item", items, users), None)
    padded = _padded(subject, lists)
    if any(row is not None for row in own):
        joined = _joined_scores(users, items, own)
        kept = (
            joined if padded is None else [cell for cell, gap in zip(joined, padded, strict=True) if not gap]
        )
        values = numbers("scores", kept)
        lists = _without(lists, padded)
        return require_falling(replace(lists, values=values))
    return _without(lists, padded)


def read_items(subject: str, table: Any) -> Ragged:
    """Read users' items, with grades if there are some, from ``{user: items}`` or interactions."""
    if isinstance(table, Ragged):
        return table
    if isinstance(table, Interactions):
        user = as_ids(f"{subject}: user", table.user_ids)[table.user]
        item = as_ids(f"{subject}: item", table.item_ids)[table.item]
        return grouped(user, item, table.value.astype(np.float64))
    users, rows = _by_user(subject, table)
    pairs: list[tuple[Cells, Cells | None]] = []
    if not all(map(_is_plain, rows)):
        pairs = [_row(subject, user, row, ranked=False) for user, row in zip(users, rows, strict=True)]
    lists, values = [row for row, _ in pairs] if pairs else rows, None
    if any(grades is not None for _, grades in pairs):
        graded = (np.ones(len(row)) if grades is None else grades for row, grades in pairs)
        values = numbers(f"{subject}: grade", list(chain.from_iterable(graded)))
    items = flatten(f"{subject}: item", lists, users)
    return without_padding(subject, Ragged(as_ids(f"{subject}: user", users), _lengths(lists), items, values))


def grouped(users: IdArray, items: IdArray, values: DoubleArray | None) -> Ragged:
    """Return rows of ids as users' items, users in order of appearance."""
    ids, user = encode_runs(users)
    if (user[1:] < user[:-1]).any():
        order = np.argsort(user, kind="stable")
        items, values = items[order], None if values is None else values[order]
    return Ragged(ids, np.bincount(user, minlength=len(ids)), items, values)


def require_falling(lists: Ragged) -> Ragged:
    """Return lists whose scores fall, or refuse the first that rise."""
    if lists.values is None:
        return lists
    rises = np.flatnonzero(np.diff(lists.values) > 0) + 1
    ends = np.cumsum(lists.lengths)
    inside = rises[~np.isin(rises, ends)]
    if len(inside):
        user = lists.users[int(np.searchsorted(ends, inside[0], side="right"))]
        raise SchemaError(
            f"scores: lists must be best first, but the scores of user {shown(user)} rise. "
            "Sort the lists by falling score, or pass {user: {item: score}}."
        )
    return lists


def without_padding(subject: str, table: Ragged) -> Ragged:
    """Return users' items without -1 at the end of a list; elsewhere it is refused."""
    return _without(table, _padded(subject, table))


def _padded(subject: str, table: Ragged) -> BoolArray | None:
    """Return which items only fill lists up, None if none does."""
    padded = table.items == PADDING
    if not padded.any():
        return None
    owner = np.repeat(np.arange(len(table.lengths)), table.lengths)
    n_padded = np.bincount(owner[padded], minlength=len(table.lengths))
    filled = np.arange(len(padded)) >= (np.cumsum(table.lengths) - n_padded)[owner]
    if (filled != padded).any():
        user = table.users[owner[int(np.flatnonzero(filled != padded)[0])]]
        raise SchemaError(
            f"{subject}: item -1 of user {shown(user)} stands before other items. -1 fills lists up at their "
            "end; if it is an item here, write it as text, in all tables."
        )
    return np.asarray(padded, np.bool_)


def _without(table: Ragged, padded: BoolArray | None) -> Ragged:
    if padded is None:
        return table
    owner = np.repeat(np.arange(len(table.lengths)), table.lengths)
    lengths = table.lengths - np.bincount(owner[padded], minlength=len(table.lengths))
    values = None if table.values is None else table.values[~padded]
    return replace(table, lengths=lengths, items=table.items[~padded], values=values)


def _by_user(subject: str, table: Any) -> tuple[list[Any], list[Any]]:
    """Return users and their rows: of a mapping, or of a Series of rows whose index is the users."""
    if isinstance(table, Mapping):
        return list(table), list(table.values())
    if is_series(table) and table.dtype == object and table.index.is_unique:
        return list(table.index), table.to_list()
    raise SchemaError(
        f"{subject} must be a mapping or a DataFrame, got {type(table).__name__}. Write {{user: [items]}}, a "
        "DataFrame with columns user and item, or, of an array with a row for each user, "
        "dict(zip(users, array)). Of a file: pandas.read_csv(FILE)."
    )


def _is_plain(row: Any) -> bool:
    """Whether a row is a list or an array of one dimension, as most are: to tell others takes longer."""
    return type(row) is list or (type(row) is np.ndarray and row.ndim == 1)


def _row(subject: str, user: Any, row: Any, *, ranked: bool) -> tuple[Cells, Cells | None]:
    """Return a user's items, of a list best first, and their scores or grades, if the row has some."""
    if _is_plain(row) and not (ranked and type(row) is list and row and isinstance(row[0], tuple)):
        return row, None
    if ranked and is_row(row) and row and all(isinstance(cell, tuple) and _is_pair(cell) for cell in row):
        return [item for item, _ in row], [score for _, score in row]
    if ranked and isinstance(row, AnySet):
        raise SchemaError(
            f"{subject}: the list of user {shown(user)} is a {type(row).__name__}, which has no order. Write "
            "a list, best item first, or {item: score}."
        )
    if is_series(row):
        items, values = _of_series(subject, user, row)
    elif isinstance(row, (Mapping, AnySet)):
        items, values = list(row), list(row.values()) if isinstance(row, Mapping) else None
        _refuse_padding(subject, user, items)
    else:
        return _cells(subject, user, row), None
    if values is None or not ranked:
        return items, values
    _refuse_padding(subject, user, items)
    scores = numbers(f"{subject}: score of user {shown(user)}", values)
    order = np.argsort(-scores, kind="stable")  # items of equal scores stay in their order
    return [items[at] for at in order.tolist()], scores[order]


def _refuse_padding(subject: str, user: Any, items: Iterable[Any]) -> None:
    if any(item == PADDING for item in items if isinstance(item, (int, np.integer))):
        raise SchemaError(
            f"{subject}: user {shown(user)} has an item -1, which fills lists up and is no item. Leave it "
            "out; if it is an item here, write it as text, in all tables."
        )


def _cells(subject: str, user: Any, row: Any) -> Cells:
    """Return the cells of a user's list, tuple or array; strings, generators and frames are refused."""
    if hasattr(row, "columns"):
        raise SchemaError(
            f"{subject}: user {shown(user)} has a table. Write one table of all users with a column user: "
            "pandas.concat(tables, names=['user']).reset_index('user')."
        )
    values = cells(row)
    if values is None or (isinstance(values, np.ndarray) and values.ndim != 1):
        raise SchemaError(
            f"{subject}: user {shown(user)} needs a collection of items, got {type(row).__name__}"
            f"{f' of shape {np.shape(row)}' if hasattr(row, 'shape') else ''}. Write a list."
        )
    return values


def _of_series(subject: str, user: Any, row: Any) -> tuple[Cells, Cells | None]:
    """Return the items of a Series, and its numbers, if it has items as its index.

    Values are the items where they are no numbers, or where the index only counts the rows from 0. Fractions
    with another index are scores or grades of the items in the index. Whole numbers with another index may
    be either.
    """
    import pandas as pd

    if not pd.api.types.is_numeric_dtype(row) or row.index.equals(pd.RangeIndex(len(row))):
        return row.to_list(), None
    if pd.api.types.is_float_dtype(row):
        return row.index.to_list(), row.to_list()
    raise SchemaError(
        f"{subject}: user {shown(user)} has a Series of whole numbers, and nobody knows whether they or its "
        "index are the items. Write series.to_list() if they are, series.to_dict() if its index is."
    )


def _is_pair(cell: tuple[Any, ...]) -> bool:
    return len(cell) == 2 and isinstance(cell[1], (Real, Decimal)) and not isinstance(cell[1], bool)


def _lengths(rows: Sequence[Cells]) -> LongArray:
    return np.fromiter(map(len, rows), np.int64, len(rows))


def _scores(users: list[Any], items: list[Cells], scores: Any) -> list[Cells | None]:
    """Return the scores of each user's list, by position, or by item where they are ``{item: score}``."""
    if isinstance(scores, Mapping):
        missing = next((user for user in users if user not in scores), None)
        if missing is not None:
            raise SchemaError(f"scores: user {shown(missing)} has a list but no scores.")
        rows = [scores[user] for user in users]
    elif is_row(scores) or (isinstance(scores, np.ndarray) and scores.ndim in (1, 2)):
        rows = list(scores)
    else:
        raise SchemaError(
            f"scores must be {{user: scores}}, or rows in the order of the users; "
            f"got {type(scores).__name__}."
        )
    if len(rows) != len(users):
        raise SchemaError(f"{_SHAPE} There are {len(users):,} lists, and scores of {len(rows):,}.")
    return [_scores_of(*each) for each in zip(users, items, rows, strict=True)]


_SHAPE = "scores must have the shape of the lists: one score for every listed item."


def _scores_of(user: Any, items: Cells, row: Any) -> Cells:
    """Return one user's scores in the order of the list."""
    if is_series(row):
        row_items, values = _of_series("scores", user, row)
        row = row_items if values is None else dict(zip(row_items, values, strict=True))
    if isinstance(row, Mapping):
        listed = items.tolist() if isinstance(items, np.ndarray) else items
        filled = [cell for cell in listed if cell in row or not _is_padding(cell)]
        missing = next((cell for cell in filled if cell not in row), None)
        if missing is not None:
            raise SchemaError(f"scores: item {shown(missing)} of user {shown(user)} has no score.")
        return [row.get(cell, 0.0) for cell in listed]
    if isinstance(row, AnySet):
        raise SchemaError(f"scores: user {shown(user)} has a {type(row).__name__}, which has no order.")
    scores = _cells("scores", user, row)
    if len(scores) != len(items):
        raise SchemaError(f"{_SHAPE} User {shown(user)} has {len(items):,} items and {len(scores):,} scores.")
    return scores


def _is_padding(cell: Any) -> bool:
    return isinstance(cell, (int, np.integer)) and cell == PADDING


def _joined_scores(users: list[Any], items: list[Cells], rows: list[Cells | None]) -> list[Any]:
    """Return all scores back to back; either every list has scores or none has."""
    for user, row, own in zip(users, rows, items, strict=True):
        if row is None and len(own):
            raise SchemaError(
                f"recommendations: user {shown(user)} has a list without scores, and others have scores. "
                "Write all lists in one way."
            )
    return list(chain.from_iterable(row for row in rows if row is not None))
