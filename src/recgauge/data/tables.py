"""Tables that users hand over (mappings, data frames, interactions) read as columns. Knows no metric."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from recgauge.data.ids import IdArray, as_ids, encode_runs, flatten
from recgauge.data.interactions import Interactions
from recgauge.data.lists import TopK
from recgauge.errors import SchemaError, listed
from recgauge.utils.checks import DoubleArray, LongArray


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
            items, values = (
                None if column is None else np.ascontiguousarray(column.reshape(shape)[:, :k]).ravel()
                for column in (self.items, self.values)
            )
        else:
            end = np.cumsum(self.lengths)
            place = np.arange(len(self.items)) - np.repeat(end - self.lengths, self.lengths)
            kept = place < k
            items, values = self.items[kept], None if self.values is None else self.values[kept]
        assert items is not None
        return replace(self, lengths=np.minimum(self.lengths, k), items=items, values=values)


def read_lists(recommendations: Any, scores: Any) -> Ragged:
    """Read ranked lists, best first, from a mapping, a data frame or codes."""
    if isinstance(recommendations, Ragged):
        return recommendations
    if isinstance(recommendations, TopK):
        if scores is not None:
            raise SchemaError("scores: a TopK carries its scores; pass none with it.")
        listed = recommendations.items >= 0
        users, items = as_ids("users", recommendations.users), as_ids("items", recommendations.items[listed])
        return Ragged(users, listed.sum(axis=1), items, recommendations.scores[listed].astype(np.float64))
    if isinstance(recommendations, Mapping):
        lists = [_sized("recommendations", user, items) for user, items in recommendations.items()]
        lengths = np.fromiter(map(len, lists), np.int64, len(lists))
        users = as_ids("recommendations: user", list(recommendations))
        values = None if scores is None else _scores(recommendations, scores, lengths)
        return Ragged(users, lengths, flatten("recommendations: item", lists), values)
    if scores is not None:
        raise SchemaError("scores: a table carries its scores in the column 'score'; pass no scores with it.")
    return _ranked_frame(recommendations)


def read_items(subject: str, table: Any, value_column: str | None) -> Ragged:
    """Read users' items with grades, from a mapping, a data frame or interactions."""
    if isinstance(table, Ragged):
        return table
    if isinstance(table, Interactions):
        columns = table.user_ids[table.user], table.item_ids[table.item], table.value.astype(np.float64)
        return _grouped(subject, *columns)
    if isinstance(table, Mapping):
        return _items_mapping(subject, table)
    frame = _frame(subject, table, ("user", "item"))
    values = None
    if value_column is not None and value_column in frame:
        values = _numbers(f"{subject}: {value_column}", frame[value_column])
    return _grouped(subject, frame["user"], frame["item"], values)


def _items_mapping(subject: str, table: Mapping[Any, Any]) -> Ragged:
    graded = any(isinstance(items, Mapping) for items in table.values())
    lists: list[Any] = [
        dict.fromkeys(items, 1.0) if graded and not isinstance(items, Mapping) else items
        for items in table.values()
    ]
    lists = [_sized(subject, user, items) for user, items in zip(table, lists, strict=True)]
    lengths = np.fromiter(map(len, lists), np.int64, len(lists))
    values = None
    if graded:
        values = _numbers(f"{subject}: grade", list(chain.from_iterable(items.values() for items in lists)))
    return Ragged(
        as_ids(f"{subject}: user", list(table)), lengths, flatten(f"{subject}: item", lists), values
    )


def _sized(subject: str, user: Any, items: Any) -> Any:
    if isinstance(items, (str, bytes)) or not hasattr(items, "__len__") or not hasattr(items, "__iter__"):
        raise SchemaError(
            f"{subject}: user {user!r} needs a collection of items, got {type(items).__name__}."
        )
    return items


def _scores(recommendations: Mapping[Any, Any], scores: Any, lengths: LongArray) -> DoubleArray:
    if isinstance(scores, Mapping):
        missing = next((user for user in recommendations if user not in scores), None)
        if missing is not None:
            raise SchemaError(f"scores: user {missing!r} has a list but no scores.")
        rows = [scores[user] for user in recommendations]
    else:
        rows = list(scores)
    given = np.fromiter(map(len, rows), np.int64, len(rows))
    if not np.array_equal(given, lengths):
        raise SchemaError("scores must have the shape of the lists: one score for every listed item.")
    values = _numbers("scores", list(chain.from_iterable(rows)))
    rises = np.flatnonzero(np.diff(values) > 0) + 1
    starts = np.cumsum(lengths)
    inside = rises[~np.isin(rises, starts)]
    if len(inside):
        row = int(np.searchsorted(starts, inside[0], side="right"))
        raise SchemaError(
            f"scores: lists must be best first, but the scores of user {list(recommendations)[row]!r} rise. "
            "Sort the lists by falling score."
        )
    return values


def _ranked_frame(table: Any) -> Ragged:
    frame = _frame("recommendations", table, ("user", "item"))
    if "rank" not in frame and "score" not in frame:
        raise SchemaError(f"recommendations: a table needs a column 'score' or 'rank', got {listed(frame)}.")
    score = _numbers("recommendations: score", frame["score"]) if "score" in frame else None
    key = _numbers("recommendations: rank", frame["rank"]) if score is None or "rank" in frame else -score
    users = as_ids("recommendations: user", frame["user"])
    ids, user = encode_runs("recommendations: user", users)
    items = as_ids("recommendations: item", frame["item"])
    same = user[1:] == user[:-1]
    if ((user[1:] < user[:-1]) | (same & (key[1:] < key[:-1]))).any():
        order = np.lexsort((key, user))
        user, items, score = user[order], items[order], None if score is None else score[order]
    if "rank" in frame and score is not None and ((score[1:] > score[:-1]) & (user[1:] == user[:-1])).any():
        raise SchemaError("recommendations: columns 'rank' and 'score' disagree; pass one of them.")
    return Ragged(ids, np.bincount(user, minlength=len(ids)), items, score)


def _grouped(subject: str, users: Any, items: Any, values: DoubleArray | None) -> Ragged:
    ids, user = encode_runs(f"{subject}: user", as_ids(f"{subject}: user", users))
    item = as_ids(f"{subject}: item", items)
    if (user[1:] < user[:-1]).any():
        order = np.argsort(user, kind="stable")
        item, values = item[order], None if values is None else values[order]
    return Ragged(ids, np.bincount(user, minlength=len(ids)), item, values)


def _frame(subject: str, table: Any, columns: Sequence[str]) -> Any:
    if not hasattr(table, "columns") or not hasattr(table, "iloc"):
        raise SchemaError(f"{subject} must be a mapping or a DataFrame, got {type(table).__name__}.")
    missing = [column for column in columns if column not in table.columns]
    if missing:
        raise SchemaError(f"{subject}: column {missing[0]!r} is missing; there are {listed(table.columns)}.")
    return table


def _numbers(subject: str, values: Any) -> DoubleArray:
    try:
        numbers: npt.NDArray[np.float64] = np.asarray(values, np.float64)
    except (TypeError, ValueError) as error:
        raise SchemaError(f"{subject}: numbers are needed: {error}.") from error
    if not np.isfinite(numbers).all():
        raise SchemaError(f"{subject}: numbers must be finite, got {numbers[~np.isfinite(numbers)][0]}.")
    return numbers
