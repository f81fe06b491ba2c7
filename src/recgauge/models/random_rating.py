"""Random ratings: what predicting ratings is worth by chance alone."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.special import ndtri

from recgauge.data.interactions import Interactions
from recgauge.models import KnownRatings, RatingPredictor, Recommender, not_fitted
from recgauge.models.random import pair_bits
from recgauge.utils.checks import FloatArray, IntArray


@dataclass(eq=False)
class RandomRating(Recommender, RatingPredictor):
    """Predict a number drawn from the normal distribution of the training ratings.

    Mean and standard deviation are those of all training ratings (divided by their number, the
    maximum-likelihood estimate). The draw depends only on the run's seed and the codes of user and item, not
    on the order of rows. As a recommender it ranks items by these numbers, which is chance, too.

    Notes
    -----
    The row "Random" in the benchmark table of Surprise, there ``NormalPredictor`` [1]_: RMSE 1.518 and MAE
    1.219 on MovieLens 100K. The pair's hash, as a number in (0, 1), goes through the inverse of the
    normal distribution function.

    References
    ----------
    .. [1] N. Hug, "Surprise: a Python library for recommender systems", Journal of Open Source Software
       5(52), 2020.

    Examples
    --------
    >>> train = Interactions.from_ids(["a", "a", "b"], ["x", "y", "x"], [5.0, 3.0, 4.0])
    >>> model = RandomRating().fit(train, rng=np.random.default_rng(0))
    >>> users, items = np.array([0, 1], np.int32), np.array([1, 1], np.int32)
    >>> bool((model.predict(users[1:], items[1:]) == model.predict(users, items)[1:]).all())
    True
    """

    def __post_init__(self) -> None:
        self._key: np.uint64 | None = None
        self._spread = 0.0
        self._n_items = 0

    def fit(self, train: Interactions, *, rng: np.random.Generator) -> Self:
        """Measure mean and spread of the ratings and draw the key of the hash."""
        self._known = KnownRatings.of(train)
        self._spread = float(train.value.std(dtype=np.float64))
        self._key = rng.integers(2**64, dtype=np.uint64)
        self._n_items = train.n_items
        return self

    def predict(self, users: IntArray, items: IntArray) -> FloatArray:
        """Return the pairs' draws, shape (n,) float32."""
        if self._key is None:
            raise not_fitted(self)
        # 52 bits and a half: never 0 or 1, where the inverse is infinite
        uniform = ((pair_bits(self._key, users, items) >> np.uint64(12)) + 0.5) * 2.0**-52
        drawn: FloatArray = (self.training().mean + self._spread * ndtri(uniform)).astype(np.float32)
        return drawn

    def score(self, users: IntArray) -> FloatArray:
        """Return the draws of all items, shape (b, n_items) float32."""
        return self.predict(users[:, None], np.arange(self._n_items, dtype=np.int32)[None, :])
