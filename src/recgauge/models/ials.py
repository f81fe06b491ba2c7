"""iALS: implicit alternating least squares, matrix factorisation of what users took and did not take."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse

from recgauge.data.interactions import Interactions
from recgauge.errors import FitError
from recgauge.models import EpochModel, FactorModel, Factors, Values, check_memory, matrix_of
from recgauge.models._lanes import add_errors, dot, padded
from recgauge.utils.checks import Count, DoubleArray, FloatArray, Positive, Share
from recgauge.utils.compiled import F32s, F64s, I32s, I64s, compiled
from recgauge.utils.resources import over_blocks

ROWS_AT_A_TIME = 64
ROWS_OF_A_GRAM = 1 << 12  # sums do not depend on threads, since a part's rows do not


@dataclass(eq=False)
class IALS(EpochModel, FactorModel):
    r"""Fit products of factors to 1 for what users have taken and, with a small weight, to 0 for everything.

    .. math::
        \min_{W, H} \; \sum_{(u, i) \in S} c_{ui} (1 - w_u \cdot h_i)^2
        + \alpha \sum_u \sum_i (w_u \cdot h_i)^2
        + \lambda \left( \sum_u (n_u + \alpha |I|)^\nu \lVert w_u \rVert^2
        + \sum_i (n_i + \alpha |U|)^\nu \lVert h_i \rVert^2 \right)

    Among the strongest baselines when its settings are tuned, above all `alpha`, `regularization` and
    `n_factors` [2]_: on MovieLens 20M that article found 0.1 and 0.003 best, with up to 2048 factors. The
    defaults here serve data of MovieLens 1M's size.

    Parameters
    ----------
    n_factors : int
        Length of the factors d, >= 1.
    n_epochs : int
        Rounds, each first over all users, then over all items, >= 1.
    alpha : float
        Weight of the zeros, of which every pair is one, > 0.
    regularization : float
        Pull of the factors towards 0, > 0.
    nu : float
        How the pull grows with the rows of a user or an item, 0 to 1: not at all, or in proportion.
    init_std : float
        Standard deviation of the products at the start, > 0; that of the factors is 1/sqrt(d) of it.
    n_steps : int
        Steps of conjugate gradients for each user and item in each round, >= 1.
    values : {"rating", "binary"}
        Weights c of rows: the ratings, which must be above 0, such as counts; or 1.

    Notes
    -----
    With the items' factors as they are, a user's part of the sum is least where

    .. math::
        \Big( \alpha H^T H + \sum_{i \in S_u} c_{ui} h_i h_i^T + \lambda (n_u + \alpha |I|)^\nu \Big) w_u
        = \sum_{i \in S_u} c_{ui} h_i

    and the other way round. Each round moves every user's and item's factors towards there by `n_steps` steps
    of conjugate gradients from where they are [3]_, which costs a fraction of solving the systems, and after
    a few rounds comes to the same. `fold_in` solves the systems of the users that it is given.

    The weights of [1]_, 1 for zeros and c for rows, are those of this model with ``alpha = 1 / (c - 1)`` and
    products 1 + `alpha` times smaller.

    Time of a round: `n_steps` + 1 passes over the rows for users, and as many for items, 2 d products a row.
    Memory: the rows twice, 12 bytes each, and two copies of the factors; no array of users and items.
    In float32. Sums have one order on all processors, for any number of threads.

    References
    ----------
    .. [1] Y. Hu, Y. Koren, C. Volinsky, "Collaborative filtering for implicit feedback datasets", ICDM 2008.
    .. [2] S. Rendle, W. Krichene, L. Zhang, Y. Koren, "Revisiting the performance of iALS on item
       recommendation benchmarks", RecSys 2022.
    .. [3] G. Takacs, I. Pilaszy, D. Tikk, "Applications of the conjugate gradient method for implicit
       feedback collaborative filtering", RecSys 2011.

    Examples
    --------
    >>> train = Interactions.from_ids([0, 0, 1, 1, 2, 2, 3], [0, 1, 0, 1, 2, 3, 2])
    >>> model = IALS(n_factors=2).fit(train, rng=np.random.default_rng(0))
    >>> model.score(np.array([3], np.int32)).astype(float).round(1).tolist()
    [[0.0, 0.0, 0.7, 0.5]]
    """

    n_factors: Count = 64
    n_epochs: Count = 16
    alpha: Positive = 0.3
    regularization: Positive = 0.01
    nu: Share = 1.0
    init_std: Positive = 0.1
    n_steps: Count = 3
    values: Values = "binary"

    def epochs(self, train: Interactions, *, rng: np.random.Generator) -> Iterator[float]:
        """Improve users' and items' factors in turn; yield the sum that is minimised.

        Raises
        ------
        FitError
            If there is no row, a row's weight is not above 0, or memory is short.
        """
        rows = self._weights(train)
        d, width = self.n_factors, padded(self.n_factors)
        needed = 8 * width * sum(rows.shape) + 24 * rows.nnz
        check_memory("IALS", f"{sum(rows.shape):,} rows of {d} factors", needed, "Use fewer factors.")
        items = rows.T.tocsr()
        of_users, of_items = self._pulls(rows), self._pulls(items)
        w, h = (np.zeros((n, width), np.float32) for n in rows.shape)
        for factors in (w, h):
            start = rng.standard_normal((len(factors), d), dtype=np.float32)
            factors[:, :d] = start * np.float32(self.init_std / np.sqrt(d))
        for _ in range(self.n_epochs):
            _improve(rows, of_users, w, h, self.alpha, self.n_steps)
            loss = _improve(items, of_items, h, w, self.alpha, self.n_steps)
            loss += float(of_users @ np.einsum("ud,ud->u", w, w, dtype=np.float64))
            if not np.isfinite(loss):
                raise FitError(
                    f"IALS: training diverged (loss {loss}). Weights of rows are {rows.data.min():g} to "
                    f"{rows.data.max():g}; make them smaller or regularization larger."
                )
            self._factors = Factors(w[:, :d].copy(), h[:, :d].copy())
            yield loss

    def fold_in(self, histories: Interactions) -> Self:
        """Solve the systems of users by their rows; see Notes."""
        factors, d = self.factors(), self.n_factors
        rows = self._weights(histories)
        chosen = np.flatnonzero(histories.user_counts())
        h = np.zeros((len(factors.item), padded(d)), np.float32)
        h[:, :d] = factors.item
        w = np.zeros((len(chosen), padded(d)), np.float32)
        _improve(rows[chosen], self._pulls(rows)[chosen], w, h, self.alpha, 4 * d, tolerance=1e-10)
        folded = factors.user.copy()
        folded[chosen] = w[:, :d]
        self._factors = Factors(folded, factors.item)
        return self

    def _weights(self, train: Interactions) -> sparse.csr_array:
        """Return the weights of rows, CSR of users and items."""
        rows = matrix_of(train, self.values)
        if rows.nnz == 0 or rows.data.min() <= 0:
            problem = f"a pair with {rows.data.min():g}" if rows.nnz else "no row"
            raise FitError(
                f"IALS: rows must have weights above 0, got {problem}. Leave them out, or set values=binary."
            )
        return rows

    def _pulls(self, rows: sparse.csr_array) -> DoubleArray:
        """Return the factors of the squared norms, shape (n,)."""
        counts = np.diff(rows.indptr) + self.alpha * rows.shape[1]
        pulls: DoubleArray = self.regularization * counts**self.nu
        return pulls


def _improve(
    rows: sparse.csr_array,
    pulls: DoubleArray,
    own: FloatArray,
    other: FloatArray,
    alpha: float,
    n_steps: int,
    tolerance: float = 0.0,
) -> float:
    """Move `own`, factors of rows, in place towards the solution for `other`; return the rows' sum."""
    entries = rows.indptr.astype(np.int64), rows.indices.astype(np.int32, copy=False), rows.data
    gram, pulls_32 = np.float32(alpha) * _gram(other), pulls.astype(np.float32)
    losses = np.zeros(len(own))

    def block(first: int, stop: int) -> None:
        solve(*entries, other, gram, pulls_32, own, first, stop, n_steps, np.float32(tolerance), losses)

    over_blocks(block, len(own), ROWS_AT_A_TIME)
    return float(losses.sum())


def _gram(factors: FloatArray) -> FloatArray:
    """Return ``factors.T @ factors``, shape (d, d)."""

    def block(first: int, stop: int) -> FloatArray:
        out = np.zeros((factors.shape[1],) * 2, np.float32)
        add_gram(factors, first, stop, out)
        return out

    gram: FloatArray = np.add.reduce(over_blocks(block, len(factors), ROWS_OF_A_GRAM), axis=0)
    return gram


@compiled(nogil=True)
def add_gram(factors: F32s, first: int, stop: int, out: F32s) -> None:
    """Add the products of the rows ``factors[first:stop]`` with themselves to `out`, (d, d), in order."""
    width = factors.shape[1]
    for start in range(first, stop, 4):
        if start + 4 <= stop:
            a, b, c, d = factors[start], factors[start + 1], factors[start + 2], factors[start + 3]
            for f in range(width):
                row, wa, wb, wc, wd = out[f], a[f], b[f], c[f], d[f]
                for g in range(width):
                    row[g] = row[g] + wa * a[g] + wb * b[g] + wc * c[g] + wd * d[g]
        else:
            for last in range(start, stop):
                a = factors[last]
                for f in range(width):
                    row, wa = out[f], a[f]
                    for g in range(width):
                        row[g] += wa * a[g]


@compiled(nogil=True)
def _less_penalty(gram: F32s, pull: Any, x: F32s, out: F32s) -> None:
    """Set `out` to ``-(gram + pull) x``; a row of `gram` is a column, too."""
    width = len(x)
    for g in range(width):
        out[g] = -pull * x[g]
    for f in range(0, width, 4):
        a, b, c, d = gram[f], gram[f + 1], gram[f + 2], gram[f + 3]
        wa, wb, wc, wd = x[f], x[f + 1], x[f + 2], x[f + 3]
        for g in range(width):
            out[g] = out[g] - wa * a[g] - wb * b[g] - wc * c[g] - wd * d[g]


@compiled(nogil=True, error_model="numpy")
def solve(
    indptr: I64s,
    codes: I32s,
    weights: F32s,
    other: F32s,
    gram: F32s,
    pulls: F32s,
    own: F32s,
    first: int,
    stop: int,
    n_steps: int,
    tolerance: Any,
    losses: F64s,
) -> None:
    r"""Improve each row of ``own[first:stop]`` by so many steps of conjugate gradients from where it is.

    Minimises, for row u, :math:`\sum_p c_p (1 - h_p x)^2 + x (G + \lambda_u) x` with the rows h of `other`,
    (m, d), and the entries of a CSR matrix; `gram` is (d, d), `pulls` (n,). A row is done when the square of
    its residual is the part `tolerance` of the first one. `losses`, (n,), is filled with what the rows' sums
    have come to.
    """
    width = own.shape[1]
    residual, step, change = (
        np.empty(width, np.float32),
        np.empty(width, np.float32),
        np.empty(width, np.float32),
    )
    zero, unit = np.float32(0.0), np.float32(1.0)
    for u in range(first, stop):
        x, pull, begin, end = own[u], pulls[u], indptr[u], indptr[u + 1]
        losses[u] = 0.0
        if begin == end:
            x[:] = zero
            continue
        _less_penalty(gram, pull, x, residual)
        losses[u] = -np.float64(dot(x, residual))
        losses[u] += add_errors(other, codes, weights, begin, end, x, unit, residual)
        step[:] = residual
        square = dot(residual, residual)
        enough = tolerance * square
        for _ in range(n_steps):
            if square <= enough or square <= np.float32(1e-30):
                break
            _less_penalty(gram, pull, step, change)
            add_errors(other, codes, weights, begin, end, step, zero, change)
            length = -square / dot(step, change)
            for g in range(width):
                x[g] += length * step[g]
                residual[g] += length * change[g]
            losses[u] -= np.float64(length) * np.float64(square)
            before, square = square, dot(residual, residual)
            turn = square / before
            for g in range(width):
                step[g] = residual[g] + turn * step[g]
