"""What the columns of recorded lists are called, and the cells of a file before they are checked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from recgauge.datasets._table.files import TableFile
from recgauge.errors import SchemaError, listed
from recgauge.utils.checks import BoolArray, LongArray

ListFormat = Literal["csv", "tsv", "parquet", "jsonl", "trec_run", "trec_qrels"]
FORMATS: tuple[ListFormat, ...] = get_args(ListFormat)

Role = Literal["user", "item", "rank", "score", "grade", "time", "tag", "items", "scores"]

_KNOWN: Mapping[Role, frozenset[str]] = {
    "user": frozenset({"user", "userid", "uid", "userids", "qid", "query", "queryid", "reviewerid"}),
    "item": frozenset(
        {"item", "itemid", "iid", "movieid", "docid", "docno", "doc", "bookid", "productid", "asin"}
    ),
    "rank": frozenset({"rank", "position"}),
    "score": frozenset({"score", "prediction", "predicted", "predictedrating", "estimate", "est"}),
    "grade": frozenset({"grade", "rating", "relevance", "rel", "label", "stars"}),
    "time": frozenset({"timestamp", "time"}),
    "tag": frozenset({"tag", "run", "runid", "system"}),
    "items": frozenset({"items", "itemids", "recommendations", "list"}),
    "scores": frozenset({"scores"}),
}
_RATINGS = frozenset({"rating", "stars"})
Kind = Literal["lists", "relevant", "ratings", "train"]
"""What a file holds; of ``ratings`` the grades are ratings as they are, where the file has both."""

Lines = LongArray | range
"""Lines of rows: a range where every line or row of a file is one, which takes no memory."""


@dataclass(frozen=True)
class BadRows:
    """Rows that cannot be used, for one reason.

    Parameters
    ----------
    reason : str
        Such as "the score is not a finite number".
    lines : ndarray of int64, shape (n,)
        Where they are, ascending, counted from 1.
    """

    reason: str
    lines: LongArray


@dataclass
class Cells:
    """Columns as texts or as the types of the file, with the line of each row."""

    columns: dict[Role, Any]
    lines: Lines
    unit: str = "line"
    bad: list[BadRows] = field(default_factory=list)
    empty: LongArray = field(default_factory=lambda: np.empty(0, np.int64))


def lines_at(lines: Lines, rows: BoolArray) -> LongArray:
    """Return the lines of the rows of a mask.

    Examples
    --------
    >>> lines_at(range(2, 5), np.array([True, False, True])).tolist()
    [2, 4]
    """
    return np.flatnonzero(rows) + lines.start if isinstance(lines, range) else lines[rows]


def _plain(name: str) -> str:
    return "".join(sign for sign in name.partition(":")[0].lower() if sign.isalnum())


def _named(names: Sequence[str], role: Role, kind: Kind) -> list[int]:
    """Return which columns have a role by their names; of grades and the ratings that they come from, one."""
    plain = [_plain(name) for name in names]
    found = [at for at, name in enumerate(plain) if name in _KNOWN[role]]
    return [at for at in found if (plain[at] in _RATINGS) == (kind == "ratings")] or found


def roles_of(names: Sequence[str], kind: Kind) -> dict[Role, int]:
    """Return the columns that are recognised by their names; the first of each role."""
    found: dict[Role, int] = {}
    for role in _KNOWN:
        if at := _named(names, role, kind):
            found[role] = at[0]
    if kind == "lists" and "score" not in found and "grade" in found:
        found["score"] = found["grade"]  # predicted ratings
    if kind != "lists" and "grade" not in found and "score" in found:
        found["grade"] = found["score"]
    drop = {"lists": ("grade", "time"), "train": ("rank", "score", "grade", "time", "tag")}.get(
        kind, ("rank", "score", "time", "tag")
    )
    return {role: at for role, at in found.items() if role not in drop}


def require_roles(file: TableFile, roles: Mapping[Role, int], names: Sequence[str], kind: Kind) -> None:
    """Refuse a file without the columns that its kind needs.

    Raises
    ------
    SchemaError
        The message names the column and those that there are, or several that fit.
    """
    for role in roles:
        known = [names[at] for at in _named(names, role, kind)]
        if len(known) > 1:
            raise SchemaError(
                f"{file}: several columns could be the {role}: {listed(known)}. Keep one of them."
            )
    needed = ("user", "items") if "items" in roles and "item" not in roles else ("user", "item")
    missing = [role for role in needed if role not in roles]
    if kind == "lists" and not missing and "items" not in roles and not {"rank", "score"} & set(roles):
        missing = ["rank or score"]
    if missing:
        raise SchemaError(
            f"{file}: no column is known as the {missing[0]}. The columns are: {listed(names)}. Expected "
            "user, item and rank or score; or user and items, best first, in one row per user."
        )
