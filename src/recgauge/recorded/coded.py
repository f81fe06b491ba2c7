"""Recorded lists over the users and items of a data set, as codes."""

from dataclasses import dataclass, field

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.data.meeting import Meeting
from recgauge.data.tables import Ragged
from recgauge.errors import ConfigError, SchemaError, listed
from recgauge.files.columns import CellFormat, Roles
from recgauge.files.ids import Ids
from recgauge.files.opening import Source, find_list_files, find_table
from recgauge.files.rows import Rows
from recgauge.files.stored import is_stored
from recgauge.recorded import (
    Columns,
    joint_codes,
    joint_runs,
    read_rows,
    refuse_unused,
    roles_of,
    runs_of,
)
from recgauge.recorded.direction import ListOrder
from recgauge.recorded.findings import Finding, ListSettings
from recgauge.recorded.lists import Context, RecordedLists, UserRuns, by_user
from recgauge.utils.checks import DoubleArray, IntArray, LongArray


@dataclass(frozen=True, eq=False)
class CodedLists:
    """Lists of codes, users back to back, best items first."""

    start: LongArray  # (n_users + 1,) user u's items are at start[u]:start[u + 1]
    items: IntArray  # (n,) items that the data set does not have follow its codes
    n_unknown: int  # how many of these there are
    scores: DoubleArray | None  # (n,), None where ranks order the lists
    findings: tuple[Finding, ...]
    understood: str = ""  # how the file was read, in words
    meetings: tuple[Meeting, ...] = ()  # users and items of the lists in the data set
    order: ListOrder = field(default_factory=ListOrder)  # what ordered the lists

    def scores_of(self, users: IntArray, items: IntArray) -> DoubleArray:
        """Return the scores of pairs, NaN where a list does not have the item; SchemaError without scores."""
        if self.scores is None:
            raise SchemaError("these lists have no scores.")
        owner = np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))
        n_items = int(max(self.items.max(initial=0), items.max(initial=0))) + 1
        return matched(owner * n_items + self.items, self.scores, users.astype(np.int64) * n_items + items)


def matched(pairs: LongArray, values: DoubleArray, keys: LongArray) -> DoubleArray:
    """Return the value of each pair, NaN where there is none.

    Examples
    --------
    >>> matched(np.array([7, 3]), np.array([0.5, 2.0]), np.array([3, 4, 7])).tolist()
    [2.0, nan, 0.5]
    """
    if not len(pairs):
        return np.full(len(keys), np.nan)
    order = np.argsort(pairs, kind="stable")
    at = order[np.minimum(np.searchsorted(pairs, keys, sorter=order), len(pairs) - 1)]
    return np.where(pairs[at] == keys, values[at], np.nan)


def read_coded_lists(  # noqa: PLR0913 - what a model is set to, by name
    path: str,
    train: Interactions,
    settings: ListSettings,
    form: str | None = None,
    tag: str | None = None,
    *,
    columns: Columns | None = None,
    header: bool | None = None,
    cells: CellFormat | None = None,
) -> CodedLists:
    """Read the lists of one run for the users of `train`; others are counted and left out."""
    like = roles_of("lists", columns, cells, in_run=True)
    rows = read_rows(find_run(path, like), "lists", form, like=like, header=header)
    refuse_unused(columns, [rows], "model.columns.")
    name, rows = _only_run(path, rows, tag)
    user_ids, (user, train_users) = joint_runs([rows.user, _as_ids(train.user_ids)], text=False)
    users = train_users.of_rows()
    item_ids, (item, items) = joint_codes([rows.item, _as_ids(train.item_ids)], "item", text=False)
    history, _ = by_user(UserRuns.of(users[train.user]), items[train.item], None, len(item_ids))
    nobody = np.empty(0, np.int64)
    catalogue = Ragged(nobody, nobody, items, None)
    run = Context(catalogue, history, user_ids, item_ids, settings, users).lists(name, rows, user, item)
    return _coded(run, f"{rows.file.name}: {rows.understood()}", (user_ids, item_ids), (users, items))


def find_run(path: str, like: Roles) -> Source:
    """Return the file that a path names, or the Parquet files of a folder or address."""
    if is_stored(path):
        return find_table(path, like, "model.path")
    files = find_list_files([path], "model.path")
    if len(files) > 1:
        names = ",".join(str(file.path) for file in files)
        raise ConfigError(
            f"model.path={path} names {len(files)} files, and a run has one model. For a run of each: "
            f"-m model=recorded model.path={names}"
        )
    return files[0]


def _only_run(path: str, rows: Rows, tag: str | None) -> tuple[str, Rows]:
    """Return the only run that a path and a tag name."""
    file, runs = rows.file, dict(runs_of(rows))
    if tag is not None and tag not in runs:
        raise ConfigError(f"model.tag={tag}: {file} has no such run; it has {listed(runs)}.")
    if tag is None and len(runs) > 1:
        raise ConfigError(
            f"model.path={path} holds {len(runs)} runs; a run has one model. Choose one with model.tag=TAG; "
            f"for a run of each: -m model=recorded model.path={path} model.tag={','.join(runs)}"
        )
    name = next(iter(runs)) if tag is None else tag
    return name, runs[name]


def _as_ids(ids: np.ndarray) -> Ids:
    whole = ids.dtype.kind in "iu"
    return Ids(np.arange(len(ids), dtype=np.int32), ids if whole else ids.astype(str), whole)


def _coded(
    run: RecordedLists,
    understood: str,
    ids: tuple[np.ndarray, np.ndarray],
    codes: tuple[IntArray, IntArray],
) -> CodedLists:
    """Turn joint codes into those of the data set, and leave out the users that it does not have.

    `ids` are those of all joint codes of users and items, `codes` the joint code of each of the data set.
    """
    user_of, item_of = (np.full(len(joint), -1, np.int64) for joint in ids)
    user_of[codes[0]], item_of[codes[1]] = (np.arange(len(joint)) for joint in codes)
    lists = run.lists
    user = np.repeat(user_of[np.searchsorted(ids[0], lists.users)], lists.lengths)
    unknown = np.unique(lists.items[item_of[lists.items] < 0])
    item_of[unknown] = len(codes[1]) + np.arange(len(unknown))
    item = item_of[lists.items]
    kept = np.flatnonzero(user >= 0)
    kept = kept[np.argsort(user[kept], kind="stable")]
    scores = None if lists.values is None else lists.values[kept]
    start = np.concatenate(([0], np.cumsum(np.bincount(user[kept], minlength=len(codes[0])))))
    items = item[kept].astype(np.int32)
    return CodedLists(start, items, len(unknown), scores, run.findings, understood, run.meetings, run.order)
