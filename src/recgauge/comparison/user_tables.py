"""Groups of users: by a column of the user's own table, or as they are given; the group of each user."""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recgauge.comparison.groups import cut_values
from recgauge.comparison.reading import read_users
from recgauge.data.ids import IdArray, as_ids, encode
from recgauge.data.meeting import WARNED_BELOW, Meeting, meet
from recgauge.errors import ConfigError, SchemaError, did_you_mean, listed
from recgauge.utils.arrow import to_arrow, to_numpy
from recgauge.utils.checks import IntArray, shown

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

_NUMBER = r"^-?(0|[1-9][0-9]*)([.][0-9]+)?$"
_MOST_WORDS, _MOST_NUMBERS = 1_000, 1 << 20  # different ones: groups of words, numbers that are cut


@dataclass(frozen=True, eq=False)
class UserTable:
    """A table of users: a column with their ids and further columns.

    Parameters
    ----------
    address : str
        What messages call it.
    cells : pyarrow.Table
    user : str
        The column of users.
    columns : tuple of str
        The others.
    """

    address: str
    cells: "pa.Table"
    user: str
    columns: tuple[str, ...]

    @classmethod
    def of(cls, source: Any, *, missing: Collection[str] = ()) -> "UserTable":
        """Read a table: a data frame or a series by user, or a file.

        Cells of text are what the file has, ``NA`` and ``007`` too; empty ones, and `missing`, are no group.

        Raises
        ------
        RecgaugeError
            If there is none, or it has no column of users.

        Examples
        --------
        >>> import pandas as pd
        >>> plans = pd.Series(["free", "paid"], pd.Index(["ann", "bob"], name="user"), name="plan")
        >>> table = UserTable.of(plans)
        >>> table.user, table.columns
        ('user', ('plan',))
        """
        is_path = isinstance(source, (str, Path))
        subject = "--users" if is_path else "the table of users"
        table, user = read_users(str(source) if is_path else source, subject, missing)
        table.ids(user)  # refuses what is no id
        cells = table.cells
        for place, name in enumerate(cells.column_names):
            column = table.column(name)
            cells = cells.set_column(place, name, column if name == user else _numbers_if_all(column))
        return cls(table.subject, cells, user, tuple(name for name in table.names if name != user))

    def groups(self, by: str, n_groups: int) -> "UserGroups":
        """Return the groups by a column: numbers cut where there are many different ones, words as they are.

        Raises
        ------
        ConfigError
            If there is no such column, or it makes too many groups.
        """
        import pyarrow as pa

        if by not in self.columns:
            raise ConfigError(
                f"--by: there is no column {by} in {self.address}. {did_you_mean(by, self.columns)}There are "
                f"{listed(self.columns) or 'none'}."
            )
        column = self._values(by)
        numbers = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
        counts = (
            pa.table({"value": column}).group_by("value").aggregate([("value", "count")]).sort_by("value")
        )
        if len(counts) > (most := _MOST_NUMBERS if numbers else _MOST_WORDS):
            raise ConfigError(
                f"{by}: {self.address} has more than {most:,} different values in it. Name a column of "
                "groups."
            )
        if not len(counts):
            raise ConfigError(f"{by}: the column is empty in {self.address}. Name another.")
        distinct = counts.column("value").combine_chunks()
        if numbers and len(counts) > n_groups:
            names, codes = cut_values(to_numpy(distinct), to_numpy(counts.column("value_count")), n_groups)
        else:
            names, codes = list(map(str, distinct.to_pylist())), np.arange(len(counts))
        return UserGroups(by, tuple(names), codes.astype(np.int32), self, distinct)

    def _values(self, by: str) -> "pa.ChunkedArray":
        """Return what cells of a column hold, true and false as texts."""
        import pyarrow as pa

        column = self.cells.column(by).drop_null()
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if pa.types.is_nested(column.type):
            raise ConfigError(
                f"{by}: cells of {self.address} hold {column.type}. A user is in one group: name a column "
                "with one number or text a row."
            )
        return column.cast(pa.string()) if pa.types.is_boolean(column.type) else column

    def meeting(self, users: IdArray) -> Meeting:
        """Count the users of whom the table has a row; ids are compared as text."""
        import pyarrow as pa
        import pyarrow.compute as pc

        ids, there = _as_texts(users), np.zeros(len(users), bool)
        column = self.cells.column(self.user).cast(pa.large_string())
        positions = pc.index_in(column, value_set=ids)
        there[to_numpy(positions.drop_null())] = True
        sides = "values", "table of users"
        meeting = Meeting("user", sides, (len(users), len(column)), int(there.sum()))
        if meeting.share >= WARNED_BELOW:
            return meeting
        ours = np.array(ids.filter(pa.array(~there)).to_pylist(), object)
        strangers = column.filter(pc.is_null(positions)).unique()
        unmet = meet(ours, np.array(strangers.to_pylist(), object), name="user", sides=sides)
        return replace(meeting, cause=unmet.cause, examples=unmet.examples)


def _as_texts(users: IdArray) -> "pa.Array":
    """Return ids as texts, which tables of text have."""
    import pyarrow as pa

    texts = to_arrow(users).cast(pa.large_string())
    if len(texts.unique()) < len(texts):
        raise SchemaError(
            "a number and a text, such as 1 and '1', are two users here. Give all ids one type."
        )
    return texts


def _numbers_if_all(column: "pa.ChunkedArray") -> "pa.ChunkedArray":
    """Return texts as numbers where all are, and no two texts are one number; ``007`` is a word."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return column
    texts = pc.unique(column).drop_null()
    if not len(texts) or not pc.all(pc.match_substring_regex(texts, _NUMBER)).as_py():
        return column
    whole = pc.all(pc.match_substring_regex(texts, "^-?[0-9]{1,18}$")).as_py()
    kind = pa.int64() if whole else pa.float64()
    return column.cast(kind) if len(pc.unique(texts.cast(kind))) == len(texts) else column


@dataclass(frozen=True, eq=False)
class UserGroups:
    """Groups of users: of a table by the distinct values of a column, or of users that are known.

    Parameters
    ----------
    by : str
        What the groups are of.
    names : tuple of str
    code_of : ndarray of int32
        The group of each distinct value, or of each user; -1 for none.
    table : UserTable or None
    distinct : pyarrow.Array or None
        The distinct values of the column.
    users : ndarray
        Ids, where there is no table.
    """

    by: str
    names: tuple[str, ...]
    code_of: IntArray
    table: UserTable | None = None
    distinct: "pa.Array | None" = None
    users: IdArray = field(default_factory=lambda: np.empty(0, object))

    def __str__(self) -> str:
        """Return the first users."""
        if self.table is None:
            return listed(self.users[:3]) or "nobody"
        return listed(self.table.cells.column(self.table.user)[:3].to_pylist()) or "nobody"

    def meeting(self, users: IdArray) -> Meeting:
        """Count the users of values who are known here."""
        if self.table is not None:
            return self.table.meeting(users)
        return meet(users, self.users, name="user", sides=("values", "groups"))

    def codes(self, users: IdArray) -> IntArray:
        """Return the code of each user's group, -1 without one; a table's ids are compared as text."""
        if self.table is None or self.distinct is None:
            ids, (ours, theirs) = encode([users, self.users], in_order=False)
            of_id = np.full(len(ids), -1, np.int32)
            of_id[theirs] = self.code_of
            return of_id[ours]
        import pyarrow as pa
        import pyarrow.compute as pc

        table, codes = self.table, np.full(len(users), -1, np.int32)
        positions = pc.index_in(table.cells.column(table.user).cast(pa.large_string()), _as_texts(users))
        rows, at = table.cells.filter(pc.is_valid(positions)), to_numpy(positions.drop_null())
        n_rows = np.bincount(at, minlength=len(users))
        if n_rows.max(initial=0) > 1:
            user = shown(users[n_rows.argmax()])
            raise SchemaError(f"--users: {table.address} has user {user} in several rows; keep one.")
        values = pc.index_in(rows.column(self.by).cast(self.distinct.type), value_set=self.distinct)
        values = to_numpy(pc.fill_null(values, -1))
        codes[at] = np.where(values < 0, -1, self.code_of[values])
        return codes

    @classmethod
    def of_series(cls, by: str, groups: "pd.Series") -> "UserGroups":
        """Return groups by user id, in the order of a categorical series, else of their names.

        Raises
        ------
        SchemaError
            If a group is no number or text, or two are written alike, as 1 and '1'.
        """
        import pandas as pd

        if not isinstance(groups.dtype, pd.CategoricalDtype):
            if any(isinstance(each, (list, tuple, set, dict, np.ndarray)) for each in groups):
                raise SchemaError(f"{by}: a user is in one group. Give a number or text each, and no list.")
            groups = groups.astype("category")
        names = tuple(map(str, groups.cat.categories))
        if twice := [name for name in names if names.count(name) > 1]:
            raise SchemaError(f"{by}: two groups are written {shown(twice[0])}. Give all groups one type.")
        users = as_ids(by, groups.index)
        return cls(by, names, groups.cat.codes.to_numpy().astype(np.int32), users=users)
