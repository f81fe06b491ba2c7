"""EASE: item weights in closed form, from one inverse of the items' Gram matrix."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from recgauge.data.interactions import Interactions
from recgauge.engine import ItemWeights
from recgauge.errors import FitError
from recgauge.models import check_memory
from recgauge.models.recent import RecentHistory
from recgauge.utils.checks import Count, FloatArray, IntArray, Positive
from recgauge.utils.compiled import F32s, I32s, compiled
from recgauge.utils.progress import Progress
from recgauge.utils.resources import over_blocks

_BLOCK = 128  # rows of the Gram matrix that a thread makes at a time; a multiple of the kernels' tiles


def lower_gram(matrix: sparse.csr_array, progress: Progress) -> FloatArray:
    """Return the number of users whom two items share, exact, shape (n_items, n_items) float32.

    `matrix` holds ones, items ascending inside a row. Only the lower half and the diagonal are filled.
    """
    n_items = matrix.shape[1]
    by_item = matrix.tocsc()
    out = np.zeros((n_items, n_items), np.float32)
    lists = (by_item.indptr, by_item.indices, matrix.indptr, matrix.indices)
    with progress.step("count pairs", n_items, "items") as advance:
        over_blocks(lambda a, b: count_pairs(*lists, a, b, out), n_items, _BLOCK, advance=advance)
    return out


def mirrored(square: FloatArray, scale: FloatArray) -> FloatArray:
    """Fill `square` from its lower half, both times `scale`: entry (j, i) is multiplied by ``scale[i]``."""
    over_blocks(lambda a, b: mirror(square, scale, a, b), len(square), _BLOCK)
    return square


_PANEL = 512  # rows and columns of the inverse that are done at a time


@dataclass(eq=False)
class EASE(RecentHistory):
    r"""Predict each item of a user from all the others by ridge regression, in closed form.

    .. math:: P = (X^T X + \lambda I)^{-1}, \qquad B_{ij} = -P_{ij} / P_{jj}, \quad B_{jj} = 0

    .. math:: \hat x_{uj} = \sum_i x_{ui} B_{ij}

    where X has 1 for every training row. :math:`B` minimises
    :math:`\lVert X - XB \rVert_F^2 + \lambda \lVert B \rVert_F^2` among matrices with a diagonal of 0, so
    that no item may predict itself.

    Parameters
    ----------
    l2 : float
        The penalty :math:`\lambda`, > 0; the more users, the larger. The paper takes 500 for MovieLens 20M.
    max_items : int, optional
        The most popular items that take part; None: all. For catalogues whose inverse does not fit: the
        others teach nothing, and are recommended after all that take part, most popular first.
    last_n : int, optional
        How many of a user's rows count when lists are made, >= 1, the newest; None: all. Weights are learned
        from all rows.
    decay : float
        What a row counts then against the next newer one, above 0 and at most 1; of several rows of an item
        the newest one says so.

    Notes
    -----
    Memory: 4 bytes for each pair of items that take part (1 GB for 15,811 items, 6.7 GB for 40,981), in one
    array that becomes in turn the Gram matrix, its inverse and the weights. What cannot be had is said before
    work starts.

    Time grows with the cube of the number of items and hardly with that of rows.

    All in float32; counts of the Gram matrix are exact. Weights were found to be within 5e-6 of those in
    float64 for `l2` from 20 on, and within 1e-4 for 0.5 with fewer users than items. They do not depend on
    the number of threads. Rounding depends on the processor, so items whose scores are nearer than that may
    change places.

    Users can be folded in.

    References
    ----------
    .. [1] H. Steck, "Embarrassingly shallow autoencoders for sparse data", WWW 2019.

    Examples
    --------
    >>> train = Interactions.from_ids([0, 0, 1, 1, 2], ["x", "y", "x", "y", "x"])
    >>> model = EASE(l2=1.0).fit(train, rng=np.random.default_rng(0))
    >>> model.score(np.array([2], np.int32)).round(3).tolist()  # whoever has x is offered y
    [[0.0, 0.5]]
    """

    l2: Positive = 250.0
    max_items: Count | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._kept: IntArray | None = None
        self._others: IntArray = np.zeros(0, np.int32)

    def fit(self, train: Interactions, *, rng: np.random.Generator, progress: Progress | None = None) -> Self:  # noqa: ARG002 - contract
        """Count pairs of items and invert; FitError, too, if `l2` is too small to invert in float32."""
        progress = progress or Progress()
        self._choose(train, progress)
        rows = self.user_rows(train)
        n_items = rows.shape[1]
        square, n_bytes = f"weights of {n_items:,} x {n_items:,} items", 4 * n_items**2
        remedy = (
            "Drop rare items (filters=[item_rows]) or let the most popular ones take part: model.max_items."
        )
        check_memory("EASE", square, n_bytes, remedy)
        gram = lower_gram(rows, progress)
        gram.flat[:: n_items + 1] += np.float32(self.l2)
        try:
            with np.errstate(all="ignore"):
                invert(gram, progress)
            done = bool(np.isfinite(gram.diagonal()).all())
        except np.linalg.LinAlgError:
            done = False
        if not done:
            raise FitError(
                f"EASE: the Gram matrix with l2={self.l2:g} added to its diagonal cannot be inverted in "
                "float32; it is too near to singular. Raise l2."
            )
        weights = mirrored(gram, np.divide(-1, gram.diagonal(), dtype=np.float32))
        weights.flat[:: n_items + 1] = 0.0
        self._item_weights = ItemWeights(self.weighted(train, rows), weights)
        return self

    def _choose(self, train: Interactions, progress: Progress) -> None:
        """Find the items that take part, if not all do, and the order of the others."""
        self._kept, self._others = None, np.zeros(0, np.int32)
        if self.max_items is None or self.max_items >= train.n_items:
            return
        ranked = np.argsort(-train.item_counts(), kind="stable").astype(np.int32)
        self._kept, self._others = np.sort(ranked[: self.max_items]), ranked[self.max_items :]
        share = train.item_counts()[self._kept].sum() / max(1, len(train))
        progress.note(
            f"EASE: {self.max_items:,} of {train.n_items:,} items take part, with {share:.1%} of the "
            "training rows; the others are recommended after them, by popularity"
        )

    def user_rows(self, rows: Interactions) -> sparse.csr_array:
        """Return 1 for every row, for the items that take part."""
        return self._participants(super().user_rows(rows))

    def recency(self, rows: Interactions) -> sparse.csr_array:
        """Return the weights of rows, for the items that take part."""
        return self._participants(super().recency(rows))

    def _participants(self, matrix: sparse.csr_array) -> sparse.csr_array:
        """Return the columns of the items that take part."""
        return matrix if self._kept is None else matrix[:, self._kept]

    def item_weights(self) -> ItemWeights | None:
        """Return the users' rows and the learned weights; None if not all items take part."""
        learned = self.learned_weights()
        return learned if self._kept is None else None

    def score(self, users: IntArray) -> FloatArray:
        """Return the sums of the weights of the users' items, shape (b, n_items) float32."""
        scores = super().score(users)
        if self._kept is None:
            return scores
        scored = np.empty((len(users), len(self._kept) + len(self._others)), np.float32)
        scored[:, self._kept] = scores
        steps = np.arange(1, len(self._others) + 1, dtype=np.float32)
        scored[:, self._others] = scores.min(axis=1, keepdims=True) - steps
        return scored


def invert(square: FloatArray, progress: Progress, size: int = _PANEL) -> None:
    """Turn the lower half of a positive definite matrix into that of minus its inverse, in place.

    `size` rows and columns are done at a time.

    The blocked form of the sweep operator: as many operations as LAPACK's two steps, nearly all of them in
    products of matrices; can be stopped in between. BLAS makes each block on one thread, and blocks are made
    side by side: BLAS's own threads would sum in an order that depends on their number.
    """
    n = len(square)
    with threadpool_limits(1, "blas"), progress.step("invert", n, "items") as advance:
        for start in range(0, n, size):
            stop = min(start + size, n)
            pivot = square[start:stop, start:stop]
            whole = (np.tril(pivot) + np.tril(pivot, -1).T).astype(np.float64)
            root = np.linalg.inv(np.linalg.cholesky(whole)).astype(np.float32)
            beside = np.zeros((n, stop - start), np.float32)
            beside[:start], beside[stop:] = square[start:stop, :start].T, square[stop:, start:stop]
            _multiply(beside, root.T)
            _subtract_products(square, beside, size)
            _multiply(beside, root)
            square[start:stop, :start], square[stop:, start:stop] = beside[:start].T, beside[stop:]
            pivot[:] = -(root.T @ root)
            advance(stop - start)


def _multiply(rows: FloatArray, factor: FloatArray) -> None:
    def multiply(first: int, last: int) -> None:
        rows[first:last] = rows[first:last] @ factor

    over_blocks(multiply, len(rows), len(factor))


def _subtract_products(square: FloatArray, beside: FloatArray, size: int) -> None:
    """Subtract the lower half of ``beside @ beside.T``."""
    n = len(square)

    def subtract(first: int, last: int) -> None:
        top, bottom = max(0, n - last), n - first  # the longest rows first, so that threads end together
        for left in range(0, bottom, size):
            right = min(left + size, bottom)
            square[top:bottom, left:right] -= beside[top:bottom] @ beside[left:right].T

    over_blocks(subtract, n, size)


TILE = 64


@compiled(nogil=True)
def count_pairs(
    item_starts: I32s, item_users: I32s, user_starts: I32s, user_items: I32s, start: int, stop: int, out: F32s
) -> None:
    """Add to ``out[i, j]``, for i from `start` to `stop` and j <= i, the number of users with both.

    Users of each item come one item after the other, as do the items of each user, ascending.
    """
    for item in range(start, stop):
        for at in range(item_starts[item], item_starts[item + 1]):
            user = item_users[at]
            for place in range(user_starts[user], user_starts[user + 1]):
                other = user_items[place]
                if other > item:
                    break
                out[item, other] += np.float32(1.0)


@compiled(nogil=True)
def mirror(square: F32s, scale: F32s, start: int, stop: int) -> None:
    """Fill both halves of a symmetric square from the lower one, entry (j, i) times ``scale[i]``, in place.

    `start` and `stop` are rows of the lower half, multiples of `TILE` or n; what they mirror is in rows
    before `stop`.
    """
    for top in range(start, stop, TILE):
        bottom = min(top + TILE, stop)
        for left in range(0, bottom, TILE):
            for j in range(top, bottom):
                for i in range(left, min(left + TILE, j + 1)):
                    value = square[j, i]
                    square[i, j] = value * scale[j]
                    square[j, i] = value * scale[i]
