"""Data frames as lists and items of users: read as files of the same rows are, by names of columns."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from recgauge.data.ids import IdArray, encode_runs
from recgauge.data.tables import Ragged, grouped, require_falling, without_padding
from recgauge.errors import SchemaError, listed
from recgauge.files.columns import CellFormat, Role
from recgauge.files.frames import as_arrow
from recgauge.files.ids import Ids
from recgauge.files.rows import Rows
from recgauge.recorded import Kind, refuse_lists, roles_of, rows_of_table, runs_of
from recgauge.recorded.direction import ListOrder, lists_like_ranks
from recgauge.recorded.findings import refusal
from recgauge.utils.checks import DoubleArray, IntArray, LongArray, shown
from recgauge.utils.grouped import run_starts

IN_CELLS = ListOrder("score, falling", "scores in the cells", "write lists of items, best first")
"""What orders lists that are scores by item."""


def ranked_rows(
    subject: str, table: Any, cells: CellFormat, *, keep_rising: bool = True
) -> tuple[Ragged, ListOrder]:
    """Return the lists of a frame with user, item and rank or score, best items first, and what ordered them.

    `keep_rising`: scores may look like ranks.

    Raises
    ------
    SchemaError
        If the frame holds several runs, or ranks and scores that disagree, or scores look like ranks.
    """
    rows = _rows(subject, table, "lists", cells)
    runs = runs_of(rows)
    if len(runs) > 1:
        raise SchemaError(
            f"{subject}: column {shown(rows.labels['tag'])} names {len(runs)} runs: "
            f"{listed(name for name, _ in runs)}. Choose the rows of one, or drop the column."
        )
    rank, score = rows.numbers.get("rank"), rows.numbers.get("score")
    ids, user = encode_runs(_ids(rows.user))
    items = _ids(rows.item)
    score = None if score is None else score.astype(np.float64)
    key = rank if rank is not None else None if score is None else -score
    if (order := _order(user, key)) is not None:
        user, items = user[order], items[order]
        key, score = (None if each is None else each[order] for each in (key, score))
    if rank is None and score is not None and not keep_rising:
        way = ListOrder.of(rows, by_rank=False, words=_renamed, keep="")
        check_scores(subject, user, score, order, way)
    lists = Ragged(ids, np.bincount(user, minlength=len(ids)), items, score)
    if rank is not None:
        _check_ranks(subject, lists, key, rows.labels)
        if score is not None and ((score[1:] > score[:-1]) & (user[1:] == user[:-1])).any():
            raise SchemaError(
                f"{subject}: ranks (of a list in a cell its order) and scores disagree; pass one of them."
            )
    lists = require_falling(lists if cells.implausible == "keep" else without_padding(subject, lists))
    by_rank, keep = rank is not None or score is None, "and keep=['rising_scores']"
    return lists, ListOrder.of(rows, by_rank=by_rank, words=_renamed, keep=keep)


def _order(user: IntArray, key: Any) -> LongArray | None:
    """Return the order by user, then key; None if the rows have it."""
    if key is None:  # lists in cells, whose users may have several rows
        return np.argsort(user, kind="stable") if (user[1:] < user[:-1]).any() else None
    same = user[1:] == user[:-1]
    if ((user[1:] < user[:-1]) | (same & (key[1:] < key[:-1]))).any():
        return np.lexsort((key, user))
    return None


def _renamed(role: str, column: str) -> str:
    """Return the words that give a column another role."""
    return f"frame.rename(columns={{{column!r}: {role!r}}})"


def check_scores(
    subject: str, user: IntArray | LongArray, score: DoubleArray, order: LongArray | None, way: ListOrder
) -> None:
    """Refuse scores, falling for each user, that look like ranks as they were written, at `order`."""
    start = np.append(run_starts(user), len(user))
    if (mask := lists_like_ranks(start, score, order)) is not None:
        hint = way.question("keep=['rising_scores']")
        raise refusal("rising_scores", f"{subject}: {way.column}", int(mask.sum()), hint)


def item_rows(subject: str, table: Any, kind: Kind, cells: CellFormat) -> Ragged:
    """Return the items of users, and their grades if a column has some, of a frame with user and item."""
    rows = _rows(subject, table, kind, cells)
    grades = rows.numbers.get("rating")
    values = None if grades is None else grades.astype(np.float64)
    items = grouped(_ids(rows.user), _ids(rows.item), values)
    return items if cells.implausible == "keep" else without_padding(subject, items)


def _rows(subject: str, table: Any, kind: Kind, cells: CellFormat) -> Rows:
    option = "frame.rename(columns={{'{1}': '{0}'}})"
    like = replace(roles_of(kind, cells=cells), option=option, command="", setting="")
    if hasattr(table, "iloc") and table.index.nlevels == 1 and table.index.name is None:
        table = table.reset_index(drop=True)  # the numbers that rows had in a larger table
    rows = rows_of_table(as_arrow(table, subject), kind, subject, like)
    if rows.problems:
        raise SchemaError(f"{rows.first_bad()}; {rows.n_bad:,} such rows. Correct them or leave them out.")
    if kind == "relevant":
        refuse_lists(rows, like)
    return rows


def _ids(ids: Ids) -> IdArray:
    """Return the id of each row: text stays text, and numbers are numbers."""
    distinct = ids.distinct.astype(np.int64 if ids.distinct.dtype.kind in "iu" else object)
    each: IdArray = distinct[ids.codes]
    return each


def _check_ranks(subject: str, lists: Ragged, rank: Any, labels: Mapping[Role, str]) -> None:
    """Refuse ranks of a user that are not 1, 2, 3, ... or 0, 1, 2, ..."""
    start: LongArray = np.cumsum(lists.lengths) - lists.lengths
    place = np.arange(len(rank)) - np.repeat(start, lists.lengths)
    first = np.repeat(rank[start], lists.lengths)
    wrong = (rank - first != place) | (first > 1)
    if wrong.any():
        at = int(np.flatnonzero(wrong)[0])
        user = lists.users[int(np.searchsorted(start, at, side="right")) - 1]
        owner, column = f"{labels['user']!r}", f"[{labels['rank']!r}]"
        remedy = f"If the order is right: frame{column} = frame.groupby({owner}){column}.rank()."
        if place[at] and rank[at] == rank[at - 1]:
            remedy = (
                f"Rank {rank[at]:g} is there twice. If rows were appended twice: frame.drop_duplicates(); if "
                "they are of two runs, choose the rows of one."
            )
        raise SchemaError(
            f"{subject}: the ranks of user {shown(user)} are not 1, 2, 3, ... (or from 0). {remedy}"
        )
