"""The lists of one run: brought into their order, and held against relevance and training rows."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np

from recgauge.data.ids import IdArray
from recgauge.data.interactions import is_relevant, sorted_pairs
from recgauge.data.meeting import Meeting, meet_rows
from recgauge.data.spellings import spelling_keys
from recgauge.data.tables import Ragged
from recgauge.errors import SchemaError
from recgauge.files.rows import Rows
from recgauge.recorded.direction import MOST_LISTS, ListOrder, Reversal
from recgauge.recorded.findings import Finding, ListSettings, Places, Report, next_to
from recgauge.utils.checks import BoolArray, DoubleArray, IntArray, LongArray, shown
from recgauge.utils.grouped import repeats, run_starts, shared

_LARGEST = 2.0**31
ARE_TRUTH = "the lists hold the very rows of the truth, and no other items; is it a file of lists?"


@dataclass(frozen=True, eq=False)
class RecordedLists:
    """The lists of one run."""

    name: str
    lists: Ragged  # ids of users, codes of items; best items first
    findings: tuple[Finding, ...]  # everything odd that was counted, in the order of `FINDINGS`
    n_rows: int  # of the file that were usable
    meetings: tuple[Meeting, ...] = ()  # users and items of the lists in what they are measured on
    are_truth: bool = False  # whether the lists hold the very rows of the truth
    order: ListOrder = field(default_factory=ListOrder)  # what ordered the lists
    reversal: Reversal | None = None  # that they are better from their end

    @property
    def warnings(self) -> list[str]:
        """What must be said first: what did not meet, and lists that are the truth."""
        warnings = [meeting.warning for meeting in self.meetings if meeting.warning]
        warnings += [ARE_TRUTH] if self.are_truth else []
        return warnings if self.reversal is None else [*warnings, self.reversal.sentence(self.order)]

    @property
    def n_lists(self) -> int:
        """How many lists there are."""
        return len(self.lists.users)


@dataclass(frozen=True, eq=False)
class UserRuns:
    """The users of rows, once for each run of rows side by side: mostly once for a list."""

    users: IntArray  # (n_runs,) codes; neighbours differ, but where rows are in any order
    lengths: LongArray  # (n_runs,)

    @classmethod
    def of(cls, user: IntArray, lengths: LongArray | None = None) -> Self:
        """Find the runs of users (n,), each of whom has a row, or `lengths` of them."""
        if lengths is None and 4 * np.count_nonzero(user[1:] < user[:-1]) > len(user):
            return cls(user, np.broadcast_to(np.int64(1), len(user)))
        start = run_starts(user)
        if lengths is None:
            return cls(user[start], np.diff(start, append=len(user)))
        return cls(user[start], np.add.reduceat(lengths, start) if len(start) else lengths)

    @property
    def rise(self) -> bool:
        """Whether the rows are grouped by rising code."""
        return bool((self.users[1:] > self.users[:-1]).all())

    def of_rows(self) -> IntArray:
        """Return the user of each row."""
        if self.lengths.max(initial=1) == 1:
            return self.users
        return np.repeat(self.users, self.lengths)


def by_user(
    runs: UserRuns, item: IntArray, value: DoubleArray | None, n_items: int
) -> tuple[Ragged, LongArray | None]:
    """Return rows grouped by rising code of their user, and their order; None: they were so already."""
    order = None
    if not runs.rise:
        user = runs.of_rows()
        order = np.argsort(user, kind="stable")
        runs, item, value = UserRuns.of(user[order]), item[order], None if value is None else value[order]
    return Ragged(runs.users, runs.lengths, item, value, n_items), order


@dataclass(frozen=True, eq=False)
class Context:
    """What the lists are measured on, as codes, users rising."""

    truth: Ragged
    train: Ragged | None
    user_ids: IdArray
    item_ids: IdArray
    settings: ListSettings
    more_users: IntArray | None = None  # users of the data set that a run has, whose items are the truth's

    def lists(self, name: str, rows: Rows, runs: UserRuns, item: IntArray) -> RecordedLists:
        """Order the lists of a run and count what is odd about them."""
        report = Report(self.settings, rows)
        report.file()
        rank, score = rows.numbers.get("rank"), rows.numbers.get("score")
        by_rank = self._orders_by_rank(rows)
        row = None
        if (ordered := _ordered(runs, rank if by_rank else score, rising=by_rank)) is not None:
            row, runs, key = ordered
            item = item.take(row, mode="wrap")  # which looks for no wrong positions
            rank = key if by_rank else None if rank is None else rank[row]
            score = key if not by_rank else None if score is None else score[row]
        start = starts_of(runs.lengths)
        repeated = repeats(start, item, len(self.item_ids))
        if repeated is not None:
            report.rows("repeats", np.flatnonzero(repeated), row)
        if rank is None and score is not None:
            report.direction(start, score, row)
        contradicted = report.order(start, rank, score, row, repeated)
        if by_rank and contradicted:
            score = None
        users, lengths = runs.users, runs.lengths
        lists = Ragged(users, lengths, item, score, len(self.item_ids), distinct=repeated is None)
        meetings = self._meetings(lists)
        if not self.settings.in_part:  # of a part's users nobody need have a list, and few items meet
            report.met(meetings)
        self._compare(report, lists, row)
        if self.settings.longest is not None:
            short = lengths < self.settings.longest
            report.add("short_lists", short, lambda at: f"user {shown(self.user_ids[users[at]])}")
        by_id = with_ids(lists, self.user_ids)
        are_truth = _same_rows(lists, self.truth)
        order = self._list_order(rows, by_rank=by_rank)
        measured = are_truth, order, self._reversal(lists)
        return RecordedLists(name, by_id, report.findings(), len(rows.lines), meetings, *measured)

    def _orders_by_rank(self, rows: Rows) -> bool:
        order = self.settings.order
        if order != "auto" and order not in rows.numbers:
            raise SchemaError(f"{rows.file} has no column {order}, which is to order the lists.")
        if not {"rank", "score"} & set(rows.numbers):
            raise SchemaError(f"{rows.file} has neither ranks nor scores.")
        if "rank" not in rows.numbers or "score" not in rows.numbers:
            return "rank" in rows.numbers
        return order == "rank" or (order == "auto" and rows.form != "trec_run")

    def _list_order(self, rows: Rows, *, by_rank: bool) -> ListOrder:
        """Return what orders the lists, and the words that read them the other way."""
        rank, words = rows.labels.get("rank", ""), self.settings.words
        if by_rank and rank and "score" in rows.labels:
            return ListOrder("rank, rising", rank, words("order", "score"))
        return ListOrder.of(rows, by_rank=by_rank, words=words, keep=words("keep", "rising_scores"))

    def _reversal(self, lists: Ragged) -> Reversal | None:
        """Return whether the lists, without items of training rows, are better from their end."""
        if not len(self.truth.users) or self.settings.in_part:
            return None
        kept = slice(0, MOST_LISTS)
        users, lengths = lists.users[kept], lists.lengths[kept]
        first = replace(lists, users=users, lengths=lengths, items=lists.items[: lengths.sum()])
        hit = self._in_table(first, self.truth)
        left = np.ones(len(hit), bool) if self.train is None else ~self._in_table(first, self.train)
        owner = np.repeat(np.arange(len(lengths)), lengths)[left]
        return Reversal.of(starts_of(np.bincount(owner, minlength=len(lengths)).astype(np.int64)), hit[left])

    def _in_table(self, lists: Ragged, table: Ragged) -> BoolArray:
        """Return which items of lists their users have in a table, of those with relevant grades."""
        users, items, lengths = table.users, table.items, table.lengths
        if table.values is not None:
            relevant = is_relevant(table.values, self.settings.threshold)
            users, items = np.repeat(users, lengths)[relevant], items[relevant]
            lengths = np.ones(len(items), np.int64)
        starts = (
            starts_of(np.bincount(*owners, minlength=len(self.user_ids)).astype(np.int64))
            for owners in ((lists.users, lists.lengths), (users, lengths))
        )
        return shared(next(starts), lists.items, next(starts), items, len(self.item_ids))

    def _compare(self, report: Report, lists: Ragged, row: Places | None) -> None:
        """Report users and items that other files lack, users without a list, and seen items."""
        bases = [self.truth] if self.train is None else [self.truth, self.train]
        users = [base.users for base in bases] + ([] if self.more_users is None else [self.more_users])
        unknown = ~_mask(len(self.user_ids), *users)[lists.users]
        report.add("unknown_users", unknown, self._user_of(lists))
        listless = ~_mask(len(self.user_ids), lists.users)[self.truth.users]
        if self.truth.values is not None:  # others have nothing to find
            owners = np.repeat(np.arange(len(listless)), self.truth.lengths)
            relevant = is_relevant(self.truth.values, self.settings.threshold)
            listless &= np.bincount(owners[relevant], minlength=len(listless)) > 0
        report.add("users_without_list", listless, self._user_of(self.truth))
        if self.train is None:
            return  # without training rows nobody knows which items there are
        unknown = ~_mask(len(self.item_ids), *(base.items for base in bases))[lists.items]
        report.rows("unknown_items", np.flatnonzero(unknown), row)
        seen = self._in_table(lists, self.train)
        report.rows("seen_items", np.flatnonzero(seen), row)

    def _meetings(self, lists: Ragged) -> tuple[Meeting, Meeting]:
        """Count the users and items of lists that the others have; training rows show more items."""
        users = self.truth.users if self.more_users is None else self.more_users
        other = "truth" if self.more_users is None else "data set"
        more = [] if self.train is None or self.more_users is not None else [self.train.items]
        return (
            self._meet("user", lists.users, [users], "lists", other),
            self._meet(
                "item",
                lists.items,
                [self.truth.items, *more],
                "lists",
                "truth and the training rows" if more else other,
            ),
        )

    @cached_property
    def _keys(self) -> dict[str, LongArray | None]:
        """The spellings of users and items; parts do not know them all."""
        ids = {"user": self.user_ids, "item": self.item_ids}
        return {name: None if self.settings.in_part else spelling_keys(own) for name, own in ids.items()}

    def _meet(self, name: str, first: IntArray, second: list[IntArray], *sides: str) -> Meeting:
        ids = self.user_ids if name == "user" else self.item_ids
        own, other = sides
        return meet_rows(ids, first, second, name=name, sides=(own, other), keys=self._keys[name])

    def meetings_of_train(self) -> tuple[Meeting, ...]:
        """Count the users and items of the truth that the training rows have."""
        if self.train is None:
            return ()
        sides = ("truth", "training rows")
        return (
            self._meet("user", self.truth.users, [self.train.users], *sides),
            self._meet("item", self.truth.items, [self.train.items], *sides),
        )

    def train_has_truth(self) -> bool:
        """Whether all items of the truth are training rows of their users."""
        if self.train is None or self.settings.in_run or self.settings.in_part:
            return False
        return len(self.truth.items) > 0 and bool(self._in_table(self.truth, self.train).all())

    def _user_of(self, table: Ragged) -> Callable[[int], str]:
        return lambda at: f"user {shown(self.user_ids[table.users[at]])}"


def _mask(n: int, *codes: IntArray) -> BoolArray:
    """Return which of n codes are in any of some arrays."""
    mask = np.zeros(n, bool)
    for array in codes:
        mask[array] = True
    return mask


def _same_rows(lists: Ragged, truth: Ragged) -> bool:
    """Whether two tables hold the same items of the same users, in whatever order, none of grade 0."""
    if truth.values is not None and truth.values.min(initial=1.0) <= 0:
        return False  # candidates of which some are relevant
    if not (np.array_equal(lists.users, truth.users) and np.array_equal(lists.lengths, truth.lengths)):
        return False
    user = np.repeat(np.arange(len(lists.users), dtype=np.int64), lists.lengths) << 32
    return np.array_equal(np.sort(user | lists.items), np.sort(user | truth.items))


def starts_of(lengths: LongArray) -> LongArray:
    """Return where groups of these lengths begin, and the end of the last."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))


def _ordered(
    runs: UserRuns, key: DoubleArray | IntArray | None, *, rising: bool
) -> tuple[Places, UserRuns, DoubleArray | IntArray] | None:
    """Return the order by user, then key, else that of the file, and both so; None if the rows have it."""
    if key is None:
        raise SchemaError("lists need a rank or a score to be ordered by.")
    if runs.rise and not len(next_to(np.less if rising else np.greater, key, starts_of(runs.lengths))):
        return None
    user = runs.of_rows()
    if not rising or key.max(initial=0) >= _LARGEST:
        row = np.lexsort((key if rising else -key, user))
        return row, UserRuns.of(user[row]), key[row]
    rank = key.astype(np.int32, copy=False)  # whole numbers from 0
    if (placed := _placed(user, rank)) is not None:
        return placed
    row, user, rank = sorted_pairs(user, rank)
    return row, UserRuns.of(user), rank


def _placed(user: IntArray, rank: IntArray) -> tuple[Places, UserRuns, IntArray] | None:
    """Order rows without a sort where each list has its length's ranks, from 1 or another least one."""
    lengths, least, n = np.bincount(user), int(rank.min()), len(user)
    start = np.cumsum(lengths) - lengths
    place = start[user]
    place += rank
    place -= least
    if least + n > _LARGEST or place.max() >= n:
        return None
    row = np.full(n, -1, np.int32)
    row[place] = np.arange(n, dtype=np.int32)
    if row.min() < 0:  # a place without a row: another has two
        return None
    users = np.flatnonzero(lengths)
    rank = np.arange(least, least + n, dtype=np.int32)
    rank -= np.repeat(start.astype(np.int32), lengths)
    return row, UserRuns(users.astype(np.int32), lengths[users]), rank


def with_ids(rows: Ragged, user_ids: IdArray) -> Ragged:
    """Return a table of user codes with their ids."""
    return replace(rows, users=user_ids[rows.users])
