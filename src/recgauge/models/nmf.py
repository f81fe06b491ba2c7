"""Non-negative matrix factorisation of the known ratings."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.errors import FitError
from recgauge.models import EpochModel, FactorRatings, Factors, KnownRatings
from recgauge.utils.checks import Count, DoubleArray, IntArray, LongArray, NotNegative
from recgauge.utils.compiled import F64s, I32s, I64s, compiled
from recgauge.utils.grouped import grouped
from recgauge.utils.resources import over_blocks

_Rows = tuple[LongArray, IntArray, DoubleArray]
_CODES_AT_A_TIME = 256


@dataclass(eq=False)
class NMF(EpochModel, FactorRatings):
    r"""Predict a rating by the product of two sets of factors, none of which is negative.

    .. math:: \hat r_{ui} = p_u \cdot q_i, \qquad p_u \ge 0, \; q_i \ge 0

    Parameters
    ----------
    n_factors : int
        Length of the factors, >= 1.
    n_epochs : int
        Rounds of updates, >= 1.
    reg_pu, reg_qi : float
        Pull of users' and of items' factors towards 0, >= 0.

    Notes
    -----
    In each round all factors are multiplied at once, users' and items' from the same predictions:

    .. math::
        p_{uf} \leftarrow p_{uf} \,
        \frac{\sum_{i} q_{if} r_{ui}}{\sum_{i} q_{if} \hat r_{ui} + \lambda_u n_u p_{uf}}, \qquad
        q_{if} \leftarrow q_{if} \,
        \frac{\sum_{u} p_{uf} r_{ui}}{\sum_{u} p_{uf} \hat r_{ui} + \lambda_i n_i q_{if}}

    Sums are over known ratings only, which must not be negative. Factors start at random between 0 and 1. The
    result depends much on them, and since both sets move at once, the error may rise and fall in turns during
    the first rounds. In Surprise the same, there with ``biased=False``.

    In float64; one seed gives one result, whatever the number of threads. Memory: twice the factors, and the
    ratings by user and by item. The loss of an epoch is the mean of the squared errors before its updates.
    For an unknown user or item the prediction is the mean of all ratings; as a recommender the model scores
    them 0. `fold_in` does as many rounds for new users, from 0.5, with the items' factors as trained.

    References
    ----------
    .. [1] X. Luo, M. Zhou, Y. Xia, Q. Zhu, "An efficient non-negative matrix-factorization-based approach to
       collaborative filtering for recommender systems", IEEE Transactions on Industrial Informatics 10(2),
       2014.

    Examples
    --------
    >>> train = Interactions.from_ids([0, 0, 1, 1, 2], [0, 1, 0, 1, 0], [5.0, 1.0, 5.0, 1.0, 5.0])
    >>> model = NMF(n_factors=2).fit(train, rng=np.random.default_rng(0))
    >>> model.predict(np.array([0, 0], np.int32), np.array([0, 1], np.int32)).round().tolist()
    [4.0, 1.0]
    """

    rates_unknown: ClassVar[bool] = False

    n_factors: Count = 15
    n_epochs: Count = 50
    reg_pu: NotNegative = 0.06
    reg_qi: NotNegative = 0.06

    def epochs(self, train: Interactions, *, rng: np.random.Generator) -> Iterator[float]:
        """Update all factors in rounds, yielding the mean squared error before each.

        Raises
        ------
        FitError
            If a rating is negative.
        """
        known = KnownRatings.of(train)
        if train.value.min() < 0:
            raise FitError(
                f"NMF: ratings must not be negative, since factors are not; the lowest is "
                f"{train.value.min():g}. Choose another model, such as biased_mf, or drop these rows by "
                "filters=[min_rating]."
            )
        p, q = (rng.random((len(codes), self.n_factors)) for codes in (known.users, known.items))
        p[~known.users], q[~known.items] = 0.0, 0.0
        by_user = _rows(train.user, train.item, train, len(p))
        by_item = _rows(train.item, train.user, train, len(q))
        self._known = known
        for _ in range(self.n_epochs):
            users, squares = _updated(by_user, p, q, self.reg_pu)
            items, _ = _updated(by_item, q, p, self.reg_qi)
            p, q = users, items
            self._factors = Factors(p.astype(np.float32), q.astype(np.float32))
            yield squares / len(train)

    def fold_in(self, histories: Interactions) -> Self:
        """Find the factors of users from their rows; see Notes."""
        known, factors = self.known(), self.factors()
        q = factors.item.astype(np.float64)
        rows = _rows(histories.user, histories.item, histories, len(factors.user))
        p = np.full(factors.user.shape, 0.5)
        for _ in range(self.n_epochs):
            p, _ = _updated(rows, p, q, self.reg_pu)
        new = histories.user_counts() > 0
        user = np.where(new[:, None], p, factors.user).astype(np.float32)
        self._factors, self._known = Factors(user, factors.item), known.with_users_of(histories)
        return self


def _rows(own: IntArray, others: IntArray, rows: Interactions, n_codes: int) -> _Rows:
    """Return where each code's rows begin, the other side's codes and the ratings."""
    start, order = grouped(own, n_codes)
    return start, others[order], rows.value[order].astype(np.float64)


def _updated(rows: _Rows, own: DoubleArray, others: DoubleArray, pull: float) -> tuple[DoubleArray, float]:
    """Return one side's factors after an update, and the sum of squared errors before it."""
    updated = np.empty_like(own)
    squares = over_blocks(
        lambda first, last: update(*rows, own, others, pull, first, last, updated),
        len(own),
        _CODES_AT_A_TIME,
    )
    return updated, sum(squares)


@compiled(nogil=True)
def update(
    start: I64s,
    others: I32s,
    value: F64s,
    own: F64s,
    other_factors: F64s,
    pull: float,
    first: int,
    last: int,
    updated: F64s,
) -> float:
    """Write the factors of users `first` to `last` after one multiplicative update; items likewise.

    The rows of a user, items `others` and ratings `value`, begin at ``start[user]``; `own`, `updated`,
    (n_users, d), and `other_factors`, (n_items, d), are before and after the update, `pull` is the
    regularization. Returns the sum of the squared errors of their rows before it.
    """
    n_factors = own.shape[1]
    above, below = np.empty(n_factors), np.empty(n_factors)
    squares = 0.0
    for u in range(first, last):
        p = own[u]
        above[:] = 0.0
        for f in range(n_factors):
            below[f] = (start[u + 1] - start[u]) * pull * p[f]
        for row in range(start[u], start[u + 1]):
            q = other_factors[others[row]]
            predicted = 0.0
            for f in range(n_factors):
                predicted += p[f] * q[f]
            squares += (value[row] - predicted) ** 2
            for f in range(n_factors):
                above[f] += q[f] * value[row]
                below[f] += q[f] * predicted
        for f in range(n_factors):
            updated[u, f] = p[f] * above[f] / below[f] if below[f] > 0.0 else p[f]
    return squares
