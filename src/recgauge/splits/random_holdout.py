"""Random hold-out, over all rows or inside each user's rows."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.splits import Assignment
from recgauge.splits._order import Shares, ranks_by


@dataclass(frozen=True)
class RandomRows(Shares):
    """Hold out a random share of all rows.

    Parameters
    ----------
    test_size : float
        Share of rows in test, in (0, 1); the count is rounded to the nearest whole number.
    validation_size : float
        Share of rows in validation, in [0, 1); 0 makes no validation part.
    cold_users, cold_items : {"drop", "keep"}
        See `Splitter`.

    Raises
    ------
    ConfigError
        If the shares leave nothing to train on.

    Notes
    -----
    Depends on the order of the rows, which is the publisher's.

    Examples
    --------
    >>> ratings = Interactions.from_ids([1, 1, 1, 2, 2, 2], [1, 2, 3, 1, 2, 3])
    >>> split = RandomRows(test_size=0.5).split(ratings, rng=np.random.default_rng(0))
    >>> len(split.train), len(split.test)
    (3, 3)
    """

    name: ClassVar[str] = "random"

    def assign(self, interactions: Interactions, *, rng: np.random.Generator) -> Assignment:
        """Return which rows are held out."""
        n_rows = len(interactions)
        return Assignment(*self._masks(rng.permutation(n_rows), n_rows))


@dataclass(frozen=True)
class RandomPerUser(Shares):
    """Hold out a random share of each user's rows.

    Parameters
    ----------
    test_size : float
        Share of a user's rows in test, in (0, 1); the count is rounded to the nearest whole number, half
        to even, so a user with few rows may have none.
    validation_size : float
        Share of a user's rows in validation, in [0, 1); 0 makes no validation part.
    cold_users, cold_items : {"drop", "keep"}
        See `Splitter`.

    Raises
    ------
    ConfigError
        If the shares leave nothing to train on.

    Notes
    -----
    Depends on the order of the rows, which is the publisher's.

    Examples
    --------
    >>> ratings = Interactions.from_ids([1, 1, 1, 1, 2, 2, 2, 2], [1, 2, 3, 4, 1, 2, 3, 4])
    >>> split = RandomPerUser(test_size=0.25).split(ratings, rng=np.random.default_rng(0))
    >>> split.test.user_counts().tolist()
    [1, 1]
    """

    name: ClassVar[str] = "random_per_user"

    def assign(self, interactions: Interactions, *, rng: np.random.Generator) -> Assignment:
        """Return which rows are held out."""
        draws = rng.random(len(interactions))
        position = ranks_by(interactions, (draws * 2**40).astype(np.int64), draws)
        counts = interactions.user_counts()
        return Assignment(*self._masks(position, counts[interactions.user]))
