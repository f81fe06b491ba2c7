"""Most popular items first."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from recgauge.interactions import Interactions
from recgauge.models import FactorModel, Factors


@dataclass(eq=False)
class Popularity(FactorModel):
    """Score an item by its number of training rows, the same for every user.

    The baseline that every other model must beat. Counts are exact in float32 up to 16,777,216 rows.

    Examples
    --------
    >>> train = Interactions.from_ids(["a", "b", "b"], [1, 1, 2])
    >>> Popularity().fit(train, rng=np.random.default_rng(0)).score(np.array([0], np.int32)).tolist()
    [[2.0, 1.0]]
    """

    def fit(self, train: Interactions, *, rng: np.random.Generator) -> Self:  # noqa: ARG002 - contract
        """Count the training rows of each item."""
        ones = np.ones((train.n_users, 1), dtype=np.float32)
        self._factors = Factors(ones, train.item_counts().astype(np.float32)[:, None])
        return self

    def fold_in(self, histories: Interactions) -> Self:  # noqa: ARG002 - contract
        """Return self: all users are served alike, and counts stay those of the training rows."""
        return self
