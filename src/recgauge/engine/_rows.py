"""Exact top k of rows of scores: from a model that only gives scores, and from sums of item weights.

Items are in order of their codes here, so an item that only equals the k-th best comes after it and is left
out at once. Numba kernels, and the lists made by them.
"""

from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from recgauge.engine._lists import (
    ALL_BITS,
    SLACK,
    SUM_WIDTH,
    at_least,
    block_seen,
    capacity_of,
    entry,
    first_bits,
    keep_best,
    kernel,
    lowest_bit,
    sort_list,
    sum_rows,
    trim,
    write_list,
)
from recgauge.engine.sources import (
    Allowed,
    ItemWeights,
    SeenRows,
    Source,
    allowed_items,
    as_float32,
    candidate_rows,
    check_sums,
    checked_codes,
    seen_rows,
)
from recgauge.errors import ScoreError
from recgauge.utils.checks import FloatArray, IntArray, frozen
from recgauge.utils.compiled import F32s, I32s, I64s, U64s

_TILE = 64


class Best(NamedTuple):
    """Best items so far of a block's users, one row each, and where their next candidate begins."""

    score: F32s
    item: I32s
    counts: I64s
    full: I64s
    level: F32s
    sure: F32s


class Barred(NamedTuple):
    """What a user may not be given: bits for everybody, and rows of items seen, or of the only ones."""

    code: I32s  # (n_items,) 0, 1, ...: positions are codes here
    everybody: U64s  # (n_tiles,)
    indptr: I64s
    indices: I32s
    only: bool  # whether the rows are all that users may be given


@kernel
def new_best(m: int, k: int, capacity: int) -> Best:
    """Empty lists."""
    lowest = np.float32(-np.inf)
    scores, items = np.empty((m, capacity), np.float32), np.empty((m, capacity), np.int32)
    levels, sure = np.full(m, lowest, np.float32), np.full(m, lowest, np.float32)
    return Best(scores, items, np.zeros(m, np.int64), np.full(m, k), levels, sure)


@kernel
def cut_back(best: Best, row: int, k: int, code: I32s) -> None:
    """Drop what cannot be among the k best, and ask more than the k-th best of what follows."""
    score, item, count, full, level, sure = best
    kept, reached = trim(score, score, item, row, count[row], k, sure[row])
    if kept > score.shape[1] - 2 * SLACK:
        reached = keep_best(score, score, item, row, kept, k, code, code)
        kept = k
    count[row] = kept
    full[row] = min(score.shape[1] - SLACK, kept + max(32, k >> 1))
    sure[row] = reached
    level[row] = np.nextafter(np.float32(reached), np.float32(np.inf))


@kernel
def take_tile(
    best: Best, row: int, values: F32s, at: int, start: int, hits: np.uint64, base: int, k: int, code: I32s
) -> None:
    """Append the scores ``values[at, start:]`` whose bits are set; item codes begin at ``base``."""
    score, item, counts, full, _, _ = best
    count = counts[row]
    while hits != np.uint64(0):
        bit = lowest_bit(hits)
        hits &= hits - np.uint64(1)
        score[row, count] = values[at, start + bit]
        item[row, count] = base + bit
        count += 1
    counts[row] = count
    if count >= full[row]:
        cut_back(best, row, k, code)


@kernel
def take_row(
    best: Best,
    row: int,
    values: F32s,
    at: int,
    width: int,
    base: int,
    blocked: U64s,
    tail: F32s,
    k: int,
    code: I32s,
) -> None:
    """Let the scores ``values[at, :width]`` of items from code ``base`` on (a multiple of 64) compete."""
    level = best.level
    whole = width & -_TILE
    for start in range(0, whole, _TILE):
        hits = at_least(values, at, start, level[row]) & ~blocked[row, (base + start) >> 6]
        if hits != np.uint64(0):
            take_tile(best, row, values, at, start, hits, base + start, k, code)
    if whole < width:
        for j in range(whole, width):
            tail[0, j - whole] = values[at, j]
        hits = (
            at_least(tail, 0, 0, level[row]) & ~blocked[row, (base + whole) >> 6] & first_bits(width - whole)
        )
        if hits != np.uint64(0):
            take_tile(best, row, tail, 0, 0, hits, base + whole, k, code)


@kernel
def write_best(best: Best, k: int, code: I32s, out_items: I32s, out_scores: F32s) -> None:
    """Sorted lists of a block."""
    score, item, counts, _, _, sure = best
    keys, spare = np.empty(score.shape[1], np.uint64), np.empty(score.shape[1], np.uint64)
    for row in range(len(counts)):
        count = counts[row]
        if count > k:
            count, sure[row] = trim(score, score, item, row, count, k, sure[row])
        sort_list(score, item, row, count, code, keys, spare)
        write_list(keys, min(count, k), out_items, out_scores, row)


@kernel
def bar(barred: Barred, codes: I32s) -> U64s:
    """Bits of a block's users."""
    blocked = np.empty((len(codes), len(barred.everybody)), np.uint64)
    if not barred.only:
        block_seen(barred.indptr, barred.indices, codes, barred.code, barred.everybody, blocked)
        return blocked
    blocked[:] = ALL_BITS
    for row in range(len(codes)):
        for p in range(barred.indptr[codes[row]], barred.indptr[codes[row] + 1]):
            item = barred.indices[p]
            blocked[row, item >> 6] &= ~(np.uint64(1) << np.uint64(item & 63))
    return blocked


@kernel
def all_finite(values: F32s, at: int, tail: F32s) -> bool:
    """Whether a row holds neither nan (which compares with nothing) nor infinities."""
    lowest, infinite = np.float32(-3.4028234663852886e38), np.float32(np.inf)
    whole = values.shape[1] & -_TILE
    good = ALL_BITS
    for start in range(0, whole, _TILE):
        good &= at_least(values, at, start, lowest) & ~at_least(values, at, start, infinite)
    tail[0, :] = np.float32(0.0)
    for j in range(whole, values.shape[1]):
        tail[0, j - whole] = values[at, j]
    return bool(good & at_least(tail, 0, 0, lowest) & ~at_least(tail, 0, 0, infinite) == ALL_BITS)


@entry
def top_rows(
    values: F32s, codes: I32s, barred: Barred, capacity: int, out_items: I32s, out_scores: F32s
) -> int:
    """Fill lists from scores (m, n_items); return the first row with one that is not finite, or -1."""
    m, k = out_items.shape
    blocked, best, code = bar(barred, codes), new_best(m, k, capacity), barred.code
    tail = np.empty((1, _TILE), np.float32)
    for row in range(m):
        if not all_finite(values, row, tail):
            return row
        take_row(best, row, values, row, values.shape[1], 0, blocked, tail, k, code)
    write_best(best, k, code, out_items, out_scores)
    return -1


@kernel
def sum_last(
    total: F32s, weights: F32s, first: int, indices: I32s, values: F32s, start: int, stop: int
) -> None:
    """Compute the same sums for the last items, fewer than a panel."""
    total[0, :] = np.float32(0.0)
    for p in range(start, stop):
        for j in range(weights.shape[1] - first):
            total[0, j] += values[p] * weights[indices[p], first + j]


@entry
def top_dense(
    indptr: I64s,
    indices: I32s,
    values: F32s,
    weights: F32s,
    codes: I32s,
    barred: Barred,
    capacity: int,
    out_items: I32s,
    out_scores: F32s,
) -> None:
    """Fill lists of users whose scores are sums of rows of dense weights, a panel of items at a time."""
    m, k = out_items.shape
    blocked, best, code = bar(barred, codes), new_best(m, k, capacity), barred.code
    tail, total = np.empty((1, _TILE), np.float32), np.empty((1, SUM_WIDTH), np.float32)
    n_items = weights.shape[1]
    for first in range(0, n_items, SUM_WIDTH):
        width = min(SUM_WIDTH, n_items - first)
        for row in range(m):
            start, stop = indptr[codes[row]], indptr[codes[row] + 1]
            if width == SUM_WIDTH:
                sum_rows(weights, first, indices, values, start, stop, total)
            else:
                sum_last(total, weights, first, indices, values, start, stop)
            take_row(best, row, total, 0, width, first, blocked, tail, k, code)
    write_best(best, k, code, out_items, out_scores)


@entry
def top_sparse(
    indptr: I64s,
    indices: I32s,
    values: F32s,
    weight_indptr: I64s,
    weight_indices: I32s,
    weights: F32s,
    codes: I32s,
    barred: Barred,
    capacity: int,
    out_items: I32s,
    out_scores: F32s,
) -> None:
    """Fill lists of users whose scores are sums of rows of sparse weights (CSR)."""
    m, k = out_items.shape
    blocked, best, code = bar(barred, codes), new_best(m, k, capacity), barred.code
    n_items = len(code)
    tail, total = np.empty((1, _TILE), np.float32), np.empty((1, n_items), np.float32)
    for row in range(m):
        total[0, :] = np.float32(0.0)
        for p in range(indptr[codes[row]], indptr[codes[row] + 1]):
            for q in range(weight_indptr[indices[p]], weight_indptr[indices[p] + 1]):
                total[0, weight_indices[q]] += values[p] * weights[q]
        take_row(best, row, total, 0, n_items, 0, blocked, tail, k, code)
    write_best(best, k, code, out_items, out_scores)


def _barred(
    seen: SeenRows | None, items: Allowed | None, candidates: SeenRows | None, n_users: int, n_items: int
) -> tuple[Barred, int]:
    """Return what may not be recommended, and how many items that leaves anybody at most."""
    code = np.arange(n_items, dtype=np.int32)
    allowed = allowed_items(items, n_items)
    free = np.zeros((n_items + 63) & -64, np.bool_)
    free[allowed] = True
    everybody = np.packbits(~free, bitorder="little").view(np.uint64)
    if candidates is None:
        return Barred(code, everybody, *seen_rows(seen, n_users, n_items), only=False), len(allowed)
    indptr, indices = candidate_rows(candidates, n_users, n_items)
    return Barred(code, everybody, indptr, indices, only=True), int(np.diff(indptr).max(initial=0))


def _list_bytes(n_items: int, k: int) -> int:
    return 8 * capacity_of(k) + n_items // 8 + 128


class ScoreLists:
    """Lists of a model that only gives scores; it is called by one thread at a time.

    The source's attribute `users_at_once`, if it has one, says how many users it should be asked for at most.
    The first of `users` is scored at once, to learn the number of items.
    """

    most_users = 4096

    def __init__(
        self,
        source: Source,
        seen: SeenRows | None,
        items: Allowed | None,
        candidates: SeenRows | None,
        name: str,
        users: IntArray,
    ) -> None:
        self._score: Any = getattr(source, "score", source)
        self.most_users = min(self.most_users, getattr(source, "users_at_once", self.most_users))
        self._name = name
        if not callable(self._score):
            raise ScoreError(f"top_k: source must have factors or score(users), got {self._name}.")
        self._lock = Lock()
        rows = seen if candidates is None else candidates
        n_items = None if rows is None or isinstance(rows, tuple) else rows.shape[1]
        self.n_items = self._ask(users[:1], n_items).shape[1] if len(users) else 0
        if isinstance(rows, tuple):
            n_users = max(0, len(rows[0]) - 1)
        else:
            n_users = int(users.max(initial=-1)) + 1 if rows is None else rows.shape[0]
        self.n_users: int | None = n_users
        self.n_candidates = 0
        if len(users):
            self._barred, self.n_candidates = _barred(seen, items, candidates, n_users, self.n_items)

    def _ask(self, users: IntArray, n_items: int | None) -> FloatArray:
        with self._lock:
            scores = np.asarray(self._score(users))
        if scores.ndim != 2 or len(scores) != len(users) or n_items not in (None, scores.shape[1]):
            expected = n_items if n_items is not None else "n_items"
            raise ScoreError(
                f"{self._name}: score(users) must return one score for every item and a row for each user, "
                f"shape ({len(users)}, {expected}), got {scores.shape}."
            )
        return as_float32(f"{self._name}: scores", scores)

    def bytes_per_user(self, k: int) -> int:
        """Memory a user of a block takes: the model's scores and as much again for its work, and the list."""
        return 8 * max(1, self.n_items) + _list_bytes(self.n_items, k)

    def fill(self, users: IntArray, items: IntArray, scores: FloatArray) -> None:
        """Write the lists of the users, (b, k)."""
        values = self._ask(users, self.n_items)
        bad = top_rows(values, users, self._barred, capacity_of(items.shape[1]), items, scores)
        if bad >= 0:
            raise ScoreError(
                f"{self._name}: scores must be finite; scores of user {users[bad]} are not finite. "
                "Did training diverge?"
            )


class WeightLists:
    """Lists of a model of item weights, dense or sparse."""

    most_users = 16384

    def __init__(
        self,
        source: ItemWeights,
        seen: SeenRows | None,
        items: Allowed | None,
        candidates: SeenRows | None,
        name: str,
    ) -> None:
        rows = sparse.csr_array(source.interactions)
        self.n_users, self.n_items = rows.shape[0], source.weights.shape[1]
        self._rows = (
            frozen(rows.indptr.astype(np.int64)),
            checked_codes("interactions", rows.indices, rows.shape[1]),
        )
        self._values = as_float32(f"{name}: interactions", rows.data)
        self._barred, self.n_candidates = _barred(seen, items, candidates, self.n_users, self.n_items)
        if sparse.issparse(source.weights):
            weights = sparse.csr_array(source.weights)
            columns = checked_codes("weights", weights.indices, self.n_items)
            self._weights: tuple[Any, ...] = (
                frozen(weights.indptr.astype(np.int64)),
                columns,
                as_float32(f"{name}: weights", weights.data),
            )
        else:
            self._weights = (as_float32(f"{name}: weights", source.weights),)
        longest = int(np.diff(rows.indptr).max(initial=0))
        parts = (f"{name}: interactions", self._values), (f"{name}: weights", self._weights[-1])
        check_sums(name, *parts, longest)

    def bytes_per_user(self, k: int) -> int:
        """Memory a user of a block takes."""
        return _list_bytes(self.n_items, k)

    def fill(self, users: IntArray, items: IntArray, scores: FloatArray) -> None:
        """Write the lists of the users, (b, k)."""
        top: Any = top_sparse if len(self._weights) > 1 else top_dense
        top(
            *self._rows,
            self._values,
            *self._weights,
            users,
            self._barred,
            capacity_of(items.shape[1]),
            items,
            scores,
        )
