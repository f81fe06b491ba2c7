"""What can be odd about recorded lists: counted, shown, and refused or kept."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from recgauge.data.meeting import FEWEST, Meeting, require_meeting
from recgauge.errors import ConfigError, SchemaError
from recgauge.files.rows import Rows
from recgauge.recorded.direction import ListOrder, lists_like_ranks
from recgauge.utils.checks import BoolArray, DoubleArray, IntArray, LongArray, check_choice

FindingName = Literal[
    "bad_rows",
    "contradictions",
    "equal_ranks",
    "rank_gaps",
    "rising_scores",
    "without_prediction",
    "unmet",
    "repeats",
    "unknown_users",
    "unknown_items",
    "users_without_list",
    "empty_lists",
    "short_lists",
    "ties",
    "seen_items",
]
FINDINGS: tuple[FindingName, ...] = get_args(FindingName)
REFUSED: tuple[FindingName, ...] = FINDINGS[:7]
"""What is refused unless `keep` names it; the others are counted and kept unless `refuse` names them."""

MEANINGS: Mapping[FindingName, tuple[str, str]] = {
    "bad_rows": ("rows without user, item, or numbers where they must be", "left out"),
    "contradictions": (
        "rows whose score is above that of a better rank",
        "the order decides, scores are not used",
    ),
    "equal_ranks": ("rows with the rank of another row of the user", "in the order of the file"),
    "rank_gaps": ("lists whose ranks are not 1, 2, 3, ... (or from 0)", "the items move up"),
    "rising_scores": (
        "lists whose scores rise from row to row, or are 1, 2, 3, ... in any order, as nearly all",
        "the highest score is the best",
    ),
    "without_prediction": ("test rows without a predicted rating, of rating metrics", "left out"),
    "unmet": ("users and items of the smaller table that are not in the other", "as they are"),
    "repeats": ("rows with an item that the user's list already has", "a hit at its first place only"),
    "unknown_users": (
        "users who are in no other file",
        "as the convention treats users without relevant items",
    ),
    "unknown_items": ("rows with an item that is in no other file", "their places count and hit nothing"),
    "users_without_list": (
        "users with relevant items and without a list",
        "count as 0, unless --no-list says otherwise",
    ),
    "empty_lists": ("rows of a user without an item", "as users without a list"),
    "short_lists": ("lists shorter than the largest cutoff", "kept"),
    "ties": ("rows with the score of the row before", "ordered as the convention orders ties"),
    "seen_items": (
        "rows with an item that the user has in the training rows",
        "their places count and hit nothing",
    ),
}
"""What a finding counts, and what becomes of it if it is kept."""

_POLICIES: Mapping[FindingName, str] = {
    "repeats": "repeats",
    "unknown_items": "unknown",
    "seen_items": "seen",
}
"""Findings and the policies that say what becomes of them."""
_FATES: Mapping[str, str] = {
    "drop": "dropped, later items move up",
    "every": "a hit at every place",
    "distinct": "each counts as another item",
    "hit": "as other items",
}
"""What becomes of ineligible items by a policy that is not ``miss``."""

_IN_RUN: Mapping[FindingName, str] = {
    "without_prediction": "the mean of the training ratings is taken",
    "repeats": "judged as `repeats` says",
    "unknown_users": "left out",
    "unknown_items": "judged as `unknown` says",
    "ties": "in the order of item codes, then as `ties` says",
    "seen_items": "judged as `seen` says",
}
"""What becomes of it in a run, where that differs."""

Order = Literal["auto", "rank", "score"]

_BLOCK = 1 << 18  # rows compared at a time, which stay near the processor


@dataclass(frozen=True)
class Finding:
    """How often something odd was found in the lists."""

    name: FindingName
    count: int  # rows, lists or users; see `MEANINGS`
    first: str  # where the first one is: file and line, or the user
    fate: str  # what became of it


@dataclass(frozen=True)
class ListSettings:
    """How recorded lists are read."""

    # "auto": by ranks where the file has them, else by scores; TREC run files by scores, as trec_eval does
    order: Order = "auto"
    refuse: Collection[str] = ()  # findings that stop the evaluation beside those of `REFUSED`
    keep: Collection[str] = ()  # findings that do not
    threshold: float = 0.0  # lowest grade of the truth that is relevant; 0: every grade above 0
    longest: int | None = None  # lists with fewer items are counted as short
    text_ids: bool = False  # ids stay text, so that 10 is before 9 where ids order equal scores: trec_eval
    in_run: bool = False  # whether a run reads the lists, so that messages name its settings
    in_part: bool = False  # whether these are some of the users, of whom none need be known
    # "unknown", "seen" and "repeats" to what becomes of such items, as of `Policies`; "miss" if left out
    policies: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_choice("order", self.order, get_args(Order))
        for option, names in (("refuse", self.refuse), ("keep", self.keep)):
            for name in names:
                check_choice(option, name, FINDINGS)
        if both := sorted(set(self.refuse) & set(self.keep)):
            raise ConfigError(f"{both[0]} is to be refused and to be kept; name it once.")
        for finding, policy in _POLICIES.items():
            if finding in self.refuse and self.policies.get(policy) in _FATES:
                raise ConfigError(
                    f"{finding} are refused, and {policy}={self.policies[policy]} would go on; choose one."
                )

    @property
    def refused(self) -> frozenset[str]:
        """The findings that stop the evaluation."""
        return (frozenset(REFUSED) | frozenset(self.refuse)) - frozenset(self.keep)

    def words(self, option: str, value: str) -> str:
        """Return what to type for an option of the command, or the setting of a run."""
        if not self.in_run:
            return f"--{option} {value}"
        settings = {"keep": f"model.keep=[{value}]", "order": f"model.order={value}"}
        return settings.get(option, f"model.columns.{option}={value}")


def refusal(name: FindingName, first: str, count: int, hint: str) -> SchemaError:
    """Return the error of a finding that is refused."""
    return SchemaError(f"{first}. {name}: {count:,} ({MEANINGS[name][0]}). {hint}")


def note(name: FindingName, count: int, first: str, settings: ListSettings) -> Finding:
    """Return a finding, or raise if the settings refuse it."""
    policy = settings.policies.get(_POLICIES.get(name, ""), "miss")
    fate = _FATES.get(policy, MEANINGS[name][1])
    if settings.in_run:
        fate = _IN_RUN.get(name, fate)
    if name in settings.refused:
        is_policy = name == "repeats" and not settings.in_run
        option = "--repeats miss" if is_policy else settings.words("keep", name)
        raise refusal(name, first, count, f"Correct the lists, or keep them with {option}: {fate}.")
    return Finding(name, count, first, fate)


def check_meeting(meeting: Meeting, subject: str, settings: ListSettings, fewest: float = FEWEST) -> None:
    """Refuse two tables of which next to nothing meets, unless the settings keep it."""
    if "unmet" in settings.refused:
        require_meeting(meeting, subject=subject, way_on=settings.words("keep", "unmet"), fewest=fewest)


def unmet(meetings: Sequence[Meeting], subject: str) -> Finding | None:
    """Return the finding that more than half of users or items did not meet, or by their spelling."""
    if not (meetings := [meeting for meeting in meetings if meeting.warning]):
        return None
    count = sum(meeting.n_respelled or min(meeting.n_ids) - meeting.n_both for meeting in meetings)
    text = "; ".join(meeting.warning for meeting in meetings)
    return Finding("unmet", count, f"{subject}: {text}", MEANINGS["unmet"][1])


Places = IntArray | LongArray
"""Positions of rows in a file."""


class Report:
    """Counts what is odd, and raises at what is refused."""

    def __init__(self, settings: ListSettings, rows: Rows) -> None:
        self._settings, self._rows = settings, rows
        self._findings: list[Finding] = []

    def findings(self) -> tuple[Finding, ...]:
        """Return the findings in the order of `FINDINGS`."""
        return tuple(sorted(self._findings, key=lambda finding: FINDINGS.index(finding.name)))

    def _note(self, name: FindingName, count: int, first: str) -> None:
        self._findings.append(note(name, count, first, self._settings))

    def add(self, name: FindingName, mask: BoolArray, first: Any) -> None:
        """Count a mask; `first` says where its first one is."""
        if mask.any():
            file = f"{self._rows.file}: " * (name in self._settings.refused)
            self._note(name, int(mask.sum()), f"{file}{first(int(np.argmax(mask)))}")

    def rows(self, name: FindingName, at: LongArray, row: Places | None) -> None:
        """Count rows, `at` in the order of the lists."""
        if len(at):
            self._note(name, len(at), self._rows.where(int(file_rows(row, at).min())))

    def met(self, meetings: Sequence[Meeting]) -> None:
        """Count what did not meet, if more than half, or by its spelling; raise where nearly all did not."""
        for meeting in meetings:
            fewest = 1 if meeting.name == "user" else FEWEST
            check_meeting(meeting, str(self._rows.file), self._settings, fewest)
        if finding := unmet(meetings, str(self._rows.file)):
            self._findings.append(finding)

    def file(self) -> None:
        """Count the rows that cannot be used, and the lists without items."""
        if self._rows.problems:
            self._note("bad_rows", self._rows.n_bad, self._rows.first_bad())
        if len(empty := self._rows.empty):
            self._note("empty_lists", len(empty), self._rows.place(empty[0]))

    def direction(self, start: LongArray, score: DoubleArray, row: Places | None) -> None:
        """Refuse lists ordered by falling scores that look like ranks; they may stand upside down."""
        if (mask := lists_like_ranks(start, score, row)) is not None and row is not None:
            first = int(row[: start[-1]][np.repeat(mask, np.diff(start))].min())
            words, rows = self._settings.words, self._rows
            if "rising_scores" in self._settings.refused:
                keep = words("keep", "rising_scores")
                order = ListOrder.of(rows, by_rank=False, words=words, keep=keep)
                raise refusal("rising_scores", rows.where(first), int(mask.sum()), order.question(keep))
            self._note("rising_scores", int(mask.sum()), rows.where(first))

    def order(
        self,
        start: LongArray,
        rank: DoubleArray | IntArray | None,
        score: DoubleArray | None,
        row: Places | None,
        repeated: BoolArray | None,
    ) -> bool:
        """Count ties, equal ranks, gaps and contradictions; return whether scores contradict ranks.

        List j is at ``start[j]:start[j + 1]``. Rows that are there `again` are no ties and may have the rank
        of the first.
        """
        if score is not None:
            tied = next_to(np.equal, score, start)
            self.rows("ties", tied if repeated is None else tied[~repeated[tied]], row)
        if rank is None or (score is None and _counts_up(rank, start)):
            return False
        same = np.ones(max(0, start[-1] - 1), bool)
        same[start[1:-1] - 1] = False
        new = same if repeated is None else same & ~repeated[1:]
        if (same & (rank[1:] < rank[:-1])).any():  # ordered by score
            by_rank = np.lexsort((rank, np.repeat(np.arange(len(start) - 1), np.diff(start))))
            new = same if repeated is None else same & ~repeated[by_rank][1:]
            score = None if score is None else score[by_rank]
            rank, row = rank[by_rank], file_rows(row, by_rank)
        step = np.diff(rank)
        self.rows("equal_ranks", np.flatnonzero(new & (step == 0)) + 1, row)
        gap = np.append(True, ~same)[: len(rank)] & (rank != 0) & (rank != 1)
        gap[1:] |= same & (step > 1)
        if gap.any():
            at = np.flatnonzero(gap)
            lists = np.unique(np.searchsorted(start, at, side="right"))
            self._note("rank_gaps", len(lists), self._rows.where(int(file_rows(row, at).min())))
        if score is None:
            return False
        rises = same & (step != 0) & (score[1:] > score[:-1])
        self.rows("contradictions", np.flatnonzero(rises) + 1, row)
        return bool(rises.any())


def _counts_up(rank: DoubleArray | IntArray, start: LongArray) -> bool:
    """Whether every list has the ranks 1, 2, 3, ... or 0, 1, 2, ...: nothing is odd about them."""
    gaps = next_to(lambda row, before: row - before != 1, rank, start)
    return not len(gaps) and bool((rank[start[:-1]] <= 1).all())


def next_to(
    compare: Callable[[npt.NDArray[Any], npt.NDArray[Any]], BoolArray],
    key: npt.NDArray[Any],
    start: LongArray,
) -> LongArray:
    """Return the rows whose key compares so with that of the row before in the same list, rising.

    Examples
    --------
    >>> next_to(np.equal, np.array([2.0, 2.0, 2.0, 1.0]), np.array([0, 2, 4])).tolist()
    [1]
    """
    rows_of_blocks = [np.empty(0, np.int64)]
    for first in range(1, len(key), _BLOCK):
        last = min(first + _BLOCK, len(key))
        rows_of_blocks.append(np.flatnonzero(compare(key[first:last], key[first - 1 : last - 1])) + first)
    rows = np.concatenate(rows_of_blocks)
    return rows[np.isin(rows, start, assume_unique=True, invert=True)]


def file_rows(row: Places | None, at: LongArray) -> Places:
    """Return where rows of the lists are in the file; `row` None: in the same order."""
    return at if row is None else row[at]


def describe(findings: Sequence[Finding]) -> list[str]:
    """Return a line for each finding: its name, how often, what it is, and what became of it."""
    return [
        f"{each.name} {each.count:,}: {MEANINGS[each.name][0]}; {each.fate} (first: {each.first})"
        for each in findings
    ]
