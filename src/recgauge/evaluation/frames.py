"""Data frames as lists and items of users: read as files of the same rows are, by names of columns."""

from dataclasses import replace
from typing import Any

import numpy as np

from recgauge.data.ids import IdArray, encode_runs
from recgauge.data.tables import Ragged, grouped, require_falling, without_padding
from recgauge.errors import SchemaError, listed
from recgauge.files.columns import CellFormat
from recgauge.files.frames import as_arrow
from recgauge.files.ids import Ids
from recgauge.files.rows import Rows
from recgauge.recorded import Kind, rows_of_table, runs_of, wanted
from recgauge.utils.checks import LongArray, shown


def ranked_rows(subject: str, table: Any, cells: CellFormat) -> Ragged:
    """Return the lists of a frame with user, item and rank or score, best items first."""
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
    if key is not None:
        same = user[1:] == user[:-1]
        if ((user[1:] < user[:-1]) | (same & (key[1:] < key[:-1]))).any():
            order = np.lexsort((key, user))
            user, items, key = user[order], items[order], key[order]
            score = None if score is None else score[order]
    elif (user[1:] < user[:-1]).any():  # lists in cells, whose users may have several rows
        order = np.argsort(user, kind="stable")
        user, items = user[order], items[order]
    lists = Ragged(ids, np.bincount(user, minlength=len(ids)), items, score)
    if rank is not None:
        _check_ranks(subject, lists, key)
        if score is not None and ((score[1:] > score[:-1]) & (user[1:] == user[:-1])).any():
            raise SchemaError(
                f"{subject}: ranks (of a list in a cell its order) and scores disagree; pass one of them."
            )
    return require_falling(lists if cells.implausible == "keep" else without_padding(subject, lists))


def item_rows(subject: str, table: Any, kind: Kind, cells: CellFormat) -> Ragged:
    """Return the items of users, and their grades if a column has some, of a frame with user and item."""
    rows = _rows(subject, table, kind, cells)
    grades = rows.numbers.get("rating")
    values = None if grades is None else grades.astype(np.float64)
    items = grouped(_ids(rows.user), _ids(rows.item), values)
    return items if cells.implausible == "keep" else without_padding(subject, items)


def _rows(subject: str, table: Any, kind: Kind, cells: CellFormat) -> Rows:
    option = "frame.rename(columns={{'{1}': '{0}'}})"
    like = replace(wanted(kind, cells=cells), option=option, command="", setting="")
    if hasattr(table, "iloc") and table.index.nlevels == 1 and table.index.name is None:
        table = table.reset_index(drop=True)  # the numbers that rows had in a larger table
    rows = rows_of_table(as_arrow(table, subject), kind, subject, like)
    if rows.problems:
        raise SchemaError(f"{rows.first_bad()}; {rows.n_bad:,} such rows. Correct them or leave them out.")
    return rows


def _ids(ids: Ids) -> IdArray:
    """Return the id of each row: text stays text, and numbers are numbers."""
    distinct = ids.distinct.astype(np.int64 if ids.distinct.dtype.kind in "iu" else object)
    each: IdArray = distinct[ids.codes]
    return each


def _check_ranks(subject: str, lists: Ragged, rank: Any) -> None:
    """Refuse ranks of a user that are not 1, 2, 3, ... or 0, 1, 2, ..."""
    start: LongArray = np.cumsum(lists.lengths) - lists.lengths
    place = np.arange(len(rank)) - np.repeat(start, lists.lengths)
    first = np.repeat(rank[start], lists.lengths)
    wrong = (rank - first != place) | (first > 1)
    if wrong.any():
        user = lists.users[int(np.searchsorted(start, np.flatnonzero(wrong)[0], side="right")) - 1]
        raise SchemaError(
            f"{subject}: the ranks of user {shown(user)} are not 1, 2, 3, ... (or from 0). If the order is "
            "right, number them anew: frame.groupby(user).cumcount()."
        )
