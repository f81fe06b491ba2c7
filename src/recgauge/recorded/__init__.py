"""Lists that other programs made, read from files, with a report of everything that is odd about them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from recgauge.data.ids import IdArray
from recgauge.data.tables import Ragged
from recgauge.datasets._table.ids import Ids, join_ids
from recgauge.errors import SchemaError
from recgauge.recorded.columns import Kind, ListFormat, Role
from recgauge.recorded.findings import FINDINGS as FINDINGS
from recgauge.recorded.findings import REFUSED as REFUSED
from recgauge.recorded.findings import Found as Found
from recgauge.recorded.findings import ListSettings as ListSettings
from recgauge.recorded.findings import Order as Order
from recgauge.recorded.findings import Report, first_bad, refusal
from recgauge.recorded.findings import describe as describe
from recgauge.recorded.reading import Rows, find_list_files, read_rows
from recgauge.utils.checks import DoubleArray, IntArray, LongArray, shown


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


def read_recorded(
    run: Sequence[str],
    truth: Sequence[str],
    train: Sequence[str] = (),
    *,
    settings: ListSettings | None = None,
    formats: Mapping[Kind, ListFormat] | None = None,
) -> Recorded:
    r"""Read lists, relevance and, if given, training rows from files.

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
    >>> _ = (folder / "svd.csv").write_text("user,item,rank\n1,x,1\n1,y,2\n2,x,1\n")
    >>> _ = (folder / "test.csv").write_text("user,item\n1,y\n3,x\n")
    >>> found = read_recorded([str(folder / "svd.csv")], [str(folder / "test.csv")])
    >>> run = found.runs[0]
    >>> run.name, [(one.name, one.count) for one in run.found]
    ('svd', [('unknown_users', 1), ('users_without_list', 1)])
    """
    settings, formats = settings or ListSettings(), formats or {}
    third: Role | None = None if settings.order == "auto" else settings.order
    of_runs = [
        (name, part)
        for file in find_list_files(run, "--run")
        for name, part in runs_of(read_rows(file, "lists", formats.get("lists"), third))
    ]
    of_runs = _distinct_names(of_runs)
    truths = [read_rows(f, "relevant", formats.get("relevant")) for f in find_list_files(truth, "--truth")]
    trains = (
        [read_rows(f, "train", formats.get("train")) for f in find_list_files(train, "--train")]
        if train
        else []
    )
    for rows in (*truths, *trains):
        if rows.bad:
            raise refusal("bad_rows", first_bad(rows), rows.n_bad, hint="Correct the file.")
    every = [*(rows for _, rows in of_runs), *truths, *trains]
    text = settings.text_ids or any(rows.kind in ("trec_run", "trec_qrels") for rows in every)
    user_ids, users = joint_codes([rows.user for rows in every], "user", text=text)
    item_ids, items = joint_codes([rows.item for rows in every], "item", text=text)
    n, m = len(of_runs), len(of_runs) + len(truths)
    context = Context(
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


def runs_of(rows: Rows) -> list[tuple[str, Rows]]:
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


def joint_codes(parts: Sequence[Ids], name: str, *, text: bool) -> tuple[IdArray, list[IntArray]]:
    """Return all ids, and the codes of each part's rows; numbers become text where another part has text."""
    mixed = len({part.distinct.dtype.kind in "UO" for part in parts if len(part.distinct)}) > 1
    if text or (mixed and not all(part.whole for part in parts)):
        parts = [replace(part, distinct=_as_text(part.distinct), whole=False) for part in parts]
    codes, ids = join_ids(parts, name)
    edges = np.cumsum([0, *(part.n_rows for part in parts)])
    return ids, [codes[begin:end] for begin, end in pairwise(edges)]


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
    return Ragged(users_of, lengths, item[order].astype(np.int64), None if value is None else value[order])


@dataclass(frozen=True, eq=False)
class Context:
    """What the lists are measured on, as codes."""

    truth: Ragged
    train: Ragged | None
    user_ids: IdArray
    item_ids: IdArray
    settings: ListSettings

    def lists(self, name: str, rows: Rows, user: IntArray, item: IntArray) -> RecordedLists:
        """Order the lists of a run and count what is odd about them."""
        report = Report(self.settings, rows)
        report.bad_rows()
        rank, score = rows.numbers.get("rank"), rows.numbers.get("score")
        by_rank = rank is not None and (
            self.settings.order == "rank"
            or score is None
            or (self.settings.order == "auto" and rows.kind != "trec_run")
        )
        if self.settings.order != "auto" and self.settings.order not in rows.numbers:
            raise SchemaError(
                f"{rows.file} has no column {self.settings.order}, which is to order the lists."
            )
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
        return RecordedLists(name, lists, report.found(), len(rows.lines))

    def _against_others(self, report: "Report", user: IntArray, item: IntArray, row: LongArray) -> None:
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
        report.add(
            "users_without_list", without, lambda at: f"user {shown(self.user_ids[self.truth.users[at]])}"
        )
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
