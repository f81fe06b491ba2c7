"""What lists can be made from: factors, item weights, or anything that gives scores."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
from scipy import sparse

from recgauge.errors import ModelError
from recgauge.utils.checks import BoolArray, FloatArray, IntArray, LongArray

SeenRows = sparse.csr_array | sparse.csr_matrix | tuple[LongArray, IntArray]
"""Stored entries of a matrix of users and items, or its row pointers and item codes."""
Allowed = BoolArray | IntArray
"""Items that may be recommended: a mask or codes."""
SparseWeights = sparse.csr_array | sparse.csr_matrix | sparse.csc_array | sparse.csc_matrix


@runtime_checkable
class FactorSource(Protocol):
    """Scores are ``score(u, i) = user[u] . item[i]``, such as those of `recgauge.models.Factors`."""

    @property
    def user(self) -> FloatArray:
        """Factors of users, float32, shape (n_users, d)."""

    @property
    def item(self) -> FloatArray:
        """Factors of items, float32, shape (n_items, d)."""


@dataclass(frozen=True, slots=True, eq=False)
class ItemWeights:
    """Scores are sums over a user's items: ``score(u, i) = sum_j interactions[u, j] weights[j, i]``.

    Parameters
    ----------
    interactions : scipy.sparse.csr_array of float32, shape (n_users, n_items)
        What each user has done, usually the training matrix.
    weights : ndarray of float32, shape (n_items, n_items), or scipy.sparse CSR or CSC
        Row j: what item j says about every item (EASE, SLIM, item neighbours).

    Raises
    ------
    ModelError
        If the shapes do not fit together.
    """

    interactions: sparse.csr_array
    weights: FloatArray | SparseWeights

    def __post_init__(self) -> None:
        n_items = self.interactions.shape[1]
        if self.weights.shape != (n_items, n_items):
            raise ModelError(
                f"ItemWeights: weights must have shape ({n_items}, {n_items}) to fit interactions of shape "
                f"{self.interactions.shape}, got {self.weights.shape}."
            )


class Scorer(Protocol):
    """Gives scores of all items for a block of users."""

    def score(self, users: IntArray) -> npt.NDArray[np.floating]:
        """Scores, shape (b, n_items), of the user codes ``users``, shape (b,)."""


Source = FactorSource | ItemWeights | Scorer | Callable[[IntArray], npt.NDArray[np.floating]]
