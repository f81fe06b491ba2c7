"""Some users are drawn, and only their rows stay."""

from dataclasses import dataclass

import numpy as np

from recgauge.data.dataset import Dataset
from recgauge.errors import ConfigError
from recgauge.filters import Filter
from recgauge.filters._values import amount_text, check_amount, count_of


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
