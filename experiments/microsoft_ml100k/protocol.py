"""Two rules of Microsoft's benchmark: its stratified splits, row for row, and what SAR counts a row for."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from recgauge.data.dataset import Dataset
from recgauge.data.interactions import Interactions
from recgauge.errors import SchemaError
from recgauge.filters import Filter, with_values
from recgauge.splits import Assignment
from recgauge.splits.shares import RandomPerUser
from recgauge.utils.checks import LongArray

SEED = 42
DAY = 86_400.0


@dataclass(frozen=True)
class Stratified(RandomPerUser):
    """Hold out a share of each user's or item's rows, with the draws of ``python_stratified_split``.

    Parameters
    ----------
    test_size : float
        Share of test rows; the number of training rows is rounded, half to even.
    by : {"user", "item"}
        Whose rows are shared out.
    draw : {"each", "all"}
        ``each``: every user's (item's) rows are shuffled from the same seed, as the library did at first;
        ``all``: one draw for each row, as it does now.

    Notes
    -----
    Depends on the order of the rows, which is the publisher's. The seed is the library's default, 42; that of
    the run does not matter.

    Examples
    --------
    >>> ratings = Interactions.from_ids([1, 1, 1, 1, 2, 2, 2, 2], [1, 2, 3, 4, 1, 2, 3, 4])
    >>> split = Stratified(test_size=0.25).split(ratings, rng=np.random.default_rng(0))
    >>> split.test.item.tolist()  # the last of [1, 3, 0, 2] for both
    [2, 2]
    """

    by: Literal["user", "item"] = "user"
    draw: Literal["each", "all"] = "each"

    name: ClassVar[str] = "microsoft_stratified"

    def assign(self, interactions: Interactions, *, rng: np.random.Generator) -> Assignment:  # noqa: ARG002
        """Return which rows are held out; `rng` is not used."""
        group = interactions.user if self.by == "user" else interactions.item
        counts = np.bincount(group)
        ends = np.cumsum(counts)
        # The legacy generator of numpy, whose stream is frozen: the library draws with it, through pandas.
        if self.draw == "all":
            order = np.lexsort((np.random.RandomState(SEED).random(len(group)), group))
        else:
            order = np.argsort(group, kind="stable")
            order = np.concatenate([_shuffled(rows) for rows in np.split(order, ends[:-1])])
        place = np.empty(len(group), np.int64)
        place[order] = np.arange(len(group)) - np.repeat(ends - counts, counts)
        return Assignment(test=place >= np.rint((1 - self.test_size) * counts)[group])


def _shuffled(rows: LongArray) -> LongArray:
    return rows[np.random.RandomState(SEED).permutation(len(rows))]


@dataclass(frozen=True)
class TimeDecay(Filter):
    """Count a row for its rating, halved with every `half_life` days that it is older than the last row.

    SAR's affinity of a user to an item. The library counts from the last training row instead, which
    multiplies all values alike and changes no list. Every held-out row is relevant then.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from recgauge.datasets.demo import Demo
    >>> ratings = Interactions.from_ids(["a", "b"], ["x", "x"], [4.0, 4.0], [0, 30 * 86_400])
    >>> few = replace(Demo().load(), interactions=ratings, item_titles=None, item_features=None)
    >>> TimeDecay().apply(few, rng=np.random.default_rng(0)).interactions.value.tolist()
    [2.0, 4.0]
    """

    half_life: float = 30.0

    @property
    def changes(self) -> str:
        """What happens to the values."""
        return f"ratings are halved every {self.half_life:g} days before the last"

    def apply(self, dataset: Dataset, *, rng: np.random.Generator) -> Dataset:  # noqa: ARG002 - contract
        """Return the data set with faded ratings.

        Raises
        ------
        SchemaError
            If rows have no times.
        """
        rows = dataset.interactions
        if rows.timestamp is None:
            raise SchemaError("TimeDecay: rows need times. Choose a data set that has them.")
        age = (rows.timestamp.max() - rows.timestamp) / DAY
        faded = rows.value * np.exp2(-age / self.half_life)
        return with_values(dataset, faded, implicit=True)

    def __str__(self) -> str:
        return "no row"
