"""The order of users' rows: what came before a target, and several queries of one user."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, Self

import numpy as np

from recgauge.data.ids import IdArray
from recgauge.data.interactions import Interactions
from recgauge.errors import SchemaError
from recgauge.utils.checks import BoolArray, IntArray, LongArray, text_array
from recgauge.utils.resources import free_memory, in_units

Average = Literal["query", "user"]
"""What a mean over several queries of a user counts alike."""
_ROW_BYTES = 64  # of a row of a history: its columns, its place, and its entry of a matrix


@dataclass(frozen=True, eq=False)
class Sequences:
    """Each user's rows in their order, and which of them a split's users are asked for.

    Parameters
    ----------
    rows : Interactions
        All rows that were split.
    rank : ndarray of int32, shape (n,)
        Of each row among its user's, 0 for the oldest.
    train : ndarray of bool, shape (n,)
        The training rows.
    targets : mapping of str to ndarray of int64
        Of each held-out part, the positions of its rows among `rows`.
    grows : bool
        Whether models that take histories are given all rows before a target; else every model answers by
        the rows that it was fitted on.
    until_cut : ndarray of bool, shape (n,), or None
        With one cut in time: the rows up to it, all of which may be trained on once settings are chosen. Rows
        between a target and the rest are then in no part, and count as seen. None: there is no such cut.
    query_of : ndarray of int32, shape (n_codes,), or None
        If each held-out row is a query of its own: the user of each code; those of queries follow those of
        users. The id of a query, such as ``u#17``, says that it asks for the 17th row of user u.
    average : {"query", "user"}
        What numbers are the mean of, if users have several queries.

    Examples
    --------
    >>> rows = Interactions.from_ids(["u", "u", "u"], ["x", "y", "z"])
    >>> rank, train, test = np.arange(3, dtype=np.int32), np.array([True, False, False]), np.array([1, 2])
    >>> sequences = Sequences(rows, rank, train, {"test": test}, grows=True)
    >>> sequences.before("test", rows).item.tolist()  # y and z are asked for together
    [0]
    >>> ids, owner, codes = sequences.query_codes()  # and here one after the other
    >>> ids.tolist(), owner.tolist(), codes["test"].tolist()
    (['u', 'u#2', 'u#3'], [0, 0, 0], [1, 2])
    """

    rows: Interactions
    rank: IntArray
    train: BoolArray
    targets: Mapping[str, LongArray]
    grows: bool = False
    until_cut: BoolArray | None = None
    query_of: IntArray | None = None
    average: Average = "query"

    def in_order(self, chosen: BoolArray | None = None) -> Interactions:
        """Return the chosen rows, by default all: by user, the oldest first."""
        order = self._order()
        return self.rows.take(order if chosen is None else order[chosen[order]])

    def with_validation(self) -> Self:
        """Return the same where the validation rows, or all rows up to the cut, are training rows."""
        train = self.train.copy() if self.until_cut is None else self.until_cut
        if self.until_cut is None:
            train[self.targets["validation"]] = True
        return replace(self, train=train)

    def before(self, part: str, users: Interactions) -> Interactions:
        """Return the rows before the targets of a part, the oldest first, by the codes that `users` has.

        Without queries, users who have no target have their training rows.

        Raises
        ------
        SchemaError
            If the histories of many queries do not fit into memory.
        """
        targets, counts = self.targets[part], self.rows.user_counts()
        if self.query_of is not None:
            return self._histories(self._order(), counts, users.user, self.rank[targets], users)
        user, length = self.rows.user[targets], np.bincount(self.rows.user[self.train], minlength=len(counts))
        length[user] = counts[user]
        np.minimum.at(length, user, self.rank[targets])
        return self._histories(self._order(), counts, np.arange(len(counts), dtype=np.int32), length, users)

    def trained(self, users: Interactions) -> Interactions:
        """Return the training rows of each query's user, the oldest first, by the codes that `users` has."""
        order = self._order()
        counts = np.bincount(self.rows.user[self.train], minlength=self.rows.n_users)
        length = counts[self._owner(users.user)]
        return self._histories(order[self.train[order]], counts, users.user, length, users)

    def _owner(self, codes: IntArray) -> IntArray:
        """Return the user of each code."""
        return codes if self.query_of is None else self.query_of[codes]

    def _histories(
        self,
        order: LongArray,
        counts: LongArray,
        codes: IntArray,
        length: IntArray | LongArray,
        users: Interactions,
    ) -> Interactions:
        """Return the first rows of each code's user; `order` has `counts` rows of each, the oldest first."""
        total, free = int(length.sum()), free_memory()
        if free is not None and total * _ROW_BYTES > free:
            raise SchemaError(
                f"The histories of {len(codes):,} queries have {total:,} rows, which take "
                f"{in_units(total * _ROW_BYTES)}, and {in_units(free)} of memory can be had. Ask once for "
                "each user: split.target=first, last or random."
            )
        start = (np.cumsum(counts) - counts)[self._owner(codes)]
        at = np.arange(total) + np.repeat(start - np.cumsum(length) + length, length)
        taken = self.rows.take(order[at])
        columns = taken.item, taken.value, taken.timestamp, users.user_ids, users.item_ids
        return Interactions(np.repeat(codes, length), *columns)

    def tied_users(self, part: str) -> int:
        """Count users with a target that shares its time with a row that they are not asked for with it.

        Of such rows the rule for ties decides which is the target, or what comes before it.
        """
        times, order, counts = self.rows.timestamp, self._order(), self.rows.user_counts()
        if times is None:
            return 0
        targets, together = self.targets[part], np.zeros(len(order), np.bool_)
        together[targets] = self.query_of is None
        user, start = self.rows.user[targets], np.cumsum(counts) - counts
        tied = np.zeros(len(targets), np.bool_)
        for step in (-1, 1):  # rows of one time are neighbours
            rank = self.rank[targets] + step
            inside = (rank >= 0) & (rank < counts[user])
            other = order[start[user[inside]] + rank[inside]]
            tied[inside] |= (times[other] == times[targets[inside]]) & ~together[other]
        return len(np.unique(user[tied]))

    def query_codes(self) -> tuple[IdArray, IntArray, dict[str, IntArray]]:
        """Return ids and users of all codes if each held-out row is a query, and the codes of each part."""
        ids, n_users, parts = self.rows.user_ids, self.rows.n_users, self.targets
        rows = np.concatenate([*parts.values()])
        user, numbers = self.rows.user[rows], (self.rank[rows] + 1).tolist()
        texts = [f"{ids[code]}#{number}" for code, number in zip(user.tolist(), numbers, strict=True)]
        ends = np.cumsum([len(part) for part in parts.values()])[:-1]
        codes = np.split(np.arange(n_users, n_users + len(rows), dtype=np.int32), ends)
        owner = np.concatenate((np.arange(n_users, dtype=np.int32), user))
        return text_array([*map(str, ids.tolist()), *texts]), owner, dict(zip(parts, codes, strict=True))

    def _order(self) -> LongArray:
        """Return the positions of all rows by user, the oldest first."""
        counts = self.rows.user_counts()
        order = np.empty(len(self.rank), np.int64)
        order[(np.cumsum(counts) - counts)[self.rows.user] + self.rank] = np.arange(len(order))
        return order
