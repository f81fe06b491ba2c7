"""The lists of one run: brought into their order, and held against relevance and training rows."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from recgauge.data.grouped import shared
from recgauge.data.ids import IdArray
from recgauge.data.tables import Ragged
from recgauge.errors import SchemaError
from recgauge.recorded.findings import Found, ListSettings, Report, places
from recgauge.recorded.reading import Rows
from recgauge.utils.checks import BoolArray, DoubleArray, IntArray, LongArray, shown

_BLOCK = 1 << 18  # rows looked at together, which stay in the cache


@dataclass(frozen=True, eq=False)
class RecordedLists:
    """The lists of one run.

    Parameters
    ----------
    name : str
    lists : Ragged
        Ids of users, codes of items; best items first.
    found : tuple of Found
        Everything odd that was counted, in the order of `FINDINGS`.
    n_rows : int
        Rows of the file that were usable.
    """

    name: str
    lists: Ragged
    found: tuple[Found, ...]
    n_rows: int


def by_user(
    user: IntArray, item: IntArray, value: DoubleArray | None, n_items: int
) -> tuple[Ragged, LongArray | None]:
    """Return rows grouped by rising code of their user, and their order; None: they were so already."""
    order = None
    if (user[1:] < user[:-1]).any():
        order = np.argsort(user, kind="stable")
        user, item, value = user[order], item[order], None if value is None else value[order]
    users, lengths = _lengths(user)
    return Ragged(users, lengths, item, value, n_items), order


@dataclass(frozen=True, eq=False)
class Context:
    """What the lists are measured on, as codes, users rising."""

    truth: Ragged
    train: Ragged | None
    user_ids: IdArray
    item_ids: IdArray
    settings: ListSettings
    more_users: IntArray | None = None

    def lists(self, name: str, rows: Rows, user: IntArray, item: IntArray) -> RecordedLists:
        """Order the lists of a run and count what is odd about them."""
        report = Report(self.settings, rows)
        report.file()
        rank, score = rows.numbers.get("rank"), rows.numbers.get("score")
        by_rank = self._orders_by_rank(rows)
        row = _order(user, rank if by_rank else score, rising=by_rank)
        if row is not None:
            user, item = user[row], item[row]
            rank, score = (None if values is None else values[row] for values in (rank, score))
        users, lengths = _lengths(user)
        again = report.duplicates(starts_of(lengths), item, row, len(self.item_ids))
        contradicted = report.order(user, rank, score, row, again)
        if by_rank and contradicted:
            score = None
        if again is not None:
            kept = np.flatnonzero(~again)
            row, item, score = places(row, kept), item[kept], None if score is None else score[kept]
            users, lengths = _lengths(user[kept])
        lists = Ragged(users, lengths, item, score, len(self.item_ids))
        self._against_others(report, lists, row)
        if self.settings.longest is not None:
            short = lengths < self.settings.longest
            report.add("short_lists", short, lambda at: f"user {shown(self.user_ids[users[at]])}")
        return RecordedLists(name, with_ids(lists, self.user_ids), report.found(), len(rows.lines))

    def _orders_by_rank(self, rows: Rows) -> bool:
        order = self.settings.order
        if order != "auto" and order not in rows.numbers:
            raise SchemaError(f"{rows.file} has no column {order}, which is to order the lists.")
        if not {"rank", "score"} & set(rows.numbers):
            raise SchemaError(f"{rows.file} has neither ranks nor scores.")
        if "rank" not in rows.numbers or "score" not in rows.numbers:
            return "rank" in rows.numbers
        return order == "rank" or (order == "auto" and rows.kind != "trec_run")

    def _against_others(self, report: Report, lists: Ragged, row: LongArray | None) -> None:
        known_users, listed = np.zeros((2, len(self.user_ids)), bool)
        listed[lists.users] = True
        for other in (self.truth, self.train):
            if other is not None:
                known_users[other.users] = True
        if self.more_users is not None:
            known_users[self.more_users] = True
        self._refuse_others_ids(report, lists, known_users)
        report.add("unknown_users", ~known_users[lists.users], self._user_of(lists))
        report.add("users_without_list", ~listed[self.truth.users], self._user_of(self.truth))
        if self.train is None:
            return  # without training rows nobody knows which items there are
        known_items = np.zeros(len(self.item_ids), bool)
        known_items[self.truth.items] = True
        known_items[self.train.items] = True
        report.rows("unknown_items", ~known_items[lists.items], row)
        starts = (
            starts_of(np.bincount(table.users, table.lengths, len(self.user_ids)).astype(np.int64))
            for table in (lists, self.train)
        )
        seen = shared(next(starts), lists.items, next(starts), self.train.items, len(self.item_ids))
        report.rows("seen_items", seen, row)

    def _refuse_others_ids(self, report: Report, lists: Ragged, known: BoolArray) -> None:
        """Refuse lists of nobody who is known: as a rule ids are written in another way."""
        if len(lists.users) and not known[lists.users].any():
            ours, theirs = (shown(self.user_ids[one]) for one in (np.argmax(known), lists.users[0]))
            raise SchemaError(
                f"{report.where(0)}: none of the {len(lists.users):,} users of the lists is known, such as "
                f"{theirs}; a known one is {ours}. Write ids in the same way."
            )

    def _user_of(self, table: Ragged) -> Callable[[int], str]:
        return lambda at: f"user {shown(self.user_ids[table.users[at]])}"


def starts_of(lengths: LongArray) -> LongArray:
    """Return where groups of these lengths begin, and the end of the last."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))


def _lengths(user: IntArray) -> tuple[IntArray, LongArray]:
    starts = np.flatnonzero(np.append(True, user[1:] != user[:-1])) if len(user) else np.empty(0, np.int64)
    return user[starts], np.diff(np.append(starts, len(user)))


def _order(user: IntArray, key: DoubleArray | None, *, rising: bool) -> LongArray | None:
    """Return the order by user, then key, else that of the file; None if the rows have it."""
    assert key is not None
    for first in range(0, len(user), _BLOCK):
        users, keys = user[first : first + _BLOCK + 1], key[first : first + _BLOCK + 1]
        worse = keys[1:] < keys[:-1] if rising else keys[1:] > keys[:-1]
        if ((users[1:] < users[:-1]) | ((users[1:] == users[:-1]) & worse)).any():
            return np.lexsort((key if rising else -key, user))
    return None


def with_ids(rows: Ragged, user_ids: IdArray) -> Ragged:
    """Return a table of user codes with their ids."""
    return replace(rows, users=user_ids[rows.users])
