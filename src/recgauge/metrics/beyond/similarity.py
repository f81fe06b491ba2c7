"""Similarities of items summed over pairs in lists, and between lists and what users knew before."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from recgauge.judging.judge import JudgedTopK
from recgauge.metrics.beyond.lists import (
    features,
    list_blocks,
    row_blocks,
    seen_items,
    similarity,
    train_users,
)
from recgauge.metrics.metric import Metric
from recgauge.utils.checks import BoolArray, DoubleArray, IntArray, LongArray

Vectors = sparse.csr_array | DoubleArray

SimilarityKind = Literal["features", "matrix", "cooccurrence"]
NEEDS = {
    "features": frozenset({"features"}),
    "matrix": frozenset({"similarity"}),
    "cooccurrence": frozenset({"train"}),
}


@dataclass(frozen=True, eq=False)
class ItemSimilarity(ABC):
    """A similarity of items; an item that nothing is known about is similar to none, itself included.

    Parameters
    ----------
    described : ndarray of bool, shape (n_items,)
        Items that something is known about.
    """

    described: BoolArray

    @abstractmethod
    def pair_sums(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Sum the similarity of all unordered pairs of each list, shape (m,)."""

    @abstractmethod
    def history_sums(
        self, judged: JudgedTopK, items: sparse.csr_array, seen: sparse.csr_array
    ) -> DoubleArray:
        """Sum the similarity of users' `items` (m, n_items) with what `seen` (all users, n_items) has."""


@dataclass(frozen=True, eq=False)
class FeatureCosine(ItemSimilarity):
    """Cosine of feature vectors.

    Parameters
    ----------
    described : ndarray of bool, shape (n_items,)
        Items whose features are not all 0.
    unit : scipy.sparse.csr_array or ndarray of float64, shape (n_items, n_features)
        Feature vectors of length 1; dense where few entries are 0, which is faster.
    """

    unit: Vectors

    def pair_sums(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Sum pairs from sums of vectors: half of the squared length of the sum, less the own lengths."""
        sums = np.empty(judged.n_users)
        for rows, items in list_blocks(judged, k):
            chosen = _indicator(items, len(self.described))
            own = chosen @ self.described.astype(np.float64)
            total = _times(chosen, self.unit)
            sums[rows] = (_row_products(total, total) - own) / 2.0
        return sums

    def history_sums(
        self, judged: JudgedTopK, items: sparse.csr_array, seen: sparse.csr_array
    ) -> DoubleArray:
        """Multiply the sum of the items' vectors with that of the history's."""
        sums = np.empty(judged.n_users)
        for rows in row_blocks(judged.n_users, 256):
            past = _times(_ones(seen[judged.users[rows]]), self.unit)
            sums[rows] = _row_products(_times(items[rows], self.unit), past)
        return sums


@dataclass(frozen=True, eq=False)
class RowSimilarity(ItemSimilarity):
    """Any similarity that can be had a row at a time: each row is made once, for all lists with its item.

    Parameters
    ----------
    described : ndarray of bool, shape (n_items,)
    row : callable
        From an item code to its similarity with all items, shape (n_items,).
    """

    row: Callable[[int], DoubleArray]

    def pair_sums(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Sum rows over lists; every pair is met from both sides."""
        first = judged.items[:, :k]
        sums = np.zeros(judged.n_users)
        for item, rows in _lists_of_items(_indicator(first, len(self.described))):
            row = self.row(item)
            padded = np.append(row, 0.0)
            for part in row_blocks(len(rows), first.shape[1]):
                items = np.ascontiguousarray(first[rows[part]].T)  # as in `sum_over_list`
                sums[rows[part]] += padded[items].sum(axis=0) - row[item]
        return sums / 2.0

    def history_sums(
        self, judged: JudgedTopK, items: sparse.csr_array, seen: sparse.csr_array
    ) -> DoubleArray:
        """Sum rows over the histories of the users who get the item."""
        sums = np.zeros(judged.n_users)
        for item, rows in _lists_of_items(items):
            row = self.row(item)
            for part in row_blocks(len(rows), 256):
                sums[rows[part]] += _ones(seen[judged.users[rows[part]]]) @ row
        return sums


def item_similarity(metric: Metric, judged: JudgedTopK, kind: SimilarityKind) -> ItemSimilarity:
    """Return the similarity of items that a metric asks for.

    Parameters
    ----------
    metric : Metric
        Named by errors.
    judged : JudgedTopK
    kind : {"features", "matrix", "cooccurrence"}
        Cosine of item features; the catalogue's given matrix, or that cosine if it has none; or the cosine of
        the sets of training users, ``|U_i and U_j| / sqrt(|U_i| |U_j|)``.

    Returns
    -------
    ItemSimilarity

    Raises
    ------
    MetricError
        If the catalogue does not have what the kind needs.
    """
    match kind:
        case "features":
            return _feature_cosine(features(metric, judged))
        case "matrix":
            given = similarity(metric, judged)
            if given is None:
                return _feature_cosine(features(metric, judged))
            described = np.ones(given.shape[0], np.bool_)
            if isinstance(given, np.ndarray):
                return RowSimilarity(described, lambda item: np.asarray(given[item], np.float64))
            rows = given.tocsr()
            return RowSimilarity(described, lambda item: rows[[item]].toarray()[0])
        case _:
            return _cooccurrence(seen_items(metric, judged), train_users(metric, judged))


def listed(judged: JudgedTopK, k: int | None, n_items: int, *, only_hits: bool) -> sparse.csr_array:
    """Return ones at each user's listed (or relevant listed) items, shape (m, n_items)."""
    if not only_hits:
        return _indicator(judged.items[:, :k], n_items)
    hits = judged.hits.cut(k)
    codes = judged.items[hits.owner, hits.rank - 1]
    start = np.concatenate(([0], np.cumsum(np.bincount(hits.owner, minlength=judged.n_users)))).astype(
        np.int64
    )
    return sparse.csr_array((np.ones(len(codes)), codes, start), shape=(judged.n_users, n_items))


def _feature_cosine(rows: sparse.csr_array) -> FeatureCosine:
    values = rows.astype(np.float64).tocsr()
    length = np.sqrt(_row_products(values, values))
    described = length > 0
    scale = np.divide(1.0, length, out=np.zeros(len(length)), where=described)
    unit = (sparse.diags_array(scale) @ values).tocsr()
    # measured: above a quarter of non-zeros the dense product is the faster one
    return FeatureCosine(described, unit.toarray() if unit.nnz > 0.25 * np.prod(unit.shape) else unit)


def _cooccurrence(seen: sparse.csr_array, users: LongArray) -> RowSimilarity:
    owners = _ones(seen, np.int8).tocsc()
    scale = np.divide(1.0, np.sqrt(users), out=np.zeros(len(users)), where=users > 0)

    def row(item: int) -> DoubleArray:
        people = owners.indices[owners.indptr[item] : owners.indptr[item + 1]]
        together = np.bincount(seen[people].indices, minlength=len(users))
        cosine: DoubleArray = together * scale * scale[item]
        return cosine

    return RowSimilarity(users > 0, row)


def _ones(matrix: sparse.csr_array, dtype: npt.DTypeLike = np.float64) -> sparse.csr_array:
    ones = np.ones(len(matrix.indices), dtype)
    return sparse.csr_array((ones, matrix.indices, matrix.indptr), shape=matrix.shape)


def _indicator(items: IntArray, n_items: int) -> sparse.csr_array:
    listed_here = items >= 0
    start = np.concatenate(([0], np.cumsum(listed_here.sum(axis=1))))
    return sparse.csr_array((np.ones(start[-1]), items[listed_here], start), shape=(len(items), n_items))


def _lists_of_items(items: sparse.csr_array) -> Iterator[tuple[int, IntArray]]:
    by_item = items.tocsc()
    for item in np.flatnonzero(np.diff(by_item.indptr)):
        yield int(item), by_item.indices[by_item.indptr[item] : by_item.indptr[item + 1]]


def _times(left: sparse.csr_array, right: Vectors) -> Vectors:
    product: Vectors = left @ right
    return product


def _row_products(left: Vectors, right: Vectors) -> DoubleArray:
    if isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
        return np.asarray(np.einsum("ij,ij->i", left, right), np.float64)
    products = sparse.csr_array(left).multiply(right).tocsr()
    owner = np.repeat(np.arange(products.shape[0]), np.diff(products.indptr))
    sums = np.bincount(owner, products.data, minlength=products.shape[0])
    return sums.astype(np.float64)
