"""Biased matrix factorisation, trained on ratings by stochastic gradient descent."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.models._factor_ratings import BiasedFactors, Learned
from recgauge.utils.checks import FloatArray


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

    n_factors: int = 100
    n_epochs: int = 20
    learning_rate: float = 0.005
    regularization: float = 0.02
    init_std: float = 0.1

    def _descent(
        self, rows: Interactions, deviation: FloatArray, learned: Learned, rng: np.random.Generator
    ) -> Callable[[], float]:
        del rng  # nothing else is drawn
        from recgauge.models._biased_mf_kernel import descend  # compiling is left to those who fit

        step, pull = np.float32(self.learning_rate), np.float32(self.regularization)
        return lambda: descend(rows.user, rows.item, deviation, *learned, step, pull)
