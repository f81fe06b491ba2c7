"""EASE: item weights in closed form, from one inverse of the items' Gram matrix."""

from dataclasses import dataclass
from time import perf_counter
from typing import Self

import numpy as np
from scipy import sparse
from scipy.linalg import lapack

from recgauge.data.interactions import Interactions
from recgauge.engine import ItemWeights
from recgauge.errors import FitError
from recgauge.models import ItemWeightModel
from recgauge.models._gram import check_memory, lower_gram, mirrored
from recgauge.utils.checks import FloatArray, IntArray, check_int, check_real
from recgauge.utils.memory import in_units
from recgauge.utils.progress import NoProgress, Progress

_LARGE = 8_000  # items from which on the inverse takes long enough that its time is told first
_TRIAL = 1_000  # items of the inverse that this machine's speed is measured by


@dataclass(eq=False)
class EASE(ItemWeightModel):
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

    Raises
    ------
    ConfigError
        If a parameter is out of range.

    Notes
    -----
    Memory: 4 bytes for each pair of items that take part (1 GB for 15,811 items, 6.7 GB for 40,981), in one
    array that becomes in turn the Gram matrix, its Cholesky factor, the inverse and the weights. What cannot
    be had is said before work starts.

    Time grows with the cube of the number of items and hardly with that of rows; it is estimated first, by a
    small inverse, and noted for catalogues of 8,000 items and more. LAPACK inverts in two steps of float32
    arithmetic, which cannot be stopped inside. Counts of the Gram matrix are exact. Weights were
    found to be within 5e-6 of those in float64 for `l2` from 20 on, and within 1e-4 for 0.5 with fewer users
    than items. LAPACK's rounding depends on the processor and its threads, so items whose scores are nearer
    than that may change places.

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

    l2: float = 250.0
    max_items: int | None = None

    def __post_init__(self) -> None:
        self.l2 = check_real("EASE: l2", self.l2, low=0.0, high=np.inf, low_open=True)
        if self.max_items is not None:
            self.max_items = check_int("EASE: max_items", self.max_items, minimum=1)
        self._kept: IntArray | None = None
        self._others: IntArray = np.zeros(0, np.int32)

    def fit(self, train: Interactions, *, rng: np.random.Generator, progress: Progress | None = None) -> Self:  # noqa: ARG002 - contract
        """Count pairs of items and invert.

        Raises
        ------
        FitError
            If there is not enough memory, or `l2` is too small to invert in float32.
        """
        progress = progress or NoProgress()
        self._choose(train, progress)
        rows = self.user_rows(train)
        n_items = rows.shape[1]
        square, n_bytes = f"weights of {n_items:,} x {n_items:,} items", 4 * n_items**2
        remedy = (
            "Drop rare items (filters=[item_rows]) or let the most popular ones take part: model.max_items."
        )
        check_memory("EASE", square, n_bytes, remedy)
        if n_items >= _LARGE:
            progress.note(f"EASE: {square} take {in_units(n_bytes)}; {_forecast(n_items)}")
        gram = lower_gram(rows, progress)
        gram.flat[:: n_items + 1] += np.float32(self.l2)
        _invert(gram, self.l2, progress)
        weights = mirrored(gram, np.divide(-1, gram.diagonal(), dtype=np.float32))
        weights.flat[:: n_items + 1] = 0.0
        self._item_weights = ItemWeights(rows, weights)
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
        matrix = super().user_rows(rows)
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
        every = np.empty((len(users), len(self._kept) + len(self._others)), np.float32)
        every[:, self._kept] = scores
        places = np.arange(1, len(self._others) + 1, dtype=np.float32)
        every[:, self._others] = scores.min(axis=1, keepdims=True) - places
        return every


def _invert(square: FloatArray, l2: float, progress: Progress) -> None:
    """Invert a positive definite matrix in place; only its lower half is read and written."""
    upper = square.T  # the same memory as LAPACK sees it, columns first
    with progress.step("invert", 3, "thirds") as advance:
        _, failed = lapack.spotrf(upper, lower=0, clean=0, overwrite_a=1)
        advance(1)
        if not failed:
            _, failed = lapack.spotri(upper, lower=0, overwrite_c=1)
            advance(2)
    if failed or not np.isfinite(square.diagonal()).all():
        raise FitError(
            f"EASE: the Gram matrix with l2={l2:g} added to its diagonal cannot be inverted in float32; it "
            "is too near to singular. Raise l2."
        )


def _forecast(n_items: int) -> str:
    """Return how long an inverse takes here, judged by a small one."""
    trial = np.eye(_TRIAL, dtype=np.float32)
    start = perf_counter()
    _invert(trial, 1.0, NoProgress())
    seconds = (perf_counter() - start) * (n_items / _TRIAL) ** 3
    return f"the inverse takes about {max(seconds / 60, 0.1):.1f} minutes here"
