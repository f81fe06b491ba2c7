"""Exact order of the items that each user was given: scores of those alone, then a sort. Numba kernels."""

import numpy as np

from recgauge.engine._jit import entry, kernel
from recgauge.engine._select import key_code, key_score, sort_key
from recgauge.engine._types import F32s, I32s, I64s, U64s
from recgauge.engine._vectors import exact_dots


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
            for place in range(min(4, stop - p)):
                keys[p - start + place] = sort_key(np.float32(dots[place]), indices[p + place])
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
