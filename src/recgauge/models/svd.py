"""PureSVD: truncated singular value decomposition of the interaction matrix."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Self, get_args

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from recgauge.data.interactions import Interactions
from recgauge.errors import FitError
from recgauge.models import FactorModel, Factors
from recgauge.models._gram import check_memory
from recgauge.models._krylov import BLOCK, leading_eigenvectors
from recgauge.utils.checks import DoubleArray, check_choice, check_int
from recgauge.utils.progress import Advance, NoProgress, Progress

Values = Literal["rating", "binary"]
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

    n_factors: int = 16
    values: Values = "rating"

    def __post_init__(self) -> None:
        self.n_factors = check_int("SVD: n_factors", self.n_factors, minimum=1)
        check_choice("SVD: values", self.values, get_args(Values))

    def fit(self, train: Interactions, *, rng: np.random.Generator, progress: Progress | None = None) -> Self:
        """Decompose the training matrix.

        Raises
        ------
        FitError
            If `n_factors` is not below the number of users and of items, or memory is short.
        """
        matrix = train.to_csr()
        n_users, n_items = matrix.shape
        if self.n_factors >= min(n_users, n_items):
            raise FitError(
                f"SVD: n_factors must be below the {n_users} users and {n_items} items, "
                f"got {self.n_factors}. Use fewer factors."
            )
        if self.values == "binary":
            matrix.data[:] = 1.0
        with (progress or NoProgress()).step("fit", None, "products") as advance:
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
        times, start = _squared_product(matrix, advance), rng.standard_normal((n_items, BLOCK))
        with threadpool_limits(1, "blas"):  # small products: threads that wait cost ten times the work
            found = leading_eigenvectors(times, start, k)
        if found is None:
            raise FitError(f"SVD: no decomposition into {k} factors found. Use fewer or more factors.")
        return found

    def fold_in(self, histories: Interactions) -> Self:
        """Project the users' rows on the item factors; see Notes."""
        factors = self.factors()
        rows = histories.to_csr()
        if self.values == "binary":
            rows.data[:] = 1.0
        users = np.flatnonzero(histories.user_counts())
        folded = factors.user.copy()
        folded[users] = rows[users].astype(np.float64) @ factors.item.astype(np.float64)
        self._factors = Factors(folded, factors.item)
        return self


def _squared_product(matrix: sparse.csr_array, advance: Advance) -> Callable[[DoubleArray], DoubleArray]:
    """Return the function that multiplies (n_items, BLOCK) float64 by ``matrix.T @ matrix``."""
    if matrix.nnz >= FEW_ROWS:
        from recgauge.models._svd_kernel import squared_product

        return squared_product(matrix, advance)
    wide = matrix.astype(np.float64)
    turned = wide.T.tocsr()

    def multiply(x: DoubleArray) -> DoubleArray:
        advance(1)
        return np.asarray(turned @ (wide @ x))

    return multiply
