"""Groups of users and items for segments: by activity, popularity, time, genre, or a column of a table."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recgauge.comparison.user_values import USER_COLUMNS
from recgauge.data.dataset import ItemFeatures
from recgauge.data.ids import IdArray
from recgauge.data.interactions import Interactions
from recgauge.errors import ConfigError, RecgaugeError, SchemaError, did_you_mean, listed
from recgauge.files.columns import Wanted
from recgauge.files.limits import Limits
from recgauge.files.opening import TableFile
from recgauge.files.stored import PARQUET, StoredTable, find_stored
from recgauge.utils.arrow import to_arrow, to_numpy
from recgauge.utils.checks import IntArray, LongArray, check_int, shown
from recgauge.utils.files import refuse_irregular

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

_DAY = 86_400  # seconds
_BATCH = 1 << 22  # each batch is looked up in a hash table that is made anew
_MOST_WORDS, _MOST_NUMBERS = 1_000, 1 << 20  # different ones: groups of words, numbers that are cut


def activity(train: Interactions) -> "pd.Series":
    """Return the training rows of each user, by user id; users without rows have 0.

    Examples
    --------
    >>> activity(Interactions.from_ids(["ann", "bob", "ann"], ["x", "x", "y"])).to_dict()
    {'ann': 2, 'bob': 1}
    """
    import pandas as pd

    return pd.Series(train.user_counts(), train.user_ids)


def item_counts(train: Interactions) -> "pd.Series":
    """Return the training rows of each item, by item id; items without rows have 0.

    Examples
    --------
    >>> item_counts(Interactions.from_ids(["ann", "bob", "ann"], ["x", "x", "y"])).to_dict()
    {'x': 2, 'y': 1}
    """
    import pandas as pd

    return pd.Series(train.item_counts(), train.item_ids)


def days_in_data(train: Interactions) -> "pd.Series":
    """Return the days from each user's first training row to the last of all training rows, by user id.

    Raises
    ------
    SchemaError
        If the rows have no time.

    Examples
    --------
    >>> rows = Interactions.from_ids(["ann", "bob", "ann"], ["x", "x", "y"], timestamp=[0, 86400, 172800])
    >>> days_in_data(rows).to_dict()
    {'ann': 2.0, 'bob': 1.0}
    """
    import pandas as pd

    if train.timestamp is None:
        raise SchemaError("age: the rows of this data set have no time, so a user's first row is not known.")
    first = np.full(train.n_users, np.iinfo(np.int64).max)
    np.minimum.at(first, train.user, train.timestamp)
    known = train.user_counts() > 0
    days = np.where(known, (int(train.timestamp.max()) - first) / _DAY, np.nan)
    return pd.Series(days, train.user_ids)


def held_popularity(train: Interactions, held: "pd.DataFrame") -> "pd.Series":
    """Return the mean number of training rows of the items that each user holds, by user id.

    Parameters
    ----------
    train : Interactions
    held : pandas.DataFrame
        Columns ``user`` and ``item``, such as the relevant test rows.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = Interactions.from_ids(["ann", "bob", "ann"], ["x", "x", "y"])
    >>> held = pd.DataFrame({"user": ["bob", "cid", "cid"], "item": ["y", "x", "y"]})
    >>> held_popularity(rows, held).to_dict()
    {'bob': 1.0, 'cid': 1.5}
    """
    counts = held["item"].map(item_counts(train)).fillna(0)
    means: pd.Series = counts.groupby(held["user"].to_numpy()).mean()
    return means


def taste(train: Interactions, features: ItemFeatures) -> "pd.Series":
    """Return the genre that each user prefers, by user id: the one most above its share in all rows.

    A training row counts in equal parts for all genres of its item. A user's genre is the one whose share in
    the user's rows exceeds its share in all rows by most; the first of equal ones. Users without rows of
    items with a genre have none.

    Examples
    --------
    >>> from scipy import sparse
    >>> genres = ItemFeatures(sparse.csr_array(np.array([[1, 0], [0, 1]], np.float32)), ("comedy", "horror"))
    >>> rows = Interactions.from_ids(["ann", "ann", "bob"], ["x", "y", "x"])
    >>> taste(rows, genres).to_dict()
    {'ann': 'horror', 'bob': 'comedy'}
    """
    import pandas as pd
    from scipy import sparse

    of_item = features.matrix.astype(np.float64)
    weight = np.asarray(of_item.sum(axis=1)).ravel()
    shares = sparse.diags_array(np.divide(1.0, weight, out=np.zeros_like(weight), where=weight > 0)) @ of_item
    pairs = (np.ones(len(train)), (train.user, train.item))
    rows = sparse.coo_array(pairs, shape=(train.n_users, train.n_items)).tocsr()
    table = np.asarray((rows @ shares).todense())
    total = table.sum(axis=1, keepdims=True)
    own = np.divide(table, total, out=np.zeros_like(table), where=total > 0)
    # sums in another order differ in the last digits, which must not decide between equal genres
    excess = np.round(own - table.sum(axis=0) / max(table.sum(), 1.0), 12)
    names = np.array(features.names, object)[excess.argmax(axis=1)]
    return pd.Series(np.where(total[:, 0] > 0, names, None), train.user_ids)


def cut_groups(values: Any, n_groups: int = 4) -> "pd.Series":
    """Cut numbers into groups of about equal size; equal numbers stay together.

    Parameters
    ----------
    values : pandas.Series, or mapping of user (or item) to number
    n_groups : int
        Fewer come out where many numbers are equal.

    Returns
    -------
    pandas.Series
        Categorical, rising; a group is named by its lowest and highest number. NaN stays without a group.

    Examples
    --------
    >>> cut_groups({"a": 20, "b": 21, "c": 40, "d": 700}, 2).to_dict()
    {'a': '20–21', 'b': '20–21', 'c': '40–700', 'd': '40–700'}
    """
    import pandas as pd

    check_int("n_groups", n_groups, minimum=1)
    series: pd.Series = pd.Series(values)
    known: pd.Series = series.dropna()
    distinct, of_value, counts = np.unique(known.to_numpy(), return_inverse=True, return_counts=True)
    names, code = cut_values(distinct, counts, n_groups)
    groups = pd.Categorical.from_codes(code[of_value], pd.Index(names), ordered=True)
    return pd.Series(groups, known.index).reindex(series.index)


def cut_values(distinct: Any, counts: LongArray, n_groups: int) -> tuple[list[str], LongArray]:
    """Return the names of groups of about equal size, and the group of each distinct number, which rise.

    Examples
    --------
    >>> cut_values(np.array([20, 21, 700]), np.array([1, 1, 2]), 2)
    (['20–21', '700'], array([0, 0, 1]))
    """
    if not len(distinct):
        return [], np.empty(0, np.int64)
    # the group of a number is that of the middle of those equal to it
    middle = np.cumsum(counts) - counts / 2
    group = np.minimum((middle / counts.sum() * n_groups).astype(np.int64), n_groups - 1)
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    ends = np.append(starts[1:], len(group)) - 1
    whole = bool((distinct == np.round(distinct)).all())
    bounds = zip(distinct[starts].tolist(), distinct[ends].tolist(), strict=True)
    names = [_range(low, high, whole) for low, high in bounds]
    order = list(dict.fromkeys(names))
    return order, np.array([order.index(name) for name in names])[
        np.cumsum(np.diff(group, prepend=-1) > 0) - 1
    ]


def extreme_users(values: Any, a: str, b: str, n: int = 3) -> tuple[list[Any], list[Any]]:
    """Return the users who gain most, and those who lose most, by `a` instead of `b`.

    Parameters
    ----------
    values : pandas.DataFrame
        A row per user id, a column per run; higher is better.
    a, b : str
        Runs.
    n : int
        At most so many each; equal ones in the order of their ids.

    Examples
    --------
    >>> import pandas as pd
    >>> extreme_users(pd.DataFrame({"new": [0.9, 0.1, 0.5], "old": [0.2, 0.4, 0.5]}), "new", "old")
    ([0], [1])
    """
    difference = (values[a] - values[b]).dropna().sort_index()
    change = difference.sort_values(kind="stable", ascending=False)
    loss = difference.sort_values(kind="stable")
    return change[change > 0].index[:n].tolist(), loss[loss < 0].index[:n].tolist()


def _range(low: float, high: float, whole: bool) -> str:
    texts = [f"{value:.0f}" if whole else f"{value:.3g}" for value in (low, high)]
    return texts[0] if texts[0] == texts[1] else "–".join(texts)


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
            source = pa.Table.from_pandas(_read_text(Path(address)), preserve_index=False)
            names = source.column_names
        user = next((name for name in USER_COLUMNS if name in names), None)
        if user is None:
            raise SchemaError(f"--users: {address} needs a column user_id; it has {listed(names)}.")
        return cls(address, source, user, tuple(name for name in names if name != user))

    @classmethod
    def of_frame(cls, frame: "pd.DataFrame") -> "UserTable":
        """Return columns by user id, which is the index."""
        import pyarrow as pa

        rows = frame.rename_axis("user_id").reset_index()
        source = pa.Table.from_pandas(rows, preserve_index=False)
        return cls("the table of users", source, "user_id", tuple(map(str, frame.columns)))

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
        found, numbers = pa.table({"value": pa.nulls(0), "n": pa.array([], pa.int64())}), False
        for batch in self.batches([by]):
            column = batch.column(by).drop_null()
            if pa.types.is_dictionary(column.type):
                column = column.cast(column.type.value_type)
            counts = pc.value_counts(column)
            rows = pa.table({"value": counts.field("values"), "n": counts.field("counts")})
            found = pa.concat_tables([found, rows], promote_options="permissive")
            found = found.group_by("value").aggregate([("n", "sum")]).rename_columns(["value", "n"])
            numbers = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
            if len(found) > (most := _MOST_NUMBERS if numbers else _MOST_WORDS):
                raise ConfigError(
                    f"{by}: {self.address} has more than {most:,} different values in it. Name a column "
                    "of groups."
                )
        if not len(found):
            raise ConfigError(f"{by}: the column is empty in {self.address}.")
        found = found.sort_by("value")
        distinct = found.column("value").combine_chunks()
        if numbers and len(found) > n_groups:
            names, codes = cut_values(to_numpy(distinct), to_numpy(found.column("n")), n_groups)
        else:
            names, codes = list(map(str, distinct.to_pylist())), np.arange(len(found))
        return UserGroups(self, by, tuple(names), distinct, codes.astype(np.int32))


def _read_text(path: Path) -> "pd.DataFrame":
    """Read a user's table of text within the limits of other files."""
    import pandas as pd

    try:
        refuse_irregular(path, "--users")
        file = TableFile(path, limits=Limits(adjustable=False))
        file.size()
        with file.open() as stream:
            first = stream.readline()
        file.limits.check("columns", max(map(first.count, (b",", b";", b"\t", b"|", b" "))) + 1, file)
        with file.open() as stream:
            return pd.read_csv(stream, sep=None, engine="python")
    except RecgaugeError:  # some are OSErrors and ValueErrors, too
        raise
    except (OSError, ValueError) as error:
        raise ConfigError(f"--users: {path} cannot be read as a table: {error}.") from error


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

    @classmethod
    def of_series(cls, by: str, groups: "pd.Series") -> "UserGroups":
        """Return groups by user id, in the order of a categorical series, else of their names."""
        import pandas as pd
        import pyarrow as pa

        if not isinstance(groups.dtype, pd.CategoricalDtype):
            groups = groups.astype("category")
        names = tuple(map(str, groups.cat.categories))
        texts = pd.Series(groups.cat.rename_categories(names).astype(object), groups.index)
        table = UserTable.of_frame(texts.to_frame(by))
        return cls(table, by, names, pa.array(names, pa.string()), np.arange(len(names), dtype=np.int32))
