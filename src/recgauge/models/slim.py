"""SLIM: sparse item weights, an elastic net of each item on all others."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from recgauge.data.interactions import Interactions
from recgauge.engine import ItemWeights
from recgauge.models import ItemWeightModel
from recgauge.models._gram import check_memory, lower_gram, mirrored
from recgauge.utils.checks import FloatArray, IntArray, LongArray, check_bool, check_int, check_real
from recgauge.utils.progress import NoProgress, Progress
from recgauge.utils.threads import over_blocks

_BLOCK = 64  # items that a thread takes at a time
_SMALL = 4_096  # items up to which a Gram matrix with a place for every pair costs little
_AT_A_TIME = 1 << 20  # counts that are narrowed
_REMEDY = "Drop rare items (filters=[item_rows])."


@dataclass(eq=False)
class SLIM(ItemWeightModel):
    r"""Predict each item of a user from a few others, by weights that are learned with most of them 0.

    .. math:: \hat x_{uj} = \sum_i x_{ui} w_{ij}

    where X has 1 for every training row, and the weights of each item j minimise

    .. math::
        \tfrac{1}{2} \lVert x_j - X w_j \rVert^2 + \tfrac{\lambda_2}{2} \lVert w_j \rVert^2
        + \lambda_1 \lVert w_j \rVert_1, \qquad w_{jj} = 0

    Parameters
    ----------
    l1 : float
        The penalty :math:`\lambda_1`, >= 0: an item is used only if more than so many users have both, and
        the others used do not explain them.
    l2 : float
        The penalty :math:`\lambda_2`, > 0; the more users, the larger.
    non_negative : bool
        Only weights >= 0, as in the paper.
    tol : float
        The descent of an item ends when no weight would move by more than this, > 0.
    top_k : int, optional
        Most items i that are kept for an item j, those of the largest weights; None: all.
    drop_smallest : bool
        Whether each item j loses its smallest weight, also where it has fewer than `top_k`. Only to repeat
        numbers of the code of [3]_, which keeps ``min(top_k, n - 1)`` of an item's n weights.

    Notes
    -----
    The objective is that of the paper, and these of other libraries with U users: ``ElasticNet`` of
    scikit-learn with ``alpha = (l1 + l2) / U`` and ``l1_ratio = l1 / (l1 + l2)``, and so SLIM in irspack.

    Solved by coordinate descent over the Gram matrix in working sets: the items whose first step is the
    largest enter, at most as many as are in already; among them a small matrix is enough; then all are
    looked at again. Every item has one solution; the order of users and threads does not change it, and no
    processor's vectors change a bit.

    Memory: the Gram matrix, 4 bytes for each pair of items, or 8 for each pair that shares a user where those
    are few; and for each thread the square of its working set. Weights take 8 bytes each. With ``l1=0`` and
    negative weights, none would be 0: that is EASE, which is faster.

    Users can be folded in.

    References
    ----------
    .. [1] X. Ning, G. Karypis, "SLIM: sparse linear methods for top-N recommender systems", ICDM 2011.
    .. [2] J. Friedman, T. Hastie, R. Tibshirani, "Regularization paths for generalized linear models via
       coordinate descent", Journal of Statistical Software 33(1), 2010: covariance updates.
    .. [3] M. Ferrari Dacrema, S. Boglio, P. Cremonesi, D. Jannach, "A troubling analysis of reproducibility
       and progress in recommender systems research", ACM TOIS 39(2), 2021:
       MaurizioFD/RecSys2019_DeepLearning_Evaluation, ``SLIM_ElasticNet``.

    Examples
    --------
    >>> train = Interactions.from_ids([0, 0, 1, 1, 2], ["x", "y", "x", "y", "x"])
    >>> model = SLIM(l1=0.5, l2=0.5).fit(train, rng=np.random.default_rng(0))
    >>> model.score(np.array([2], np.int32)).astype(float).round(3).tolist()  # (2 - l1) / (3 + l2)
    [[0.0, 0.429]]
    """

    l1: float = 1.0
    l2: float = 100.0
    non_negative: bool = True
    tol: float = 1e-5
    top_k: int | None = None
    drop_smallest: bool = False

    def __post_init__(self) -> None:
        self.l1 = check_real("SLIM: l1", self.l1, low=0.0, high=np.inf)
        self.l2 = check_real("SLIM: l2", self.l2, low=0.0, high=np.inf, low_open=True)
        self.tol = check_real("SLIM: tol", self.tol, low=0.0, high=1.0, low_open=True)
        check_bool("SLIM: non_negative", self.non_negative)
        if self.top_k is not None:
            self.top_k = check_int("SLIM: top_k", self.top_k, minimum=1)
        check_bool("SLIM: drop_smallest", self.drop_smallest)

    def fit(self, train: Interactions, *, rng: np.random.Generator, progress: Progress | None = None) -> Self:  # noqa: ARG002 - contract
        """Regress every item on the others."""
        from recgauge.models._slim_kernel import SWEEPS, regress

        progress = progress or NoProgress()
        rows = self.user_rows(train)
        n_items = rows.shape[1]
        gram = _gram(rows, progress)
        curvature = rows.sum(axis=0, dtype=np.float64) + self.l2

        def block(start: int, stop: int) -> tuple[IntArray, IntArray, FloatArray, int]:
            return regress(*gram, curvature, self.l1, self.l2, self.non_negative, self.tol, start, stop)

        with progress.step("regress", n_items, "items") as advance:
            parts = over_blocks(block, n_items, _BLOCK, advance=advance)
        counts, codes, weights = (np.concatenate([part[k] for part in parts]) for k in range(3))
        if unfinished := sum(part[3] for part in parts):
            progress.note(
                f"SLIM: weights of {unfinished:,} of {n_items:,} items still moved by more than "
                f"tol={self.tol:g} after {SWEEPS:,} rounds; raise l2 or tol"
            )
        starts = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        by_target = sparse.csc_array((weights, codes, starts), shape=(n_items, n_items))
        if self.top_k is not None or self.drop_smallest:
            by_target = self._cut(by_target)
        self._item_weights = ItemWeights(rows, by_target.tocsr())
        return self

    def _cut(self, by_target: sparse.csc_array) -> sparse.csc_array:
        """Return the largest weights of each column alone."""
        n_weights = np.diff(by_target.indptr)
        most = np.minimum(n_weights - self.drop_smallest, self.top_k or len(n_weights))
        target = np.repeat(np.arange(len(n_weights)), n_weights)
        order = np.lexsort((by_target.indices, -np.abs(by_target.data), target))
        place = np.arange(len(order)) - by_target.indptr[target]
        by_target.data[order[place >= most[target]]] = 0.0
        by_target.eliminate_zeros()
        return by_target


def _gram(
    rows: sparse.csr_array, progress: Progress
) -> tuple[LongArray, IntArray, FloatArray | npt.NDArray[np.uint16]]:
    """Return the rows of the Gram matrix: where each begins, codes (none if all have a place), values."""
    n_items = rows.shape[1]
    n_pairs = int((np.diff(rows.indptr).astype(np.float64) ** 2).sum())
    if n_items <= _SMALL or n_pairs > n_items**2 / 4:
        check_memory("SLIM", f"pairs of {n_items:,} items", 4 * n_items**2, _REMEDY)
        square = mirrored(lower_gram(rows, progress), np.ones(n_items, np.float32))
        starts, every = n_items * np.arange(n_items + 1, dtype=np.int64), np.zeros(0, np.int32)
        return starts, every, _narrowed(square) if rows.shape[0] < 1 << 16 else square.ravel()
    check_memory("SLIM", f"pairs of {n_items:,} items", 16 * n_pairs, _REMEDY)
    few = (rows.T @ rows).tocsr()
    return few.indptr.astype(np.int64), few.indices.astype(np.int32), few.data


def _narrowed(square: FloatArray) -> npt.NDArray[np.uint16]:
    """Return counts below 2**16, in half of their own memory: to read them is what takes the time."""
    wide = square.reshape(-1)
    narrow = wide.view(np.uint16)[: len(wide)]
    for first in range(0, len(wide), _AT_A_TIME):  # writes stay behind what is still to be read
        narrow[first : first + _AT_A_TIME] = wide[first : first + _AT_A_TIME]
    return narrow
