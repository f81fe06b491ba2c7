"""BPR: matrix factorisation that puts what a user took before what the user did not take."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.errors import FitError
from recgauge.models import EpochModel, FactorModel, Factors
from recgauge.models._gram import check_memory
from recgauge.utils.checks import FloatArray, check_choice, check_int, check_real

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

    n_factors: int = 64
    n_epochs: int = 50
    learning_rate: float = 0.05
    regularization: float = 0.01
    negatives: Negatives = "uniform"
    n_negatives: int = 1
    n_tries: int = 32
    init_std: float = 0.1

    def __post_init__(self) -> None:
        for name in ("n_factors", "n_epochs", "n_negatives", "n_tries"):
            setattr(self, name, check_int(f"BPR: {name}", getattr(self, name), minimum=1))
        for name in ("learning_rate", "init_std"):
            value = check_real(f"BPR: {name}", getattr(self, name), low=0.0, high=np.inf, low_open=True)
            setattr(self, name, value)
        self.regularization = check_real("BPR: regularization", self.regularization, low=0.0, high=np.inf)
        check_choice("BPR: negatives", self.negatives, get_args(Negatives))

    def epochs(self, train: Interactions, *, rng: np.random.Generator) -> Iterator[float]:
        """Descend; yield the mean loss of the steps of each epoch."""
        from recgauge.models._bpr_kernel import descend, draw_triples  # compiling is left to those who fit
        from recgauge.models._lanes import padded

        rows = train.to_csr()
        if rows.nnz == 0:
            raise FitError("BPR: needs at least one training row, got none.")
        width = padded(self.n_factors)
        needed = 8 * (width + 2) * sum(rows.shape) + 16 * rows.nnz
        check_memory("BPR", f"{sum(rows.shape):,} rows of {width} factors", needed, "Use fewer factors.")
        users, items = (self._start(n, width, rng) for n in rows.shape)
        bias = np.zeros(rows.shape[1], np.float32)
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
            self._factors = self._with_biases(users, items, bias)
            yield loss / max(n_taken, 1)

    def _start(self, n: int, width: int, rng: np.random.Generator) -> FloatArray:
        factors = np.zeros((n, width), np.float32)
        factors[:, : self.n_factors] = rng.standard_normal((n, self.n_factors), dtype=np.float32)
        factors *= np.float32(self.init_std)
        return factors

    def _with_biases(self, users: FloatArray, items: FloatArray, bias: FloatArray) -> Factors:
        """Append the columns 1 and bias, whose product adds the bias."""
        d = self.n_factors
        ones = np.ones(len(users), np.float32)
        return Factors(np.column_stack([users[:, :d], ones]), np.column_stack([items[:, :d], bias]))
