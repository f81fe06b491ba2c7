"""The contracts of models. Models learn and score; they never mask, rank, download, log or read config."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol, Self, runtime_checkable

import numpy as np
from scipy import sparse

from recgauge.candidates import CandidateItems
from recgauge.data.interactions import Interactions
from recgauge.data.lists import TopK
from recgauge.engine import ItemWeights
from recgauge.errors import FitError, ModelError, NotFittedError, SchemaError
from recgauge.utils.checks import BoolArray, Checked, FloatArray, IntArray
from recgauge.utils.lazy import lazy_names
from recgauge.utils.progress import Progress
from recgauge.utils.resources import free_memory, in_units

if TYPE_CHECKING:
    from recgauge.models.bias import Bias as Bias
    from recgauge.models.biased_mf import BiasedMF as BiasedMF
    from recgauge.models.bpr import BPR as BPR
    from recgauge.models.ease import EASE as EASE
    from recgauge.models.ials import IALS as IALS
    from recgauge.models.isolated import Isolated as Isolated
    from recgauge.models.isolated import LensKit as LensKit
    from recgauge.models.isolated import RecBole as RecBole
    from recgauge.models.isolated import RecTools as RecTools
    from recgauge.models.isolated import RecToolsTransformer as RecToolsTransformer
    from recgauge.models.item_knn import ItemKNN as ItemKNN
    from recgauge.models.p3alpha import P3alpha as P3alpha
    from recgauge.models.popularity import Popularity as Popularity
    from recgauge.models.random import Random as Random
    from recgauge.models.random_rating import RandomRating as RandomRating
    from recgauge.models.rating_knn import RatingKNN as RatingKNN
    from recgauge.models.recorded import Recorded as Recorded
    from recgauge.models.rp3beta import RP3beta as RP3beta
    from recgauge.models.saved import SavedModel as SavedModel
    from recgauge.models.sequential_rules import SequentialRules as SequentialRules
    from recgauge.models.session_knn import SessionKNN as SessionKNN
    from recgauge.models.slim import SLIM as SLIM
    from recgauge.models.svd import SVD as SVD
    from recgauge.models.svd_pp import SVDpp as SVDpp
    from recgauge.models.user_knn import UserKNN as UserKNN
else:
    __getattr__, __dir__ = lazy_names(__name__)

_NUMBERS_AT_A_TIME = 1 << 23  # of weights, 64 MB in float64
_ROWS_AT_A_TIME = 1 << 16


Values = Literal["rating", "binary"]
"""What a training row counts: its rating, or 1."""


def not_fitted(model: object) -> NotFittedError:
    """Return the error for scores asked of a model that has not been fitted."""
    name = type(model).__name__
    return NotFittedError(f"{name}: fit(train, rng=...) must run before scores can be requested.")


def check_memory(model: str, contents: str, n_bytes: int, remedy: str) -> None:
    """Refuse work of a model if `what` takes more memory than there is; `remedy`: what to do."""
    free = free_memory()
    if free is not None and n_bytes > free:
        raise FitError(
            f"{model}: {contents} need {n_bytes:,} bytes ({in_units(n_bytes)}) of memory, "
            f"{in_units(free)} can be had. {remedy}"
        )


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


class Recommender(Checked, ABC):
    """Scores items for users; a higher score is a better recommendation.

    Classes are dataclasses of their parameters, and raise ConfigError if one is not valid; what `fit` learns
    is kept in private attributes: numbers, texts, arrays, sparse arrays, `Factors`, `ItemWeights` or
    `KnownRatings`, so that it can be saved. A model whose training takes long may take ``progress: Progress |
    None = None`` in `fit` and report to it.
    """

    @abstractmethod
    def fit(self, train: Interactions, *, rng: np.random.Generator) -> Self:
        """Learn from `train` and return self; `rng` is the only source of chance.

        Raises
        ------
        SchemaError
            If there is no row, and the model needs one.
        FitError
            If the parameters do not fit the data, memory is short, or training diverges.
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

    def check_ready(self) -> None:
        """Check that `fit` can begin here; called before any data are read. Nothing is checked by default.

        Raises
        ------
        ConfigError
            If something is not installed, with the command that installs it, or a setting cannot be used.
        MissingDataError
            If a file that a setting names is not there.
        """
        return

    def factors(self) -> Factors | None:
        """Return the factors whose product gives the scores, or None if the model has none."""
        return None

    def item_weights(self) -> ItemWeights | None:
        """Return the item weights whose sums give the scores, or None if the model has none."""
        return None


class RatingPredictor(Checked, ABC):
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

    def training(self) -> KnownRatings:
        """Return the summary of the training rows; NotFittedError before `fit`."""
        if self._known is None:
            raise not_fitted(self)
        return self._known


@runtime_checkable
class GivesLists(Protocol):
    """A model that gives lists rather than scores of all items: recorded ones, or another program's."""

    def lists(self, users: IntArray, k: int, candidates: CandidateItems) -> TopK:
        """Return the first `k` candidates of the users' lists; -1 pads short ones. Raises NotFittedError."""
        ...


@runtime_checkable
class KeepsNeighbours(Protocol):
    """A model of the k nearest users or items of each.

    `tied_neighbours`: the share of those of whom one more is exactly as near as the last that is kept.
    """

    tied_neighbours: float


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


@runtime_checkable
class TakesHistories(Protocol):
    """A model that answers for any history: rows that it is given when it makes lists, oldest first.

    `fit` is given the training rows in the same order: of each user the oldest first, as the split orders
    rows of one time.
    """

    @property
    def uses_order(self) -> bool:
        """Whether that order can change a score; such a model is refused where nothing orders the rows."""
        ...

    def with_histories(self, rows: Interactions) -> Self:
        """Return the fitted model with these rows as its users' histories, in place of those it has.

        Parameters
        ----------
        rows : Interactions
            Over the item ids of the training rows. Users are those who are asked for, whose codes `score`
            takes; they need not be users of the training rows.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        ...


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
        return products(self.factors(), users)


class FactorRatings(FactorModel, RatingPredictor):
    """A rating predictor that keeps `Factors`, whose products are its predictions."""

    rates_unknown: ClassVar[bool] = True
    """Whether it predicts for users and items without training rows; else NaN stands there."""

    def predict(self, users: IntArray, items: IntArray) -> FloatArray:
        """Return the predicted ratings, shape (n,) float32."""
        factors = self.factors()
        predicted = np.empty(len(users), np.float32)
        # A block at a time: all rows' factors at once would take 800 bytes a row at 100 factors.
        for start in range(0, len(users), _ROWS_AT_A_TIME):
            rows = slice(start, start + _ROWS_AT_A_TIME)
            predicted[rows] = np.einsum("nd,nd->n", factors.user[users[rows]], factors.item[items[rows]])
        if not self.rates_unknown:
            predicted[~self.training().both(users, items)] = np.nan
        return predicted


class ItemWeightModel(Recommender):
    """A recommender that keeps `ItemWeights`; subclasses only write `fit`, which stores ``_item_weights``."""

    _item_weights: ItemWeights | None = None

    @property
    def uses_order(self) -> bool:
        """Whether the order of a user's rows can change a score; see `TakesHistories`."""
        return False

    def item_weights(self) -> ItemWeights | None:
        """Return the users' rows and the learned weights."""
        return self.learned_weights()

    def learned_weights(self) -> ItemWeights:
        """Return what `fit` has stored."""
        if self._item_weights is None:
            raise not_fitted(self)
        return self._item_weights

    def score(self, users: IntArray) -> FloatArray:
        """Return the sums of the weights of the users' items, shape (b, n_items) float32.

        Sums are made in float64, so that a score does not depend on the other users in the call.
        """
        return summed_weights(self.learned_weights(), users)

    def fold_in(self, histories: Interactions) -> Self:
        """Put the users' rows, made like the training rows by `user_rows`, in the place of theirs."""
        fitted, added = self.learned_weights(), self.weighted(histories, self.user_rows(histories))
        users = np.arange(histories.n_users)
        sources = np.where(histories.user_counts() > 0, users + len(users), users)
        self._item_weights = ItemWeights(
            sparse.vstack([fitted.interactions, added]).tocsr()[sources], fitted.weights
        )
        return self

    def with_histories(self, rows: Interactions) -> Self:
        """Return a copy with the weights that were learned and the users' rows made of these."""
        model, matrix = copy(self), self.weighted(rows, self.user_rows(rows))
        model._item_weights = ItemWeights(matrix, self.learned_weights().weights)
        return model

    def user_rows(self, rows: Interactions) -> sparse.csr_array:
        """Return what each user's items count, shape (n_users, n_items) float32; by default 1 a row."""
        return matrix_of(rows, "binary")

    def weighted(self, rows: Interactions, matrix: sparse.csr_array) -> sparse.csr_array:  # noqa: ARG002
        """Return what `user_rows` makes of rows as it counts when lists are made; by default as it is."""
        return matrix


def matrix_of(rows: Interactions, values: Values) -> sparse.csr_array:
    """Return rows as a matrix, shape (n_users, n_items) float32."""
    matrix = rows.to_csr()
    if values == "binary":
        matrix.data[:] = 1.0
    return matrix


def products(factors: Factors, users: IntArray) -> FloatArray:
    """Return the scores of factors, shape (b, n_items) float32, summed in float64."""
    scores = factors.user[users].astype(np.float64) @ factors.item.T.astype(np.float64)
    return scores.astype(np.float32)


def summed_weights(source: ItemWeights, users: IntArray) -> FloatArray:
    """Return the scores of item weights, shape (b, n_items) float32, summed in float64."""
    rows, weights = source.interactions[users].astype(np.float64), source.weights
    n, n_items = weights.shape
    scores = np.empty((rows.shape[0], n_items), np.float32)
    # some columns at a time: a square of weights in float64 would take twice its memory
    width = max(1, _NUMBERS_AT_A_TIME // max(1, n))
    if sparse.issparse(weights):
        weights = weights.tocsc()
    for start in range(0, n_items, width):
        sums = rows @ weights[:, start : start + width]
        scores[:, start : start + width] = sums.toarray() if sparse.issparse(sums) else sums
    return scores


class EpochModel(ABC):
    """A model that learns in epochs; subclasses name it first, write `epochs`, and `fit` runs them."""

    n_epochs: int

    @abstractmethod
    def epochs(self, train: Interactions, *, rng: np.random.Generator) -> Iterator[float]:
        """Learn from `train` and yield the loss after each of the `n_epochs` epochs; raises as `fit`.

        Whenever it has yielded, the model can score: learning curves, early stopping and pruning look at it
        between two epochs, and may end the training there.
        """

    def fit(self, train: Interactions, *, rng: np.random.Generator, progress: Progress | None = None) -> Self:
        """Run all epochs and return self; see `Recommender.fit`."""
        with (progress or Progress()).step("fit", self.n_epochs, "epochs") as advance:
            for _ in self.epochs(train, rng=rng):
                advance(1)
        return self
