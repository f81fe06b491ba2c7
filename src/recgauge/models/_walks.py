"""Item weights of random walks item, user, item: what P3alpha and RP3beta share."""

from abc import abstractmethod
from typing import Literal, Self, get_args

import numpy as np
from scipy import sparse

from recgauge.data.interactions import Interactions
from recgauge.engine import ItemWeights
from recgauge.models import ItemWeightModel
from recgauge.models._gram import check_memory
from recgauge.utils.checks import DoubleArray, IntArray, check_choice, check_int, check_real
from recgauge.utils.progress import NoProgress, Progress
from recgauge.utils.threads import over_blocks

FirstCut = Literal["none", "plain", "normalized"]
_BLOCK = 256  # items that a thread takes at a time
_BYTES = 24  # of a weight: in the blocks, by target and by source


class WalkModel(ItemWeightModel):
    """A model whose item weights are chances of walks; subclasses are dataclasses of its parameters."""

    alpha: float
    top_k: int | None
    first_cut: FirstCut

    @property
    @abstractmethod
    def _popularity_power(self) -> float:
        """Power of an item's number of users that its sum is divided by."""

    def __post_init__(self) -> None:
        name = type(self).__name__
        self.alpha = check_real(f"{name}: alpha", self.alpha, low=0.0, high=np.inf)
        if self.top_k is not None:
            self.top_k = check_int(f"{name}: top_k", self.top_k, minimum=1)
        check_choice(f"{name}: first_cut", self.first_cut, get_args(FirstCut))

    def fit(self, train: Interactions, *, rng: np.random.Generator, progress: Progress | None = None) -> Self:  # noqa: ARG002 - contract
        """Add up the chances of all walks.

        Raises
        ------
        FitError
            If there is not enough memory.
        """
        rows = self.user_rows(train)
        weights = self._largest_walks(rows, progress)
        if self.first_cut == "none":
            weights = weights.T.tocsr()
        else:
            if self.first_cut == "normalized":
                sums = np.maximum(weights.sum(axis=1, dtype=np.float64), np.finfo(np.float32).tiny)
                weights.data = (weights.data / np.repeat(sums, np.diff(weights.indptr))).astype(np.float32)
            weights = _cut_columns(weights, self.top_k)
        self._item_weights = ItemWeights(rows, weights)
        return self

    def _largest_walks(self, rows: sparse.csr_array, progress: Progress | None) -> sparse.csr_array:
        """Return the largest `top_k` weights of the walks to each item; with a first cut, of those from it.

        The result has a row for each such item, float32, and nothing on the diagonal.
        """
        from recgauge.models._walk_kernel import walk_back

        n_items = rows.shape[1]
        by_item = rows.tocsc()
        of_user, of_item = np.diff(rows.indptr), np.diff(by_item.indptr)
        k = self.top_k or n_items
        most = min(int((of_user.astype(np.float64) ** 2).sum()), n_items * min(n_items, k))
        name = type(self).__name__
        check_memory(name, f"weights of {n_items:,} items", _BYTES * most, "Keep fewer: model.top_k.")
        lists = (by_item.indptr, by_item.indices, rows.indptr, rows.indices)
        first, last = _power(of_item, self.alpha), _power(of_item, self._popularity_power)
        shares = (first, last) if self.first_cut == "none" else (last, first)
        of_users = _power(of_user, self.alpha)
        with (progress or NoProgress()).step("walk", n_items, "items") as advance:
            parts = over_blocks(
                lambda a, b: walk_back(*lists, of_users, *shares, k, a, b), n_items, _BLOCK, advance=advance
            )
        counts, codes, weights = (np.concatenate(found) for found in zip(*parts, strict=True))
        starts = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        return sparse.csr_array((weights, codes, starts), shape=(n_items, n_items))


def _cut_columns(weights: sparse.csr_array, top_k: int | None) -> sparse.csr_array:
    """Return the largest `top_k` weights of each column; None: all."""
    from recgauge.models._walk_kernel import keep_largest

    if top_k is None:
        return weights
    columns = weights.tocsc()
    keep_largest(columns.indptr.astype(np.int64), columns.indices, columns.data, top_k)
    columns.eliminate_zeros()
    return columns.tocsr()


def _power(counts: IntArray, power: float) -> DoubleArray:
    """Return ``counts ** -power``, 1 where there is nothing.

    Processors differ in the last bits of a power; rounded to float32 they agree.
    """
    shares: DoubleArray = (np.maximum(counts, 1).astype(np.float64) ** -power).astype(np.float32)
    return shares.astype(np.float64)
