"""The contracts of models. Models learn and score; they never mask, rank, download, log or read config."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Self

import numpy as np

from recgauge._checks import FloatArray, IntArray
from recgauge.errors import ModelError, NotFittedError
from recgauge.interactions import Interactions


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


def not_fitted(model: object) -> NotFittedError:
    """Return the error for scores asked of a model that has not been fitted."""
    name = type(model).__name__
    return NotFittedError(f"{name}: fit(train, rng=...) must run before scores can be asked for.")


class FactorModel(Recommender):
    """A recommender that keeps `Factors`; subclasses only write `fit`, which stores ``_factors``."""

    _factors: Factors | None = None

    def factors(self) -> Factors:
        """Return the learned factors."""
        if self._factors is None:
            raise not_fitted(self)
        return self._factors

    def score(self, users: IntArray) -> FloatArray:
        """Return the products of the users' factors with all items', shape (b, n_items) float32."""
        factors = self.factors()
        return factors.user[users] @ factors.item.T
