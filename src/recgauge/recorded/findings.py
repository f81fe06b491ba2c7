"""What can be odd about recorded lists: counted, shown, and refused or kept."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from recgauge.data.grouped import repeats
from recgauge.errors import ConfigError, SchemaError
from recgauge.recorded.reading import Rows
from recgauge.utils.checks import BoolArray, DoubleArray, IntArray, LongArray, check_choice

Finding = Literal[
    "bad_rows",
    "duplicates",
    "contradictions",
    "equal_ranks",
    "rank_gaps",
    "unknown_users",
    "unknown_items",
    "users_without_list",
    "short_lists",
    "ties",
    "seen_items",
]
FINDINGS: tuple[Finding, ...] = get_args(Finding)
REFUSED: tuple[Finding, ...] = FINDINGS[:5]
"""What is refused unless `keep` names it; the others are counted and kept unless `refuse` names them."""

MEANINGS: Mapping[Finding, tuple[str, str]] = {
    "bad_rows": ("rows without user, item or a finite number", "left out"),
    "duplicates": ("rows with an item that the user's list already has", "left out, the better place stays"),
    "contradictions": (
        "rows whose score is above that of a better rank",
        "the order decides, scores are not used",
    ),
    "equal_ranks": ("rows with the rank of another row of the user", "in the order of the file"),
    "rank_gaps": ("lists whose ranks are not 1, 2, 3, ... (or from 0)", "the items move up"),
    "unknown_users": (
        "users who are in no other file",
        "as the convention treats users without relevant items",
    ),
    "unknown_items": ("rows with an item that is in no other file", "kept, as misses"),
    "users_without_list": ("users with relevant rows and no list", "as the convention treats them"),
    "short_lists": ("lists shorter than the largest cutoff", "kept"),
    "ties": ("rows with the score of the row before", "ordered as the convention orders ties"),
    "seen_items": ("rows with an item that the user has in the training rows", "kept"),
}
"""What a finding counts, and what becomes of it if it is kept."""

Order = Literal["auto", "rank", "score"]


@dataclass(frozen=True)
class Found:
    """How often something odd was found in the lists.

    Parameters
    ----------
    name : str
        One of `FINDINGS`.
    count : int
        Rows, lists or users; see `MEANINGS`.
    first : str
        Where the first one is: file and line, or the user.
    """

    name: Finding
    count: int
    first: str


@dataclass(frozen=True)
class ListSettings:
    """How recorded lists are read.

    Parameters
    ----------
    order : {"auto", "rank", "score"}
        What orders a list. ``auto``: ranks where the file has them, else scores; in TREC run files scores,
        as trec_eval does, which reads no ranks.
    refuse, keep : collection of str
        Findings that stop the evaluation beside those of `REFUSED`, and those that do not.
    longest : int or None
        Lists with fewer items are counted as short; None counts none.
    text_ids : bool
        Ids stay text, so that 10 is before 9 where equal scores are ordered by id, as in trec_eval.

    Raises
    ------
    ConfigError
        If a name is unknown or in both collections.
    """

    order: Order = "auto"
    refuse: Collection[str] = ()
    keep: Collection[str] = ()
    longest: int | None = None
    text_ids: bool = False

    def __post_init__(self) -> None:
        check_choice("order", self.order, get_args(Order))
        for option, names in (("refuse", self.refuse), ("keep", self.keep)):
            for name in names:
                check_choice(option, name, FINDINGS)
        if both := sorted(set(self.refuse) & set(self.keep)):
            raise ConfigError(f"{both[0]} is to be refused and to be kept; name it once.")

    @property
    def refused(self) -> frozenset[str]:
        """The findings that stop the evaluation."""
        return (frozenset(REFUSED) | frozenset(self.refuse)) - frozenset(self.keep)


def first_bad(rows: Rows) -> str:
    """Return where the first bad row is, and what is wrong with it."""
    first = min(rows.bad, key=lambda one: int(one.lines[0]))
    return f"{rows.file}, {rows.unit} {first.lines[0]}: {first.reason}"


def refusal(name: Finding, first: str, count: int, hint: str = "") -> SchemaError:
    """Return the error of a finding that is refused."""
    counts, kept = MEANINGS[name]
    hint = hint or f"Correct the lists, or keep them with --keep {name} ({kept})."
    return SchemaError(f"{first}. {name}: {count:,} {counts}. {hint}")


class Report:
    """Counts what is odd, and raises at what is refused."""

    def __init__(self, settings: ListSettings, rows: Rows) -> None:
        self._refused = settings.refused
        self._rows = rows
        self._found: list[Found] = []

    def found(self) -> tuple[Found, ...]:
        """Return the findings in the order of `FINDINGS`."""
        return tuple(sorted(self._found, key=lambda one: FINDINGS.index(one.name)))

    def _note(self, name: Finding, count: int, first: str) -> None:
        if name in self._refused:
            raise refusal(name, first, count)
        self._found.append(Found(name, count, first))

    def add(self, name: Finding, mask: BoolArray, first: Any) -> None:
        """Count a mask; `first` says where its first one is."""
        if mask.any():
            self._note(name, int(mask.sum()), f"{self._rows.file}: {first(int(np.argmax(mask)))}")

    def rows(self, name: Finding, mask: BoolArray, row: LongArray | None, first: int = 0) -> None:
        """Count rows in the order of the lists; `mask` begins with row `first`."""
        at = np.flatnonzero(mask) + first
        if len(at):
            self._note(name, len(at), self._rows.where(int(places(row, at).min())))

    def bad_rows(self) -> None:
        """Count the rows that cannot be used."""
        if self._rows.bad:
            self._note("bad_rows", self._rows.n_bad, first_bad(self._rows))

    def order(
        self, user: IntArray, rank: DoubleArray | None, score: DoubleArray | None, row: LongArray | None
    ) -> bool:
        """Count ties, equal ranks, gaps and contradictions; return whether scores contradict ranks."""
        same = user[1:] == user[:-1]
        if score is not None:
            self.rows("ties", same & (score[1:] == score[:-1]), row, 1)
        if rank is None:
            return False
        if (same & (rank[1:] < rank[:-1])).any():  # ordered by score
            by_rank = np.lexsort((rank, user))
            rank, score, row = rank[by_rank], None if score is None else score[by_rank], places(row, by_rank)
        step = np.diff(rank)
        self.rows("equal_ranks", same & (step == 0), row, 1)
        gap = np.append(True, ~same)[: len(user)] & (rank != 0) & (rank != 1)
        gap[1:] |= same & (step > 1)
        if gap.any():
            where = self._rows.where(int(places(row, np.flatnonzero(gap)).min()))
            self._note("rank_gaps", len(np.unique(user[gap])), where)
        if score is None:
            return False
        rises = same & (step != 0) & (score[1:] > score[:-1])
        self.rows("contradictions", rises, row, 1)
        return bool(rises.any())

    def duplicates(
        self, start: LongArray, item: IntArray, row: LongArray | None, n_items: int
    ) -> BoolArray | None:
        """Count repeated items; return which they are, None if there are none."""
        again = repeats(start, item, n_items)
        if again is not None:
            self.rows("duplicates", again, row)
        return again


def places(row: LongArray | None, at: LongArray) -> LongArray:
    """Return where rows of the lists are in the file; `row` None: in the same order."""
    return at if row is None else row[at]


def describe(found: Sequence[Found]) -> list[str]:
    """Return a line for each finding: its name, how often, what it is, and what became of it."""
    return [
        f"{one.name} {one.count:,}: {MEANINGS[one.name][0]}; {MEANINGS[one.name][1]} (first: {one.first})"
        for one in found
    ]
