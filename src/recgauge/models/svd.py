"""PureSVD: truncated singular value decomposition of the interaction matrix."""

from dataclasses import dataclass
from typing import Literal, Self, get_args

import numpy as np
from scipy.sparse.linalg import ArpackError, svds

from recgauge.data.interactions import Interactions
from recgauge.errors import FitError
from recgauge.models import FactorModel, Factors
from recgauge.utils.checks import check_choice, check_int

Values = Literal["rating", "binary"]


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

    Raises
    ------
    ConfigError
        If a parameter is out of range.

    Notes
    -----
    Scores rank items; they are not predictions of ratings. Solved by ARPACK in float64 from a start vector
    of the run's seed; factors are in order of falling singular value, each with the sign that makes the
    largest entry of its item vector positive, so one seed gives one result.

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

    def fit(self, train: Interactions, *, rng: np.random.Generator) -> Self:
        """Decompose the training matrix.

        Raises
        ------
        FitError
            If `n_factors` is not below the number of users and of items.
        """
        matrix = train.to_csr().astype(np.float64)
        if self.n_factors >= min(matrix.shape):
            raise FitError(
                f"SVD: n_factors must be below the {matrix.shape[0]} users and {matrix.shape[1]} items, "
                f"got {self.n_factors}. Use fewer factors."
            )
        if self.values == "binary":
            matrix.data[:] = 1.0
        start = rng.standard_normal(min(matrix.shape))
        try:
            left, singular, right = svds(matrix, k=self.n_factors, v0=start)
        except ArpackError as error:
            raise FitError(f"SVD: no decomposition into {self.n_factors} factors found ({error}).") from error
        order = np.argsort(-singular, kind="stable")
        left, singular, right = left[:, order], singular[order], right[order]
        peaks = right[np.arange(self.n_factors), np.abs(right).argmax(axis=1)]
        signs = np.where(peaks < 0, -1.0, 1.0)
        user = (left * (singular * signs)).astype(np.float32)
        self._factors = Factors(user, (right.T * signs).astype(np.float32))
        return self

    def fold_in(self, histories: Interactions) -> Self:
        """Project the users' rows on the item factors; see Notes.

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        factors = self.factors()
        rows = histories.to_csr()
        if self.values == "binary":
            rows.data[:] = 1.0
        users = np.flatnonzero(histories.user_counts())
        folded = factors.user.copy()
        folded[users] = rows[users].astype(np.float64) @ factors.item.astype(np.float64)
        self._factors = Factors(folded, factors.item)
        return self
