"""What neighbour models share: similarities of all columns of a sparse matrix, and the nearest k of each."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from scipy import sparse

from recgauge.data.interactions import Interactions
from recgauge.errors import ConfigError, FitError
from recgauge.models._gram import check_memory
from recgauge.utils.checks import (
    DoubleArray,
    IntArray,
    LongArray,
    check_bool,
    check_choice,
    check_int,
    check_real,
)
from recgauge.utils.progress import NoProgress, Progress
from recgauge.utils.threads import over_blocks, usable_cpus

if TYPE_CHECKING:
    from recgauge.models._neighbours_kernel import Entries

Similarity = Literal[
    "cosine", "asymmetric_cosine", "adjusted_cosine", "pearson", "jaccard", "dice", "tversky", "dot"
]
Weighting = Literal["none", "tf_idf", "bm25"]
Values = Literal["binary", "rating"]
_CENTRED = ("adjusted_cosine", "pearson")
_OF_SETS = ("jaccard", "dice", "tversky")
_PARTS = 128
_KEYS_BYTES = 1 << 30  # of the lists that threads keep, each its own; beyond, fewer threads work
_Measure = tuple[DoubleArray, DoubleArray, float, float | None]
"""Own, other, shrinkage, common: a similarity is sum / (own[x] other[y] + shrinkage), or, of sets, where
common is a number, sum / (own[x] + other[y] + common * sum + shrinkage)."""


@dataclass(eq=False)
class NeighbourSettings:
    """Settings of `recgauge.models.item_knn.ItemKNN` and `recgauge.models.user_knn.UserKNN`."""

    k: int = 100
    similarity: Similarity = "cosine"
    values: Values = "binary"
    shrinkage: float = 0.0
    alpha: float = 0.5
    weighting: Weighting = "none"
    k1: float = 1.2
    b: float = 0.75
    normalize: bool = False
    tversky_alpha: float = 1.0
    tversky_beta: float = 1.0

    def __post_init__(self) -> None:
        name = type(self).__name__
        self.k = check_int(f"{name}: k", self.k, minimum=1)
        check_choice(f"{name}: similarity", self.similarity, get_args(Similarity))
        check_choice(f"{name}: values", self.values, get_args(Values))
        check_choice(f"{name}: weighting", self.weighting, get_args(Weighting))
        for real in ("shrinkage", "k1", "tversky_alpha", "tversky_beta"):
            setattr(self, real, check_real(f"{name}: {real}", getattr(self, real), low=0.0, high=np.inf))
        self.alpha = check_real(f"{name}: alpha", self.alpha, low=-1.0, high=1.0)
        self.b = check_real(f"{name}: b", self.b, low=0.0, high=1.0)
        self.normalize = check_bool(f"{name}: normalize", self.normalize)
        if self.similarity in _CENTRED and self.values == "binary":
            raise ConfigError(f"{name}: similarity={self.similarity} compares ratings; set values=rating.")
        if self.similarity in (*_CENTRED, *_OF_SETS) and self.weighting != "none":
            raise ConfigError(
                f"{name}: weighting={self.weighting} has no meaning for similarity={self.similarity}; "
                "set weighting=none, or similarity to cosine, asymmetric_cosine or dot."
            )

    def user_rows(self, rows: Interactions) -> sparse.csr_array:
        """Return what each user's items count, shape (n_users, n_items) float32: 1 or the rating."""
        matrix = rows.to_csr().astype(np.float32)
        if self.values == "binary":
            matrix.data[:] = 1.0
        return matrix

    def weighed(self, matrix: sparse.csr_array) -> sparse.csr_array:
        """Weigh entries as words of documents, float32: columns are documents, rows are words."""
        if self.weighting == "none":
            return matrix
        n, in_row = matrix.shape[1], np.diff(matrix.indptr)
        rarity = np.log(n) - np.log1p(in_row)
        value = matrix.data.astype(np.float64)
        if self.weighting == "tf_idf":
            weighed: DoubleArray = np.sqrt(np.maximum(value, 0.0))
        else:
            length = np.bincount(matrix.indices, value, minlength=n)
            relative = 1.0 - self.b + self.b * length / max(length.mean(), np.finfo(np.float64).tiny)
            weighed = value * (self.k1 + 1.0) / (self.k1 * relative[matrix.indices] + value)
        weighed *= np.repeat(rarity, in_row)
        return sparse.csr_array((weighed.astype(np.float32), matrix.indices, matrix.indptr), matrix.shape)

    def nearest(
        self, matrix: sparse.csr_array, progress: Progress | None, *, is_first: bool
    ) -> sparse.csr_array:
        """Return the nearest k of each column of `matrix` with their similarities, a row each.

        `is_first`: a row of the result is the first of the two in an asymmetric similarity.
        """
        name = type(self).__name__
        n = matrix.shape[1]
        k = min(self.k, max(1, n - 1))
        values, measure = self._compared(matrix, is_first)
        capacity = 2 * k + 8
        n_threads = max(1, min(usable_cpus(), _KEYS_BYTES // max(1, 8 * n * capacity)))
        check_memory(
            name,
            f"lists of the {k} nearest neighbours",
            n * (8 * n_threads * capacity + 24 * k) + 40 * matrix.nnz,
            "Set a lower k.",
        )
        found = _search(values, measure, k, n_threads, progress)
        if self.normalize:
            sums = np.maximum(found.sum(axis=1, dtype=np.float64), np.finfo(np.float32).tiny)
            found.data = (found.data / np.repeat(sums, np.diff(found.indptr))).astype(np.float32)
        return found

    def _compared(self, matrix: sparse.csr_array, is_first: bool) -> tuple[sparse.csr_array, _Measure]:
        """Return the entries that are multiplied, and what their sums are divided by."""
        n = matrix.shape[1]
        if self.similarity in _OF_SETS:
            counts = np.bincount(matrix.indices, minlength=n).astype(np.float64)
            ones = sparse.csr_array((np.ones_like(matrix.data), matrix.indices, matrix.indptr), matrix.shape)
            first, second, shrinkage = {
                "jaccard": (1.0, 1.0, self.shrinkage),
                "dice": (0.5, 0.5, self.shrinkage / 2.0),
                "tversky": (self.tversky_alpha, self.tversky_beta, self.shrinkage),
            }[self.similarity]
            own, other = (first, second) if is_first else (second, first)
            return ones, (own * counts, other * counts, shrinkage, 1.0 - own - other)
        if self.similarity in _CENTRED:
            row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
            codes = row if self.similarity == "adjusted_cosine" else matrix.indices
            value = matrix.data.astype(np.float64)
            value -= (np.bincount(codes, value) / np.maximum(1, np.bincount(codes)))[codes]
            if not np.abs(value).max(initial=0.0) > 1e-6:
                raise FitError(
                    f"{type(self).__name__}: similarity={self.similarity} compares deviations from means, "
                    "and all are 0 here. Choose similarity=cosine."
                )
            matrix = sparse.csr_array((value.astype(np.float32), matrix.indices, matrix.indptr), matrix.shape)
        if self.similarity == "dot":
            return matrix, (np.zeros(n), np.zeros(n), 1.0, None)
        squares = np.bincount(matrix.indices, matrix.data.astype(np.float64) ** 2, minlength=n).astype(
            np.float64
        )
        squares[squares == 0.0] = 1.0  # no power of 0: such a column has no product
        power = self.alpha if self.similarity == "asymmetric_cosine" else 0.5
        own_power = power if is_first else 1.0 - power
        return matrix, (squares**own_power, squares ** (1.0 - own_power), self.shrinkage, None)


def _search(
    matrix: sparse.csr_array,
    measure: _Measure,
    k: int,
    n_threads: int,
    progress: Progress | None,
) -> sparse.csr_array:
    """Return the nearest k columns of each column, CSR float32."""
    from recgauge.models import _neighbours_kernel as kernel

    n, (own, other, shrinkage, common) = matrix.shape[1], measure
    order = np.argsort(np.bincount(matrix.indices, minlength=n), kind="stable").astype(np.int32)
    rank = np.empty(n, np.int32)
    rank[order] = np.arange(n, dtype=np.int32)
    entries, work = _entries(matrix, rank, order)
    measured = kernel.Measure(common is not None, own[order], other[order], shrinkage, common or 0.0)
    keys = np.empty((n_threads, n, 2 * k + 8), np.uint64)
    counts, level = np.zeros((n_threads, n), np.int64), np.zeros((n_threads, n))
    free = list(range(n_threads))
    scratch = [kernel.Scratch(np.zeros(n), np.empty(n + 1, np.int32), np.empty(1, np.float32)) for _ in free]
    # parts of equal cost: products, and a look at each sum
    cost = np.concatenate([[0], np.cumsum(work + np.minimum(4 * work, np.arange(n, 0, -1)) // 2)])
    cuts = np.searchsorted(cost, np.linspace(0, cost[-1], _PARTS + 1)[1:-1])
    cuts = np.unique(np.concatenate([[0], cuts, [n]]))

    def part(done: int, _next: int) -> None:
        number = len(cuts) - 2 - done  # last things first: see the kernel
        mine = free.pop()  # lists and sums that no other thread uses now
        best = kernel.Nearest(keys[mine], counts[mine], level[mine])
        kernel.search(entries, measured, work, cuts[number], cuts[number + 1], k, best, scratch[mine])
        free.append(mine)

    with (progress or NoProgress()).step("neighbours", len(cuts) - 1, "parts") as advance:
        over_blocks(part, len(cuts) - 1, 1, advance=advance, n_threads=n_threads)
    indices, values = np.empty((n, k), np.int32), np.empty((n, k), np.float32)
    found = np.empty(n, np.int64)
    over_blocks(lambda a, b: kernel.collect(keys, counts, a, b, k, order, indices, values, found), n, 1024)
    kept = np.arange(k) < found[:, None]
    indptr = np.concatenate([[0], np.cumsum(found)])
    return sparse.csr_array((values[kept], indices[kept], indptr), shape=(n, n))


def _entries(matrix: sparse.csr_array, rank: IntArray, order: IntArray) -> "tuple[Entries, LongArray]":
    """Return the entries by row and by thing, things by rank, and the number of products of each thing."""
    from recgauge.models._neighbours_kernel import Entries

    by_row = sparse.csr_array((matrix.data.copy(), rank[matrix.indices], matrix.indptr), shape=matrix.shape)
    by_row.sort_indices()
    ones = bool((by_row.data == 1.0).all())
    value = np.empty(0, np.float32) if ones else by_row.data
    places = np.arange(by_row.nnz, dtype=np.int64)
    by_thing = sparse.csr_array((places, by_row.indices, by_row.indptr), shape=matrix.shape).tocsc()
    row_ptr = by_row.indptr.astype(np.int64)
    row = by_thing.indices.astype(np.int32, copy=False)
    after = row_ptr[row + 1] - by_thing.data - 1
    thing_ptr = by_thing.indptr.astype(np.int64)
    total = np.concatenate([[0], np.cumsum(after)])
    work = total[thing_ptr[1:]] - total[thing_ptr[:-1]]
    return Entries(row_ptr, by_row.indices, value, thing_ptr, row, by_thing.data, order), work
