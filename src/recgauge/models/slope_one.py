"""Slope One: a user's ratings, each moved by how differently two items are rated by others."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.models import KnownRatings, RatingPredictor, Recommender, check_memory, not_fitted
from recgauge.utils.checks import DoubleArray, FloatArray, IntArray, LongArray
from recgauge.utils.compiled import F32s, F64s, I32s, I64s, compiled
from recgauge.utils.grouped import grouped
from recgauge.utils.progress import NoProgress, Progress
from recgauge.utils.resources import over_blocks

_ITEMS_AT_A_TIME = 32


@dataclass(eq=False)
class SlopeOne(Recommender, RatingPredictor):
    r"""Predict a rating by the user's mean plus how much better the item is rated than the user's items.

    .. math::
        \hat r_{ui} = \mu_u + \frac{1}{|R_i(u)|} \sum_{j \in R_i(u)} \operatorname{dev}_{ij}, \qquad
        \operatorname{dev}_{ij} = \frac{1}{|U_{ij}|} \sum_{v \in U_{ij}} (r_{vi} - r_{vj})

    :math:`U_{ij}` are the users who rated both items, :math:`R_i(u)` the items of user u that somebody rated
    together with i. Nothing is to be set.

    Notes
    -----
    The unweighted form, in which every deviation counts alike, as in Surprise. Where :math:`R_i(u)` is empty,
    the prediction is the user's mean; for an unknown user or item it is the mean of all ratings. As a
    recommender it gives an unknown item the user's mean.

    Memory: 4 n_items² bytes for the deviations, 55 MB for the 3,706 items of MovieLens 1M; what cannot be
    had is refused before work starts. Time grows with the sum of the squares of the users' rows. No chance
    is involved; sums are exact for ratings in steps of a half, whatever the number of threads.

    `fold_in` predicts for new users from their rows; deviations stay those of the training rows.

    References
    ----------
    .. [1] D. Lemire, A. Maclachlan, "Slope One predictors for online rating-based collaborative filtering",
       SDM 2005.

    Examples
    --------
    >>> train = Interactions.from_ids(["a", "a", "b"], ["x", "y", "x"], [4.0, 5.0, 2.0])
    >>> model = SlopeOne().fit(train, rng=np.random.default_rng(0))
    >>> model.predict(np.array([1], np.int32), np.array([1], np.int32)).tolist()  # y is one better than x
    [3.0]
    """

    def __post_init__(self) -> None:
        self._deviations: FloatArray | None = None
        self._user: IntArray
        self._item: IntArray
        self._user_means: DoubleArray

    def fit(self, train: Interactions, *, rng: np.random.Generator, progress: Progress | None = None) -> Self:  # noqa: ARG002 - contract
        """Average the differences of ratings over all pairs of items that share a user."""
        known, n_items = KnownRatings.of(train), train.n_items
        what = f"deviations between {n_items:,} items"
        remedy = "Keep fewer items, for example by filters=[n_core], or take model=bias or model=biased_mf."
        check_memory("SlopeOne", what, 4 * n_items**2, remedy)
        rows = train.take(np.lexsort((train.item, train.user)))
        user_start, _ = grouped(rows.user, rows.n_users)
        lists = (user_start, rows.user, rows.item, rows.value, *grouped(rows.item, n_items))
        deviations = np.empty((n_items, n_items), np.float32)
        with (progress or NoProgress()).step("fit", n_items, "items") as advance:
            over_blocks(
                lambda first, last: mean_deviations(*lists, first, last, deviations),
                n_items,
                _ITEMS_AT_A_TIME,
                advance=advance,
            )
        self._known, self._deviations = known, deviations
        self._user, self._item = rows.user, rows.item
        self._user_means = np.full(rows.n_users, known.mean)
        self._set_means(rows)
        return self

    def fold_in(self, histories: Interactions) -> Self:
        """Remember the users' rows, beside those of the training users."""
        self._known = self.known().with_users_of(histories)
        order = np.argsort(np.concatenate((self._user, histories.user)), kind="stable")
        self._user = np.concatenate((self._user, histories.user))[order]
        self._item = np.concatenate((self._item, histories.item))[order]
        self._set_means(histories)
        return self

    def _set_means(self, rows: Interactions) -> None:
        counts = rows.user_counts()
        sums = np.bincount(rows.user, rows.value, minlength=rows.n_users)
        np.divide(sums, counts, out=self._user_means, where=counts > 0)

    def predict(self, users: IntArray, items: IntArray) -> FloatArray:
        """Return the predicted ratings, shape (n,) float32; NaN for unknown users and items."""
        predicted, known = np.empty(len(users), np.float32), self.known()
        predict_pairs(users, items, *self._learned(), predicted)
        return np.where(known.both(users, items), predicted, np.float32(np.nan))

    def score(self, users: IntArray) -> FloatArray:
        """Return the predictions for all items, shape (b, n_items) float32."""
        learned = self._learned()
        predicted = np.empty((len(users), len(learned[-1])), np.float32)
        predict_all(users, *learned, predicted)
        return predicted

    def _learned(self) -> tuple[LongArray, IntArray, DoubleArray, FloatArray]:
        if self._deviations is None:
            raise not_fitted(self)
        start = np.searchsorted(self._user, np.arange(len(self._user_means) + 1))
        return start, self._item, self._user_means, self._deviations


@compiled(nogil=True)
def mean_deviations(
    user_start: I64s,
    user: I32s,
    item: I32s,
    value: F32s,
    item_start: I64s,
    by_item: I64s,
    first: int,
    last: int,
    deviations: F32s,
) -> None:
    """Write how much better item i is rated than item j by those who rated both, NaN if nobody did.

    Rows are sorted by user, then by item; those of a user begin at `user_start`, those of an item at
    `item_start` of `by_item`, which holds positions. Written are the items i from `first` to `last` with all
    behind them, and their negatives.
    """
    n_items = len(item_start) - 1
    sums, counts = np.empty(n_items), np.empty(n_items, np.int32)
    for i in range(first, last):
        sums[:] = 0.0
        counts[:] = 0
        for row in by_item[item_start[i] : item_start[i + 1]]:
            for other in range(
                row + 1, user_start[user[row] + 1]
            ):  # items behind i; the rest is the negative
                sums[item[other]] += value[row] - value[other]
                counts[item[other]] += 1
        deviations[i, i] = 0.0 if item_start[i + 1] > item_start[i] else np.nan
        for j in range(i + 1, n_items):
            mean = np.float32(sums[j] / counts[j]) if counts[j] else np.float32(np.nan)
            deviations[i, j] = mean
            deviations[j, i] = -mean


@compiled(nogil=True)
def predict_pairs(
    users: I32s,
    items: I32s,
    start: I64s,
    item: I32s,
    user_means: F64s,
    deviations: F32s,
    predicted: F32s,
) -> None:
    """Write the predictions of pairs, shape (n,); `start` and `item` are the users' training rows."""
    for pair in range(len(users)):
        u, i = users[pair], items[pair]
        total, count = 0.0, 0
        for j in item[start[u] : start[u + 1]]:
            deviation = deviations[i, j]
            if not np.isnan(deviation):
                total += deviation
                count += 1
        predicted[pair] = user_means[u] + total / max(count, 1)


@compiled(nogil=True)
def predict_all(
    users: I32s,
    start: I64s,
    item: I32s,
    user_means: F64s,
    deviations: F32s,
    predicted: F32s,
) -> None:
    """Write the predictions of all items, shape (b, n_items)."""
    n_items = len(deviations)
    total, count = np.empty(n_items, np.float32), np.empty(n_items, np.int32)
    for at in range(len(users)):
        u = users[at]
        total[:] = np.float32(0.0)
        count[:] = 0
        for j in item[start[u] : start[u + 1]]:
            behind = deviations[j]  # of j behind every item: the negative of what is added
            for i in range(n_items):
                known = behind[i] == behind[i]
                total[i] -= behind[i] if known else np.float32(0.0)
                count[i] += np.int32(known)
        for i in range(n_items):
            predicted[at, i] = user_means[u] + total[i] / max(count[i], 1)
