"""Exact order of each user's own candidates: scores of those alone, then a sort. Numba kernels."""

from typing import Any

import numpy as np

from recgauge.engine._candidates import key_code, key_score, sort_key
from recgauge.engine._factors import FactorLists
from recgauge.engine._jit import entry, kernel
from recgauge.engine._row_lists import ScoreLists, WeightLists
from recgauge.engine._vectors import exact_dots
from recgauge.engine.sources import FactorSource, ItemWeights, SeenRows, Source, frozen, seen_rows
from recgauge.errors import ScoreError
from recgauge.utils.checks import FloatArray, IntArray, LongArray
from recgauge.utils.compiled import F32s, I32s, I64s, U64s

_NOTHING = np.empty(0, np.int32)
Rows = tuple[LongArray, IntArray]


@kernel
def longest_row(indptr: I64s, codes: I32s) -> int:
    """Most candidates of a block's users."""
    longest = 0
    for code in codes:
        longest = max(longest, indptr[code + 1] - indptr[code])
    return longest


@kernel
def write_row(keys: U64s, count: int, out_items: I32s, out_scores: F32s, row: int) -> None:
    """Best of the first `count` keys, padded with -1 and -inf."""
    ordered = np.sort(keys[:count])
    for i in range(out_items.shape[1]):
        if i < count:
            key = ordered[count - 1 - i]
            out_items[row, i] = key_code(key)
            out_scores[row, i] = key_score(key)
        else:
            out_items[row, i] = np.int32(-1)
            out_scores[row, i] = np.float32(-np.inf)


@entry
def gather_factors(
    user: F32s, item: F32s, codes: I32s, indptr: I64s, indices: I32s, out_items: I32s, out_scores: F32s
) -> None:
    """Fill lists of factor models; scores are summed as `top_factors` sums them."""
    keys = np.empty(longest_row(indptr, codes), np.uint64)
    for row in range(len(codes)):
        who = np.int64(codes[row])
        start, stop = indptr[who], indptr[who + 1]
        for p in range(start, stop, 4):
            last = stop - 1
            b, c, d = min(p + 1, last), min(p + 2, last), min(p + 3, last)
            dots = exact_dots(user, who, item, indices[p], indices[b], indices[c], indices[d])
            for offset in range(min(4, stop - p)):
                keys[p - start + offset] = sort_key(np.float32(dots[offset]), indices[p + offset])
        write_row(keys, stop - start, out_items, out_scores, row)


@entry
def gather_rows(
    values: F32s, codes: I32s, indptr: I64s, indices: I32s, out_items: I32s, out_scores: F32s
) -> None:
    """Fill lists from scores (m, n_items) of the users with these codes."""
    keys = np.empty(longest_row(indptr, codes), np.uint64)
    for row in range(len(codes)):
        start, stop = indptr[codes[row]], indptr[codes[row] + 1]
        for p in range(start, stop):
            keys[p - start] = sort_key(values[row, indices[p]], indices[p])
        write_row(keys, stop - start, out_items, out_scores, row)


@entry
def gather_dense(
    row_start: I64s,
    row_items: I32s,
    row_values: F32s,
    weights: F32s,
    codes: I32s,
    indptr: I64s,
    indices: I32s,
    out_items: I32s,
    out_scores: F32s,
) -> None:
    """Fill lists of dense item weights; a sum runs in the order of the user's row, as in `top_dense`."""
    longest = longest_row(indptr, codes)
    keys, total = np.empty(longest, np.uint64), np.empty(longest, np.float32)
    for row in range(len(codes)):
        start, stop = indptr[codes[row]], indptr[codes[row] + 1]
        total[:] = np.float32(0.0)
        for p in range(row_start[codes[row]], row_start[codes[row] + 1]):
            for q in range(start, stop):
                total[q - start] += row_values[p] * weights[row_items[p], indices[q]]
        for q in range(start, stop):
            keys[q - start] = sort_key(total[q - start], indices[q])
        write_row(keys, stop - start, out_items, out_scores, row)


@entry
def gather_sparse(
    row_start: I64s,
    row_items: I32s,
    row_values: F32s,
    weight_indptr: I64s,
    weight_indices: I32s,
    weights: F32s,
    n_items: int,
    codes: I32s,
    indptr: I64s,
    indices: I32s,
    out_items: I32s,
    out_scores: F32s,
) -> None:
    """Fill lists of sparse item weights (CSR): sums for all items reached, then those of the candidates."""
    keys, total = np.empty(longest_row(indptr, codes), np.uint64), np.empty(n_items, np.float32)
    for row in range(len(codes)):
        start, stop = indptr[codes[row]], indptr[codes[row] + 1]
        total[:] = np.float32(0.0)
        for p in range(row_start[codes[row]], row_start[codes[row] + 1]):
            for q in range(weight_indptr[row_items[p]], weight_indptr[row_items[p] + 1]):
                total[weight_indices[q]] += row_values[p] * weights[q]
        for q in range(start, stop):
            keys[q - start] = sort_key(total[indices[q]], indices[q])
        write_row(keys, stop - start, out_items, out_scores, row)


def _rows_of(candidates: SeenRows, n_users: int, n_items: int) -> Rows:
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


def _longest(rows: Rows) -> int:
    return int(np.diff(rows[0]).max(initial=0))


class FactorListsOfCandidates(FactorLists):
    """Lists of a factor model: one product a candidate."""

    def __init__(self, source: FactorSource, candidates: SeenRows, name: str) -> None:
        super().__init__(source, None, _NOTHING, name)
        assert self.n_users is not None
        self._rows = _rows_of(candidates, self.n_users, len(self._item))
        self.n_candidates = _longest(self._rows)

    def bytes_per_user(self, k: int) -> int:
        """Memory a user of a block takes: the keys are one user's at a time."""
        return 8 * k + 16

    def fill(self, users: IntArray, items: IntArray, scores: FloatArray) -> None:
        """Write the lists of the users, (b, k)."""
        gather_factors(self._user, self._item, users, *self._rows, items, scores)


class WeightListsOfCandidates(WeightLists):
    """Lists of a model of item weights."""

    def __init__(self, source: ItemWeights, candidates: SeenRows, name: str) -> None:
        super().__init__(source, None, None, name)
        self._candidates = _rows_of(candidates, self.n_users, self.n_items)
        self.n_candidates = _longest(self._candidates)

    def fill(self, users: IntArray, items: IntArray, scores: FloatArray) -> None:
        """Write the lists of the users, (b, k)."""
        is_sparse = len(self._weights) > 1
        gather: Any = gather_sparse if is_sparse else gather_dense
        width = (self.n_items,) if is_sparse else ()
        gather(
            *self._rows,
            self._values,
            *self._weights,
            *width,
            users,
            *self._candidates,
            items,
            scores,
        )


class ScoreListsOfCandidates(ScoreLists):
    """Lists of a model that only gives scores: scores of all items, then those of candidates."""

    def __init__(self, source: Source, candidates: SeenRows, name: str, users: IntArray) -> None:
        super().__init__(source, None, None, name, users)
        n_users = max(0, len(candidates[0]) - 1) if isinstance(candidates, tuple) else candidates.shape[0]
        self.n_users = n_users
        self._candidates: Rows = (np.zeros(1, np.int64), _NOTHING)  # no users yet
        if len(users):
            self._candidates = _rows_of(candidates, n_users, self.n_items)
        self.n_candidates = _longest(self._candidates)

    def fill(self, users: IntArray, items: IntArray, scores: FloatArray) -> None:
        """Write the lists of the users, (b, k)."""
        values = self._ask(users, self.n_items)
        finite = np.isfinite(values).all(axis=1)
        if not finite.all():
            raise ScoreError(
                f"{self._name}: scores must be finite; scores of user {users[~finite][0]} are not finite. "
                "Did training diverge?"
            )
        gather_rows(values, users, self._candidates[0], self._candidates[1], items, scores)
