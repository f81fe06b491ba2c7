"""Groups of users by the columns of a table that need not fit into memory, and runs compared inside them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from recgauge.comparison.groups import cut_values
from recgauge.comparison.inputs import USER_COLUMNS
from recgauge.comparison.run_segments import own_table
from recgauge.comparison.segments import GroupSums, Segments, base_of
from recgauge.comparison.user_values import UserValues
from recgauge.data.ids import IdArray
from recgauge.errors import ConfigError, SchemaError, did_you_mean, listed
from recgauge.files.columns import Wanted
from recgauge.files.stored import PARQUET, StoredTable, find_stored
from recgauge.utils.arrow import to_arrow, to_numpy
from recgauge.utils.checks import IntArray, shown

if TYPE_CHECKING:
    import pyarrow as pa

_BATCH = 1 << 22  # each batch is looked up in a hash table that is made anew
_MOST_WORDS, _MOST_NUMBERS = 1_000, 1 << 20  # different ones: groups of words, numbers that are cut


@dataclass(frozen=True, eq=False)
class UserTable:
    """A table of users, ``user_id`` and further columns, that is read some rows at a time."""

    address: str
    source: "StoredTable | pa.Table"
    user: str
    columns: tuple[str, ...]

    @classmethod
    def of(cls, address: str) -> "UserTable":
        """Find a table: Parquet in a file, folder, pattern or address, or a file of text.

        Raises
        ------
        RecgaugeError
            If there is none, or it has no column of users.
        """
        import pyarrow as pa

        source: StoredTable | pa.Table
        if "://" in address or Path(address).is_dir() or Path(address).suffix in PARQUET:
            source = find_stored(address, Wanted({}, ()), "--users")
            with source.open(0) as opened:
                names = opened.schema_arrow.names
        else:
            rows = own_table(Path(address))
            assert rows is not None
            source = pa.Table.from_pandas(rows.reset_index(), preserve_index=False)
            names = source.column_names
        user = next((name for name in USER_COLUMNS if name in names), None)
        if user is None:
            raise SchemaError(f"--users: {address} needs a column user_id; it has {listed(names)}.")
        return cls(address, source, user, tuple(name for name in names if name != user))

    def batches(self, columns: Sequence[str]) -> "Iterator[pa.Table]":
        """Yield columns of some rows at a time."""
        import pyarrow as pa

        if isinstance(self.source, pa.Table):
            yield self.source.select(columns)
            return
        for file in range(len(self.source.paths)):
            with self.source.open(file) as opened:
                if missing := [name for name in columns if name not in opened.schema_arrow.names]:
                    raise SchemaError(
                        f"{self.source.where(file)}: there is no column {missing[0]}, which other files have."
                    )
                for batch in opened.iter_batches(_BATCH, columns=list(columns)):
                    yield pa.Table.from_batches([batch]).select(columns)

    def groups(self, by: str, n_groups: int) -> "UserGroups":
        """Return the groups by a column: numbers cut where there are many different ones, words as they are.

        Raises
        ------
        ConfigError
            If there is no such column, or it makes too many groups.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        if by not in self.columns:
            raise ConfigError(
                f"--by: there is no column {by} in {self.address}. {did_you_mean(by, self.columns)}There are "
                f"{listed(self.columns) or 'none'}."
            )
        found: pa.Table | None = None
        for batch in self.batches([by]):
            column = batch.column(by).drop_null()
            if pa.types.is_dictionary(column.type):
                column = column.cast(column.type.value_type)
            counts = pc.value_counts(column)
            rows = pa.table({"value": counts.field("values"), "n": counts.field("counts")})
            if found is not None:
                rows = pa.concat_tables([found, rows], promote_options="permissive")
                rows = rows.group_by("value").aggregate([("n", "sum")]).rename_columns(["value", "n"])
            found = rows
            numbers = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
            if len(found) > (most := _MOST_NUMBERS if numbers else _MOST_WORDS):
                raise ConfigError(
                    f"--by {by}: {self.address} has more than {most:,} different values in it. Name a column "
                    "of groups."
                )
        if found is None or not len(found):
            raise SchemaError(f"--by {by}: the column is empty in {self.address}.")
        found = found.sort_by("value")
        distinct, kind = found.column("value").combine_chunks(), found.column("value").type
        if (pa.types.is_integer(kind) or pa.types.is_floating(kind)) and len(found) > n_groups:
            names, codes = cut_values(to_numpy(distinct), to_numpy(found.column("n")), n_groups)
        else:
            names, codes = list(map(str, distinct.to_pylist())), np.arange(len(found))
        return UserGroups(self, by, tuple(names), distinct, codes.astype(np.int32))


@dataclass(frozen=True, eq=False)
class UserGroups:
    """Groups by a column: their names, the distinct values of the column, and the group of each."""

    table: UserTable
    by: str
    names: tuple[str, ...]
    distinct: "pa.Array"
    code_of: IntArray

    def __str__(self) -> str:
        """Return the first users of the table."""
        first = next(self.table.batches([self.table.user]), None)
        return listed([] if first is None else first.column(0)[:3].to_pylist()) or "nobody"

    def codes(self, users: IdArray) -> IntArray:
        """Return the code of each user's group, -1 without one; ids are compared as text."""
        import pyarrow as pa
        import pyarrow.compute as pc

        ids = to_arrow(users).cast(pa.large_string())
        codes, n_rows = np.full(len(users), -1, np.int32), np.zeros(len(users), np.int64)
        for batch in self.table.batches([self.table.user, self.by]):
            places = pc.index_in(batch.column(0).cast(pa.large_string()), value_set=ids)
            rows, at = batch.filter(pc.is_valid(places)), to_numpy(places.drop_null())
            n_rows += np.bincount(at, minlength=len(users))
            if n_rows.max(initial=0) > 1:
                user = shown(users[n_rows.argmax()])
                raise SchemaError(f"--users: {self.table.address} has user {user} in several rows; keep one.")
            values = pc.fill_null(
                pc.index_in(rows.column(1).cast(self.distinct.type), value_set=self.distinct), -1
            )
            values = to_numpy(values)
            codes[at] = np.where(values < 0, -1, self.code_of[values])
        return codes


def segments_of(
    parts: Iterable[UserValues],
    groups: UserGroups,
    *,
    baseline: str | None = None,
    confidence: float = 0.95,
) -> list[Segments]:
    """Compare runs inside the groups of a column, part by part: by each metric as `compare_segments` does.

    Raises
    ------
    ConfigError
        If there is no such baseline.
    SchemaError
        If nobody has both a value and a group.
    """
    found: dict[str, tuple[GroupSums, bool]] = {}
    users: IdArray = np.empty(0, np.int64)
    for part in parts:
        users = part.users if len(part.users) else users
        codes = groups.codes(part.users)
        place = {metric: which for which, metric in enumerate(part.metrics)}
        for metric, which in place.items():
            if metric not in found:
                sums = GroupSums(part.runs, groups.names, base_of(baseline, part.runs))
                found[metric] = sums, part.higher_is_better[which]
            known = np.isfinite(part.values[which]).all(axis=0)
            found[metric][0].add(np.ascontiguousarray(part.values[which][:, known]), codes[known])
    results = []
    for metric, (sums, higher) in found.items():
        if not sums.n_grouped:
            raise SchemaError(
                f"{groups.by}: no user has both a value in every run and a group. Users look like "
                f"{listed(users[:3]) or 'nobody'}, those with a group like {groups}."
            )
        results.append(
            sums.compared(Segments(groups.by, metric.replace("_at_", "@"), (), (), {}, confidence, higher))
        )
    return results
