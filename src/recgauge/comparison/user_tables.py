"""Groups of users: by a column of the user's own table, or as they are given; the group of each user."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recgauge.comparison.groups import cut_values
from recgauge.comparison.reading import read_users
from recgauge.data.ids import IdArray, as_ids, encode
from recgauge.data.meeting import Meeting, meet
from recgauge.errors import ConfigError, SchemaError, did_you_mean, listed
from recgauge.files.tables import OwnTable
from recgauge.utils.arrow import to_numpy
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
    table : OwnTable
    user : str
        The column of users.
    """

    table: OwnTable
    user: str

    @classmethod
    def of(cls, source: Any, *, missing: Collection[str] = ()) -> "UserTable":
        """Read a table: a data frame or a series by user, or a file; one that was read stays as it is.

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
        if isinstance(source, UserTable):
            return source
        is_path = isinstance(source, (str, Path))
        table, user = read_users(source, "--users" if is_path else "the table of users", missing)
        table.ids(user)  # refuses what is no id
        return cls(table, user)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns beside that of users."""
        return tuple(name for name in self.table.names if name != self.user)

    def groups(self, by: str, n_groups: int) -> "UserGroups":
        """Return the groups by a column: numbers cut where there are many different ones, words as they are.

        Raises
        ------
        ConfigError
            If there is no such column, or it makes too many groups.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        address = self.table.subject
        if by not in self.columns:
            raise ConfigError(
                f"--by: there is no column {by} in {address}. {did_you_mean(by, self.columns)}There are "
                f"{listed(self.columns) or 'none'}."
            )
        column = self._values(by)
        numbers = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
        if column.null_count == len(column):
            raise ConfigError(f"{by}: the column is empty in {address}. Name another.")
        values = pa.table({"value": column.drop_null()})
        counts = values.group_by("value").aggregate([("value", "count")]).sort_by("value")
        if len(counts) > (most := _MOST_NUMBERS if numbers else _MOST_WORDS):
            raise ConfigError(
                f"{by}: {address} has more than {most:,} different values in it. Name a column of groups."
            )
        distinct = counts.column("value").combine_chunks()
        if numbers and len(counts) > n_groups:
            names, group = cut_values(to_numpy(distinct), to_numpy(counts.column("value_count")), n_groups)
        else:
            names, group = list(map(str, distinct.to_pylist())), np.arange(len(counts))
        places = to_numpy(pc.fill_null(pc.index_in(column, value_set=distinct), len(counts)))
        users = np.array(self.table.column(self.user).cast(pa.large_string()).to_pylist(), object)
        return UserGroups(by, tuple(names), users, np.append(group, -1)[places], address)

    def _values(self, by: str) -> "pa.ChunkedArray":
        """Return what cells of a column hold: texts as numbers where all are, true and false as texts."""
        import pyarrow as pa

        column = self.table.column(by)
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if pa.types.is_nested(column.type):
            raise ConfigError(
                f"{by}: cells of {self.table.subject} hold {column.type}. A user is in one group: name a "
                "column with one number or text a row."
            )
        return column.cast(pa.string()) if pa.types.is_boolean(column.type) else _numbers_if_all(column)


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
    """Groups of users.

    Parameters
    ----------
    by : str
        What the groups are of.
    names : tuple of str
    users : ndarray, shape (n,)
        Ids.
    group : ndarray of int, shape (n,)
        The position of each user's group among the names; -1 for none.
    table : str
        What messages call the table that has the users, whose ids are compared as texts; empty: no table.
    """

    by: str
    names: tuple[str, ...]
    users: IdArray
    group: IntArray
    table: str = ""

    def __str__(self) -> str:
        """Return the first users."""
        return listed(self.users[:3]) or "nobody"

    def meeting(self, users: IdArray) -> Meeting:
        """Count the users of values who are known here."""
        sides = "values", "table of users" if self.table else "groups"
        return meet(self._ids(users), self.users, name="user", sides=sides)

    def codes(self, users: IdArray) -> IntArray:
        """Return the position of each user's group, -1 without one."""
        ids, (ours, theirs) = encode([self._ids(users), self.users], in_order=True)
        twice = np.bincount(theirs, minlength=len(ids))[ours] > 1
        if twice.any():
            user = shown(users[twice.argmax()])
            raise SchemaError(f"--users: {self.table} has user {user} in several rows; keep one.")
        of_id = np.full(len(ids), -1, np.int32)
        of_id[theirs] = self.group
        return of_id[ours]

    def _ids(self, users: IdArray) -> IdArray:
        """Return ids as they are compared."""
        if not self.table:
            return users
        texts = np.array(list(map(str, users.tolist())), object)
        if len(set(texts)) < len(texts):
            raise SchemaError(
                "a number and a text, such as 1 and '1', are two users here. Give all ids one type."
            )
        return texts

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
        return cls(by, names, as_ids(by, groups.index), groups.cat.codes.to_numpy().astype(np.int32))
