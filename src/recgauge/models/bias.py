"""Ratings explained by who gives them and what gets them: means and biases."""

from dataclasses import dataclass
from typing import Literal, Self

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.models import FactorModel, Factors, KnownRatings, RatingPredictor
from recgauge.utils.checks import Count, DoubleArray, FloatArray, IntArray, NotNegative

BiasArray = DoubleArray | FloatArray
Method = Literal["als", "global_mean", "user_mean", "item_mean"]


@dataclass(eq=False)
class Bias(FactorModel, RatingPredictor):
    r"""Predict a rating by the mean, how generous the user is and how well liked the item is.

    .. math:: \hat r_{ui} = \mu + b_u + b_i

    The baseline that every rating predictor must beat.

    Parameters
    ----------
    method : {"als", "global_mean", "user_mean", "item_mean"}
        ``als``: biases estimated in turns, each shrunk towards 0; the others predict a plain mean.
    n_epochs : int
        Rounds of the alternating estimator, >= 1.
    reg_i, reg_u : float
        Shrinkage of items' and of users' biases, >= 0: a bias counts as if there were so many more ratings
        without deviation.

    Notes
    -----
    The alternating estimator sets, in each round, first all items' biases, then all users':

    .. math::
        b_i = \frac{\sum_{u} (r_{ui} - \mu - b_u)}{\lambda_i + n_i}, \qquad
        b_u = \frac{\sum_{i} (r_{ui} - \mu - b_i)}{\lambda_u + n_u}

    `fold_in` estimates users' biases by the same formula, with the items' biases as trained.

    An unknown user or item has bias 0. As a recommender it ranks items by their bias, the same for all users.
    `n_epochs`, `reg_i` and `reg_u` act on ``als`` only. No chance is involved.

    References
    ----------
    .. [1] Y. Koren, "Factor in the neighbors: scalable and accurate collaborative filtering",
       ACM TKDD 4(1), 2010, section 2.1.

    Examples
    --------
    >>> train = Interactions.from_ids(["a", "a", "b"], ["x", "y", "x"], [5.0, 3.0, 4.0])
    >>> model = Bias(method="item_mean").fit(train, rng=np.random.default_rng(0))
    >>> model.predict(np.array([1, 1], np.int32), np.array([0, 1], np.int32)).tolist()
    [4.5, 3.0]
    """

    method: Method = "als"
    n_epochs: Count = 10
    reg_i: NotNegative = 10.0
    reg_u: NotNegative = 15.0

    def fit(self, train: Interactions, *, rng: np.random.Generator) -> Self:  # noqa: ARG002 - contract
        """Estimate the biases from the ratings in `train`."""
        training = KnownRatings.of(train)
        user_bias, item_bias = self._biases(train, train.value - np.float64(training.mean))
        self._known = training
        none = (np.empty((n, 0), np.float32) for n in (train.n_users, train.n_items))
        self._factors = with_biases(training.mean, user_bias, item_bias, *none)
        return self

    def _biases(self, train: Interactions, deviation: DoubleArray) -> tuple[DoubleArray, DoubleArray]:
        no_user, no_item = np.zeros(train.n_users), np.zeros(train.n_items)
        match self.method:
            case "global_mean":
                return no_user, no_item
            case "user_mean":
                return shrunk_means(train.user, deviation, train.n_users, 0.0), no_item
            case "item_mean":
                return no_user, shrunk_means(train.item, deviation, train.n_items, 0.0)
        return self.alternate(train, deviation)

    def alternate(self, train: Interactions, deviation: DoubleArray) -> tuple[DoubleArray, DoubleArray]:
        """Return users' and items' biases by the alternating estimator, from the ratings less their mean."""
        user_bias, item_bias = np.zeros(train.n_users), np.zeros(train.n_items)
        for _ in range(self.n_epochs):
            item_bias = shrunk_means(train.item, deviation - user_bias[train.user], train.n_items, self.reg_i)
            user_bias = shrunk_means(train.user, deviation - item_bias[train.item], train.n_users, self.reg_u)
        return user_bias, item_bias

    def fold_in(self, histories: Interactions) -> Self:
        """Estimate the biases of users from their rows; see Notes."""
        training, factors = self.training(), self.factors()
        if self.method in ("als", "user_mean"):
            deviation = histories.value - np.float64(training.mean)
            if self.method == "als":
                deviation -= factors.item[histories.item, 0]
            pull = self.reg_u if self.method == "als" else 0.0
            user_bias = shrunk_means(histories.user, deviation, histories.n_users, pull)
            users = np.flatnonzero(histories.user_counts())
            folded = factors.user.copy()
            folded[users, 1] = training.mean + user_bias[users]
            self._factors = Factors(folded, factors.item)
        self._known = training.with_users_of(histories)
        return self

    def predict(self, users: IntArray, items: IntArray) -> FloatArray:
        """Return mean plus biases, shape (n,) float32; unknown users and items have bias 0."""
        factors = self.factors()
        predicted: FloatArray = factors.user[users, 1] + factors.item[items, 0]
        return predicted


def with_biases(
    mean: float, user_bias: BiasArray, item_bias: BiasArray, user: FloatArray, item: FloatArray
) -> Factors:
    """Append the columns (1, mean + user bias) and (item bias, 1), whose products add mean and biases."""
    users = np.column_stack([user, np.ones(len(user), np.float32), mean + user_bias])
    items = np.column_stack([item, item_bias, np.ones(len(item), np.float32)])
    return Factors(users.astype(np.float32), items.astype(np.float32))


def shrunk_means(codes: IntArray, deviation: DoubleArray, n_codes: int, shrinkage: float) -> DoubleArray:
    """Return sums of deviations over count plus shrinkage, 0 for codes without rows; shape (n_codes,)."""
    counts = np.bincount(codes, minlength=n_codes)
    totals = np.bincount(codes, deviation, minlength=n_codes)
    means = np.zeros(n_codes)
    np.divide(totals, counts + shrinkage, out=means, where=counts > 0)
    return means
