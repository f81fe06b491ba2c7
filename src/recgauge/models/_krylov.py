"""Leading eigenvectors of a large symmetric matrix that is only multiplied with: block Lanczos, restarted."""

from collections.abc import Callable

import numpy as np

from recgauge.utils.checks import DoubleArray

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
        basis[:, m : m + b], again = np.linalg.qr(following)
        full = m + b > most
        if m < k + b or not (full or products % CHECK_EVERY == 0):
            continue
        values, vectors = np.linalg.eigh(projected[:m, :m])
        values, vectors = values[::-1], vectors[:, ::-1]
        residuals = np.linalg.norm(again @ rest @ vectors[last, :k], axis=0)
        if (residuals <= TOLERANCE * values[:k] + FLOOR * values[0]).all():
            found: DoubleArray = space @ vectors[:, :k]
            return found
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
