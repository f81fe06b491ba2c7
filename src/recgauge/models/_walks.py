"""Item weights of random walks item, user, item: what P3alpha and RP3beta share."""

from abc import abstractmethod
from typing import Self

import numpy as np
from scipy import sparse

from recgauge.data.interactions import Interactions
from recgauge.engine import ItemWeights
from recgauge.models import ItemWeightModel
from recgauge.models._gram import check_memory
from recgauge.utils.checks import DoubleArray, IntArray, check_int, check_real
from recgauge.utils.progress import NoProgress, Progress
from recgauge.utils.threads import over_blocks

_BLOCK = 256  # items that a thread takes at a time
_BYTES = 24  # of a weight: in the blocks, by target and by source


class WalkModel(ItemWeightModel):
    """A model whose item weights are chances of walks; subclasses are dataclasses of its parameters."""

    alpha: float
    top_k: int | None

    @property
    @abstractmethod
    def _popularity_power(self) -> float:
        """Power of an item's number of users that its sum is divided by."""

    def __post_init__(self) -> None:
        name = type(self).__name__
        self.alpha = check_real(f"{name}: alpha", self.alpha, low=0.0, high=np.inf)
        if self.top_k is not None:
            self.top_k = check_int(f"{name}: top_k", self.top_k, minimum=1)

    def fit(self, train: Interactions, *, rng: np.random.Generator, progress: Progress | None = None) -> Self:  # noqa: ARG002 - contract
        """Add up the chances of all walks."""
        rows, chosen = self.user_rows(train), {"alpha": self.alpha, "beta": self._popularity_power}
        weights = _walk_weights(type(self).__name__, rows, **chosen, top_k=self.top_k, progress=progress)
        self._item_weights = ItemWeights(rows, weights)
        return self


def _walk_weights(
    model: str,
    rows: sparse.csr_array,
    *,
    alpha: float,
    beta: float,
    top_k: int | None,
    progress: Progress | None,
) -> sparse.csr_array:
    """Return the chances of walks from item i over a user to item j, to the power alpha step by step.

    Parameters
    ----------
    model : str
        For messages.
    rows : scipy.sparse.csr_array, shape (n_users, n_items)
        Ones, items ascending inside a row.
    alpha : float
        Power of the chance of each step.
    beta : float
        Power of the number of users of item j that the sum is divided by.
    top_k : int or None
        Most items i that are kept for each j; None: all.
    progress : Progress or None

    Returns
    -------
    scipy.sparse.csr_array of float32, shape (n_items, n_items)
        Nothing on the diagonal.
    """
    from recgauge.models._walk_kernel import walk_back

    n_items = rows.shape[1]
    by_item = rows.tocsc()
    of_user, of_item = np.diff(rows.indptr), np.diff(by_item.indptr)
    most = min(int((of_user.astype(np.float64) ** 2).sum()), n_items * min(n_items, top_k or n_items))
    check_memory(model, f"weights of {n_items:,} items", _BYTES * most, "Keep fewer: model.top_k.")
    lists = (by_item.indptr, by_item.indices, rows.indptr, rows.indices)
    shares = (_power(of_user, alpha), _power(of_item, alpha), _power(of_item, beta))
    with (progress or NoProgress()).step("walk", n_items, "items") as advance:
        parts = over_blocks(
            lambda a, b: walk_back(*lists, *shares, top_k or n_items, a, b), n_items, _BLOCK, advance=advance
        )
    counts, codes, weights = (np.concatenate(found) for found in zip(*parts, strict=True))
    starts = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    return sparse.csc_array((weights, codes, starts), shape=(n_items, n_items)).tocsr()


def _power(counts: IntArray, power: float) -> DoubleArray:
    """Return ``counts ** -power``, 1 where there is nothing.

    Processors differ in the last bits of a power; rounded to float32 they agree.
    """
    shares: DoubleArray = (np.maximum(counts, 1).astype(np.float64) ** -power).astype(np.float32)
    return shares.astype(np.float64)
