"""What models share that predict ratings by factors."""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.errors import FitError
from recgauge.models import EpochModel, FactorModel, Factors, KnownRatings, RatingPredictor
from recgauge.utils.checks import BoolArray, FloatArray, IntArray, check_int, check_real

ROWS_AT_A_TIME = 1 << 16
RIDGE = 1e-8  # of fold-in without regularization, where factors of few rows are not determined


class FactorRatings(FactorModel, RatingPredictor):
    """A rating predictor that keeps `Factors`, whose products are its predictions."""

    def predict(self, users: IntArray, items: IntArray) -> FloatArray:
        """Return the predicted ratings, shape (n,) float32; unknown users and items count as average."""
        factors = self.factors()
        predicted = np.empty(len(users), np.float32)
        # A block at a time: all rows' factors at once would take 800 bytes a row at 100 factors.
        for start in range(0, len(users), ROWS_AT_A_TIME):
            rows = slice(start, start + ROWS_AT_A_TIME)
            predicted[rows] = np.einsum("nd,nd->n", factors.user[users[rows]], factors.item[items[rows]])
        return predicted


class Learned(NamedTuple):
    """What gradient descent changes in place; all float32."""

    user_bias: FloatArray
    item_bias: FloatArray
    user: FloatArray
    item: FloatArray


@dataclass(eq=False)
class BiasedFactors(EpochModel, FactorRatings):
    r"""Mean, biases and products of factors, learned by gradient descent, one step a rating.

    Subclasses write `_descent`, and `_implicit` if users' factors have a part that follows from their items;
    their docstrings say what the settings mean.
    """

    n_factors: int
    n_epochs: int
    learning_rate: float
    regularization: float
    init_std: float

    def __post_init__(self) -> None:
        name = type(self).__name__
        self.n_factors = check_int(f"{name}: n_factors", self.n_factors, minimum=1)
        self.n_epochs = check_int(f"{name}: n_epochs", self.n_epochs, minimum=1)
        self.learning_rate = check_real(
            f"{name}: learning_rate", self.learning_rate, low=0.0, high=np.inf, low_open=True
        )
        self.regularization = check_real(f"{name}: regularization", self.regularization, low=0.0, high=np.inf)
        self.init_std = check_real(f"{name}: init_std", self.init_std, low=0.0, high=np.inf)

    @abstractmethod
    def _descent(
        self, rows: Interactions, deviation: FloatArray, learned: Learned, rng: np.random.Generator
    ) -> Callable[[], float]:
        """Return a function that takes one step a row and returns the sum of squared errors.

        `rows` are those of one user after the other, `deviation` their ratings less the mean.
        """

    def _implicit(self, rows: Interactions) -> FloatArray | None:  # noqa: ARG002 - for subclasses
        """Return the part of the users' factors that follows from their items, None if there is none."""
        return None

    def epochs(self, train: Interactions, *, rng: np.random.Generator) -> Iterator[float]:
        """Descend over the ratings in `train`, yielding the mean squared error met on each pass."""
        known = KnownRatings.of(train)
        p, q = self._start(known.users, rng), self._start(known.items, rng)
        user_bias, item_bias = np.zeros(train.n_users, np.float32), np.zeros(train.n_items, np.float32)
        # One user's rows together keep the user's factors in the fastest cache.
        rows = train.take(np.argsort(train.user, kind="stable"))
        deviation = (rows.value - known.mean).astype(np.float32)
        descend = self._descent(rows, deviation, Learned(user_bias, item_bias, p, q), rng)
        self._known = known
        for epoch in range(1, self.n_epochs + 1):
            squares = descend()
            if not (np.isfinite(p).all() and np.isfinite(q).all()):
                raise FitError(
                    f"{type(self).__name__}: training diverged in epoch {epoch} of {self.n_epochs}, factors "
                    f"are not finite. Lower learning_rate, which is {self.learning_rate:g}."
                )
            implicit = self._implicit(rows)
            user = p if implicit is None else p + implicit
            self._factors = _with_biases(known.mean, user_bias, item_bias, user, q)
            yield squares / len(rows)

    def _start(self, known: BoolArray, rng: np.random.Generator) -> FloatArray:
        """Draw the factors that training starts from, 0 for the unknown."""
        drawn = (rng.standard_normal((len(known), self.n_factors)) * self.init_std).astype(np.float32)
        drawn[~known] = 0.0
        return drawn

    def fold_in(self, histories: Interactions) -> Self:
        """Fit the biases and factors of users to their rows; see Notes."""
        known, factors = self.known(), self.factors()
        d = self.n_factors
        implicit = self._implicit(histories)
        by_user = np.argsort(histories.user, kind="stable")
        users, starts = np.unique(histories.user[by_user], return_index=True)
        folded = factors.user.copy()
        for user, rows in zip(users, np.split(by_user, starts[1:]), strict=True):
            items = factors.item[histories.item[rows]].astype(np.float64)
            # Unknown: the user's factors, then the bias. The last two columns of items are (bias, 1).
            q = np.column_stack([items[:, :d], np.ones(len(rows))])
            deviation = histories.value[rows] - known.mean - items[:, d]
            given = 0.0 if implicit is None else implicit[user].astype(np.float64)
            if implicit is not None:
                deviation -= items[:, :d] @ given
            # By the dual system, n_u x n_u, where there are fewer rows than unknowns.
            pull = max(self.regularization, RIDGE) * len(rows)
            if len(rows) < q.shape[1]:
                solution = q.T @ np.linalg.solve(q @ q.T + pull * np.eye(len(rows)), deviation)
            else:
                solution = np.linalg.solve(q.T @ q + pull * np.eye(q.shape[1]), q.T @ deviation)
            folded[user, :d], folded[user, d + 1] = solution[:d] + given, known.mean + solution[d]
        self._factors = Factors(folded, factors.item)
        self._known = known.with_users_of(histories)
        return self


def _with_biases(
    mean: float, user_bias: FloatArray, item_bias: FloatArray, p: FloatArray, q: FloatArray
) -> Factors:
    """Append the columns (1, mean + user bias) and (item bias, 1), whose products add the biases."""
    user = np.column_stack([p, np.ones(len(p), np.float32), mean + user_bias])
    item = np.column_stack([q, item_bias, np.ones(len(q), np.float32)])
    return Factors(user.astype(np.float32), item.astype(np.float32))
