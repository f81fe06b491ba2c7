"""BPR: matrix factorisation that puts what a user took before what the user did not take."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.errors import FitError
from recgauge.models import EpochModel, FactorModel, Factors, check_memory
from recgauge.models._lanes import dot, padded
from recgauge.utils.checks import Count, FloatArray, NotNegative, Positive
from recgauge.utils.compiled import F32s, I32s, I64s, U64s, compiled

Negatives = Literal["uniform", "popularity"]
STEPS_AT_A_TIME = 1 << 14


@dataclass(eq=False)
class BPR(EpochModel, FactorModel):
    r"""Learn factors by pairs of items: one that the user took and one that the user did not take.

    .. math::
        \max \sum_{(u, i, j)} \ln \sigma(x_{ui} - x_{uj})
        - \frac{\lambda}{2} \left( \lVert p_u \rVert^2 + \lVert q_i \rVert^2 + \lVert q_j \rVert^2
        + b_i^2 + b_j^2 \right), \qquad x_{ui} = p_u \cdot q_i + b_i

    with :math:`\sigma(x) = 1 / (1 + e^{-x})`.

    Parameters
    ----------
    n_factors : int
        Length of the factors, >= 1.
    n_epochs : int
        Each draws as many rows as there are, >= 1.
    learning_rate : float
        Step of the descent, > 0.
    regularization : float
        Pull of factors and biases towards 0, >= 0.
    negatives : {"uniform", "popularity"}
        How the other item is drawn: all alike, or in proportion to their rows.
    n_negatives : int
        Other items for each row that is drawn, >= 1.
    n_tries : int
        Draws of an other item, >= 1: if the user took all of them, there is no step.
    init_std : float
        Standard deviation of the factors at the start, > 0; biases start at 0.

    Notes
    -----
    Rows are drawn with replacement, as in [1]_; so are other items until the user has not taken one. What
    ratings are plays no part. The loss of an epoch is the mean of :math:`-\ln \sigma` over its steps.

    ``BayesianPersonalizedRanking`` of implicit learns the same with ``negatives="popularity"``,
    ``n_tries=1`` and ``init_std=1 / (n_factors * sqrt(12))``.

    One thread takes all steps in one order: one seed gives one result on all processors, for any number of
    threads. Each step costs 10 `n_factors` products. Memory: the rows with 8 bytes each, the factors; no
    array of users and items.

    References
    ----------
    .. [1] S. Rendle, C. Freudenthaler, Z. Gantner, L. Schmidt-Thieme, "BPR: Bayesian personalized ranking
       from implicit feedback", UAI 2009.

    Examples
    --------
    >>> train = Interactions.from_ids([0, 0, 1, 1, 2, 2, 3], [0, 1, 0, 1, 2, 3, 2])
    >>> model = BPR(n_factors=2, n_epochs=500).fit(train, rng=np.random.default_rng(0))
    >>> int(model.score(np.array([3], np.int32))[0].argmax())
    2
    """

    n_factors: Count = 64
    n_epochs: Count = 50
    learning_rate: Positive = 0.05
    regularization: NotNegative = 0.01
    negatives: Negatives = "uniform"
    n_negatives: Count = 1
    n_tries: Count = 32
    init_std: Positive = 0.1

    def epochs(self, train: Interactions, *, rng: np.random.Generator) -> Iterator[float]:
        """Descend; yield the mean loss of the steps of each epoch."""
        rows = train.to_csr()
        if rows.nnz == 0:
            raise FitError("BPR: needs at least one training row, got none.")
        width = padded(self.n_factors)
        needed = 8 * (width + 2) * sum(rows.shape) + 16 * rows.nnz
        check_memory("BPR", f"{sum(rows.shape):,} rows of {width} factors", needed, "Use fewer factors.")
        users, items = (self._start(n, width, rng) for n in rows.shape)
        ones, bias = np.ones(rows.shape[0], np.float32), np.zeros(rows.shape[1], np.float32)
        indptr, codes = rows.indptr.astype(np.int64), rows.indices.astype(np.int32)
        owner = np.repeat(np.arange(rows.shape[0], dtype=np.int32), np.diff(indptr))
        users[np.diff(indptr) == 0] = 0.0
        state = rng.integers(2**64, size=1, dtype=np.uint64)
        settings = (rows.shape[1], self.negatives == "popularity", self.n_negatives, self.n_tries)
        rate, pull = np.float32(self.learning_rate), np.float32(self.regularization)
        n_steps = rows.nnz * self.n_negatives
        at_a_time = -(-STEPS_AT_A_TIME // self.n_negatives) * self.n_negatives
        for epoch in range(1, self.n_epochs + 1):
            loss, n_taken = 0.0, 0
            for first in range(0, n_steps, at_a_time):
                triples = np.empty((min(at_a_time, n_steps - first), 3), np.int32)
                draw_triples(state, owner, indptr, codes, *settings, triples)
                loss += descend(triples, users, items, bias, rate, pull)
                n_taken += int((triples[:, 2] >= 0).sum())
            if not (np.isfinite(loss) and np.isfinite(users).all() and np.isfinite(items).all()):
                raise FitError(
                    f"BPR: training diverged in epoch {epoch} of {self.n_epochs}, factors are not finite. "
                    f"Lower learning_rate, which is {self.learning_rate:g}."
                )
            # the columns 1 and bias: their product adds the bias
            own, of_items = users[:, : self.n_factors], items[:, : self.n_factors]
            self._factors = Factors(np.column_stack([own, ones]), np.column_stack([of_items, bias]))
            yield loss / max(n_taken, 1)

    def _start(self, n: int, width: int, rng: np.random.Generator) -> FloatArray:
        factors = np.zeros((n, width), np.float32)
        factors[:, : self.n_factors] = rng.standard_normal((n, self.n_factors), dtype=np.float32)
        factors *= np.float32(self.init_std)
        return factors


_GOLDEN, _FIRST, _SECOND = (
    np.uint64(word) for word in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)
_LN2, _LIMIT = math.log(2.0), 30.0
_PARTS = 1.0 / np.maximum(np.arange(8.0), 1.0)
_POWERS = 2.0 ** np.arange(-64, 65)


@compiled(nogil=True)
def _draw(state: U64s, n: int) -> Any:
    """Return the next number below `n` (less than 2**32) of SplitMix64."""
    state[0] += _GOLDEN
    word = state[0]
    word = (word ^ (word >> np.uint64(30))) * _FIRST
    word = (word ^ (word >> np.uint64(27))) * _SECOND
    return np.int64(((word ^ (word >> np.uint64(31))) >> np.uint64(32)) * np.uint64(n) >> np.uint64(32))


@compiled(nogil=True)
def _has(codes: I32s, begin: Any, end: Any, code: Any) -> bool:
    """Whether ``codes[begin:end]``, ascending and not empty, hold one; without branches to guess."""
    n = end - begin
    while n > 1:
        half = n >> 1
        begin += half * np.int64(codes[begin + half] <= code)
        n -= half
    return bool(codes[begin] == code)


@compiled(nogil=True)
def _exp(x: float) -> Any:
    """Return e to the power of a number of -30 to 30, alike on all processors, to 5e-9 of it."""
    n = math.floor(x / _LN2 + 0.5)
    r = x - n * _LN2
    series = 1.0
    for power in range(7, 0, -1):
        series = 1.0 + r * _PARTS[power] * series
    return series * _POWERS[int(n) + 64]


@compiled(nogil=True)
def draw_triples(
    state: U64s,
    owner: I32s,
    indptr: I64s,
    codes: I32s,
    n_items: int,
    popular: bool,
    n_negatives: int,
    n_tries: int,
    triples: I32s,
) -> None:
    """Fill `triples`, (n, 3), with users, items of theirs and others'; -1 where no other was found.

    Rows are drawn with replacement, each for `n_negatives` triples in a row; others up to `n_tries` times.
    """
    user = item = 0
    for t in range(len(triples)):
        if t % n_negatives == 0:
            row = _draw(state, len(codes))
            user, item = owner[row], codes[row]
        begin, end = indptr[user], indptr[user + 1]
        other = -1
        for _ in range(n_tries):
            other = codes[_draw(state, len(codes))] if popular else _draw(state, n_items)
            if not _has(codes, begin, end, other):
                break
            other = -1
        triples[t, 0], triples[t, 1], triples[t, 2] = user, item, other


@compiled(nogil=True, error_model="numpy")
def descend(triples: I32s, users: F32s, items: F32s, bias: F32s, rate: Any, pull: Any) -> float:
    """Take a step of gradient descent for each triple, in order; return the sum of -ln of the chances."""
    loss, chances, taken = 0.0, 1.0, 0
    width = users.shape[1]
    for t in range(len(triples)):
        u, i, j = triples[t]
        if j < 0:
            continue
        p, a, b = users[u], items[i], items[j]
        margin = np.float64(bias[i]) - bias[j] + dot(p, a) - dot(p, b)
        chance = 1.0 / (1.0 + _exp(-min(max(margin, -_LIMIT), _LIMIT)))
        chances *= chance
        taken += 1
        if taken & 15 == 0:
            loss -= math.log(chances)
            chances = 1.0
        if margin != margin:
            return math.nan
        wrong = np.float32(1.0 - chance)
        for f in range(width):
            own, good, bad = p[f], a[f], b[f]
            p[f] = own + rate * (wrong * (good - bad) - pull * own)
            a[f] = good + rate * (wrong * own - pull * good)
            b[f] = bad - rate * (wrong * own + pull * bad)
        bias[i] += rate * (wrong - pull * bias[i])
        bias[j] -= rate * (wrong + pull * bias[j])
    return loss - math.log(chances)
