"""Low ratings are dropped; with Binarise, the others become a plain yes: implicit feedback."""

from dataclasses import dataclass

import numpy as np

from recgauge.data.dataset import Dataset
from recgauge.data.interactions import Interactions
from recgauge.filters import Filter, RowFilter, with_values
from recgauge.utils.checks import BoolArray, check_real


@dataclass(frozen=True)
class MinRating(RowFilter):
    """Keep rows with a value of at least `rating`.

    Parameters
    ----------
    rating : float
        Lowest rating that stays, in the data set's scale.

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


@dataclass(frozen=True)
class Binarise(Filter):
    """Keep rows with a value of at least `rating`, as 1; drop the others; feedback becomes implicit.

    Rows below are dropped, not kept as 0: implicit feedback has no rows for what did not happen, and a row
    would make the item count as seen. Every held-out row is relevant afterwards.

    Parameters
    ----------
    rating : float
        Lowest rating that counts as a yes.

    Examples
    --------
    >>> from recgauge.datasets.demo import Demo
    >>> binary = Binarise(4).apply(Demo().load(), rng=np.random.default_rng(0))
    >>> binary.feedback, binary.relevant_from, float(binary.interactions.value.max())
    ('implicit', None, 1.0)
    """

    rating: float

    def __post_init__(self) -> None:
        check_real("Binarise: rating", self.rating, low=-np.inf, high=np.inf)

    @property
    def changes(self) -> str:
        """What happens to the values."""
        return "the others count as 1"

    def apply(self, dataset: Dataset, *, rng: np.random.Generator) -> Dataset:
        """Return the implicit data set."""
        kept = MinRating(self.rating).apply(dataset, rng=rng)
        ones = np.ones(len(kept.interactions), dtype=np.float32)
        return with_values(kept, ones, feedback="implicit", relevant_from=None)

    def __str__(self) -> str:
        return f"ratings below {self.rating:g}"
