"""Lists that other programs made, read from files, with a report of everything that is odd about them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from recgauge.data.ids import IdArray
from recgauge.data.meeting import FEWEST, Meeting
from recgauge.data.tables import Ragged
from recgauge.errors import ColumnsError, ConfigError, QuestionError, SchemaError, listed
from recgauge.files import parquet
from recgauge.files.columns import (
    ACTUAL_RATINGS,
    GRADES,
    ITEMS,
    LISTED,
    RANKS,
    SCORED,
    SCORES,
    USERS,
    CellFormat,
    Choice,
    Names,
    Role,
    Roles,
    is_usual,
)
from recgauge.files.formats import checked, read
from recgauge.files.ids import Ids, join_ids
from recgauge.files.opening import Source, TableFile, find_list_files
from recgauge.files.plausible import choice, listing, spans
from recgauge.files.rows import Rows, describe_skipped
from recgauge.files.stored import StoredTable
from recgauge.files.text import TextFormat
from recgauge.recorded.direction import opposite_orders
from recgauge.recorded.findings import ListSettings, check_meeting, file_rows, refusal
from recgauge.recorded.lists import Context, RecordedLists, UserRuns, by_user, starts_of, with_ids
from recgauge.utils.checks import IntArray, shown
from recgauge.utils.grouped import repeats

if TYPE_CHECKING:
    import pyarrow as pa

Kind = Literal["lists", "relevant", "ratings", "train"]
"""What a file holds; of ``ratings`` the ratings are taken where the file has grades, too."""

Columns = Mapping[Role, Choice]
"""Names or positions of columns that the user chose."""

_PAIR: Mapping[Role, Names] = {"user": USERS, "item": ITEMS, "items": LISTED}
_RANKED: Mapping[Role, Names] = {
    "rank": RANKS,
    "score": SCORES,
    "tag": (),
}
_NAMES: Mapping[Kind, Mapping[Role, Names]] = {
    "lists": {**_PAIR, **_RANKED},
    "relevant": {**_PAIR, "rating": GRADES},
    "ratings": {**_PAIR, "rating": ACTUAL_RATINGS},
    "train": _PAIR,
}


@dataclass(frozen=True, eq=False)
class RecordedRuns:
    """Runs with what they are measured on, over the same codes of items."""

    runs: tuple[RecordedLists, ...]
    relevant: Ragged
    train: Ragged | None
    item_ids: IdArray  # (n_items,) the id of every code, ascending
    meetings: tuple[Meeting, ...] = ()  # users and items of the truth in the training rows
    understood: tuple[str, ...] = ()  # how each file was read, in words

    @property
    def warnings(self) -> list[str]:
        """What must be said first of truth and lists."""
        of_truth = [f"truth: {meeting.warning}" for meeting in self.meetings if meeting.warning]
        opposite = opposite_orders({run.name: str(run.order) for run in self.runs})
        of_runs = [f"{run.name}: {warning}" for run in self.runs for warning in run.warnings]
        return [*of_truth, *([opposite] if opposite else []), *of_runs]


def read_recorded(  # noqa: PLR0913 - what a command asks, by name
    run: Sequence[str],
    truth: Sequence[str],
    train: Sequence[str] = (),
    *,
    settings: ListSettings | None = None,
    formats: Mapping[Kind, str] | None = None,
    ratings: bool = False,
    columns: Columns | None = None,
    header: bool | None = None,
    separator: str | None = None,
    cells: CellFormat | None = None,
    relevant_from: float | None = None,
    option: str = "--run",
) -> RecordedRuns:
    r"""Read lists, relevance and, if given, training rows from files.

    Parameters
    ----------
    run : sequence of str
        Files or patterns: CSV, TSV, Parquet, JSON lines, TREC run files, plain or packed. Each file is a
        run, named by the file; a TREC run file with several tags holds a run for each.
    truth, train : sequence of str
        Likewise, each sequence read as one table; TREC qrels as well.
    settings : ListSettings, optional
    formats : mapping of {"lists", "relevant", "train"} to str, optional
        By default recognised.
    ratings : bool
        Whether predicted ratings are measured: a truth that has ratings and grades gives its ratings then.
    columns : mapping of role to name or position, optional
        Of user, item, items, rank, score, rating and tag, in the files that have such a column; by default
        usual names. `items` are lists in one cell, each value of `tag` is a run.
    header : bool, optional
        Whether text files begin with the names of columns; by default they must name user and item.
    separator : str, optional
        What separates the columns of text; by default taken from the first line.
    cells : CellFormat, optional
        Which cells are missing, which columns unused, how numbers are written.
    relevant_from : float, optional
        The user's threshold. Without one, grades of qrels below 0 are 0: not relevant, as in trec_eval.
    option : str
        What names the files of `run`, for messages.

    Raises
    ------
    DataError
        If a file cannot be read, or something is found that is refused; the message names file and row.
    ConfigError
        If no file has a column that was chosen.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "svd.csv").write_text("user,item,rank\n1,x,1\n1,y,2\n2,x,1\n")
    >>> _ = (folder / "test.csv").write_text("user,item\n1,y\n3,x\n")
    >>> found = read_recorded([str(folder / "svd.csv")], [str(folder / "test.csv")])
    >>> run = found.runs[0]
    >>> run.name, [(one.name, one.count) for one in run.findings]
    ('svd', [('unknown_users', 1), ('users_without_list', 1)])
    """
    settings, formats = settings or ListSettings(), formats or {}

    def rows_of(paths: Sequence[str], option: str, kind: Kind, form: str | None) -> list[Rows]:
        like = roles_of(kind, columns, cells)
        files = find_list_files(paths, option)
        return [read_rows(file, kind, form, like=like, header=header, separator=separator) for file in files]

    with ThreadPoolExecutor(2) as pool:  # Arrow and numpy let the other thread work
        kind: Kind = "ratings" if ratings else "relevant"
        of_truth = pool.submit(rows_of, truth, "--truth", kind, formats.get("relevant"))
        of_train = pool.submit(rows_of, train, "--train", "train", formats.get("train")) if train else None
        try:
            lists = rows_of(run, option, "lists", formats.get("lists"))
        except ColumnsError:  # perhaps the lists are in the file of the truth
            for rows in of_truth.result() if kind == "relevant" else ():
                refuse_lists(rows, roles_of(kind, columns, cells))
            raise
        of_runs = _distinct_names([named for rows in lists for named in runs_of(rows)])
        truths = [_judged(rows) if relevant_from is None else rows for rows in of_truth.result()]
        for rows in truths if kind == "relevant" else ():
            refuse_lists(rows, roles_of(kind, columns, cells))
        trains = [] if of_train is None else of_train.result()
        refuse_unused(columns, [*lists, *truths, *trains], "--")
        present = {name for rows in (*lists, *truths, *trains) for name in rows.unused}
        if absent := [name for name in (cells or CellFormat()).unused if name not in present]:
            raise ConfigError(
                f"--unused {absent[0]}: no file has such a column that is not used. Correct it."
            )
    recorded = join_recorded(of_runs, truths, trains, settings)
    if ratings:  # which are predicted for the rows of the truth
        recorded = replace(recorded, runs=tuple(replace(run, are_truth=False) for run in recorded.runs))
    understood = tuple(map(_understood, (*lists, *truths, *trains)))
    return replace(recorded, understood=understood)


def join_recorded(
    of_runs: Sequence[tuple[str, Rows]],
    truths: Sequence[Rows],
    trains: Sequence[Rows],
    settings: ListSettings,
    more_items: Ids | None = None,
) -> RecordedRuns:
    """Return runs of rows with what they are measured on; `more_items` are among the items, too.

    Raises
    ------
    DataError
        If something is found that is refused; the message names file and row.
    """
    for rows in (*truths, *trains):
        if rows.problems:
            raise refusal("bad_rows", rows.first_bad(), rows.n_bad, hint="Correct the file.")
    tables = [*(rows for _, rows in of_runs), *truths, *trains]
    text = settings.text_ids or any(rows.form in ("trec_run", "trec_qrels") for rows in tables)
    more = [] if more_items is None else [more_items]
    item_ids, items = joint_codes([*(rows.item for rows in tables), *more], "item", text=text)
    user_ids, users = joint_runs([rows.user for rows in tables], text=text)
    n, m = len(of_runs), len(of_runs) + len(truths)
    context = Context(
        _grouped(truths, users[n:m], items[n:m], len(item_ids), distinct=True),
        _grouped(trains, users[m:], items[m : m + len(trains)], len(item_ids), distinct=False)
        if trains
        else None,
        user_ids,
        item_ids,
        settings,
    )
    meetings = context.meetings_of_train()
    if settings.policies.get("seen", "miss") in ("miss", "drop") and context.train_has_truth():
        raise SchemaError(
            f"{truths[0].file}: all rows of the truth are training rows, too, so no item of a list can be "
            "a hit. Give the held-out rows by --truth, leave out --train, or count seen items: --seen hit."
        )
    for meeting in meetings:  # a split by users has none of the truth's users in the training rows
        fewest = inf if meeting.name == "user" else FEWEST
        check_meeting(meeting, str(truths[0].file), settings, fewest)
    runs = tuple(context.lists(name, rows, users[i], items[i]) for i, (name, rows) in enumerate(of_runs))
    history = None if context.train is None else with_ids(context.train, user_ids)
    return RecordedRuns(runs, with_ids(context.truth, user_ids), history, item_ids, meetings)


def refuse_unused(chosen: Columns | None, files: Sequence[Rows | StoredTable], option: str) -> None:
    """Refuse a column that no file has: a typing error would pass unseen where usual names are there, too."""
    for role, column in (chosen or {}).items():
        labels = [label for file in files if (label := file.labels.get(role))]
        if isinstance(column, str) and column not in labels:
            taken = f"; taken instead: {listed(dict.fromkeys(labels))}" if labels else ""
            raise ConfigError(
                f"{option}{role} {column!r}: no file has such a column{taken}. Correct the name."
            )


def refuse_lists(truth: Rows, roles: Roles) -> None:
    """Refuse a truth with ranks or scores and no other grade, which may be the lists, unless it is said."""
    grade = truth.labels.get("rating")
    unused = [name for name in truth.unused if name not in roles.cells.unused]
    names = unused if grade is None else [grade] * (roles.choices.get("rating") is None)
    if column := next((name for name in names if is_usual(name, RANKS if grade is None else SCORED)), None):
        words = listing(roles, "unused", column) if grade is None else choice(roles, "rating", column)
        sides = "--run and --truth" if roles.setting else "recommendations and relevant"
        use = "to leave the column unused" if grade is None else "if it is a grade"
        raise QuestionError(
            f"{truth.file}: lists have a column {shown(column)}, and this is to be the truth. If it holds "
            f"lists, exchange {sides}; {use}: {words}.",
            column,
            [words],
        )


def _understood(rows: Rows) -> str:
    """Return how a file was read, what its ratings are, and what the user left out."""
    texts = [rows.understood(), spans(rows.numbers.get("rating"), rows.time)]
    texts += [describe_skipped(rows)] if rows.left_out else []
    return f"{rows.file.name}: {'; '.join(filter(None, texts))}"


def _judged(rows: Rows) -> Rows:
    """Return qrels with grade 0 for grades below it: not relevant, as in trec_eval."""
    if rows.form != "trec_qrels":
        return rows
    return replace(rows, numbers={**rows.numbers, "rating": np.maximum(rows.numbers["rating"], 0.0)})


def runs_of(rows: Rows) -> list[tuple[str, Rows]]:
    """Return the runs of a file by name: the tags of a TREC run file, or of a column that is named."""
    name = _name_of(rows.file)
    if rows.tags is None or not len(rows.tags):
        return [(name, rows)]
    tags = list(dict.fromkeys(rows.tags.tolist()))
    if len(tags) == 1:
        return [(tags[0] if rows.form == "trec_run" else name, rows)]
    return [(tag, rows.take(np.asarray(rows.tags == tag, bool))) for tag in tags]


def _name_of(file: Source) -> str:
    """Return the name of a file without the endings of its format and its compression."""
    name = file.plain_name if isinstance(file, TableFile) else file.path.name
    return name.rpartition(".")[0] or name


def _distinct_names(runs: list[tuple[str, Rows]]) -> list[tuple[str, Rows]]:
    """Give runs of the same name the folder of their file, or a number."""
    names = [name for name, _ in runs]
    seen: Counter[str] = Counter()
    unique = []
    for name, rows in runs:
        folder = rows.file.path.parent.name
        longer = f"{folder}/{name}" if names.count(name) > 1 and folder else name
        seen[longer] += 1
        unique.append((longer if seen[longer] == 1 else f"{longer}#{seen[longer]}", rows))
    return unique


def joint_codes(parts: Sequence[Ids], name: str, *, text: bool) -> tuple[IdArray, list[IntArray]]:
    """Return all ids, and the codes of each part's rows; numbers become text where another part has text."""
    mixed = len({part.distinct.dtype.kind in "UO" for part in parts if len(part.distinct)}) > 1
    if text or (mixed and not all(part.whole for part in parts)):
        parts = [replace(part, distinct=_as_text(part.distinct), whole=False) for part in parts]
    codes, ids = join_ids(parts, name)
    return ids, codes


def joint_runs(users: Sequence[Ids], *, text: bool) -> tuple[IdArray, list[UserRuns]]:
    """Return all ids of users, and who has each part's rows; a user with rows side by side is coded once."""
    runs = [part.by_runs() for part in users]
    ids, codes = joint_codes([firsts for firsts, _ in runs], "user", text=text)
    return ids, [UserRuns.of(code, lengths) for code, (_, lengths) in zip(codes, runs, strict=True)]


def _as_text(distinct: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return distinct if distinct.dtype.kind in "UO" else distinct.astype(str)


def _grouped(
    files: Sequence[Rows],
    users: Sequence[UserRuns],
    items: Sequence[IntArray],
    n_items: int,
    *,
    distinct: bool,
) -> Ragged:
    """Return the rows of several files by user, as codes; refuse a pair that is there twice."""
    grades = [rows.numbers.get("rating") for rows in files]
    if any(grade is None for grade in grades) and any(grade is not None for grade in grades):
        raise SchemaError(f"{files[0].file} and other files: some have grades and others none.")
    value = np.concatenate([g for g in grades if g is not None]) if grades[0] is not None else None
    runs = UserRuns.of(
        np.concatenate([user_runs.users for user_runs in users]),
        np.concatenate([user_runs.lengths for user_runs in users]),
    )
    table, order = by_user(runs, np.concatenate(items), value, n_items)
    repeated = repeats(starts_of(table.lengths), table.items, n_items) if distinct else None
    if repeated is not None:
        row = int(file_rows(order, np.flatnonzero(repeated)).min())
        of_file = int(np.searchsorted(np.cumsum([len(rows.lines) for rows in files]), row, side="right"))
        row -= sum(len(rows.lines) for rows in files[:of_file])
        raise SchemaError(
            f"{files[of_file].where(row)}: the user has this item in an earlier row already, "
            f"{int(repeated.sum()):,} such rows in all. Keep one row for each user and item."
        )
    return replace(table, distinct=distinct)


def roles_of(
    kind: Kind, chosen: Columns | None = None, cells: CellFormat | None = None, *, in_run: bool = False
) -> Roles:
    """Return the roles that columns of a file of a kind may have."""
    names = _NAMES[kind]
    pair: tuple[tuple[Role, ...], ...] = (("user",), ("item", "items"))
    if kind == "lists":
        pair = (*pair, ("rank", "score", "items"))
    return Roles(
        names,
        choices={role: choice for role, choice in (chosen or {}).items() if role in names},
        needed=pair,
        option="model.columns.{}={}" if in_run else "--{} {}",
        command="recgauge run model=recorded ..." if in_run else "recgauge evaluate ...",
        setting="model.{}={}" if in_run else "--{} {}",
        of_lists=True,
        cells=replace(cells or CellFormat(), keep=()),  # what lists keep are findings, not columns
    )


def rows_of_table(table: "pa.Table", kind: Kind, name: str, like: Roles | None = None) -> Rows:
    """Return the rows of an Arrow table with an item of a user each; `name` stands for it in messages."""
    like = like or roles_of(kind)
    return checked(parquet.rows_of_table(TableFile(Path(name)), table, like), "parquet", like)


def read_rows(
    file: Source,
    kind: Kind,
    form: str | None = None,
    *,
    like: Roles | None = None,
    header: bool | None = None,
    separator: str | None = None,
) -> Rows:
    """Return the rows of a file with an item of a user each; one row per user becomes one row per item."""
    how = TextFormat(separator, header, quotes=True)
    rows = read(file, like or roles_of(kind), how, form=form)
    if not len(rows.lines) and not rows.problems and not len(rows.empty):
        raise SchemaError(f"{file} has no rows.")
    return rows
