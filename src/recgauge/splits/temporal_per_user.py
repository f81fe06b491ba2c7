"""The last share of each user's rows, by time, is held out."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.splits import Assignment
from recgauge.splits._order import ByTime, Shares, latest_first


@dataclass(frozen=True)
class TemporalPerUser(ByTime, Shares):
    """Hold out the last share of each user's rows by time.

    Parameters
    ----------
    test_size : float
        Share of a user's rows in test, in (0, 1); the count is rounded to the nearest whole number, half
        to even, so a user with few rows may have none.
    validation_size : float
        Share of a user's rows in validation, in [0, 1), those right before the test rows; 0 makes no
        validation part.
    ties : str
        Which of a user's rows of one time counts as the latest, see `ByTime`; default ``fixed_random``.
    cold_users, cold_items : {"drop", "keep"}
        See `Splitter`.

    Raises
    ------
    ConfigError
        If the shares leave nothing to train on.
    SchemaError
        If the data have no timestamps.

    Notes
    -----
    Does not depend on the order of the rows if no (user, item) pair repeats, except with ``ties="row_order"``
    and its reverse. Rows of other users may be later than a user's test rows.

    Examples
    --------
    >>> ratings = Interactions.from_ids([1, 1, 1, 1], [1, 2, 3, 4], None, [30, 10, 20, 40])
    >>> split = TemporalPerUser(test_size=0.5).split(ratings, rng=np.random.default_rng(0))
    >>> split.test.item_ids[split.test.item].tolist()
    [1, 4]
    """

    name: ClassVar[str] = "temporal_per_user"
    temporal: ClassVar[bool] = True

    def assign(self, interactions: Interactions, *, rng: np.random.Generator) -> Assignment:
        """Return which rows are held out; chance is involved with ``ties="random"`` alone."""
        rank = latest_first(interactions, "TemporalPerUser", self.ties, rng)
        return Assignment(*self._masks(rank, interactions.user_counts()[interactions.user]))
