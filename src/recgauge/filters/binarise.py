"""Ratings become a plain yes: explicit feedback is turned into implicit."""

from dataclasses import dataclass

import numpy as np

from recgauge.data.dataset import Dataset
from recgauge.filters import Filter
from recgauge.filters._values import with_values
from recgauge.filters.min_rating import MinRating
from recgauge.utils.checks import check_real


@dataclass(frozen=True)
class Binarise(Filter):
    """Keep rows with a value of at least `rating`, as 1; drop the others; feedback becomes implicit.

    Rows below are dropped, not kept as 0: implicit feedback has no rows for what did not happen, and a row
    would make the item count as seen. Every held-out row is relevant afterwards.

    Parameters
    ----------
    rating : float
        Lowest rating that counts as a yes.

    Raises
    ------
    ConfigError
        If `rating` is not a finite number.

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
