"""Ratings weighed by a value of the user: its mean, its number of rows, or one from a table."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from recgauge.data.dataset import Dataset
from recgauge.data.ids import IdArray
from recgauge.data.interactions import Interactions
from recgauge.data.meeting import meet, require_meeting
from recgauge.errors import ConfigError, SchemaError
from recgauge.files.tables import read_table
from recgauge.filters import Filter, with_values
from recgauge.utils.checks import DoubleArray, LongArray, Real, shown

Method = Literal["divide_by_mean", "subtract_mean", "divide_by_rows", "table"]
METHODS: dict[Method, str] = {
    "divide_by_mean": "ratings are divided by their user's mean",
    "subtract_mean": "their user's mean is subtracted from ratings",
    "divide_by_rows": "ratings are divided by the number of their user's rows",
    "table": "ratings are multiplied by their user's weight",
}


@dataclass(frozen=True)
class UserWeights(Filter):
    """Weigh each rating by a value of its user. No row is dropped.

    Parameters
    ----------
    method : {"divide_by_mean", "subtract_mean", "divide_by_rows", "table"}
        ``divide_by_mean`` and ``subtract_mean`` undo that some users rate everything high; after
        ``divide_by_rows`` users weigh the same in any sum, however active they are; ``table`` multiplies by
        weights from a file, such as what a customer is worth.
    path : str or None
        For ``table``: a file with columns ``user`` and ``weight``, read as those of ``dataset=table``;
        weights are > 0. Every user of the data must be in it.
    relevant_from : float or None
        Lowest weighted rating that makes a held-out item relevant, such as 1 after ``divide_by_mean`` and 0
        after ``subtract_mean``; None: every row does. A threshold on the old scale would mean nothing.

    Raises
    ------
    ConfigError
        If `method` is unknown, or `path` is set without ``table`` or is missing with it.

    Notes
    -----
    Means and numbers are those of all rows, those that will be held out included. Lists are judged by the
    weighted ratings, and rating errors are on their scale: compare them with no others.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from recgauge.datasets.demo import Demo
    >>> ratings = Interactions.from_ids(["a", "a", "b"], [1, 2, 1], [2.0, 4.0, 5.0])
    >>> few = replace(Demo().load(), interactions=ratings, item_titles=None, item_features=None)
    >>> weighted = UserWeights("subtract_mean").apply(few, rng=np.random.default_rng(0))
    >>> weighted.interactions.value.tolist()
    [-1.0, 1.0, 0.0]
    """

    method: Method
    path: str | None = None
    relevant_from: Real | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.method == "table" and not self.path:
            raise ConfigError("UserWeights: method table needs path, a file with user and weight.")
        if self.method != "table" and self.path is not None:
            raise ConfigError(
                f"UserWeights: path belongs to method table, got it with {self.method}. Leave one out."
            )

    @property
    def changes(self) -> str:
        """What happens to the values."""
        return METHODS[self.method] + (f" in {self.path}" if self.path else "")

    def apply(self, dataset: Dataset, *, rng: np.random.Generator) -> Dataset:  # noqa: ARG002 - contract
        """Return the data set with weighted ratings.

        Raises
        ------
        SchemaError
            If a user's mean is not above 0 where ratings are divided by it, or a user has no weight.
        """
        rows, counts = dataset.interactions, dataset.interactions.user_counts()
        value = rows.value.astype(np.float64)
        match self.method:
            case "divide_by_mean":
                value /= _positive(rows, counts, _means(rows, counts))[rows.user]
            case "subtract_mean":
                value -= _means(rows, counts)[rows.user]
            case "divide_by_rows":
                value /= counts[rows.user]
            case _:
                value *= _read_weights(str(self.path), rows.user_ids)[rows.user]
        return replace(with_values(dataset, value), relevant_from=self.relevant_from, scale=None)

    def __str__(self) -> str:
        return "no row"


def _means(rows: Interactions, counts: LongArray) -> DoubleArray:
    return np.bincount(rows.user, rows.value, minlength=rows.n_users) / np.maximum(counts, 1)


def _positive(rows: Interactions, counts: LongArray, means: DoubleArray) -> DoubleArray:
    wrong = np.flatnonzero((means <= 0) & (counts > 0))
    if len(wrong):
        raise SchemaError(
            f"UserWeights: divide_by_mean needs users whose mean is above 0, got {means[wrong[0]]:g} for "
            f"user {shown(rows.user_ids[wrong[0]])} and {len(wrong) - 1} more. Use subtract_mean."
        )
    return means


def _read_weights(path: str, user_ids: IdArray) -> DoubleArray:
    """Return the weight of each user (n_users,), compared as text; others of the file are passed over."""
    table = read_table(path, "filters.user_weights.path")
    users, values = table.ids(table.key("user")).tolist(), table.numbers("weight")
    weights: dict[str, float] = {}
    for row, (user, weight) in enumerate(zip(users, values.tolist(), strict=True)):
        if not weight > 0:  # nor where it is missing
            raise SchemaError(
                f"UserWeights: {table.place(row)}: weight must be a number above 0, got {weight:g}. "
                "Correct the file."
            )
        if str(user) in weights:
            raise SchemaError(
                f"UserWeights: {table.place(row)}: each user must have one weight, got a second one for "
                f"{shown(user)}. Remove it."
            )
        weights[str(user)] = weight
    texts = (np.array([*weights], object), np.array([str(user) for user in user_ids.tolist()], object))
    meeting = meet(*texts, name="user", sides=("weights", "data set"))
    require_meeting(meeting, subject=f"UserWeights: {path}")
    lacking = [user for user in user_ids.tolist() if str(user) not in weights]
    if lacking:
        raise SchemaError(
            f"UserWeights: {path} must have a weight for every user, got none for {shown(lacking[0])} and "
            f"{len(lacking) - 1} more. Add them, or drop these users first."
        )
    return np.array([weights[str(user)] for user in user_ids.tolist()])
