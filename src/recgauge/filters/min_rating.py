"""Rows with a low rating are dropped."""

from dataclasses import dataclass

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.filters import RowFilter
from recgauge.utils.checks import BoolArray, check_real


@dataclass(frozen=True)
class MinRating(RowFilter):
    """Keep rows with a value of at least `rating`.

    Parameters
    ----------
    rating : float
        Lowest rating that stays, in the data set's scale.

    Raises
    ------
    ConfigError
        If `rating` is not a finite number.

    Examples
    --------
    >>> ratings = Interactions.from_ids(["a", "a", "b"], [1, 2, 1], [3.0, 4.0, 5.0])
    >>> MinRating(4).keep(ratings).tolist()
    [False, True, True]
    """

    rating: float

    def __post_init__(self) -> None:
        check_real("MinRating: rating", self.rating, low=-np.inf, high=np.inf)

    def keep(self, interactions: Interactions) -> BoolArray:
        """Return the mask of the rows that stay, shape (n,)."""
        return interactions.value >= self.rating

    def __str__(self) -> str:
        return f"ratings below {self.rating:g}"
