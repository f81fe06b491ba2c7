"""The contracts of models. Models learn and score; they never mask, rank, download, log or read config."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, Self, runtime_checkable

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.engine import ItemWeights
from recgauge.errors import ModelError, NotFittedError, SchemaError
from recgauge.utils.checks import BoolArray, FloatArray, IntArray
from recgauge.utils.lazy import lazy_names

if TYPE_CHECKING:
    from recgauge.models.bias import Bias as Bias
    from recgauge.models.biased_mf import BiasedMF as BiasedMF
    from recgauge.models.popularity import Popularity as Popularity
    from recgauge.models.random import Random as Random
    from recgauge.models.random_rating import RandomRating as RandomRating
    from recgauge.models.svd import SVD as SVD
else:
    __getattr__, __dir__ = lazy_names(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class Factors:
    """A model whose score is the inner product of a user's and an item's factors.

    Parameters
    ----------
    user : ndarray of float32, shape (n_users, d)
    item : ndarray of float32, shape (n_items, d)
        Biases are folded in as extra columns.
    """

    user: FloatArray
    item: FloatArray

    def __post_init__(self) -> None:
        if self.user.ndim != 2 or self.item.ndim != 2 or self.user.shape[1] != self.item.shape[1]:
            raise ModelError(
                "Factors: user and item must be matrices with the same number of columns, "
                f"got {self.user.shape} and {self.item.shape}."
            )
        for name in ("user", "item"):
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), dtype=np.float32))


class Recommender(ABC):
    """Scores items for users; a higher score is a better recommendation.

    Classes are dataclasses of their parameters; what `fit` learns is kept in private attributes.
    """

    @abstractmethod
    def fit(self, train: Interactions, *, rng: np.random.Generator) -> Self:
        """Learn from `train` and return self; `rng` is the only source of chance.

        Raises
        ------
        FitError
            If the parameters do not fit the data or training diverges.
        """

    @abstractmethod
    def score(self, users: IntArray) -> FloatArray:
        """Return the scores of all items.

        Parameters
        ----------
        users : ndarray of int32, shape (b,)
            User codes.

        Returns
        -------
        ndarray of float32, shape (b, n_items)

        Raises
        ------
        NotFittedError
            Before `fit`.
        """

    def factors(self) -> Factors | None:
        """Return the factors whose product gives the scores, or None if the model has none."""
        return None

    def item_weights(self) -> ItemWeights | None:
        """Return the item weights whose sums give the scores, or None if the model has none."""
        return None


@runtime_checkable
class FoldsIn(Protocol):
    """A model that can serve users whom it was not trained on, by rows that it is given after training."""

    def fold_in(self, histories: Interactions) -> Self:
        """Learn users from their rows, leave everything else as it was trained, and return self.

        Parameters
        ----------
        histories : Interactions
            Rows of users without a training row, over the ids of the training rows.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        ...


def not_fitted(model: object) -> NotFittedError:
    """Return the error for scores asked of a model that has not been fitted."""
    name = type(model).__name__
    return NotFittedError(f"{name}: fit(train, rng=...) must run before scores can be requested.")


class FactorModel(Recommender):
    """A recommender that keeps `Factors`; subclasses only write `fit`, which stores ``_factors``."""

    _factors: Factors | None = None

    def factors(self) -> Factors:
        """Return the learned factors."""
        if self._factors is None:
            raise not_fitted(self)
        return self._factors

    def score(self, users: IntArray) -> FloatArray:
        """Return the products of the users' factors with all items', shape (b, n_items) float32.

        Products are summed in float64, so that a score does not depend on the other users in the call.
        """
        factors = self.factors()
        scores = factors.user[users].astype(np.float64) @ factors.item.T.astype(np.float64)
        return scores.astype(np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class KnownRatings:
    """What any model knows of its training ratings: their mean, and who and what has one.

    Parameters
    ----------
    mean : float
        Mean of all training ratings: the prediction for an unknown user and item.
    users : ndarray of bool, shape (n_users,)
        True for users with a training row.
    items : ndarray of bool, shape (n_items,)
        True for items with a training row.
    """

    mean: float
    users: BoolArray
    items: BoolArray

    @classmethod
    def of(cls, train: Interactions) -> "KnownRatings":
        """Summarise the training rows.

        Raises
        ------
        SchemaError
            If there is no row.
        """
        if len(train) == 0:
            raise SchemaError("Training: a rating predictor needs at least one rating, got none.")
        mean = float(train.value.mean(dtype=np.float64))
        return cls(mean, train.user_counts() > 0, train.item_counts() > 0)

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
        """Learn from the ratings in `train` and return self; `rng` is the only source of chance.

        Raises
        ------
        FitError
            If the parameters do not fit the data or training diverges.
        """

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
        """Return the summary of the training rows.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        if self._known is None:
            raise not_fitted(self)
        return self._known
