"""Biased matrix factorisation, trained on ratings by stochastic gradient descent."""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.errors import FitError
from recgauge.models import EpochModel, FactorRatings, Factors, KnownRatings
from recgauge.models.bias import with_biases
from recgauge.utils.checks import BoolArray, Count, FloatArray, NotNegative, Positive
from recgauge.utils.compiled import F32s, I32s, compiled

RIDGE = 1e-8  # of fold-in without regularization, where factors of few rows are not determined


class _Learned(NamedTuple):
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

    @abstractmethod
    def _descent(
        self, rows: Interactions, deviation: FloatArray, learned: _Learned, rng: np.random.Generator
    ) -> Callable[[], float]:
        """Return a function that takes one step a row and returns the sum of squared errors.

        `rows` are those of one user after the other, `deviation` their ratings less the mean.
        """

    def _implicit(self, rows: Interactions) -> FloatArray | None:  # noqa: ARG002 - for subclasses
        """Return the part of the users' factors that follows from their items, None if there is none."""
        return None

    def epochs(self, train: Interactions, *, rng: np.random.Generator) -> Iterator[float]:
        """Descend over the ratings in `train`, yielding the mean squared error met on each pass."""
        training = KnownRatings.of(train)
        p, q = self._start(training.users, rng), self._start(training.items, rng)
        user_bias, item_bias = np.zeros(train.n_users, np.float32), np.zeros(train.n_items, np.float32)
        # One user's rows together keep the user's factors in the fastest cache.
        rows = train.take(np.argsort(train.user, kind="stable"))
        deviation = (rows.value - training.mean).astype(np.float32)
        descend = self._descent(rows, deviation, _Learned(user_bias, item_bias, p, q), rng)
        self._known = training
        for epoch in range(1, self.n_epochs + 1):
            squares = descend()
            if not (np.isfinite(p).all() and np.isfinite(q).all()):
                raise FitError(
                    f"{type(self).__name__}: training diverged in epoch {epoch} of {self.n_epochs}, factors "
                    f"are not finite. Lower learning_rate, which is {self.learning_rate:g}."
                )
            implicit = self._implicit(rows)
            user = p if implicit is None else p + implicit
            self._factors = with_biases(training.mean, user_bias, item_bias, user, q)
            yield squares / len(rows)

    def _start(self, has_rows: BoolArray, rng: np.random.Generator) -> FloatArray:
        """Draw the factors that training starts from, 0 for the unknown."""
        drawn = (rng.standard_normal((len(has_rows), self.n_factors)) * self.init_std).astype(np.float32)
        drawn[~has_rows] = 0.0
        return drawn

    def fold_in(self, histories: Interactions) -> Self:
        """Fit the biases and factors of users to their rows; see Notes."""
        training, factors = self.training(), self.factors()
        d = self.n_factors
        implicit = self._implicit(histories)
        by_user = np.argsort(histories.user, kind="stable")
        users, starts = np.unique(histories.user[by_user], return_index=True)
        folded = factors.user.copy()
        for user, rows in zip(users, np.split(by_user, starts[1:]), strict=True):
            items = factors.item[histories.item[rows]].astype(np.float64)
            # Unknown: the user's factors, then the bias. The last two columns of items are (bias, 1).
            q = np.column_stack([items[:, :d], np.ones(len(rows))])
            deviation = histories.value[rows] - training.mean - items[:, d]
            shift = 0.0 if implicit is None else implicit[user].astype(np.float64)
            if implicit is not None:
                deviation -= items[:, :d] @ shift
            # By the dual system, n_u x n_u, where there are fewer rows than unknowns.
            pull = max(self.regularization, RIDGE) * len(rows)
            if len(rows) < q.shape[1]:
                solution = q.T @ np.linalg.solve(q @ q.T + pull * np.eye(len(rows)), deviation)
            else:
                solution = np.linalg.solve(q.T @ q + pull * np.eye(q.shape[1]), q.T @ deviation)
            folded[user, :d], folded[user, d + 1] = solution[:d] + shift, training.mean + solution[d]
        self._factors = Factors(folded, factors.item)
        self._known = training.with_users_of(histories)
        return self


@dataclass(eq=False)
class BiasedMF(BiasedFactors):
    r"""Predict a rating by mean and biases plus the product of the user's and the item's factors.

    .. math:: \hat r_{ui} = \mu + b_u + b_i + p_u \cdot q_i

    Often called "SVD" in rating prediction, though nothing is decomposed.

    Parameters
    ----------
    n_factors : int
        Length of the factors, >= 1.
    n_epochs : int
        Passes over the ratings, >= 1.
    learning_rate : float
        Step of the descent, > 0.
    regularization : float
        Pull of biases and factors towards 0, >= 0.
    init_std : float
        Standard deviation of the factors at the start, >= 0; biases start at 0.

    Notes
    -----
    Minimises, by one step a rating, user after user and for each user in the order of the rows,

    .. math::
        \sum_{(u, i)} (r_{ui} - \hat r_{ui})^2
        + \lambda \left( b_u^2 + b_i^2 + \lVert p_u \rVert^2 + \lVert q_i \rVert^2 \right)

    `fold_in` minimises the same sum over a user's bias and factors exactly, with the items' as trained: a
    ridge regression of the user's deviations on the items' factors, with penalty :math:`\lambda n_u`.

    In float32; one seed gives one result on one kind of machine. The loss of an epoch is the mean of the
    squared errors that it met, each before its step. An unknown user or item has bias and factors 0. As a
    recommender it scores by the predicted rating, which is known to rank poorly next to models trained to
    rank.

    References
    ----------
    .. [1] Y. Koren, R. Bell, C. Volinsky, "Matrix factorization techniques for recommender systems",
       IEEE Computer 42(8), 2009.

    Examples
    --------
    >>> train = Interactions.from_ids([0, 0, 1, 1, 2], [0, 1, 0, 1, 0], [5.0, 1.0, 5.0, 1.0, 5.0])
    >>> model = BiasedMF(n_factors=2, n_epochs=200, learning_rate=0.05)
    >>> model.fit(train, rng=np.random.default_rng(0)).predict(
    ...     np.array([0, 0], np.int32), np.array([0, 1], np.int32)
    ... ).round().tolist()
    [5.0, 1.0]
    """

    n_factors: Count = 100
    n_epochs: Count = 20
    learning_rate: Positive = 0.005
    regularization: NotNegative = 0.02
    init_std: NotNegative = 0.1

    def _descent(
        self, rows: Interactions, deviation: FloatArray, learned: _Learned, rng: np.random.Generator
    ) -> Callable[[], float]:
        del rng  # nothing else is drawn

        step, pull = np.float32(self.learning_rate), np.float32(self.regularization)
        return lambda: descend(rows.user, rows.item, deviation, *learned, step, pull)


# Sums may be reordered, so that the products run in vector registers, twice the speed measured; NaN and
# infinity keep their meaning, since divergence is recognised by them.
REORDER = {"reassoc", "contract", "nsz"}


@compiled(fastmath=REORDER, nogil=True)
def descend(
    user: I32s,
    item: I32s,
    deviation: F32s,
    user_bias: F32s,
    item_bias: F32s,
    user_factors: F32s,
    item_factors: F32s,
    learning_rate: Any,
    regularization: Any,
) -> float:
    """Take one step of gradient descent per row, in order; biases and factors change in place.

    `user`, `item` and `deviation`, which is ratings less their mean, have shape (n,), biases one number a
    code, factors d. Returns the sum of squared errors, each before its step.
    """
    n_factors = user_factors.shape[1]
    squares = 0.0
    for row in range(len(user)):
        u, i = user[row], item[row]
        p, q = user_factors[u], item_factors[i]
        product = np.float32(0.0)
        for f in range(n_factors):
            product += p[f] * q[f]
        error = deviation[row] - user_bias[u] - item_bias[i] - product
        squares += float(error) * float(error)
        user_bias[u] += learning_rate * (error - regularization * user_bias[u])
        item_bias[i] += learning_rate * (error - regularization * item_bias[i])
        for f in range(n_factors):
            old_p, old_q = p[f], q[f]
            p[f] = old_p + learning_rate * (error * old_q - regularization * old_p)
            q[f] = old_q + learning_rate * (error * old_p - regularization * old_q)
    return squares
