"""Diversity of a list: how little its items resemble each other, and similarities of items."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from recgauge.errors import MetricError
from recgauge.judging import JudgedTopK
from recgauge.metrics.beyond import (
    features,
    list_blocks,
    row_blocks,
    seen_items,
    similarity,
    sum_over_list,
    train_users,
)
from recgauge.metrics.metric import Metric, RunMetric, UserMetric, divide, list_length
from recgauge.utils.checks import BoolArray, DoubleArray, IntArray, LongArray
from recgauge.utils.exact import exact_sum, from_limbs, to_float, to_limbs

Vectors = sparse.csr_array | DoubleArray

SimilarityKind = Literal["features", "matrix", "cooccurrence"]
NEEDS = {
    "features": frozenset({"features"}),
    "matrix": frozenset({"similarity"}),
    "cooccurrence": frozenset({"train"}),
}


@dataclass(frozen=True, eq=False)
class FeatureCosine:
    """Cosine of feature vectors; an item without features is similar to none, itself included.

    Parameters
    ----------
    described : ndarray of bool, shape (n_items,)
        Items whose features are not all 0.
    unit : scipy.sparse.csr_array or ndarray of float64, shape (n_items, n_features)
        Feature vectors of length 1; dense where few entries are 0, which is faster.
    """

    described: BoolArray
    unit: Vectors

    def pair_sums(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Sum the similarity of all unordered pairs of each list, shape (m,).

        From sums of vectors: half of the squared length of the sum, less the own lengths.
        """
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
        """Sum the similarity of users' `items` (m, n_items) with what `seen` (all users, n_items) has.

        The sum of the items' vectors times that of the history's.
        """
        sums = np.empty(judged.n_users)
        for rows in row_blocks(judged.n_users, 256):
            past = _times(_ones(seen[judged.users[rows]]), self.unit)
            sums[rows] = _row_products(_times(items[rows], self.unit), past)
        return sums


@dataclass(frozen=True, eq=False)
class RowSimilarity:
    """Any similarity that can be had a row at a time: each row is made once, for all lists with its item.

    Parameters
    ----------
    described : ndarray of bool, shape (n_items,)
        Items that something is known about; others are similar to none.
    row : callable
        From an item code to its similarity with all items, shape (n_items,).
    """

    described: BoolArray
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


def item_similarity(
    metric: Metric, judged: JudgedTopK, kind: SimilarityKind
) -> FeatureCosine | RowSimilarity:
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
            matrix = similarity(metric, judged)
            if matrix is None:
                return _feature_cosine(features(metric, judged))
            described = np.ones(matrix.shape[0], np.bool_)
            if isinstance(matrix, np.ndarray):
                return RowSimilarity(described, lambda item: np.asarray(matrix[item], np.float64))
            rows = matrix.tocsr()
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


@dataclass(frozen=True)
class IntraListSimilarity(UserMetric):
    r"""Mean similarity of two items of the list (ILS).

    .. math:: \mathrm{ILS@}k(u) = \frac{1}{\binom{n}{2}} \sum_{i < j \in L_k} \mathrm{sim}(i, j)

    Parameters
    ----------
    similarity : {"features", "matrix", "cooccurrence"}, default "features"
        Cosine of item features; similarities that are given (``item_similarity=``), or that cosine where none
        are; or the cosine of the items' sets of training users.
    single : {"nan", 0, 1, "raise"}, default "nan"
        The value of a list with one item (or one described item): none, so that the user drops out of the
        mean; 0; 1; or an error.
    undescribed : {"zero", "drop", "raise"}, default "zero"
        An item without features (all 0), or without training users, is similar to none; is not part of
        the list; or is an error.

    Raises
    ------
    ConfigError
        If a parameter is unknown.

    In plain Python
    ---------------
    >>> def intra_list_similarity(items, k, features):
    ...     def cosine(i, j):
    ...         size = math.hypot(*features[i]) * math.hypot(*features[j])
    ...         return sum(a * b for a, b in zip(features[i], features[j])) / size if size else 0.0
    ...
    ...     pairs = list(itertools.combinations(items[:k], 2))
    ...     return sum(cosine(i, j) for i, j in pairs) / len(pairs) if pairs else math.nan

    Notes
    -----
    Range [-1, 1], [0, 1] for features >= 0 and co-occurrence; lower is better: more diverse. NaN for an
    empty list. With features no pair is built: the pairs' cosines add up to half of the squared length of the
    sum of the unit vectors, less their number. The other kinds visit every pair.

    recmetrics 0.1.5: ``single="raise"``. LensKit 2026 (source): ``single=1``. Others report
    `Diversity`.

    References
    ----------
    .. [1] C.-N. Ziegler, S. M. McNee, J. A. Konstan, G. Lausen, "Improving recommendation lists through
       topic diversification", WWW 2005.

    Examples
    --------
    >>> from recgauge.metrics.examples import beyond_example
    >>> IntraListSimilarity().per_user(beyond_example(), 2)
    array([0., 0.])
    >>> IntraListSimilarity(similarity="cooccurrence").per_user(beyond_example(), 2)
    array([0., 0.])
    """

    name: ClassVar[str] = "intra_list_similarity"
    label: ClassVar[str] = "IntraListSimilarity"
    higher_is_better: ClassVar[bool] = False
    needs_relevant: ClassVar[bool] = False

    similarity: SimilarityKind = "features"
    single: Literal["nan", 0, 1, "raise"] = "nan"
    undescribed: Literal["zero", "drop", "raise"] = "zero"

    @property
    def needs(self) -> frozenset[str]:
        """What the chosen similarity is made from."""
        return NEEDS[self.similarity]

    @property
    def smallest_k(self) -> int:
        """A list of one item has no pair: 2, unless such a list has a value."""
        return 1 if self.single in (0, 1) else 2

    def per_user(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the value of each list, shape (m,)."""
        sums, n_items = _pairs(self, judged, k)
        if self.single == "raise" and (n_items < 2).any():
            raise MetricError(
                f"{self.label}: every list must have at least two items, but {int((n_items < 2).sum())} "
                "have fewer; choose their value with single='nan', 0 or 1."
            )
        values = self._from_similarity(divide(sums, n_items * (n_items - 1) / 2, empty=np.nan))
        if self.single in (0, 1):
            values[(n_items < 2) & (list_length(judged, k) > 0)] = float(self.single)
        return values

    def _from_similarity(self, similarity: DoubleArray) -> DoubleArray:
        return similarity


@dataclass(frozen=True)
class Diversity(IntraListSimilarity):
    r"""One minus the mean similarity of two items of the list (intra-list diversity, ILD).

    .. math:: \mathrm{ILD@}k(u) = 1 - \mathrm{ILS@}k(u)

    Parameters
    ----------
    similarity : {"features", "matrix", "cooccurrence"}, default "features"
        As in `IntraListSimilarity`.
    single : {"nan", 0, 1, "raise"}, default "nan"
        The diversity of a list with one item.
    undescribed : {"zero", "drop", "raise"}, default "zero"
        As in `IntraListSimilarity`.

    Raises
    ------
    ConfigError
        If a parameter is unknown.

    In plain Python
    ---------------
    >>> def diversity(items, k, features):
    ...     def cosine(i, j):
    ...         size = math.hypot(*features[i]) * math.hypot(*features[j])
    ...         return sum(a * b for a, b in zip(features[i], features[j])) / size if size else 0.0
    ...
    ...     pairs = list(itertools.combinations(items[:k], 2))
    ...     return 1 - sum(cosine(i, j) for i, j in pairs) / len(pairs) if pairs else math.nan

    Notes
    -----
    Range [0, 2], [0, 1] for features >= 0 and co-occurrence; higher is better: more diverse, though often
    less accurate. NaN for an empty list.

    RecTools 0.19.0 IntraListDiversity with cosine distance: ``single=0``. recommenders 1.2.1 diversity
    with item features: defaults; without: ``similarity="cooccurrence"``. CAPRI listDiversity:
    ``similarity="matrix", single="raise"``.

    References
    ----------
    .. [1] S. Vargas, P. Castells, "Rank and relevance in novelty and diversity metrics for recommender
       systems", RecSys 2011.

    Examples
    --------
    >>> from recgauge.metrics.examples import beyond_example
    >>> Diversity().per_user(beyond_example(), 2)
    array([1., 1.])
    """

    name: ClassVar[str] = "diversity"
    label: ClassVar[str] = "Diversity"
    higher_is_better: ClassVar[bool] = True

    def _from_similarity(self, similarity: DoubleArray) -> DoubleArray:
        return 1.0 - similarity


@dataclass(frozen=True)
class PooledDiversity(RunMetric):
    r"""One minus the mean similarity over all pairs of all lists together.

    .. math:: 1 - \frac{\sum_u \sum_{i < j \in L_{u,k}} \mathrm{sim}(i, j)}{\sum_u \binom{|L_{u,k}|}{2}}

    Parameters
    ----------
    similarity : {"features", "matrix", "cooccurrence"}, default "features"
        As in `IntraListSimilarity`.
    undescribed : {"zero", "drop", "raise"}, default "zero"
        As in `IntraListSimilarity`.

    Raises
    ------
    ConfigError
        If a parameter is unknown.

    Notes
    -----
    Range [0, 2], [0, 1] for features >= 0 and co-occurrence; higher is better: more diverse. A list of n
    items weighs n (n - 1) / 2; with lists of one length the value is the mean of `Diversity`. 1 if no list
    has a pair.

    References
    ----------
    .. [1] K. Bradley, B. Smyth, "Improving recommendation diversity", AICS 2001.

    Examples
    --------
    >>> from recgauge.metrics.examples import beyond_example
    >>> metric = PooledDiversity()
    >>> metric.value(metric.sums(beyond_example(), 2))
    1.0
    """

    name: ClassVar[str] = "pooled_diversity"
    label: ClassVar[str] = "PooledDiversity"
    needs_relevant: ClassVar[bool] = False

    similarity: SimilarityKind = "features"
    undescribed: Literal["zero", "drop", "raise"] = "zero"

    @property
    def needs(self) -> frozenset[str]:
        """What the chosen similarity is made from."""
        return NEEDS[self.similarity]

    def sums(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return the number of pairs and the exact sum of similarities, shape (1 + LIMBS,)."""
        sums, n_items = _pairs(self, judged, k)
        return np.append((n_items * np.maximum(n_items - 1, 0) / 2).sum(), to_limbs(exact_sum(sums)))

    def value(self, sums: DoubleArray) -> float:
        """Return the diversity."""
        return 1.0 - to_float(from_limbs(sums[1:])) / float(sums[0]) if sums[0] else 1.0


def _pairs(
    metric: IntraListSimilarity | PooledDiversity, judged: JudgedTopK, k: int | None
) -> tuple[DoubleArray, DoubleArray]:
    """Return the sum over pairs and the number of items that make them, each of shape (m,)."""
    similarity = item_similarity(metric, judged, metric.similarity)
    n_items = list_length(judged, k)
    if metric.undescribed != "zero":
        described = sum_over_list(similarity.described, judged, k)
        if metric.undescribed == "raise" and (described < n_items).any():
            raise MetricError(
                f"{metric.label}: every recommended item must be described (features that are not all 0, or "
                "training users), but some are not; complete item_features= or set undescribed='zero'."
            )
        n_items = described
    return similarity.pair_sums(judged, k), n_items
