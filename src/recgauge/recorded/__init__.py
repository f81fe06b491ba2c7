"""Lists that other programs made, read from files, with a report of everything that is odd about them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from recgauge.data.ids import IdArray
from recgauge.data.tables import Ragged
from recgauge.datasets._table.ids import Ids, join_ids
from recgauge.errors import ConfigError, SchemaError, listed
from recgauge.recorded.reading import Kind, ListFormat, Rows, find_list_files, read_rows
from recgauge.utils.checks import BoolArray, DoubleArray, IntArray, LongArray, check_choice, shown

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
    "contradictions": ("rows whose score is above that of a better rank", "the order decides, scores are not used"),
    "equal_ranks": ("rows with the rank of another row of the user", "in the order of the file"),
    "rank_gaps": ("lists whose ranks are not 1, 2, 3, ... (or from 0)", "the items move up"),
    "unknown_users": ("users who are in no other file", "as the convention treats users without relevant items"),
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


@dataclass(frozen=True, eq=False)
class Recorded:
    """Runs with what they are measured on, over the same codes of items.

    Parameters
    ----------
    runs : tuple of RecordedLists
    relevant : Ragged
    train : Ragged or None
    item_ids : ndarray, shape (n_items,)
        The id of every code, ascending.
    """

    runs: tuple[RecordedLists, ...]
    relevant: Ragged
    train: Ragged | None
    item_ids: IdArray


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


def read_recorded(
    run: Sequence[str],
    truth: Sequence[str],
    train: Sequence[str] = (),
    *,
    settings: ListSettings | None = None,
    formats: Mapping[Kind, ListFormat] | None = None,
) -> Recorded:
    """Read lists, relevance and, if given, training rows from files.

    Parameters
    ----------
    run : sequence of str
        Files or patterns: CSV, TSV, parquet, JSON lines, TREC run files, plain or gzip. Each file is a run,
        named by the file; a TREC run file with several tags holds a run for each.
    truth, train : sequence of str
        Likewise, each sequence read as one table; TREC qrels as well.
    settings : ListSettings, optional
    formats : mapping of {"lists", "relevant", "train"} to str, optional
        By default recognised.

    Raises
    ------
    DataError
        If a file cannot be read, or something is found that is refused; the message names file and row.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "svd.csv").write_text("user,item,rank\\n1,x,1\\n1,y,2\\n2,x,1\\n")
    >>> _ = (folder / "test.csv").write_text("user,item\\n1,y\\n3,x\\n")
    >>> found = read_recorded([str(folder / "svd.csv")], [str(folder / "test.csv")])
    >>> run = found.runs[0]
    >>> run.name, [(one.name, one.count) for one in run.found]
    ('svd', [('unknown_users', 1), ('users_without_list', 1)])
    """
    settings, formats = settings or ListSettings(), formats or {}
    of_runs = [
        (name, part)
        for file in find_list_files(run, "--run")
        for name, part in _by_tag(read_rows(file, "lists", formats.get("lists")))
    ]
    of_runs = _distinct_names(of_runs)
    truths = [read_rows(f, "relevant", formats.get("relevant")) for f in find_list_files(truth, "--truth")]
    trains = [read_rows(f, "train", formats.get("train")) for f in find_list_files(train, "--train")] if train else []
    for rows in (*truths, *trains):
        if rows.bad:
            raise _refusal("bad_rows", _first_bad(rows), rows.n_bad, hint="Correct the file.")
    every = [*(rows for _, rows in of_runs), *truths, *trains]
    text = settings.text_ids or any(rows.kind in ("trec_run", "trec_qrels") for rows in every)
    user_ids, users = _joint_codes([rows.user for rows in every], "user", text=text)
    item_ids, items = _joint_codes([rows.item for rows in every], "item", text=text)
    n, m = len(of_runs), len(of_runs) + len(truths)
    context = _Context(
        _grouped(truths, users[n:m], items[n:m], distinct=True),
        _grouped(trains, users[m:], items[m:], distinct=False) if trains else None,
        user_ids,
        item_ids,
        settings,
    )
    runs = tuple(context.lists(name, rows, users[i], items[i]) for i, (name, rows) in enumerate(of_runs))
    known = None if context.train is None else _with_ids(context.train, user_ids)
    return Recorded(runs, _with_ids(context.truth, user_ids), known, item_ids)


def _with_ids(rows: Ragged, user_ids: IdArray) -> Ragged:
    return replace(rows, users=user_ids[rows.users])


def _by_tag(rows: Rows) -> list[tuple[str, Rows]]:
    """Return the runs of a file by name: its tags where it has several or is a TREC run file."""
    name = rows.file.path.name.removesuffix(".gz").rpartition(".")[0] or rows.file.path.name
    if rows.tags is None or not len(rows.tags):
        return [(name, rows)]
    tags = list(dict.fromkeys(rows.tags.tolist()))
    if len(tags) == 1:
        return [(tags[0] if rows.kind == "trec_run" else name, rows)]
    parts = []
    for tag in tags:
        kept = np.asarray(rows.tags == tag, bool)
        numbers = {role: values[kept] for role, values in rows.numbers.items()}
        part = replace(rows, user=rows.user.take(kept), item=rows.item.take(kept), numbers=numbers)
        parts.append((tag, replace(part, lines=rows.lines[kept], tags=None)))
    return parts


def _distinct_names(runs: list[tuple[str, Rows]]) -> list[tuple[str, Rows]]:
    """Give runs of the same name the folder of their file, or a number."""
    names = [name for name, _ in runs]
    longer = [
        f"{rows.file.path.parent.name}/{name}" if names.count(name) > 1 else name for name, rows in runs
    ]
    seen: dict[str, int] = {}
    unique = []
    for name, (_, rows) in zip(longer, runs, strict=True):
        seen[name] = seen.get(name, 0) + 1
        unique.append((name if seen[name] == 1 else f"{name}#{seen[name]}", rows))
    return unique


def _joint_codes(parts: Sequence[Ids], name: str, *, text: bool) -> tuple[IdArray, list[IntArray]]:
    """Return the ids of all parts and the codes of each one's rows; numbers are text where another has text."""
    mixed = len({part.distinct.dtype.kind in "UO" for part in parts if len(part.distinct)}) > 1
    if text or (mixed and not all(part.whole for part in parts)):
        parts = [replace(part, distinct=_as_text(part.distinct), whole=False) for part in parts]
    codes, ids = join_ids(parts, name)
    edges = np.cumsum([0, *(part.n_rows for part in parts)])
    return ids, [codes[begin:end] for begin, end in zip(edges[:-1], edges[1:], strict=True)]


def _as_text(distinct: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return distinct if distinct.dtype.kind in "UO" else distinct.astype(str)


def _grouped(
    files: Sequence[Rows], users: Sequence[IntArray], items: Sequence[IntArray], *, distinct: bool
) -> Ragged:
    """Return the rows of several files by user, as codes; refuse a pair that is there twice."""
    user, item = np.concatenate(users), np.concatenate(items)
    grades = [rows.numbers.get("grade") for rows in files]
    if any(grade is None for grade in grades) and any(grade is not None for grade in grades):
        raise SchemaError(f"{files[0].file} and other files: some have grades and others none.")
    value = np.concatenate([g for g in grades if g is not None]) if grades[0] is not None else None
    order = np.lexsort((item, user))
    if distinct:
        same = (user[order][1:] == user[order][:-1]) & (item[order][1:] == item[order][:-1])
        if same.any():
            row = int(order[1:][same].min())
            of_file = int(np.searchsorted(np.cumsum([len(rows.lines) for rows in files]), row, side="right"))
            row -= sum(len(rows.lines) for rows in files[:of_file])
            raise SchemaError(
                f"{files[of_file].where(row)}: the user has this item in an earlier row already, "
                f"{int(same.sum())} such rows in all. Keep one row for each user and item."
            )
    users_of, lengths = np.unique(user, return_counts=True)
    return Ragged(users_of, lengths, item[order], None if value is None else value[order])


def _first_bad(rows: Rows) -> str:
    first = min(rows.bad, key=lambda one: int(one.lines[0]))
    return f"{rows.file}, {rows.unit} {first.lines[0]}: {first.reason}"


def _refusal(name: Finding, first: str, count: int, hint: str = "") -> SchemaError:
    counts, kept = MEANINGS[name]
    hint = hint or f"Correct the lists, or keep them with --keep {name} ({kept})."
    return SchemaError(f"{first}. {name}: {count:,} {counts}. {hint}")


@dataclass(frozen=True, eq=False)
class _Context:
    """What the lists are measured on, as codes."""

    truth: Ragged
    train: Ragged | None
    user_ids: IdArray
    item_ids: IdArray
    settings: ListSettings

    def lists(self, name: str, rows: Rows, user: IntArray, item: IntArray) -> RecordedLists:
        """Order the lists of a run and count what is odd about them."""
        report = _Report(self.settings, rows)
        report.bad_rows()
        rank, score = rows.numbers.get("rank"), rows.numbers.get("score")
        by_rank = rank is not None and (
            self.settings.order == "rank"
            or score is None
            or (self.settings.order == "auto" and rows.kind != "trec_run")
        )
        if self.settings.order != "auto" and self.settings.order not in rows.numbers:
            raise SchemaError(f"{rows.file} has no column {self.settings.order}, which is to order the lists.")
        key = rank if by_rank else None if score is None else -score
        if key is None:
            raise SchemaError(f"{rows.file} has neither ranks nor scores.")
        row = _sorted_rows(user, key)
        user, item = user[row], item[row]
        rank, score = (None if values is None else values[row] for values in (rank, score))
        contradicted = report.order(user, rank, score, row)
        if by_rank and contradicted:
            score = None
        kept = report.duplicates(user, item, row, len(self.item_ids))
        if kept is not None:
            user, item, row, score = user[kept], item[kept], row[kept], None if score is None else score[kept]
        self._against_others(report, user, item, row)
        users, lengths = _lengths(user)
        if self.settings.longest is not None:
            short = lengths < self.settings.longest
            report.add("short_lists", short, lambda at: f"user {shown(self.user_ids[users[at]])}")
        lists = Ragged(self.user_ids[users], lengths, item.astype(np.int64), score)
        return RecordedLists(name, lists, report.sorted(), len(rows.lines))

    def _against_others(self, report: "_Report", user: IntArray, item: IntArray, row: LongArray) -> None:
        known_users = np.zeros(len(self.user_ids), bool)
        known_items = np.zeros(len(self.item_ids), bool)
        for other in (self.truth, self.train):
            if other is not None:
                known_users[other.users] = True
                known_items[other.items] = True
        listed_users = np.unique(user)
        unknown = ~known_users[listed_users]
        report.add("unknown_users", unknown, lambda at: f"user {shown(self.user_ids[listed_users[at]])}")
        without = ~np.isin(self.truth.users, listed_users)
        report.add("users_without_list", without, lambda at: f"user {shown(self.user_ids[self.truth.users[at]])}")
        if self.train is None:
            return  # without training rows nobody knows which items there are
        report.rows("unknown_items", ~known_items[item], row)
        n_items = len(self.item_ids)
        seen = np.repeat(self.train.users, self.train.lengths) * np.int64(n_items) + self.train.items
        report.rows("seen_items", np.isin(user * np.int64(n_items) + item, seen), row)


def _lengths(user: IntArray) -> tuple[IntArray, LongArray]:
    starts = np.flatnonzero(np.append(True, user[1:] != user[:-1])) if len(user) else np.empty(0, np.int64)
    return user[starts], np.diff(np.append(starts, len(user)))


def _sorted_rows(user: IntArray, key: DoubleArray) -> LongArray:
    """Return the order by user, then key, else that of the file."""
    same = user[1:] == user[:-1]
    if ((user[1:] < user[:-1]) | (same & (key[1:] < key[:-1]))).any():
        return np.lexsort((key, user))
    return np.arange(len(user))


class _Report:
    """Counts what is odd, and raises at what is refused."""

    def __init__(self, settings: ListSettings, rows: Rows) -> None:
        self._refused = settings.refused
        self._rows = rows
        self._found: list[Found] = []

    def sorted(self) -> tuple[Found, ...]:
        return tuple(sorted(self._found, key=lambda one: FINDINGS.index(one.name)))

    def _note(self, name: Finding, count: int, first: str) -> None:
        if name in self._refused:
            raise _refusal(name, first, count)
        self._found.append(Found(name, count, first))

    def add(self, name: Finding, mask: BoolArray, first: Any) -> None:
        """Count a mask; `first` says where its first one is."""
        if mask.any():
            self._note(name, int(mask.sum()), f"{self._rows.file}: {first(int(np.argmax(mask)))}")

    def rows(self, name: Finding, mask: BoolArray, row: LongArray) -> None:
        """Count rows, given in the order of the lists."""
        if mask.any():
            self._note(name, int(mask.sum()), self._rows.where(int(row[mask].min())))

    def bad_rows(self) -> None:
        if self._rows.bad:
            self._note("bad_rows", self._rows.n_bad, _first_bad(self._rows))

    def order(
        self, user: IntArray, rank: DoubleArray | None, score: DoubleArray | None, row: LongArray
    ) -> bool:
        """Count ties, equal ranks, gaps and contradictions; return whether scores contradict ranks."""
        same = np.append(False, user[1:] == user[:-1]) if len(user) else np.empty(0, bool)
        if score is not None:
            self.rows("ties", same & (score == np.roll(score, 1)), row)
        if rank is None:
            return False
        by_rank = np.lexsort((rank, user))
        ranks = rank[by_rank]
        equal = same & (ranks == np.roll(ranks, 1))
        self.rows("equal_ranks", equal, row[by_rank])
        gap = np.where(same, ranks - np.roll(ranks, 1) > 1, (ranks != 0) & (ranks != 1))
        if gap.any():
            n_lists = len(np.unique(user[gap]))
            self._note("rank_gaps", n_lists, self._rows.where(int(row[by_rank][gap].min())))
        if score is None:
            return False
        scores = score[by_rank]
        rises = same & ~equal & (scores > np.roll(scores, 1))
        self.rows("contradictions", rises, row[by_rank])
        return bool(rises.any())

    def duplicates(self, user: IntArray, item: IntArray, row: LongArray, n_items: int) -> BoolArray | None:
        """Count repeated items; return the rows to keep, None for all."""
        pairs = user * np.int64(max(1, n_items)) + item
        ordered = np.sort(pairs)
        if not (ordered[1:] == ordered[:-1]).any():
            return None
        order = np.argsort(pairs, kind="stable")
        repeated = np.zeros(len(pairs), bool)
        repeated[order[1:]] = pairs[order][1:] == pairs[order][:-1]
        self.rows("duplicates", repeated, row)
        return ~repeated


def describe(found: Sequence[Found]) -> list[str]:
    """Return a line for each finding: its name, how often, what it is, and what became of it."""
    return [
        f"{one.name} {one.count:,}: {MEANINGS[one.name][0]}; {MEANINGS[one.name][1]} (first: {one.first})"
        for one in found
    ]


def check_names(option: str, names: Sequence[str]) -> None:
    """Refuse a finding that does not exist.

    Raises
    ------
    ConfigError
        The message lists those that do.
    """
    wrong = [name for name in names if name not in FINDINGS]
    if wrong:
        raise ConfigError(f"{option}: {wrong[0]!r} is none of {listed(FINDINGS)}.")
