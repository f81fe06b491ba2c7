"""Ratings predicted by neighbours: what the most similar users, or items, say about an item."""

from dataclasses import dataclass
from typing import Literal, NamedTuple, Self, get_args

import numpy as np
from scipy import sparse

from recgauge.data.interactions import Interactions
from recgauge.models import KnownRatings, RatingPredictor, Recommender, not_fitted
from recgauge.models.bias import Bias, shrunk_means
from recgauge.utils.checks import (
    Count,
    DoubleArray,
    FloatArray,
    IntArray,
    NotNegative,
    read_only,
)
from recgauge.utils.compiled import F32s, F64s, I32s, I64s, compiled
from recgauge.utils.resources import over_blocks

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
    k: Count = 40
    min_k: Count = 1
    min_support: Count = 1
    shrinkage: NotNegative = 100.0
    n_epochs: Count = 10
    reg_i: NotNegative = 10.0
    reg_u: NotNegative = 15.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._trained: sparse.csr_array | None = None
        self._folded: sparse.csr_array | None = None

    def fit(self, train: Interactions, *, rng: np.random.Generator) -> Self:  # noqa: ARG002 - contract
        """Arrange the ratings by user and by item; of a pair rated several times, the mean counts."""
        self._known = training = KnownRatings.of(train)
        self._user_bias, self._item_bias = np.zeros(train.n_users), np.zeros(train.n_items)
        if "baseline" in (self.method, self.similarity.removeprefix("pearson_")):
            bias = Bias(n_epochs=self.n_epochs, reg_i=self.reg_i, reg_u=self.reg_u)
            deviation = train.value - np.float64(training.mean)
            self._user_bias, self._item_bias = bias.alternate(train, deviation)
        self._trained, self._folded = mean_of_pairs(train), None
        self._arrange(self._trained, self._trained)
        return self

    def fold_in(self, histories: Interactions) -> Self:
        """Learn users' means, biases and neighbours from their rows; see Notes."""
        training, trained = self.training(), self._trained
        if trained is None:
            raise not_fitted(self)
        users = np.flatnonzero(histories.user_counts())
        deviation = histories.value - training.mean - self._item_bias[histories.item]
        self._user_bias = self._user_bias.copy()
        if self._item_bias.any() or self._user_bias.any():
            own = shrunk_means(histories.user, deviation, histories.n_users, self.reg_u)
            self._user_bias[users] = own[users]
        rows = mean_of_pairs(histories)
        self._folded = rows if self._folded is None else _together(self._folded, rows)
        self._known = training.with_users_of(histories)
        self._arrange(trained, _together(trained, self._folded))
        return self

    def _arrange(self, trained: sparse.csr_array, everybody: sparse.csr_array) -> None:
        """Put ratings, what is compared of them and what votes into arrays by own and by other code.

        Neighbours are compared by training rows; users who were folded in ask, and are not asked.
        """
        askers, neighbours = (everybody, trained) if self.user_based else (trained, everybody)
        self._own = self._turned(self._compared(askers))
        self._other = self._turned(self._compared(neighbours)).T.tocsr()
        self._centre, self._scale, self._other_centre = self._centres(self._turned(askers))
        votes = self._turned(neighbours).T.tocsr()
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
            values -= self.training().mean + self._user_bias[user] + self._item_bias[rows.indices]
        return sparse.csr_array((values, rows.indices, rows.indptr), shape=rows.shape)

    def _centres(self, by_own: sparse.csr_array) -> tuple[DoubleArray, DoubleArray, DoubleArray]:
        """Return what votes are added to, by own code, their unit, and what is added by other code."""
        n_own, n_other = by_own.shape
        nothing, unit = np.zeros(n_own), np.ones(n_own)
        if self.method == "baseline":
            biases = self._user_bias, self._item_bias
            own, other = biases if self.user_based else biases[::-1]
            return self.training().mean + own, unit, other
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
        training = self.training()
        own, other = (users, items) if self.user_based else (items, users)
        order = np.argsort(own, kind="stable")
        codes, first = np.unique(own[order], return_index=True)
        stop = np.append(first[1:], len(own))
        out = np.empty(len(own), np.float32)
        self._run(_Pairs(codes.astype(np.int32), first, stop, other[order].astype(np.int32), first, 1), out)
        predicted = np.empty_like(out)
        predicted[order] = out
        if self.method != "baseline":
            predicted[~(training.users[users] & training.items[items])] = np.nan
        return predicted

    def score(self, users: IntArray) -> FloatArray:
        """Return the predictions for all items, shape (b, n_items) float32, the mean where there is none."""
        training = self.training()
        n_items, n_users = len(training.items), len(users)
        items, users = np.arange(n_items, dtype=np.int32), np.asarray(users, np.int32)
        own, other, step = (users, items, 1) if self.user_based else (items, users, n_items)
        at = np.arange(len(own)) * (n_items if self.user_based else 1)
        pairs = _Pairs(own, np.zeros(len(own), np.int64), np.full(len(own), len(other)), other, at, step)
        scores = np.empty((n_users, n_items), np.float32)
        self._run(pairs, scores.reshape(-1))
        if self.method != "baseline":
            scores[~training.users[users]] = np.nan
            scores[:, ~training.items] = np.nan
        scores[np.isnan(scores)] = training.mean
        return scores

    def _run(self, pairs: "_Pairs", out: FloatArray) -> None:
        """Predict on all threads; parts of the work write to places of their own."""
        if self._trained is None:
            raise not_fitted(self)
        sides = (self._own, self._other)
        arrays = [a for m in sides for a in (m.indptr.astype(np.int64), m.indices.astype(np.int32), m.data)]
        ratings = _Ratings(*map(read_only, (*arrays, self._votes)))
        kind = get_args(Similarity).index(self.similarity)
        k, needs = min(self.k, len(self._scale)), self.method == "basic"
        rule = _Rule(kind, k, self.min_k, self.min_support, self.shrinkage, needs)
        centres = read_only(self._centre), read_only(self._other_centre), read_only(self._scale)
        n_own = len(pairs.own)
        over_blocks(
            lambda begin, end: predict(pairs, begin, end, ratings, *centres, rule, out),
            n_own,
            max(1, -(-n_own // _PARTS)),
        )


def mean_of_pairs(rows: Interactions) -> sparse.csr_array:
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


MSD, COSINE, PEARSON, PEARSON_BASELINE = range(4)

helper = compiled(nogil=True, error_model="numpy")


class _Ratings(NamedTuple):
    """Ratings by the side whose neighbours are asked for (own), and by the other side.

    ``own_value`` and ``other_value`` are compared; ``other_deviation`` is what neighbours vote with.
    """

    own_ptr: I64s
    own_other: I32s
    own_value: F64s
    other_ptr: I64s
    other_own: I32s
    other_value: F64s
    other_deviation: F64s


class _Pairs(NamedTuple):
    """Pairs to predict: own codes and ``partners[first:stop]``; results go to `out`, `out + step`, ..."""

    own: I32s
    first: I64s
    stop: I64s
    partners: I32s
    out: I64s
    step: int


class _Rule(NamedTuple):
    """Settings of the model; `kind` is one of the similarities above."""

    kind: int
    k: int
    min_k: int
    min_support: int
    shrinkage: float
    needs_neighbours: bool


@helper
def sum_common(x: int, ratings: _Ratings, kind: int, sums: F64s) -> None:
    """Sum what x has in common with everybody: count, then what the similarity needs; columns of `sums`."""
    sums[:] = 0.0
    other_ptr, other_own, other_value = ratings.other_ptr, ratings.other_own, ratings.other_value
    for p in range(ratings.own_ptr[x], ratings.own_ptr[x + 1]):
        y, a = ratings.own_other[p], ratings.own_value[p]
        for q in range(other_ptr[y], other_ptr[y + 1]):
            b = other_value[q]
            row = sums[other_own[q]]
            if kind == MSD:
                row[0] += 1.0
                row[1] += (a - b) * (a - b)
                continue
            row[0] += 1.0
            row[1] += a * b
            row[2] += a * a
            row[3] += b * b
            if kind == PEARSON:
                row[4] += a
                row[5] += b


@helper
def from_sums(row: F64s, rule: _Rule) -> float:
    """Return the similarity, 0 where it is undefined."""
    n = float(row[0])
    if n < rule.min_support or n == 0.0:
        return 0.0
    if rule.kind == MSD:
        return float(1.0 / (row[1] / n + 1.0))
    if rule.kind == PEARSON:
        product = n * row[1] - row[4] * row[5]
        spread = (n * row[2] - row[4] * row[4]) * (n * row[3] - row[5] * row[5])
    else:
        product, spread = row[1], row[2] * row[3]
    if not spread > 0.0:
        return 0.0
    similarity: float = product / np.sqrt(spread)
    if rule.kind == PEARSON_BASELINE:
        similarity *= (n - 1.0) / (n - 1.0 + rule.shrinkage) if n > 1.0 else 0.0
    return similarity


@helper
def sink(near: F64s, who: I64s, at: int, count: int) -> None:
    """Restore the heap below `at`: the farthest neighbour first, of equals the one that came last."""
    while True:
        worst = at
        for child in (2 * at + 1, 2 * at + 2):
            if child < count and (
                near[child] < near[worst] or (near[child] == near[worst] and who[child] > who[worst])
            ):
                worst = child
        if worst == at:
            return
        near[at], near[worst] = near[worst], near[at]
        who[at], who[worst] = who[worst], who[at]
        at = worst


@helper
def find_nearest(y: int, similar: F64s, ratings: _Ratings, k: int, near: F64s, who: I64s) -> int:
    """Fill the heap with the k nearest who rated y, in no order; return how many there are."""
    count = 0
    for q in range(ratings.other_ptr[y], ratings.other_ptr[y + 1]):
        s = similar[ratings.other_own[q]]
        if s <= 0.0:
            continue
        if count < k:
            near[count], who[count] = s, q
            count += 1
            if count == k:
                for at in range(k // 2 - 1, -1, -1):
                    sink(near, who, at, k)
        elif s > near[0]:  # who only equals the farthest comes after it
            near[0], who[0] = s, q
            sink(near, who, 0, k)
    return count


@helper
def vote(y: int, similar: F64s, ratings: _Ratings, rule: _Rule, near: F64s, who: I64s) -> float:
    """Return the mean deviation of the k nearest who rated y, weighted by similarity; nan if too few did."""
    count = find_nearest(y, similar, ratings, rule.k, near, who)
    if count < rule.min_k:
        return np.nan
    total = weight = 0.0
    for at in range(count):
        total += near[at] * ratings.other_deviation[who[at]]
        weight += near[at]
    return float(total / weight)


@compiled(nogil=True, error_model="numpy")
def predict(
    pairs: _Pairs, begin: int, end: int, ratings: _Ratings, centre: F64s, other_centre: F64s, scale: F64s,
    rule: _Rule, out: F32s,
) -> None:  # fmt: skip
    """Predict the pairs of own codes number `begin` to `end`.

    Votes are multiplied with `scale`, by own code, and added to `centre` and `other_centre`.
    """
    n_own = len(ratings.own_ptr) - 1
    width = 2 if rule.kind == MSD else 6 if rule.kind == PEARSON else 4
    sums, similar = np.empty((n_own, width)), np.empty(n_own)
    near, who = np.empty(rule.k), np.empty(rule.k, np.int64)
    for t in range(begin, end):
        x = pairs.own[t]
        sum_common(x, ratings, rule.kind, sums)
        for x2 in range(n_own):
            similar[x2] = from_sums(sums[x2], rule)
        similar[x] = 0.0  # nobody is a neighbour of themselves
        for p in range(pairs.first[t], pairs.stop[t]):
            y = pairs.partners[p]
            correction = vote(y, similar, ratings, rule, near, who)
            if np.isnan(correction) and not rule.needs_neighbours:
                correction = 0.0
            at = pairs.out[t] + (p - pairs.first[t]) * pairs.step
            out[at] = centre[x] + other_centre[y] + scale[x] * correction
