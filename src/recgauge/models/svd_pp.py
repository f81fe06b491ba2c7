"""SVD++: biased matrix factorisation in which a user is also what he or she chose to rate."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.models.biased_mf import BiasedFactors, _Learned
from recgauge.utils.checks import Count, FloatArray, LongArray, NotNegative, Positive
from recgauge.utils.compiled import F32s, I32s, I64s, compiled


@dataclass(eq=False)
class SVDpp(BiasedFactors):
    r"""Predict a rating by mean, biases and factors, where the items that a user rated add to the user's.

    .. math::
        \hat r_{ui} = \mu + b_u + b_i + q_i \cdot \Big( p_u + |I_u|^{-1/2} \sum_{j \in I_u} y_j \Big)

    :math:`I_u` are the items that user u rated, well or badly: the choice itself tells something.

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
    Stochastic gradient descent on the squared error plus :math:`\lambda` times the squares of all
    parameters, one step a rating: user after user, in an order that is drawn once (in that of the file, the
    error on MovieLens 1M is 0.002 higher). Each step changes :math:`y_j` of all items of the user, which is
    why this model is known as slow. Done plainly, an epoch takes time in proportion to
    :math:`\sum_u n_u^2 d`. But a step moves all of them alike, to :math:`(1 - \gamma \lambda) y_j + c` with
    one vector c. So the steps of one user are composed, their sum is moved along, and the items are moved
    once, after the user's last rating. That is the same descent, in time :math:`\sum_u n_u d`.

    `fold_in` takes the sum over :math:`y_j` from the user's rows, and finds bias and :math:`p_u` by ridge
    regression of what is left, with penalty :math:`\lambda n_u`.

    In float32, without sums whose order depends on the processor: one seed gives one result. Memory: factors
    of users, and two sets for items. The loss of an epoch is the mean of the squared errors that it met. An
    unknown user or item has bias and factors 0. As a recommender it scores by the predicted rating.

    References
    ----------
    .. [1] Y. Koren, "Factorization meets the neighborhood: a multifaceted collaborative filtering model",
       KDD 2008, section 4.

    Examples
    --------
    >>> train = Interactions.from_ids([0, 0, 1, 1, 2], [0, 1, 0, 1, 0], [5.0, 1.0, 5.0, 1.0, 5.0])
    >>> model = SVDpp(n_factors=2, n_epochs=200, learning_rate=0.05)
    >>> model.fit(train, rng=np.random.default_rng(0)).predict(
    ...     np.array([0, 0], np.int32), np.array([0, 1], np.int32)
    ... ).round().tolist()
    [5.0, 1.0]
    """

    n_factors: Count = 20
    n_epochs: Count = 20
    learning_rate: Positive = 0.007
    regularization: NotNegative = 0.02
    init_std: NotNegative = 0.1

    def _descent(
        self, rows: Interactions, deviation: FloatArray, learned: _Learned, rng: np.random.Generator
    ) -> Callable[[], float]:

        y = self._implicit_factors = self._start(rows.item_counts() > 0, rng)
        start = _starts(rows)
        visited = rng.permutation(rows.n_users).astype(np.int32)
        step, pull = np.float32(self.learning_rate), np.float32(self.regularization)
        return lambda: descend(visited, start, rows.item, deviation, *learned, y, step, pull)

    def _implicit(self, rows: Interactions) -> FloatArray:

        order = np.argsort(rows.user, kind="stable")
        sums = np.empty((rows.n_users, self.n_factors), np.float32)
        implicit_sums(_starts(rows), rows.item[order], self._implicit_factors, sums)
        return sums


def _starts(rows: Interactions) -> LongArray:
    """Return where the rows of each user begin among rows in the order of users."""
    return np.concatenate(([0], np.cumsum(np.bincount(rows.user, minlength=rows.n_users))))


@compiled(nogil=True)
def _implicit_sum(items: I32s, implicit_factors: F32s, total: F32s) -> None:
    total[:] = np.float32(0.0)
    for item in items:
        y = implicit_factors[item]
        for f in range(len(total)):
            total[f] += y[f]
    total /= np.float32(np.sqrt(float(max(len(items), 1))))


@compiled(nogil=True)
def implicit_sums(
    start: I64s,
    item: I32s,
    implicit_factors: F32s,
    sums: F32s,
) -> None:
    """Write each user's sum of implicit factors over the root of their number into `sums`, (n_users, d)."""
    for u in range(len(start) - 1):
        _implicit_sum(item[start[u] : start[u + 1]], implicit_factors, sums[u])


@compiled(nogil=True)
def descend(
    visited: I32s,
    start: I64s,
    item: I32s,
    deviation: F32s,
    user_bias: F32s,
    item_bias: F32s,
    user_factors: F32s,
    item_factors: F32s,
    implicit_factors: F32s,
    learning_rate: Any,
    regularization: Any,
) -> float:
    """Take one step of gradient descent per row, user after user; all parameters change in place.

    A step moves the implicit factors of all the user's items in the same way: shrunk, then shifted. So the
    steps of one user are composed, their sum is moved along, and the items are moved once, at the end.

    Users take their steps in the order `visited`; the rows of one, items and ratings less their mean, begin
    at `start`. Returns the sum of squared errors, each before its step.
    """
    n_factors = user_factors.shape[1]
    total, shift = np.empty(n_factors, np.float32), np.empty(n_factors, np.float32)
    kept = np.float32(1.0) - learning_rate * regularization
    squares = 0.0
    for u in visited:
        n_rows = start[u + 1] - start[u]
        if n_rows == 0:
            continue
        root = np.float32(np.sqrt(float(n_rows)))
        p = user_factors[u]
        _implicit_sum(item[start[u] : start[u + 1]], implicit_factors, total)
        shrink = np.float32(1.0)
        shift[:] = np.float32(0.0)
        for row in range(start[u], start[u + 1]):
            i = item[row]
            q = item_factors[i]
            product = np.float32(0.0)
            for f in range(n_factors):
                product += q[f] * (p[f] + total[f])
            error = deviation[row] - user_bias[u] - item_bias[i] - product
            squares += float(error) * float(error)
            user_bias[u] += learning_rate * (error - regularization * user_bias[u])
            item_bias[i] += learning_rate * (error - regularization * item_bias[i])
            shrink *= kept
            for f in range(n_factors):
                old_p, old_q = p[f], q[f]
                moved = learning_rate * error * old_q
                p[f] = old_p * kept + moved
                q[f] = old_q * kept + learning_rate * error * (old_p + total[f])
                shift[f] = shift[f] * kept + moved / root
                total[f] = total[f] * kept + moved
        for row in range(start[u], start[u + 1]):
            y = implicit_factors[item[row]]
            for f in range(n_factors):
                y[f] = y[f] * shrink + shift[f]
    return squares
