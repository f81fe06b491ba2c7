"""PureSVD: truncated singular value decomposition of the interaction matrix."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from recgauge.data.interactions import Interactions
from recgauge.errors import FitError
from recgauge.models import FactorModel, Factors, Values, check_memory, matrix_of
from recgauge.utils.checks import Count, DoubleArray
from recgauge.utils.progress import Advance, Progress

FEW_ROWS = 1_000_000  # below it, loading a compiled product costs more than it saves
SMALL = 500  # items: up to so many, the whole decomposition of their products costs less


@dataclass(eq=False)
class SVD(FactorModel):
    r"""Score by the best rank-`n_factors` approximation of the user-item matrix, zeros for missing entries.

    .. math:: R \approx U \Sigma V^T, \qquad \hat r_{ui} = (U \Sigma)_u \cdot V_i

    Parameters
    ----------
    n_factors : int
        Rank of the approximation, >= 1 and below both sides of the matrix.
    values : {"rating", "binary"}
        What the matrix holds: ratings as they are, or 1 for every row.

    Notes
    -----
    Scores rank items; they are not predictions of ratings.

    V holds the leading eigenvectors of :math:`R^T R`, found in float64 by block Lanczos from a start of the
    run's seed, until residuals are below 1e-10 of the eigenvalues; :math:`U \Sigma = R V`. So the factors are
    those of the decomposition to the accuracy of float32, unlike those of randomised methods with a fixed
    number of steps. They are in order of falling singular value, each with the sign that makes the largest
    entry of its item vector positive. Memory: the rows, and 2 `n_factors` + 104 float64 for each item; no
    array of users and items.

    `fold_in` projects a user's row of the matrix on the item factors, :math:`R_u V`, which for a user of the
    training matrix gives :math:`(U \Sigma)_u` again.

    References
    ----------
    .. [1] P. Cremonesi, Y. Koren, R. Turrin, "Performance of recommender algorithms on top-N recommendation
       tasks", RecSys 2010, section 3.2.

    Examples
    --------
    >>> train = Interactions.from_ids([0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 2, 3])
    >>> model = SVD(n_factors=2).fit(train, rng=np.random.default_rng(0))
    >>> (model.score(np.array([0], np.int32)).round(3) + 0.0).tolist()  # + 0.0: a zero may have either sign
    [[1.0, 1.0, 0.0, 0.0]]
    """

    n_factors: Count = 16
    values: Values = "rating"

    def fit(self, train: Interactions, *, rng: np.random.Generator, progress: Progress | None = None) -> Self:
        """Decompose the training matrix.

        Raises
        ------
        FitError
            If `n_factors` is not below the number of users and of items, or memory is short.
        """
        matrix = matrix_of(train, self.values)
        n_users, n_items = matrix.shape
        if self.n_factors >= min(n_users, n_items):
            raise FitError(
                f"SVD: n_factors must be below the {n_users} users and {n_items} items, "
                f"got {self.n_factors}. Use fewer factors."
            )
        with (progress or Progress()).step("fit", None, "products") as advance:
            item = self._item_vectors(matrix, rng, advance)
        peaks = item[np.abs(item).argmax(axis=0), np.arange(self.n_factors)]
        item *= np.where(peaks < 0, -1.0, 1.0)
        self._factors = Factors((matrix @ item).astype(np.float32), item.astype(np.float32))
        return self

    def _item_vectors(
        self, matrix: sparse.csr_array, rng: np.random.Generator, advance: Advance
    ) -> DoubleArray:
        """Return the right singular vectors, shape (n_items, n_factors), strongest first."""
        n_items, k = matrix.shape[1], self.n_factors
        if n_items <= max(SMALL, 4 * k):
            wide = matrix.astype(np.float64)
            with threadpool_limits(1, "blas"):  # more threads round differently
                vectors: DoubleArray = np.linalg.eigh((wide.T @ wide).toarray())[1][:, : -k - 1 : -1].copy()
            return vectors
        check_memory(
            "SVD", f"{k} factors of {n_items:,} items", 8 * n_items * (3 * k + 180), "Use fewer factors."
        )
        times: Callable[[DoubleArray], DoubleArray]
        if matrix.nnz >= FEW_ROWS:
            from recgauge.models._lanes import squared_product

            times = squared_product(matrix, advance)
        else:
            wide = matrix.astype(np.float64)
            turned = wide.T.tocsr()

            def times(x: DoubleArray) -> DoubleArray:
                advance(1)
                return np.asarray(turned @ (wide @ x))

        start = rng.standard_normal((n_items, BLOCK))
        with threadpool_limits(1, "blas"):  # small products: threads that wait cost ten times the work
            leading = leading_eigenvectors(times, start, k)
        if leading is None:
            raise FitError(f"SVD: no decomposition into {k} factors found. Use fewer or more factors.")
        return leading

    def fold_in(self, histories: Interactions) -> Self:
        """Project the users' rows on the item factors; see Notes."""
        factors = self.factors()
        rows = matrix_of(histories, self.values)
        users = np.flatnonzero(histories.user_counts())
        folded = factors.user.copy()
        folded[users] = rows[users].astype(np.float64) @ factors.item.astype(np.float64)
        self._factors = Factors(folded, factors.item)
        return self


BLOCK = 8  # vectors that are multiplied at a time: a row of them is a line of memory
TOLERANCE = 1e-10  # of a residual, as a part of its eigenvalue: far below what float32 can tell
LEFT = 1e-11  # of a product, below which it is rounding
FLOOR = 1e-14  # the same, as a part of the largest eigenvalue: what rounding leaves
CHECK_EVERY = 4
MOST_PRODUCTS = 5000


def leading_eigenvectors(
    multiply: Callable[[DoubleArray], DoubleArray], start: DoubleArray, k: int
) -> DoubleArray | None:
    """Return the eigenvectors of the `k` largest eigenvalues, largest first.

    Parameters
    ----------
    multiply : callable
        Takes and returns an array of shape (n, b); the matrix has no negative eigenvalue.
    start : ndarray of float64, shape (n, b)
        What the search begins with, usually random; n is at least ``2 k + 13 b``.
    k : int

    Returns
    -------
    ndarray of float64, shape (n, k), or None
        None if the search did not converge.

    Notes
    -----
    The space of the products of `start` with powers of the matrix holds good approximations after few
    products [1]_; b vectors are multiplied at the price of a few. The basis is kept orthogonal to rounding.
    At ``2 k + 12 b`` vectors it is cut back to the best ``k + b`` and a third of the others, and grows again
    [2]_. A vector is done when its residual is below 1e-10 of its eigenvalue. Memory: the basis, in float64.

    References
    ----------
    .. [1] C. Musco, C. Musco, "Randomized block Krylov methods for stronger and faster approximate singular
       value decomposition", NeurIPS 2015.
    .. [2] K. Wu, H. Simon, "Thick-restart Lanczos method for large symmetric eigenvalue problems", SIAM
       Journal on Matrix Analysis and Applications 22(2), 2000.

    Examples
    --------
    >>> diagonal = np.arange(300.0)[:, None]
    >>> start = np.random.default_rng(0).standard_normal((300, 8))
    >>> found = leading_eigenvectors(lambda x: diagonal * x, start, 2)
    >>> np.abs(found).argmax(axis=0).tolist()
    [299, 298]
    """
    n, b = start.shape
    most = 2 * k + 12 * b
    basis, projected = np.empty((n, most + b), order="F"), np.zeros((most, most))
    basis[:, :b], m = np.linalg.qr(start)[0], 0
    for products in range(1, MOST_PRODUCTS + 1):
        new = multiply(basis[:, m : m + b])
        size = np.abs(new).max()
        m += b
        space, last = basis[:, :m], slice(m - b, m)
        projected[:m, last] = shares = _remove(new, space)
        projected[last, :m] = shares.T
        following, rest = np.linalg.qr(new)
        lost = np.abs(np.diag(rest)) <= LEFT * size  # nothing but rounding is left of these vectors
        following[:, lost] = np.random.default_rng(products).standard_normal((n, int(lost.sum())))
        rest[lost] = 0.0
        _remove(following, space)
        basis[:, m : m + b], factor = np.linalg.qr(following)
        full = m + b > most
        if m < k + b or not (full or products % CHECK_EVERY == 0):
            continue
        values, vectors = np.linalg.eigh(projected[:m, :m])
        values, vectors = values[::-1], vectors[:, ::-1]
        residuals = np.linalg.norm(factor @ rest @ vectors[last, :k], axis=0)
        if (residuals <= TOLERANCE * values[:k] + FLOOR * values[0]).all():
            leading: DoubleArray = space @ vectors[:, :k]
            return leading
        if full:
            kept = k + b + (m - k - 2 * b) // 3
            basis[:, :kept], basis[:, kept : kept + b] = space @ vectors[:, :kept], basis[:, m : m + b].copy()
            projected[:] = 0.0
            np.fill_diagonal(projected[:kept, :kept], values[:kept])
            m = kept
    return None


def _remove(vectors: DoubleArray, space: DoubleArray) -> DoubleArray:
    """Take from the vectors, in place, their shares in an orthonormal basis; return the shares."""
    shares = space.T @ vectors
    vectors -= space @ shares
    more = space.T @ vectors
    vectors -= space @ more
    total: DoubleArray = shares + more
    return total
