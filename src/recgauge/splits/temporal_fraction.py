"""The latest share of all rows is held out: one cut in time for everybody."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.splits import Assignment
from recgauge.splits._order import Shares, times_of


@dataclass(frozen=True)
class TemporalFraction(Shares):
    """Hold out the latest share of all rows: train ends before validation, validation before test.

    Parameters
    ----------
    test_size : float
        Least share of rows in test, in (0, 1): the test part begins with the second of the first row of the
        latest share, and all rows of that second are in it.
    validation_size : float
        Least share of rows in validation, in [0, 1), cut likewise; 0 makes no validation part.
    cold_users, cold_items : {"drop", "keep"}
        See `Splitter`. Many users and items have no row before the cut.

    Raises
    ------
    ConfigError
        If the shares leave nothing to train on.
    SchemaError
        If the data have no timestamps.

    Notes
    -----
    Rows of one second are never separated, so neither the order of the rows nor chance matters.

    Examples
    --------
    >>> ratings = Interactions.from_ids([1, 1, 2, 2], [1, 2, 1, 3], None, [10, 40, 20, 30])
    >>> split = TemporalFraction(test_size=0.25).split(ratings, rng=np.random.default_rng(0))
    >>> split.train.timestamp.tolist(), split.test.timestamp.tolist()
    ([10, 20, 30], [40])
    """

    name: ClassVar[str] = "temporal_fraction"
    temporal: ClassVar[bool] = True

    def assign(self, interactions: Interactions, *, rng: np.random.Generator) -> Assignment:  # noqa: ARG002
        """Return which rows are held out; no chance is involved."""
        times = times_of(interactions, "TemporalFraction")
        n_rows = len(times)
        n_test = round(n_rows * self.test_size)
        if n_test == 0:
            return Assignment(np.zeros(n_rows, dtype=bool))
        cut = n_rows - n_test
        in_test = times >= np.partition(times, cut)[cut]
        if self.validation_size == 0.0:
            return Assignment(in_test)
        earlier = times[~in_test]
        n_validation = min(round(n_rows * self.validation_size), len(earlier))
        if n_validation == 0:
            return Assignment(in_test, np.zeros(n_rows, dtype=bool))
        cut = len(earlier) - n_validation
        return Assignment(in_test, ~in_test & (times >= np.partition(earlier, cut)[cut]))
