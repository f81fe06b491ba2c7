"""Which columns files of lists, relevance and histories are read for."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from recgauge.errors import SchemaError
from recgauge.files import columns
from recgauge.files.columns import Choice, Role, Wanted
from recgauge.files.formats import checked, read
from recgauge.files.opening import Source, TableFile
from recgauge.files.parquet import part_of_table
from recgauge.files.rows import Rows
from recgauge.files.text import TextFormat

if TYPE_CHECKING:
    import pyarrow as pa

Kind = Literal["lists", "relevant", "ratings", "train"]
"""What a file holds; of ``ratings`` the ratings are taken where the file has grades, too."""

Columns = Mapping[Role, Choice]
"""Names or positions of columns that the user chose."""

_PAIR: Mapping[Role, columns.Names] = {"user": columns.USERS, "item": columns.ITEMS, "items": columns.LISTED}
_RANKED: Mapping[Role, columns.Names] = {
    "rank": columns.RANKS,
    "score": columns.SCORES,
    "scores": columns.LISTED_SCORES,
    "tag": columns.TAGS,
}
_NAMES: Mapping[Kind, Mapping[Role, columns.Names]] = {
    "lists": {**_PAIR, **_RANKED},
    "relevant": {**_PAIR, "rating": columns.GRADES},
    "ratings": {**_PAIR, "rating": columns.ACTUAL_RATINGS},
    "train": _PAIR,
}


def wanted(
    kind: Kind, chosen: Columns | None = None, third: Role | None = None, *, in_run: bool = False
) -> Wanted:
    """Return what a file of a kind is read for; `third` is the third column of lists without a header."""
    names = _NAMES[kind]
    order: tuple[Role, ...] = tuple(role for role in ("user", "item", "rating") if role in names)
    pair: tuple[tuple[Role, ...], ...] = (("user",), ("item", "items"))
    if kind == "lists":
        order = ("user", "item", third) if third else ()
        pair = (*pair, ("rank", "score", "items"))
    return Wanted(
        names,
        order,
        {role: choice for role, choice in (chosen or {}).items() if role in names},
        pair,
        option="model.columns.{}={}" if in_run else "--{} {}",
        command="recgauge run model=recorded ..." if in_run else "recgauge evaluate ...",
        setting="model.{}={}" if in_run else "--{} {}",
        of_lists=True,
        mixed_ids=True,
    )


def rows_of_table(table: "pa.Table", kind: Kind, name: str, like: Wanted | None = None) -> Rows:
    """Return the rows of an Arrow table with an item of a user each; `name` stands for it in messages."""
    like = like or wanted(kind)
    return checked(part_of_table(TableFile(Path(name)), table, like), "parquet", None, like)


def read_rows(
    file: Source,
    kind: Kind,
    form: str | None = None,
    *,
    like: Wanted | None = None,
    header: bool | None = None,
) -> Rows:
    """Return the rows of a file with an item of a user each; one row per user becomes one row per item."""
    how = TextFormat(header=header, quotes=True)
    rows = read(file, like or wanted(kind), how, form=form, lines=True)
    if not len(rows.lines) and not rows.problems and not len(rows.part.empty):
        raise SchemaError(f"{file} has no rows.")
    return rows
