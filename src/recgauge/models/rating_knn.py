"""Ratings predicted by neighbours: what the most similar users, or items, say about an item."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Self, get_args

import numpy as np
from scipy import sparse

from recgauge.data.interactions import Interactions
from recgauge.models import KnownRatings, RatingPredictor, Recommender, not_fitted
from recgauge.models.bias import Bias, shrunk_means
from recgauge.utils.checks import (
    DoubleArray,
    FloatArray,
    IntArray,
    check_bool,
    check_choice,
    check_int,
    check_real,
    read_only,
)
from recgauge.utils.threads import over_blocks

if TYPE_CHECKING:
    from recgauge.models._rating_knn_kernel import Pairs

Method = Literal["basic", "means", "zscore", "baseline"]
Similarity = Literal["msd", "cosine", "pearson", "pearson_baseline"]
_PARTS = 64  # of the work: more than threads, since some users cost far more than others
_NO_SPREAD = 1e-9  # a standard deviation of equal ratings, but for rounding


@dataclass(eq=False)
class RatingKNN(Recommender, RatingPredictor):
    r"""Predict a rating by the ratings of the k most similar users for the item.

    .. math::
        \hat r_{ui} = b_{ui} + \sigma_u
        \frac{\sum_{v \in N_k(u, i)} s_{uv} \, (r_{vi} - b_{vi}) / \sigma_v}{\sum_{v \in N_k(u, i)} s_{uv}}

    The neighbours :math:`N_k(u, i)` are, of the users who rated i and have a positive similarity to u, the k
    most similar; of equally similar ones those with the lowest codes. With ``user_based=False`` users and
    items change places: the neighbours are items that u rated.

    Parameters
    ----------
    method : {"basic", "means", "zscore", "baseline"}
        What ratings are measured from. ``basic``: b is 0; ``means``: b is the neighbour's own mean;
        ``zscore``: the same, in its standard deviations :math:`\sigma` (else 1); ``baseline``: b is mean plus
        biases, as `recgauge.models.bias.Bias` estimates them.
    user_based : bool
        Whether neighbours are users; else they are items.
    similarity : {"msd", "cosine", "pearson", "pearson_baseline"}
        See Notes; all look only at what two users (or items) have in common.
    k : int
        Most neighbours, >= 1.
    min_k : int
        Fewest neighbours, >= 1. With fewer, ``basic`` has no prediction and the others give b.
    min_support : int
        Fewest ratings in common, >= 1; with fewer, the similarity is 0.
    shrinkage : float
        Of ``pearson_baseline``, >= 0: pulls similarities with few ratings in common towards 0.
    n_epochs, reg_i, reg_u
        Of the biases, for ``baseline`` and ``pearson_baseline``; see `recgauge.models.bias.Bias`.

    Notes
    -----
    Similarities over the n items (or users) in common:

    - ``msd``: :math:`1 / (1 + \sum (r_u - r_v)^2 / n)`
    - ``cosine``: :math:`\sum r_u r_v / \sqrt{\sum r_u^2 \sum r_v^2}`
    - ``pearson``: the correlation, with the means over what is in common
    - ``pearson_baseline``: the cosine of ratings less mean and biases, times (n - 1) / (n - 1 + shrinkage)

    Defaults and formulas are those of Surprise's ``KNNBasic``, ``KNNWithMeans``, ``KNNWithZScore`` and
    ``KNNBaseline`` [2]_, with two differences: among equally similar neighbours those of Surprise come first
    that come first in the training rows, and in Surprise a user who has rated an item is their own neighbour
    for it. A pair with an unknown user or item has no prediction, but by ``baseline`` that of known biases.

    As a recommender it ranks items by these predictions, which is far from the best order: see
    `recgauge.models.user_knn.UserKNN`. `fold_in` gives new users a mean and a bias and finds their neighbours
    among the training users; nobody else's prediction changes.

    No matrix of similarities is kept: those of a user are made when their ratings are predicted, from the
    rows of who shares an item. Memory is 40 bytes a rating, and 56 a user for each thread. Predictions for
    all users cost :math:`\sum_i n_i^2` products, over items' counts :math:`n_i`, whatever their number.
    Results do not depend on threads, and no chance is involved.

    References
    ----------
    .. [1] J. Herlocker, J. Konstan, A. Borchers, J. Riedl, "An algorithmic framework for performing
       collaborative filtering", SIGIR 1999.
    .. [2] N. Hug, "Surprise: a Python library for recommender systems", Journal of Open Source Software
       5(52), 2020.
    .. [3] Y. Koren, "Factor in the neighbors: scalable and accurate collaborative filtering",
       ACM TKDD 4(1), 2010, section 2.2.

    Examples
    --------
    Ann rates as Bob does and one lower than Cid, so that Bob counts 1 and Cid 1 / 2:

    >>> users, items = ["ann", "ann", "bob", "bob", "bob", "cid", "cid"], ["x", "y", "x", "y", "z", "x", "z"]
    >>> train = Interactions.from_ids(users, items, [3.0, 4.0, 3.0, 4.0, 5.0, 4.0, 2.0])
    >>> model = RatingKNN(method="basic").fit(train, rng=np.random.default_rng(0))
    >>> model.predict(np.array([0], np.int32), np.array([2], np.int32)).tolist()  # (5 + 2 / 2) / 1.5
    [4.0]
    """

    method: Method = "means"
    user_based: bool = True
    similarity: Similarity = "msd"
    k: int = 40
    min_k: int = 1
    min_support: int = 1
    shrinkage: float = 100.0
    n_epochs: int = 10
    reg_i: float = 10.0
    reg_u: float = 15.0

    def __post_init__(self) -> None:
        name = type(self).__name__
        check_choice(f"{name}: method", self.method, get_args(Method))
        check_choice(f"{name}: similarity", self.similarity, get_args(Similarity))
        self.user_based = check_bool(f"{name}: user_based", self.user_based)
        for whole in ("k", "min_k", "min_support", "n_epochs"):
            setattr(self, whole, check_int(f"{name}: {whole}", getattr(self, whole), minimum=1))
        for real in ("shrinkage", "reg_i", "reg_u"):
            setattr(self, real, check_real(f"{name}: {real}", getattr(self, real), low=0.0, high=np.inf))
        self._trained: sparse.csr_array | None = None
        self._folded: sparse.csr_array | None = None

    def fit(self, train: Interactions, *, rng: np.random.Generator) -> Self:  # noqa: ARG002 - contract
        """Arrange the ratings by user and by item; of a pair rated several times, the mean counts."""
        self._known = known = KnownRatings.of(train)
        self._user_bias, self._item_bias = np.zeros(train.n_users), np.zeros(train.n_items)
        if "baseline" in (self.method, self.similarity.removeprefix("pearson_")):
            bias = Bias(n_epochs=self.n_epochs, reg_i=self.reg_i, reg_u=self.reg_u)
            deviation = train.value - np.float64(known.mean)
            self._user_bias, self._item_bias = bias.alternate(train, deviation)
        self._trained, self._folded = one_rating_a_pair(train), None
        self._arrange(self._trained, self._trained)
        return self

    def fold_in(self, histories: Interactions) -> Self:
        """Learn users' means, biases and neighbours from their rows; see Notes."""
        known = self.known()
        assert self._trained is not None
        users = np.flatnonzero(histories.user_counts())
        deviation = histories.value - known.mean - self._item_bias[histories.item]
        self._user_bias = self._user_bias.copy()
        if self._item_bias.any() or self._user_bias.any():
            own = shrunk_means(histories.user, deviation, histories.n_users, self.reg_u)
            self._user_bias[users] = own[users]
        rows = one_rating_a_pair(histories)
        self._folded = rows if self._folded is None else _together(self._folded, rows)
        self._known = known.with_users_of(histories)
        self._arrange(self._trained, _together(self._trained, self._folded))
        return self

    def _arrange(self, trained: sparse.csr_array, everybody: sparse.csr_array) -> None:
        """Put ratings, what is compared of them and what votes into arrays by own and by other code.

        Neighbours are compared by training rows; users who were folded in ask, and are not asked.
        """
        askers, asked = (everybody, trained) if self.user_based else (trained, everybody)
        self._own = self._turned(self._compared(askers))
        self._other = self._turned(self._compared(asked)).T.tocsr()
        self._centre, self._scale, self._other_centre = self._centres(self._turned(askers))
        votes = self._turned(asked).T.tocsr()
        own, other = votes.indices, np.repeat(np.arange(votes.shape[0]), np.diff(votes.indptr))
        self._votes = votes.data.astype(np.float64)
        self._votes -= self._centre[own] + self._other_centre[other]
        self._votes /= self._scale[own]

    def _turned(self, rows: sparse.csr_array) -> sparse.csr_array:
        """Return rows by user with a row for each own code."""
        return rows if self.user_based else rows.T.tocsr()

    def _compared(self, rows: sparse.csr_array) -> sparse.csr_array:
        """Return what similarities are made of: ratings, or what the biases leave of them."""
        values = rows.data.astype(np.float64)
        if self.similarity == "pearson_baseline":
            user = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
            values -= self.known().mean + self._user_bias[user] + self._item_bias[rows.indices]
        return sparse.csr_array((values, rows.indices, rows.indptr), shape=rows.shape)

    def _centres(self, by_own: sparse.csr_array) -> tuple[DoubleArray, DoubleArray, DoubleArray]:
        """Return what votes are added to, by own code, their unit, and what is added by other code."""
        n_own, n_other = by_own.shape
        nothing, unit = np.zeros(n_own), np.ones(n_own)
        if self.method == "baseline":
            biases = self._user_bias, self._item_bias
            own, other = biases if self.user_based else biases[::-1]
            return self.known().mean + own, unit, other
        if self.method == "basic":
            return nothing, unit, np.zeros(n_other)
        codes = np.repeat(np.arange(n_own, dtype=np.int32), np.diff(by_own.indptr))
        values = by_own.data.astype(np.float64)
        mean = shrunk_means(codes, values, n_own, 0.0)
        if self.method == "zscore":
            overall = values.std()
            spread = np.sqrt(shrunk_means(codes, (values - mean[codes]) ** 2, n_own, 0.0))
            unit = np.where(spread > _NO_SPREAD, spread, overall if overall > _NO_SPREAD else 1.0)
        return mean, unit, np.zeros(n_other)

    def predict(self, users: IntArray, items: IntArray) -> FloatArray:
        """Return the predicted ratings, shape (n,) float32, NaN where there are no neighbours to ask."""
        from recgauge.models._rating_knn_kernel import Pairs

        known = self.known()
        own, other = (users, items) if self.user_based else (items, users)
        order = np.argsort(own, kind="stable")
        codes, first = np.unique(own[order], return_index=True)
        stop = np.append(first[1:], len(own))
        out = np.empty(len(own), np.float32)
        self._run(Pairs(codes.astype(np.int32), first, stop, other[order].astype(np.int32), first, 1), out)
        predicted = np.empty_like(out)
        predicted[order] = out
        if self.method != "baseline":
            predicted[~(known.users[users] & known.items[items])] = np.nan
        return predicted

    def score(self, users: IntArray) -> FloatArray:
        """Return the predictions for all items, shape (b, n_items) float32, the mean where there is none."""
        from recgauge.models._rating_knn_kernel import Pairs

        known = self.known()
        n_items, n_users = len(known.items), len(users)
        items, users = np.arange(n_items, dtype=np.int32), np.asarray(users, np.int32)
        own, other, step = (users, items, 1) if self.user_based else (items, users, n_items)
        at = np.arange(len(own)) * (n_items if self.user_based else 1)
        pairs = Pairs(own, np.zeros(len(own), np.int64), np.full(len(own), len(other)), other, at, step)
        scores = np.empty((n_users, n_items), np.float32)
        self._run(pairs, scores.reshape(-1))
        if self.method != "baseline":
            scores[~known.users[users]] = np.nan
            scores[:, ~known.items] = np.nan
        scores[np.isnan(scores)] = known.mean
        return scores

    def _run(self, pairs: "Pairs", out: FloatArray) -> None:
        """Predict on all threads; parts of the work write to places of their own."""
        from recgauge.models._rating_knn_kernel import Ratings, Rule, predict

        if self._trained is None:
            raise not_fitted(self)
        sides = (self._own, self._other)
        arrays = [a for m in sides for a in (m.indptr.astype(np.int64), m.indices.astype(np.int32), m.data)]
        ratings = Ratings(*map(read_only, (*arrays, self._votes)))
        kind = get_args(Similarity).index(self.similarity)
        k, needs = min(self.k, len(self._scale)), self.method == "basic"
        rule = Rule(kind, k, self.min_k, self.min_support, self.shrinkage, needs)
        centres = read_only(self._centre), read_only(self._other_centre), read_only(self._scale)
        n_own = len(pairs.own)
        over_blocks(
            lambda begin, end: predict(pairs, begin, end, ratings, *centres, rule, out),
            n_own,
            max(1, -(-n_own // _PARTS)),
        )


def one_rating_a_pair(rows: Interactions) -> sparse.csr_array:
    """Return the ratings as CSR float32; of a pair with several, their mean."""
    matrix = rows.to_csr()
    if matrix.nnz < len(rows):
        ones = np.ones(len(rows), np.float32)
        counts = sparse.coo_array((ones, (rows.user, rows.item)), shape=matrix.shape).tocsr()
        counts.sum_duplicates()
        matrix.data /= counts.data
    return matrix


def _together(first: sparse.csr_array, second: sparse.csr_array) -> sparse.csr_array:
    """Return the rows of both, which have no user in common; a sum would lose ratings of 0."""
    parts = first.tocoo(), second.tocoo()
    values, users, items = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("data", "row", "col")
    )
    return sparse.csr_array((values, (users, items)), shape=first.shape)
