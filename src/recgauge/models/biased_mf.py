"""Biased matrix factorisation, trained on ratings by stochastic gradient descent."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.errors import FitError
from recgauge.models import FactorModel, Factors, KnownRatings, RatingPredictor
from recgauge.utils.checks import FloatArray, IntArray, check_int, check_real

ROWS_AT_A_TIME = 1 << 16
RIDGE = 1e-8  # of fold-in without regularization, where factors of few rows are not determined


@dataclass(eq=False)
class BiasedMF(FactorModel, RatingPredictor):
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

    Raises
    ------
    ConfigError
        If a parameter is out of range.

    Notes
    -----
    Minimises, by one step a rating, user after user and for each user in the order of the rows,

    .. math::
        \sum_{(u, i)} (r_{ui} - \hat r_{ui})^2
        + \lambda \left( b_u^2 + b_i^2 + \lVert p_u \rVert^2 + \lVert q_i \rVert^2 \right)

    `fold_in` minimises the same sum over a user's bias and factors exactly, with the items' as trained: a
    ridge regression of the user's deviations on the items' factors, with penalty :math:`\lambda n_u`.

    In float32; one seed gives one result on one kind of machine. An unknown user or item has bias and
    factors 0. As a recommender it scores by the predicted rating, which is known to rank poorly next to
    models trained to rank.

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

    n_factors: int = 100
    n_epochs: int = 20
    learning_rate: float = 0.005
    regularization: float = 0.02
    init_std: float = 0.1

    def __post_init__(self) -> None:
        self.n_factors = check_int("BiasedMF: n_factors", self.n_factors, minimum=1)
        self.n_epochs = check_int("BiasedMF: n_epochs", self.n_epochs, minimum=1)
        self.learning_rate = check_real(
            "BiasedMF: learning_rate", self.learning_rate, low=0.0, high=np.inf, low_open=True
        )
        self.regularization = check_real(
            "BiasedMF: regularization", self.regularization, low=0.0, high=np.inf
        )
        self.init_std = check_real("BiasedMF: init_std", self.init_std, low=0.0, high=np.inf)

    def fit(self, train: Interactions, *, rng: np.random.Generator) -> Self:
        """Descend over the ratings in `train`.

        Raises
        ------
        FitError
            If training diverges.
        SchemaError
            If `train` has no row.
        """
        from recgauge.models._biased_mf_kernel import descend  # compiling is left to those who fit

        known = KnownRatings.of(train)
        p = (rng.standard_normal((train.n_users, self.n_factors)) * self.init_std).astype(np.float32)
        q = (rng.standard_normal((train.n_items, self.n_factors)) * self.init_std).astype(np.float32)
        p[~known.users], q[~known.items] = 0.0, 0.0
        user_bias, item_bias = np.zeros(train.n_users, np.float32), np.zeros(train.n_items, np.float32)
        # One user's rows together keep the user's factors in the fastest cache.
        by_user = np.argsort(train.user, kind="stable")
        user, item = train.user[by_user], train.item[by_user]
        deviation = (train.value[by_user] - known.mean).astype(np.float32)
        step, pull = np.float32(self.learning_rate), np.float32(self.regularization)
        for epoch in range(1, self.n_epochs + 1):
            descend(user, item, deviation, user_bias, item_bias, p, q, step, pull)
            if not (np.isfinite(p).all() and np.isfinite(q).all()):
                raise FitError(
                    f"BiasedMF: training diverged in epoch {epoch} of {self.n_epochs}, factors are not "
                    f"finite. Lower learning_rate, which is {self.learning_rate:g}."
                )
        self._known = known
        self._factors = _with_biases(known.mean, user_bias, item_bias, p, q)
        return self

    def fold_in(self, histories: Interactions) -> Self:
        """Fit the biases and factors of users to their rows; see Notes.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        known, factors = self.known(), self.factors()
        d = self.n_factors
        by_user = np.argsort(histories.user, kind="stable")
        users, starts = np.unique(histories.user[by_user], return_index=True)
        folded = factors.user.copy()
        for user, rows in zip(users, np.split(by_user, starts[1:]), strict=True):
            items = factors.item[histories.item[rows]].astype(np.float64)
            # Unknown: the user's factors, then the bias. The last two columns of items are (bias, 1).
            q = np.column_stack([items[:, :d], np.ones(len(rows))])
            deviation = histories.value[rows] - known.mean - items[:, d]
            # By the dual system, n_u x n_u, where there are fewer rows than unknowns.
            pull = max(self.regularization, RIDGE) * len(rows)
            if len(rows) < q.shape[1]:
                solution = q.T @ np.linalg.solve(q @ q.T + pull * np.eye(len(rows)), deviation)
            else:
                solution = np.linalg.solve(q.T @ q + pull * np.eye(q.shape[1]), q.T @ deviation)
            folded[user, :d], folded[user, d + 1] = solution[:d], known.mean + solution[d]
        self._factors = Factors(folded, factors.item)
        self._known = known.with_users_of(histories)
        return self

    def predict(self, users: IntArray, items: IntArray) -> FloatArray:
        """Return the predicted ratings, shape (n,) float32; unknown users and items count as average."""
        factors = self.factors()
        predicted = np.empty(len(users), np.float32)
        # A block at a time: all rows' factors at once would take 800 bytes a row at 100 factors.
        for start in range(0, len(users), ROWS_AT_A_TIME):
            rows = slice(start, start + ROWS_AT_A_TIME)
            predicted[rows] = np.einsum("nd,nd->n", factors.user[users[rows]], factors.item[items[rows]])
        return predicted


def _with_biases(
    mean: float, user_bias: FloatArray, item_bias: FloatArray, p: FloatArray, q: FloatArray
) -> Factors:
    """Append the columns (1, mean + user bias) and (item bias, 1), whose products add the biases."""
    user = np.column_stack([p, np.ones(len(p), np.float32), mean + user_bias])
    item = np.column_stack([q, item_bias, np.ones(len(q), np.float32)])
    return Factors(user.astype(np.float32), item.astype(np.float32))
