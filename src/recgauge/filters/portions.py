"""A count or a share is chosen: of the most popular items, which are dropped, or of users drawn at random."""

from dataclasses import dataclass

import numpy as np

from recgauge.data.dataset import Dataset
from recgauge.data.interactions import Interactions
from recgauge.errors import ConfigError
from recgauge.filters import Filter, RowFilter
from recgauge.utils.checks import BoolArray


def check_amount(subject: str, amount: object) -> int | float:
    """Return a count (a whole number of at least 1) or a share (strictly between 0 and 1), or refuse it."""
    if isinstance(amount, int) and not isinstance(amount, bool) and amount >= 1:
        return amount
    if isinstance(amount, float) and 0 < amount < 1:
        return amount
    raise ConfigError(
        f"{subject} must be a count (a whole number >= 1) or a share (between 0 and 1), got {amount!r}."
    )


def count_of(amount: int | float, total: int) -> int:
    """Return how many of `total` an amount means; a share is rounded down."""
    # a hair of tolerance, so that 0.29 of 100 is 29 although the product is 28.999999999999996
    return amount if isinstance(amount, int) else int(total * amount + 1e-9)


def amount_text(amount: int | float, things: str) -> str:
    """Return an amount in words.

    Examples
    --------
    >>> amount_text(100, "items"), amount_text(0.01, "items")
    ('100 items', '1% of the items')
    """
    return f"{amount:,} {things}" if isinstance(amount, int) else f"{amount * 100:g}% of the {things}"


@dataclass(frozen=True)
class PopularItems(RowFilter):
    """Drop the items with the most rows.

    Parameters
    ----------
    top : int or float
        How many: a count (``100``), or a share of the items (``0.01``), rounded down.

    Notes
    -----
    Among items with equal counts the one whose id sorts first goes first, whatever the order of rows. A list
    of blockbusters is easy to get right and of little use; without them a model must know more.

    References
    ----------
    .. [1] P. Cremonesi, Y. Koren, R. Turrin, "Performance of recommender algorithms on top-N recommendation
       tasks", RecSys 2010 (without the short head, models change places).

    Examples
    --------
    >>> ratings = Interactions.from_ids(["a", "b", "a", "c"], [1, 1, 2, 3])
    >>> PopularItems(1).keep(ratings).tolist()
    [False, False, True, True]
    """

    top: int | float

    def __post_init__(self) -> None:
        check_amount("PopularItems: top", self.top)

    def keep(self, interactions: Interactions) -> BoolArray:
        """Return the mask of the rows that stay, shape (n,)."""
        counts = interactions.item_counts()
        n_dropped = count_of(self.top, int(np.count_nonzero(counts)))
        inside = np.ones(interactions.n_items, dtype=bool)
        inside[np.argsort(-counts, kind="stable")[:n_dropped]] = False
        return inside[interactions.item]

    def __str__(self) -> str:
        return f"the most popular {amount_text(self.top, 'items')}"


@dataclass(frozen=True)
class SampleUsers(Filter):
    """Keep the rows of users drawn at random, each with the same chance.

    Parameters
    ----------
    users : int or float
        How many: a count (``1000``), or a share of the users (``0.1``), rounded down.

    Raises
    ------
    ConfigError
        If `users` is neither a count nor a share; on application, if there are fewer users, or none is left.

    Notes
    -----
    The draw depends on the run's seed and on who the users are, not on the order of rows.

    Examples
    --------
    >>> from recgauge.datasets.demo import Demo
    >>> SampleUsers(0.1).apply(Demo().load(), rng=np.random.default_rng(0)).interactions.n_users
    100
    """

    users: int | float

    def __post_init__(self) -> None:
        check_amount("SampleUsers: users", self.users)

    def apply(self, dataset: Dataset, *, rng: np.random.Generator) -> Dataset:
        """Return the data set of the drawn users."""
        rows = dataset.interactions
        present = np.flatnonzero(rows.user_counts())
        wanted = count_of(self.users, len(present))
        if not 1 <= wanted <= len(present):
            raise ConfigError(
                f"SampleUsers: users must draw from 1 to {len(present)} users, all that {dataset.name} has "
                f"here, got {self.users}. Choose another number."
            )
        drawn = np.zeros(rows.n_users, dtype=bool)
        drawn[rng.permutation(present)[:wanted]] = True
        return dataset.with_interactions(rows.take(drawn[rows.user]))

    def __str__(self) -> str:
        return f"users outside a random draw of {amount_text(self.users, 'users')}"
