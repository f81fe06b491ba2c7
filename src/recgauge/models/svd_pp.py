"""SVD++: biased matrix factorisation in which a user is also what he or she chose to rate."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.models._factor_ratings import BiasedFactors, Learned
from recgauge.utils.checks import FloatArray
from recgauge.utils.grouped import grouped


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

    n_factors: int = 20
    n_epochs: int = 20
    learning_rate: float = 0.007
    regularization: float = 0.02
    init_std: float = 0.1

    def _descent(
        self, rows: Interactions, deviation: FloatArray, learned: Learned, rng: np.random.Generator
    ) -> Callable[[], float]:
        from recgauge.models._svd_pp_kernel import descend  # compiling is left to those who fit

        y = self._implicit_factors = self._start(rows.item_counts() > 0, rng)
        start, _ = grouped(rows.user, rows.n_users)
        visited = rng.permutation(rows.n_users).astype(np.int32)
        step, pull = np.float32(self.learning_rate), np.float32(self.regularization)
        return lambda: descend(visited, start, rows.item, deviation, *learned, y, step, pull)

    def _implicit(self, rows: Interactions) -> FloatArray:
        from recgauge.models._svd_pp_kernel import implicit_sums

        start, order = grouped(rows.user, rows.n_users)
        sums = np.empty((rows.n_users, self.n_factors), np.float32)
        implicit_sums(start, rows.item[order], self._implicit_factors, sums)
        return sums
