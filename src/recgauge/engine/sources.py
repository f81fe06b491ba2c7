"""What lists can be made from, brought to one form or refused; users cut into blocks for threads.

Arrays become contiguous, read-only and of the kernels' types. Every kind of source has a `ListMaker`, which
says how much memory a user takes and fills the lists of a block of users.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
from scipy import sparse

from recgauge.errors import ModelError, ScoreError
from recgauge.utils.checks import BoolArray, FloatArray, IntArray, LongArray, frozen

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
    interactions : scipy.sparse.csr_array of float32, shape (n_users, n)
        What each user has done, usually the training matrix: n is the number of items. Or how similar each
        user is to others: n is the number of users.
    weights : ndarray of float32, shape (n, n_items), or scipy.sparse CSR or CSC
        Row j: what item j says about every item (EASE, SLIM, item neighbours), or what user j has done.

    Raises
    ------
    ModelError
        If the shapes do not fit together.
    """

    interactions: sparse.csr_array
    weights: FloatArray | SparseWeights

    def __post_init__(self) -> None:
        n = self.interactions.shape[1]
        if len(self.weights.shape) != 2 or self.weights.shape[0] != n:
            raise ModelError(
                f"ItemWeights: weights must have shape ({n}, n_items) to fit interactions of shape "
                f"{self.interactions.shape}, got {self.weights.shape}."
            )


class Scorer(Protocol):
    """Gives scores of all items for a block of users."""

    def score(self, users: IntArray) -> npt.NDArray[np.floating]:
        """Scores, shape (b, n_items), of the user codes ``users``, shape (b,)."""


Source = FactorSource | ItemWeights | Scorer | Callable[[IntArray], npt.NDArray[np.floating]]


_LARGEST = float(np.finfo(np.float32).max)


def checked_codes(name: str, codes: IntArray, n: int | None) -> IntArray:
    """Return codes as int32, all below `n`."""
    codes = np.asarray(codes)
    if codes.ndim != 1 or not (np.issubdtype(codes.dtype, np.integer) or codes.size == 0):
        raise ScoreError(
            f"top_k: {name} must be a vector of whole numbers, got {codes.dtype} of shape {codes.shape}."
        )
    if codes.size and (codes.min() < 0 or (n is not None and codes.max() >= n)):
        raise ScoreError(
            f"top_k: {name} must be in 0..{n - 1 if n else 'n'}, got {codes.min()}..{codes.max()}."
        )
    view: IntArray = frozen(codes.astype(np.int32, copy=False))
    return view


def allowed_items(items: Allowed | None, n_items: int) -> IntArray:
    """Ascending codes of the items that may be recommended."""
    if items is None:
        return np.arange(n_items, dtype=np.int32)
    chosen: Any = np.asarray(items)
    if chosen.dtype == np.bool_:
        if chosen.shape != (n_items,):
            raise ScoreError(f"top_k: a mask of items must have shape ({n_items},), got {chosen.shape}.")
        return np.flatnonzero(chosen).astype(np.int32)
    return np.unique(checked_codes("items", chosen, n_items))


def seen_rows(
    seen: SeenRows | None, n_users: int, n_items: int, name: str = "seen"
) -> tuple[LongArray, IntArray]:
    """Row pointers and item codes of what users have seen."""
    if seen is None:
        return frozen(np.zeros(n_users + 1, np.int64)), frozen(np.empty(0, np.int32))
    rows: Any = seen  # a matrix of another format, or none of scipy's, is refused
    if hasattr(rows, "indptr") or sparse.issparse(rows):
        if rows.format != "csr" or rows.shape != (n_users, n_items):
            raise ScoreError(
                f"top_k: the model must have one score for every item, and {name} be CSR of their shape "
                f"({n_users}, {n_items}), got {rows.format} of shape {rows.shape}."
            )
        rows = (rows.indptr, rows.indices)
    indptr, indices = np.asarray(rows[0], np.int64), checked_codes(f"{name} items", rows[1], n_items)
    if (
        len(indptr) != n_users + 1
        or indptr[0] < 0
        or indptr[-1] > len(indices)
        or (np.diff(indptr) < 0).any()
    ):
        raise ScoreError(
            f"top_k: {name} needs rising row pointers for {n_users} users, got {len(indptr) - 1} rows."
        )
    return frozen(indptr), indices


def candidate_rows(candidates: SeenRows, n_users: int, n_items: int) -> tuple[LongArray, IntArray]:
    """Row pointers and distinct, rising item codes of every user's candidates."""
    indptr, indices = seen_rows(candidates, n_users, n_items, name="candidates")
    indices = indices[: indptr[-1]]
    owner = np.repeat(np.arange(n_users), np.diff(indptr))
    code = owner * np.int64(n_items) + indices[indptr[0] :]
    if (np.diff(code) <= 0).any():
        code = np.unique(code)
        indptr = np.searchsorted(code, np.arange(n_users + 1) * np.int64(n_items))
        indices = (code % n_items).astype(np.int32)
    return frozen(indptr.astype(np.int64, copy=False)), frozen(indices)


def check_sums(name: str, left: tuple[str, FloatArray], right: tuple[str, FloatArray], n_terms: int) -> None:
    """Refuse numbers that are not finite, and sums of products of so many that might overflow."""
    largest_score = float(n_terms)
    for label, values in (left, right):
        high, low = float(values.max(initial=0.0)), float(values.min(initial=0.0))  # a nan makes both nan
        if not (np.isfinite(high) and np.isfinite(low)):
            raise ScoreError(f"{label} must be finite; nan or infinity found. Did training diverge?")
        largest_score *= max(high, -low)
    if largest_score > _LARGEST:
        raise ScoreError(
            f"{name}: scores might reach {largest_score:.3g}, more than float32 holds; scale the model down."
        )


def as_float32(name: str, values: npt.ArrayLike) -> FloatArray:
    """Return numbers as float32."""
    if not np.issubdtype(np.asarray(values).dtype, np.floating):
        raise ScoreError(f"{name} must be float32, got {np.asarray(values).dtype}.")
    array: FloatArray = frozen(np.asarray(values, np.float32))
    return array


class ListMaker(Protocol):
    """One kind of source, ready for queries."""

    n_users: int | None
    n_candidates: int
    most_users: int

    def bytes_per_user(self, k: int) -> int:
        """Memory a user of a block takes."""

    def fill(self, users: IntArray, items: IntArray, scores: FloatArray) -> None:
        """Write the lists of the users, (b, k), from any thread."""


def make_lists(
    lists: ListMaker,
    users: IntArray,
    k: int,
    memory: int,
    n_threads: int,
    on_progress: Callable[[int], None] | None,
) -> tuple[IntArray, FloatArray]:
    """All lists, block by block."""
    users = checked_codes("users", users, lists.n_users)
    width = max(1, min(k, lists.n_candidates))
    # written by the threads: the first touch of new memory costs as much as making short lists
    items, scores = np.empty((len(users), k), np.int32), np.empty((len(users), k), np.float32)
    size = memory // n_threads // lists.bytes_per_user(width)
    size = max(1, min(size, lists.most_users, -(-len(users) // n_threads)))

    def block(start: int) -> int:
        part = slice(start, start + size)
        if width == k and lists.n_candidates:
            lists.fill(users[part], items[part], scores[part])
        else:
            few = np.full((len(users[part]), width), -1, np.int32)
            best = np.full(few.shape, -np.inf, np.float32)
            if lists.n_candidates:
                lists.fill(users[part], few, best)
            items[part, :width], scores[part, :width] = few, best
            items[part, width:], scores[part, width:] = -1, -np.inf
        return len(users[part])

    starts = range(0, len(users), size)
    with ThreadPoolExecutor(n_threads) as pool:
        for n_done in map(block, starts) if n_threads == 1 else pool.map(block, starts):
            if on_progress is not None:
                on_progress(n_done)
    return items, scores
