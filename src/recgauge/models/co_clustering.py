"""Co-clustering: ratings explained by the cluster of the user and the cluster of the item."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import ClassVar, Self

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.models import EpochModel, FactorRatings, Factors, KnownRatings
from recgauge.utils.checks import BoolArray, Count, DoubleArray, FloatArray, IntArray, LongArray


@dataclass(eq=False)
class CoClustering(EpochModel, FactorRatings):
    r"""Predict a rating by the mean of its co-cluster plus what sets user and item apart from their clusters.

    .. math:: \hat r_{ui} = \bar C_{gh} + (\mu_u - \bar G_g) + (\mu_i - \bar H_h)

    User u is in cluster g, item i in cluster h; :math:`\bar C_{gh}` is the mean of the ratings that the users
    of g gave to the items of h, :math:`\bar G_g` and :math:`\bar H_h` are the means of the two clusters,
    :math:`\mu_u` and :math:`\mu_i` those of the user and the item.

    Parameters
    ----------
    n_user_clusters, n_item_clusters : int
        >= 1.
    n_epochs : int
        Rounds of assignments, >= 1.

    Notes
    -----
    Clusters are drawn at the start. A round takes all means, then moves each user to the cluster with the
    least squared error over the user's ratings, then each item likewise. The error of one user in all
    clusters follows from count and sum of his or her deviations in each cluster of items, so that a round
    takes a few passes over the rows. The mean of an empty cluster is that of all ratings.

    In float64; one seed gives one result. Memory: a few columns as long as the rows. The loss of an epoch is
    the mean squared error on the training rows after it. For an unknown user or item the prediction is the
    mean of all ratings, as in Surprise; as a recommender the model scores with the mean of the one that is
    known. `fold_in` puts new users into the cluster that fits their rows best.

    References
    ----------
    .. [1] T. George, S. Merugu, "A scalable collaborative filtering framework based on co-clustering",
       ICDM 2005.

    Examples
    --------
    >>> train = Interactions.from_ids([0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 1, 2], [5.0, 1.0, 5.0, 1.0, 2.0, 4.0])
    >>> model = CoClustering(n_user_clusters=2, n_item_clusters=2)
    >>> losses = list(model.epochs(train, rng=np.random.default_rng(0)))
    >>> len(losses), model.predict(np.array([2], np.int32), np.array([0], np.int32)).tolist()
    (20, [5.0])
    """

    rates_unknown: ClassVar[bool] = False

    n_user_clusters: Count = 3
    n_item_clusters: Count = 3
    n_epochs: Count = 20

    def __post_init__(self) -> None:
        super().__post_init__()
        self._item_means: DoubleArray
        self._item_clusters: LongArray
        self._offsets: DoubleArray  # of the co-clusters from their cluster of users
        self._item_averages: DoubleArray  # of the clusters of items

    def epochs(self, train: Interactions, *, rng: np.random.Generator) -> Iterator[float]:
        """Assign users and items to clusters in rounds, yielding the mean squared error after each."""
        known = self._known = KnownRatings.of(train)
        user, item = (codes.astype(np.int64) for codes in (train.user, train.item))  # these index faster
        groups = rng.integers(self.n_user_clusters, size=train.n_users)
        clusters = rng.integers(self.n_item_clusters, size=train.n_items)
        user_means = _means(train.user, train.value, train.n_users, known.mean)
        self._item_means = _means(train.item, train.value, train.n_items, known.mean)
        deviation = train.value - user_means[user] - self._item_means[item]
        of_all = float(np.square(deviation).sum())
        self._take_means(groups[user] * self.n_item_clusters + clusters[item], train.value)
        for _ in range(self.n_epochs):
            table = self._offsets - self._item_averages
            groups = _nearest(user, clusters[item], deviation, train.n_users, table)
            clusters = _nearest(item, groups[user], deviation, train.n_items, table.T)
            cells = groups[user] * self.n_item_clusters + clusters[item]
            self._take_means(cells, train.value)
            self._item_clusters = clusters
            self._factors = Factors(
                self._user_factors(groups, user_means, known.users), self._item_factors(known)
            )
            table = (self._offsets - self._item_averages).ravel()
            counts, sums = _counts_and_sums(cells, deviation, table.shape)
            yield (of_all + float(np.sum(counts * table**2 - 2.0 * sums * table))) / len(train)

    def _take_means(self, cells: LongArray, values: FloatArray) -> None:
        shape = self.n_user_clusters, self.n_item_clusters
        counts, sums = _counts_and_sums(cells, values, shape)
        mean = self.known().mean
        self._offsets = _ratio(sums, counts, mean) - _ratio(sums.sum(1), counts.sum(1), mean)[:, None]
        self._item_averages = _ratio(sums.sum(0), counts.sum(0), mean)

    def _user_factors(self, groups: LongArray, means: DoubleArray, known: BoolArray) -> FloatArray:
        """Return columns of the clusters of items, then 1 and the mean: what counts for an unknown item."""
        of_clusters = np.where(known[:, None], self._offsets[groups] + means[:, None], self._item_averages)
        return np.column_stack([of_clusters, np.ones(len(means)), means]).astype(np.float32)

    def _item_factors(self, known: KnownRatings) -> FloatArray:
        of_clusters = np.eye(self.n_item_clusters)[self._item_clusters]
        own = self._item_means - self._item_averages[self._item_clusters]
        items = np.column_stack([of_clusters, own, np.zeros(len(own))])
        items[~known.items] = np.eye(items.shape[1])[-1]
        return items.astype(np.float32)

    def fold_in(self, histories: Interactions) -> Self:
        """Put users into the clusters that fit their rows best."""
        known, factors = self.known(), self.factors()
        means = _means(histories.user, histories.value, histories.n_users, known.mean)
        deviation = histories.value - means[histories.user] - self._item_means[histories.item]
        table = self._offsets - self._item_averages
        cluster = self._item_clusters[histories.item]
        groups = _nearest(histories.user, cluster, deviation, histories.n_users, table)
        new = histories.user_counts() > 0
        user = np.where(new[:, None], self._user_factors(groups, means, new), factors.user)
        self._factors, self._known = Factors(user, factors.item), known.with_users_of(histories)
        return self


def _counts_and_sums(
    codes: IntArray | LongArray, values: FloatArray | DoubleArray, shape: tuple[int, ...]
) -> tuple[LongArray, DoubleArray]:
    n_codes = prod(shape)
    counts = np.bincount(codes, minlength=n_codes).astype(np.int64, copy=False)
    sums = np.bincount(codes, values, minlength=n_codes).astype(np.float64, copy=False)
    return counts.reshape(shape), sums.reshape(shape)


def _ratio(sums: DoubleArray, counts: LongArray, empty: float) -> DoubleArray:
    """Return the means of what has counts, `empty` elsewhere."""
    means = np.full(sums.shape, empty)
    np.divide(sums, counts, out=means, where=counts > 0)
    return means


def _means(codes: IntArray, values: FloatArray, n_codes: int, empty: float) -> DoubleArray:
    counts, sums = _counts_and_sums(codes, values, (n_codes,))
    return _ratio(sums, counts, empty)


def _nearest(
    codes: IntArray | LongArray, others: LongArray, deviation: DoubleArray, n_codes: int, table: DoubleArray
) -> LongArray:
    """Return each code's row of `table` with the least squared error over its rows.

    `others` are the columns of `table` that the rows are compared with.
    """
    n_others = table.shape[1]
    counts, sums = _counts_and_sums(codes * np.int64(n_others) + others, deviation, (n_codes, n_others))
    # column after column: a product of matrices may add up in another order on another processor
    errors = np.zeros((n_codes, len(table)))
    for other in range(n_others):
        errors += np.multiply.outer(counts[:, other], table[:, other] ** 2)
        errors -= np.multiply.outer(sums[:, other], 2.0 * table[:, other])
    nearest: LongArray = errors.argmin(axis=1)
    return nearest
