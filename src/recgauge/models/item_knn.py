"""Item neighbours: items similar to those of a user."""

from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple, Self

import numpy as np
from scipy import sparse

from recgauge.data.interactions import Interactions
from recgauge.engine import ItemWeights
from recgauge.errors import ConfigError, FitError
from recgauge.models import Recommender, Values, check_memory, matrix_of
from recgauge.models.recent import RecentHistory
from recgauge.utils.checks import (
    Count,
    DoubleArray,
    IntArray,
    LongArray,
    NotNegative,
    Share,
    Within,
)
from recgauge.utils.compiled import F32s, F64s, I32s, I64s, U64s, compiled
from recgauge.utils.progress import Progress
from recgauge.utils.resources import over_blocks, usable_cpus

Similarity = Literal[
    "cosine", "asymmetric_cosine", "adjusted_cosine", "pearson", "jaccard", "dice", "tversky", "dot"
]
Weighting = Literal["none", "tf_idf", "bm25"]
_CENTRED = ("adjusted_cosine", "pearson")
_OF_SETS = ("jaccard", "dice", "tversky")
_PARTS = 128
_KEYS_BYTES = 1 << 30  # of the lists that threads keep, each its own; beyond, fewer threads work


@dataclass(eq=False)
class NeighbourSettings(Recommender):
    """Settings of `recgauge.models.item_knn.ItemKNN` and `recgauge.models.user_knn.UserKNN`."""

    k: Count = 100
    similarity: Similarity = "cosine"
    values: Values = "binary"
    shrinkage: NotNegative = 0.0
    alpha: Annotated[float, Within(-1.0, 1.0)] = 0.5
    weighting: Weighting = "none"
    k1: NotNegative = 1.2
    b: Share = 0.75
    normalize: bool = False
    tversky_alpha: NotNegative = 1.0
    tversky_beta: NotNegative = 1.0

    def __post_init__(self) -> None:
        name = type(self).__name__
        super().__post_init__()
        self.tied_neighbours = 0.0  # share of those with more who score as the last neighbour that is kept
        if self.similarity in _CENTRED and self.values == "binary":
            raise ConfigError(f"{name}: similarity={self.similarity} compares ratings; set values=rating.")
        if self.similarity in (*_CENTRED, *_OF_SETS) and self.weighting != "none":
            raise ConfigError(
                f"{name}: weighting={self.weighting} has no meaning for similarity={self.similarity}; "
                "set weighting=none, or similarity to cosine, asymmetric_cosine or dot."
            )

    def user_rows(self, rows: Interactions) -> sparse.csr_array:
        """Return what each user's items count, shape (n_users, n_items) float32: 1 or the rating."""
        return matrix_of(rows, self.values)

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
        capacity = 2 * k + 10
        n_threads = max(1, min(usable_cpus(), _KEYS_BYTES // max(1, 8 * n * capacity)))
        check_memory(
            name,
            f"lists of the {k} nearest neighbours",
            n * (8 * n_threads * capacity + 24 * k) + 40 * matrix.nnz,
            "Set a lower k.",
        )
        neighbours, self.tied_neighbours = _search(values, measure, k, n_threads, progress)
        if self.normalize:
            sums = np.maximum(neighbours.sum(axis=1, dtype=np.float64), np.finfo(np.float32).tiny)
            neighbours.data = (neighbours.data / np.repeat(sums, np.diff(neighbours.indptr))).astype(
                np.float32
            )
        return neighbours

    def _compared(self, matrix: sparse.csr_array, is_first: bool) -> "tuple[sparse.csr_array, _Measure]":
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
            return ones, _Measure(True, own * counts, other * counts, shrinkage, 1.0 - own - other)
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
            return matrix, _Measure(False, np.zeros(n), np.zeros(n), 1.0)
        squares = np.bincount(matrix.indices, matrix.data.astype(np.float64) ** 2, minlength=n).astype(
            np.float64
        )
        squares[squares == 0.0] = 1.0  # no power of 0: such a column has no product
        power = self.alpha if self.similarity == "asymmetric_cosine" else 0.5
        own_power = power if is_first else 1.0 - power
        return matrix, _Measure(False, squares**own_power, squares ** (1.0 - own_power), self.shrinkage)


def _search(
    matrix: sparse.csr_array,
    measure: "_Measure",
    k: int,
    n_threads: int,
    progress: Progress | None,
) -> tuple[sparse.csr_array, float]:
    """Return the nearest k columns of each column, CSR float32, and the share whose next one is as near."""
    n = matrix.shape[1]
    order = np.argsort(np.bincount(matrix.indices, minlength=n), kind="stable").astype(np.int32)
    rank = np.empty(n, np.int32)
    rank[order] = np.arange(n, dtype=np.int32)
    entries, work = _entries(matrix, rank, order)
    measured = measure._replace(own=measure.own[order], other=measure.other[order])
    more = k + 1  # the next one says whether equal similarities decided
    keys = np.empty((n_threads, n, 2 * k + 10), np.uint64)
    counts, level = np.zeros((n_threads, n), np.int64), np.zeros((n_threads, n))
    free = list(range(n_threads))
    scratch = [_Scratch(np.zeros(n), np.empty(n + 1, np.int32), np.empty(1, np.float32)) for _ in free]
    # parts of equal cost: products, and a look at each sum
    cost = np.concatenate([[0], np.cumsum(work + np.minimum(4 * work, np.arange(n, 0, -1)) // 2)])
    cuts = np.searchsorted(cost, np.linspace(0, cost[-1], _PARTS + 1)[1:-1])
    cuts = np.unique(np.concatenate([[0], cuts, [n]]))

    def part(done: int, _next: int) -> None:
        number = len(cuts) - 2 - done  # last things first: see `search`
        slot = free.pop()  # lists and sums that no other thread uses now
        best = _Nearest(keys[slot], counts[slot], level[slot])
        search(entries, measured, work, cuts[number], cuts[number + 1], more, best, scratch[slot])
        free.append(slot)

    with (progress or Progress()).step("neighbours", len(cuts) - 1, "parts") as advance:
        over_blocks(part, len(cuts) - 1, 1, advance=advance, n_threads=n_threads)
    nearest, lengths, tied = np.empty((n, k), np.uint64), np.empty(n, np.int64), np.zeros(n, np.int64)
    over_blocks(lambda a, b: collect(keys, counts, a, b, k, order, nearest, lengths, tied), n, 1024)
    kept = nearest[np.arange(k) < lengths[:, None]]
    values, codes = (kept >> np.uint64(32)).astype(np.uint32).view(np.float32), LOW - (kept & LOW)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    neighbours = sparse.csr_array((values, codes.astype(np.int32), indptr), shape=(n, n))
    neighbours.sort_indices()
    return neighbours, float(np.count_nonzero(tied) / max(1, n))


def _entries(matrix: sparse.csr_array, rank: IntArray, order: IntArray) -> "tuple[_Entries, LongArray]":
    """Return the entries by row and by thing, things by rank, and the number of products of each thing."""
    by_row = sparse.csr_array((matrix.data.copy(), rank[matrix.indices], matrix.indptr), shape=matrix.shape)
    by_row.sort_indices()
    ones = bool((by_row.data == 1.0).all())
    value = np.empty(0, np.float32) if ones else by_row.data
    positions = np.arange(by_row.nnz, dtype=np.int64)
    by_thing = sparse.csr_array((positions, by_row.indices, by_row.indptr), shape=matrix.shape).tocsc()
    row_ptr = by_row.indptr.astype(np.int64)
    row = by_thing.indices.astype(np.int32, copy=False)
    after = row_ptr[row + 1] - by_thing.data - 1
    thing_ptr = by_thing.indptr.astype(np.int64)
    total = np.concatenate([[0], np.cumsum(after)])
    work = total[thing_ptr[1:]] - total[thing_ptr[:-1]]
    return _Entries(row_ptr, by_row.indices, value, thing_ptr, row, by_thing.data, order), work


NeighboursOf = Literal["candidate", "history"]


@dataclass(eq=False)
class ItemKNN(NeighbourSettings, RecentHistory):
    r"""Score an item by its similarity to the items of the user.

    .. math:: \hat x_{ui} = \sum_{j \in N_k(i)} s_{ij} x_{uj}

    Parameters
    ----------
    k : int
        Neighbours of an item, >= 1: the most similar others with a positive similarity; equally similar ones
        by rising code.
    similarity : str
        ``cosine``, ``asymmetric_cosine``, ``adjusted_cosine``, ``pearson``, ``jaccard``, ``dice``,
        ``tversky`` or ``dot``; see Notes.
    values : {"binary", "rating"}
        What :math:`x_{uj}` is: 1 for every row, or the rating.
    shrinkage : float
        Added to the denominator of the similarity, >= 0, which lowers that of items with few rows.
    alpha : float
        Of ``asymmetric_cosine``, from -1 to 1; from 0 in [3]_.
    weighting : {"none", "tf_idf", "bm25"}
        Of the entries that are compared: items as documents, users as words. Sums over a user's items are
        of the entries as they are.
    k1, b : float
        Of ``bm25``: when repetition saturates, >= 0, and what popular items lose, from 0 to 1.
    normalize : bool
        Whether the similarities of an item's neighbours are divided by their sum.
    tversky_alpha, tversky_beta : float
        Of ``tversky``, >= 0; 1 and 1 are ``jaccard``.
    neighbours_of : {"candidate", "history"}
        Whose neighbours count: j must be among the k nearest of i (``candidate``, the formula above), or i
        among the k nearest of j (``history``), so that each of the user's items votes for k others,
        as in implicit and irspack; with the other defaults it ranks worse on MovieLens 100K and Gowalla.
    last_n : int, optional
        How many of a user's rows count when lists are made, >= 1, the newest; None: all. Weights are learned
        from all rows.
    decay : float
        What a row counts then against the next newer one, above 0 and at most 1; of several rows of an item
        the newest one says so.

    Notes
    -----
    With :math:`x_i` the column of item i, after weighting, and shrinkage h:

    - ``cosine``: :math:`x_i \cdot x_j / (\lVert x_i \rVert \lVert x_j \rVert + h)`
    - ``asymmetric_cosine`` [3]_: :math:`x_i \cdot x_j / (\lVert x_i \rVert^{2 - 2 \alpha}
      \lVert x_j \rVert^{2 \alpha} + h)` for a candidate i and an item j of the user; for binary values and
      :math:`\alpha = 1` the share of the users of j who have i
    - ``adjusted_cosine``: the cosine of ratings less the user's mean
    - ``pearson``: the cosine of ratings less the item's mean; like all these norms, over all its ratings
    - ``jaccard``: :math:`n_{ij} / (n_i + n_j - n_{ij} + h)`, over numbers of users
    - ``dice``: :math:`2 n_{ij} / (n_i + n_j + h)`
    - ``tversky`` [4]_: :math:`n_{ij} / (n_{ij} + \alpha_T (n_j - n_{ij}) + \beta_T (n_i - n_{ij}) + h)` for a
      candidate i and an item j of the user
    - ``dot``: :math:`x_i \cdot x_j`

    ``tf_idf`` takes :math:`\sqrt{x_{ui}} \log(n / (1 + n_u))`; ``bm25`` takes :math:`x_{ui} (k_1 + 1) /
    (k_1 (1 - b + b \ell_i / \bar\ell) + x_{ui}) \log(n / (1 + n_u))`, where n is the number of items,
    :math:`n_u` that of the user's and :math:`\ell_i` the sum of the item's entries. These are, with
    ``neighbours_of="history"``, the models of implicit, which counts an item among its own neighbours (its
    K is k + 1) and joins ``bm25`` with ``dot``.

    The code of [5]_, which later studies run, adds 1e-6 to the shrinkage, calls ``dot`` a cosine without
    normalisation, and leaves out the 2 of ``dice``. Its alpha is 1 - `alpha` here, and its Tversky parameters
    are `tversky_beta` and `tversky_alpha`.

    Exact: every pair of items that share a user is summed once, in float64. Time grows with
    :math:`\sum_u n_u^2 / 2`. Memory: 16 k bytes an item for each thread and 24 k for the result, and 40
    bytes a row; no square of items. Similarities are compared as float32; results do not depend on threads,
    and no chance is involved. Users can be folded in. It ranks items and does not predict ratings.

    References
    ----------
    .. [1] B. Sarwar, G. Karypis, J. Konstan, J. Riedl, "Item-based collaborative filtering recommendation
       algorithms", WWW 2001.
    .. [2] M. Deshpande, G. Karypis, "Item-based top-N recommendation algorithms", ACM TOIS 22(1), 2004.
    .. [3] F. Aiolli, "Efficient top-N recommendation for very large scale binary rated datasets",
       RecSys 2013.
    .. [4] A. Tversky, "Features of similarity", Psychological Review 84(4), 1977.
    .. [5] M. Ferrari Dacrema, S. Boglio, P. Cremonesi, D. Jannach, "A troubling analysis of
       reproducibility and progress in recommender systems research", ACM TOIS 39(2), 2021.

    Examples
    --------
    >>> train = Interactions.from_ids([0, 0, 1, 1, 2, 3, 3], ["x", "y", "x", "y", "x", "y", "z"])
    >>> model = ItemKNN(k=1).fit(train, rng=np.random.default_rng(0))
    >>> model.score(np.array([2], np.int32)).round(3)  # x and y share two of three users
    array([[0.   , 0.667, 0.   ]], dtype=float32)
    """

    neighbours_of: NeighboursOf = "candidate"

    def fit(self, train: Interactions, *, rng: np.random.Generator, progress: Progress | None = None) -> Self:  # noqa: ARG002 - contract
        """Find the neighbours of all items; FitError, too, if deviations are compared and are all 0."""
        rows = self.user_rows(train)
        of_candidates = self.neighbours_of == "candidate"
        nearest = self.nearest(self.weighed(rows), progress, is_first=not of_candidates)
        weights = nearest.T.tocsr() if of_candidates else nearest
        self._item_weights = ItemWeights(self.weighted(train, rows), weights)
        return self


# Columns, called things here, are numbered by rising number of entries. For each thing the products with all
# things after it are summed; a pair is offered to both of its things. So every pair is summed once, and most
# sums fall on the few things with many entries, which stay in the processor's cache.

CLOSE = 1.0 - 1e-6  # similarities are compared as float32: what is nearer than that is looked at
LOW = np.uint64(0xFFFFFFFF)

helper = compiled(nogil=True, error_model="numpy")


class _Entries(NamedTuple):
    """A matrix by row and by thing; `place` says where a thing's entries are among those by row."""

    row_ptr: I64s
    thing: I32s
    value: F32s  # empty: all are 1
    thing_ptr: I64s
    row: I32s
    place: I64s
    code: I32s  # of the things, as the caller has them


class _Measure(NamedTuple):
    """Similarity of x to y: sum / (own[x] other[y] + shrinkage).

    Of sets it is sum / (own[x] + other[y] + common * sum + shrinkage).
    """

    of_sets: bool
    own: F64s
    other: F64s
    shrinkage: float
    common: float = 0.0


class _Nearest(NamedTuple):
    """Best neighbours so far by thing, as keys, and the lowest similarity that may still enter."""

    keys: U64s  # (n, capacity), the float32's bits above the complement of the code
    counts: I64s
    level: F64s


class _Scratch(NamedTuple):
    """Sums of one thing with all others, all 0 between two things; codes with a sum; a value's bits."""

    sums: F64s
    reached: I32s
    bits: F32s


@helper
def cut_back(keys: U64s, x: int, k: int, bits: F32s) -> float:
    """Keep the k nearest of a full row; return what a similarity must reach from now on."""
    largest = np.partition(keys[x], keys.shape[1] - k)[keys.shape[1] - k :]
    keys[x, :k] = largest
    bits.view(np.uint32)[0] = np.uint32(largest[0] >> np.uint64(32))
    return np.float64(bits[0]) * CLOSE


@helper
def offer(best: _Nearest, x: int, similarity: float, code: int, k: int, bits: F32s) -> None:
    """Let a neighbour compete for a place among the k nearest of x."""
    keys, counts = best.keys, best.counts
    bits[0] = np.float32(similarity)
    count = counts[x]
    keys[x, count] = (np.uint64(bits.view(np.uint32)[0]) << np.uint64(32)) | (LOW - np.uint64(code))
    count += 1
    if count == keys.shape[1]:
        best.level[x] = cut_back(keys, x, k, bits)
        count = k
    counts[x] = count


@helper
def sum_dense(entries: _Entries, i: int, sums: F64s) -> None:
    """Sum the products of thing i with all after it."""
    row_ptr, thing, value = entries.row_ptr, entries.thing, entries.value
    ones = len(value) == 0
    for p in range(entries.thing_ptr[i], entries.thing_ptr[i + 1]):
        place = entries.place[p]
        stop = row_ptr[entries.row[p] + 1]
        if ones:
            for q in range(place + 1, stop):
                sums[thing[q]] += 1.0
        else:
            own = np.float64(value[place])
            for q in range(place + 1, stop):
                sums[thing[q]] += own * np.float64(value[q])


@helper
def sum_sparse(entries: _Entries, i: int, sums: F64s, reached: I32s) -> int:
    """Compute the same sums and note where they are; a thing whose sum was 0 in between is noted twice."""
    row_ptr, thing, value = entries.row_ptr, entries.thing, entries.value
    ones, count = len(value) == 0, 0
    for p in range(entries.thing_ptr[i], entries.thing_ptr[i + 1]):
        place = entries.place[p]
        own = 1.0 if ones else np.float64(value[place])
        for q in range(place + 1, row_ptr[entries.row[p] + 1]):
            j = thing[q]
            if sums[j] == 0.0:
                reached[count] = j
                count += 1
            sums[j] += own if ones else own * np.float64(value[q])
    return count


@compiled(nogil=True, error_model="numpy")
def search(
    entries: _Entries,
    measure: _Measure,
    work: I64s,
    begin: int,
    end: int,
    k: int,
    best: _Nearest,
    scratch: _Scratch,
) -> None:
    """Offer all pairs whose first thing is one from `begin` to `end`.

    `work` is the number of products of each thing. From the last thing to the first: those with many entries
    tend to be the nearest, and lists that are good early refuse more.
    """
    n, sums, reached, bits = len(work), scratch.sums, scratch.reached, scratch.bits
    own, other, shrinkage = measure.own, measure.other, measure.shrinkage
    level, code = best.level, entries.code
    for i in range(end - 1, begin - 1, -1):
        few = work[i] < len(reached) and work[i] * 4 < n - i
        count = n - i - 1
        if few:
            count = sum_sparse(entries, i, sums, reached)
        else:
            sum_dense(entries, i, sums)
        own_i, other_i = own[i], other[i]
        for at in range(count):
            j = int(reached[at]) if few else n - 1 - at
            g = sums[j]
            if not g > 0.0:
                sums[j] = 0.0
                continue
            sums[j] = 0.0
            if measure.of_sets:
                common = measure.common * g
                below, below_other = (
                    own_i + other[j] + common + shrinkage,
                    own[j] + other_i + common + shrinkage,
                )
            else:
                below, below_other = own_i * other[j] + shrinkage, own[j] * other_i + shrinkage
            if g >= level[i] * below:
                offer(best, i, g / below, code[j], k, bits)
            if g >= level[j] * below_other:
                offer(best, j, g / below_other, code[i], k, bits)


@compiled(nogil=True, error_model="numpy")
def collect(
    keys: U64s,
    counts: I64s,
    begin: int,
    end: int,
    k: int,
    code: I32s,
    nearest: U64s,
    lengths: I64s,
    tied: I64s,
) -> None:
    """Join what the threads found: keys of the nearest k of each thing, in any order, in rows by code.

    `tied`: 1 where one more thing is as near as the last of the k. Shapes: `keys` (n_threads, n, capacity),
    `counts` (n_threads, n), `code`, `lengths`, `tied` (n,), `nearest` (n, k).
    """
    pool = np.empty(keys.shape[0] * keys.shape[2], np.uint64)
    for x in range(begin, end):
        total = 0
        for thread in range(keys.shape[0]):
            for at in range(counts[thread, x]):
                pool[total] = keys[thread, x, at]
                total += 1
        found = pool[:total]
        if total > k:
            found = np.partition(found, total - k)
            lowest, following = found[total - k], found[: total - k].max()
            tied[code[x]] = int(lowest >> np.uint64(32) == following >> np.uint64(32))
            found = found[total - k :]
        lengths[code[x]] = len(found)
        nearest[code[x], : len(found)] = found
