"""The contract of models that predict ratings, and what all of them know of their training rows."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.errors import NotFittedError, SchemaError
from recgauge.utils.checks import BoolArray, FloatArray, IntArray


def not_fitted(model: object) -> NotFittedError:
    """Return the error for scores asked of a model that has not been fitted."""
    name = type(model).__name__
    return NotFittedError(f"{name}: fit(train, rng=...) must run before scores can be requested.")


@dataclass(frozen=True, slots=True, eq=False)
class KnownRatings:
    """What any model knows of its training ratings: their mean, and who and what has one.

    `mean`, of all of them, is the prediction for an unknown user and item; `users`, shape (n_users,), and
    `items`, shape (n_items,), are True where there is a training row.
    """

    mean: float
    users: BoolArray
    items: BoolArray

    @classmethod
    def of(cls, train: Interactions) -> "KnownRatings":
        """Summarise the training rows; SchemaError if there is none."""
        if len(train) == 0:
            raise SchemaError("Training: a rating predictor needs at least one rating, got none.")
        mean = float(train.value.mean(dtype=np.float64))
        return cls(mean, train.user_counts() > 0, train.item_counts() > 0)

    def both(self, users: IntArray, items: IntArray) -> BoolArray:
        """Return True for pairs whose user and item have training rows, shape (n,)."""
        pairs: BoolArray = self.users[users] & self.items[items]
        return pairs

    def with_users_of(self, histories: Interactions) -> "KnownRatings":
        """Return the same summary with the users of fold-in rows as known users."""
        return replace(self, users=self.users | (histories.user_counts() > 0))


class RatingPredictor(ABC):
    """Predicts the rating that a user would give to an item, on the scale of the training ratings.

    A model may be a `Recommender` too: then its scores are its predictions before clipping. `fit` stores
    ``_known``, the summary of the training rows.
    """

    _known: KnownRatings | None = None

    @abstractmethod
    def fit(self, train: Interactions, *, rng: np.random.Generator) -> Self:
        """Learn from the ratings in `train` and return self; see `Recommender.fit`."""

    @abstractmethod
    def predict(self, users: IntArray, items: IntArray) -> FloatArray:
        """Return the predicted ratings, not clipped to the scale.

        Parameters
        ----------
        users, items : ndarray of int32, shape (n,)
            Codes of the pairs to predict.

        Returns
        -------
        ndarray of float32, shape (n,)
            NaN where the model has nothing to go by; the mean of the training ratings is used there.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """

    def known(self) -> KnownRatings:
        """Return the summary of the training rows; NotFittedError before `fit`."""
        if self._known is None:
            raise not_fitted(self)
        return self._known
