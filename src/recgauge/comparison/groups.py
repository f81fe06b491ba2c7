"""Groups of users and items for segments: by activity, popularity, time, genre, or a column of a table."""

from typing import TYPE_CHECKING, Any

import numpy as np

from recgauge.data.dataset import ItemFeatures
from recgauge.data.interactions import Interactions
from recgauge.errors import SchemaError
from recgauge.utils.checks import LongArray, check_int

if TYPE_CHECKING:
    import pandas as pd

_DAY = 86_400  # seconds


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
    is_active = train.user_counts() > 0
    days = np.where(is_active, (int(train.timestamp.max()) - first) / _DAY, np.nan)
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
    present: pd.Series = series.dropna()
    distinct, of_value, counts = np.unique(present.to_numpy(), return_inverse=True, return_counts=True)
    names, code = cut_values(distinct, counts, n_groups)
    groups = pd.Categorical.from_codes(code[of_value], pd.Index(names), ordered=True)
    return pd.Series(groups, present.index).reindex(series.index)


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
