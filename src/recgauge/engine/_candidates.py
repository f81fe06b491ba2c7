"""Candidates of a block of users: what may still enter a top k, narrowed by bounds, settled by exact scores.

A list is a row of three arrays: lower and upper bounds of float32 scores, positions of items. Numba kernels.
"""

from typing import NamedTuple

import numpy as np

from recgauge.engine._vectors import (
    at_least,
    bit_count,
    borrower,
    exact_dots,
    kernel,
    largest,
    lowest_bit,
    pack,
    unsettled,
)
from recgauge.utils.compiled import F32s, F64s, I32s, I64s, U64s

SLACK = 64
"""Entries kept free in a list: one tile of items may be appended without looking."""

_FEW = 256  # beyond, looking at every score for every score costs more than merging

ALL_BITS = np.uint64(0xFFFFFFFFFFFFFFFF)
_CODES = np.uint64(0xFFFFFFFF)
LOWEST = np.float32(-np.inf)
_FEW_EXACT = 32  # exact scores that cost about as much as a pass over a list


def capacity_of(k: int) -> int:
    """Length of a candidate list: room for twice k between two cuts, in whole words of 64."""
    return (2 * k + 4 * SLACK + 63) & -64


@kernel
def first_bits(count: int) -> np.uint64:
    """Word whose lowest ``count`` bits are set; all 64 where count is larger."""
    return ALL_BITS if count >= 64 else (np.uint64(1) << np.uint64(count)) - np.uint64(1)


@borrower
def _count_at_least(values: F32s, row: int, count: int, level: float) -> int:
    hits = 0
    for start in range(0, count, 64):
        hits += bit_count(at_least(values, row, start, level) & first_bits(count - start))
    return hits


@borrower
def level_of_best(values: F32s, row: int, count: int, k: int, known: float | np.float32) -> np.float32:
    """Find a level that at least k of ``values[row, :count]`` reach, and few more, by bisection.

    ``known`` is a level that k of them are known to reach, or -inf. Each look is one vector pass, which beats
    a selection by exchange (quickselect) about five times at these lengths; that a few more than k reach the
    level does no harm.
    """
    low, high = known, largest(values, row, count)
    if low == -np.inf:
        low = values[row, 0]
        for i in range(count):
            low = min(low, values[row, i])
    enough = k + (k >> 4)
    for _ in range(24):
        middle = np.float32(0.5) * low + np.float32(0.5) * high
        if middle <= low or middle >= high:
            break
        hits = _count_at_least(values, row, count, middle)
        if hits < k:
            high = middle
        else:
            low = middle
            if hits <= enough:
                break
    return np.float32(low)


@borrower
def trim(
    low: F32s, high: F32s, item: I32s, row: int, count: int, k: int, known: float | np.float32
) -> tuple[int, np.float32]:
    """Drop what cannot be among the k best; return how many stay and a level that k of them reach."""
    level = level_of_best(low, row, count, k, known)
    kept = 0
    for start in range(0, count, 64):
        width = min(64, count - start)
        stay = at_least(high, row, start, level) & first_bits(width)
        if kept == start and stay == first_bits(width):
            kept += width
            continue
        pack(low, high, item, row, start, stay, kept)
        kept += bit_count(stay)
    return kept, level


@kernel
def sort_key(score: np.float32, code: int) -> np.uint64:
    """One integer that orders by score, then by item code downwards. Minus zero counts as zero."""
    bits = int(np.float32(score + np.float32(0.0)).view(np.int32))
    if bits < 0:
        bits ^= 0x7FFFFFFF
    return (np.uint64(bits + np.int64(1 << 31)) << np.uint64(32)) | np.uint64(
        np.int64(0xFFFFFFFF) - np.int64(code)
    )


@kernel
def key_code(key: np.uint64) -> np.int32:
    """Item code of a sort key."""
    return np.int32(np.int64(0xFFFFFFFF) - np.int64(key & _CODES))


@kernel
def key_score(key: np.uint64) -> np.float32:
    """Score of a sort key."""
    bits = int(np.int64(key >> np.uint64(32)) - np.int64(1 << 31))
    if bits < 0:
        bits ^= 0x7FFFFFFF
    return np.float32(np.int32(bits).view(np.float32))


@borrower
def rank_scores(scores: F32s, row: int, count: int, keys: U64s, spare: U64s) -> bool:
    """Put every key where as many scores are larger; give up, keys untouched, where two scores are equal."""
    ranks = 0
    for i in range(count):
        rank = _count_at_least(scores, row, count, scores[row, i]) - 1
        ranks += rank
        spare[rank] = keys[i]
    if ranks != count * (count - 1) // 2:  # equal scores count each other
        return False
    for i in range(count):
        keys[i] = spare[i]
    return True


@kernel
def _sort_run(keys: U64s, spare: U64s) -> None:
    """Put every key where as many are larger: many comparisons, but eight an instruction and no branch."""
    for i in range(len(keys)):
        rank = 0
        for j in range(len(keys)):
            rank += int(keys[j] > keys[i])
        spare[rank] = keys[i]
    for i in range(len(keys)):
        keys[i] = spare[i]


@kernel
def _merge_runs(keys: U64s, spare: U64s, middle: int) -> None:
    a, b, count = 0, middle, len(keys)
    for i in range(count):
        if b >= count or (a < middle and keys[a] > keys[b]):
            spare[i] = keys[a]
            a += 1
        else:
            spare[i] = keys[b]
            b += 1
    for i in range(count):
        keys[i] = spare[i]


@kernel
def sort_list(low: F32s, item: I32s, row: int, count: int, code: I32s, keys: U64s, spare: U64s) -> None:
    """Keys of the row's entries, whose lower bounds are their scores, best first."""
    for i in range(count):
        keys[i] = sort_key(low[row, i], code[item[row, i]])
    if count <= _FEW and rank_scores(low, row, count, keys, spare):
        return
    run = 128
    for start in range(0, count, run):
        _sort_run(keys[start : min(start + run, count)], spare)
    while run < count:
        for start in range(0, count - run, 2 * run):
            _merge_runs(keys[start : min(start + 2 * run, count)], spare, run)
        run *= 2


@kernel
def keep_best(
    low: F32s, high: F32s, item: I32s, row: int, count: int, k: int, code: I32s, position: I32s
) -> np.float32:
    """Cut a list of exact scores with more ties than room to its k best; return the lowest score."""
    keys = np.empty(count, np.uint64)
    sort_list(low, item, row, count, code, keys, np.empty(count, np.uint64))
    for i in range(k):
        low[row, i] = high[row, i] = key_score(keys[i])
        item[row, i] = position[key_code(keys[i])]
    return np.float32(low[row, k - 1])


@kernel
def write_list(keys: U64s, count: int, items: I32s, scores: F32s, row: int) -> None:
    """Sorted keys to a row of the result, padded with -1 and -inf."""
    for i in range(items.shape[1]):
        items[row, i] = key_code(keys[i]) if i < count else np.int32(-1)
        scores[row, i] = key_score(keys[i]) if i < count else np.float32(-np.inf)


class Lists(NamedTuple):
    """Candidates of a block's users, one row each."""

    low: F32s
    high: F32s
    item: I32s
    counts: I64s
    full: I64s  # count at which the list is cut back
    sure: F32s  # level that k candidates reach for certain
    threshold: F64s  # what a true score must reach to round to that level
    reach: I64s  # panels that may still hold candidates


class Exact(NamedTuple):
    """The model's own factors, which decide."""

    user: F32s
    codes: I32s  # users of the block
    item: F32s


@borrower
def next_position(bits: np.uint64, start: int, last: int) -> tuple[np.uint64, int]:
    """Position of the lowest bit, which is cleared; the last one again where none is left."""
    if bits == np.uint64(0):
        return bits, last
    return bits & (bits - np.uint64(1)), start + int(lowest_bit(bits))


@borrower
def settle_four(row: int, a: int, b: int, c: int, d: int, exact: Exact, code: I32s, lists: Lists) -> None:
    """Exact scores of four candidates, which may be the same, instead of bounds."""
    low, high, item = lists.low, lists.high, lists.item
    codes = (code[item[row, a]], code[item[row, b]], code[item[row, c]], code[item[row, d]])
    dots = exact_dots(exact.user, exact.codes[row], exact.item, codes[0], codes[1], codes[2], codes[3])
    low[row, a] = high[row, a] = np.float32(dots[0])
    low[row, b] = high[row, b] = np.float32(dots[1])
    low[row, c] = high[row, c] = np.float32(dots[2])
    low[row, d] = high[row, d] = np.float32(dots[3])


@borrower
def settle(row: int, count: int, level: np.float32, exact: Exact, code: I32s, lists: Lists) -> None:
    """Exact scores instead of bounds that reach the level."""
    low, high = lists.low, lists.high
    for start in range(0, count, 64):
        bits = at_least(low, row, start, level) & unsettled(low, high, row, start) & first_bits(count - start)
        while bits != np.uint64(0):
            bits, a = next_position(bits, start, 0)
            bits, b = next_position(bits, start, a)
            bits, c = next_position(bits, start, b)
            bits, d = next_position(bits, start, c)
            settle_four(row, a, b, c, d, exact, code, lists)


@borrower
def narrow(row: int, k: int, exact: Exact, code: I32s, position: I32s, lists: Lists) -> int:
    """Cut a full list back; where bounds overlap too much decide by exact scores, and ties by item code."""
    low, high, item, sure = lists.low, lists.high, lists.item, lists.sure
    room = low.shape[1] - 2 * SLACK
    kept, level = trim(low, high, item, row, lists.counts[row], k, sure[row])
    if kept > room:
        settle(row, kept, LOWEST, exact, code, lists)
        kept, level = trim(low, high, item, row, kept, k, level)
    if kept > room:
        level = keep_best(low, high, item, row, kept, k, code, position)
        kept = k
    sure[row] = level
    return kept


@kernel
def fill_unordered(items: I32s, scores: F32s, row: int, position: I32s, blocked: U64s) -> None:
    """List of a user whose factors are all zero: every score is zero, so the lowest codes allowed."""
    count = 0
    for code in range(len(position)):
        at = position[code]
        if (
            count < items.shape[1]
            and at >= 0
            and not (blocked[row, at >> 6] >> np.uint64(at & 63)) & np.uint64(1)
        ):
            items[row, count] = code
            scores[row, count] = 0.0
            count += 1
    for i in range(count, items.shape[1]):
        items[row, i] = -1
        scores[row, i] = -np.inf


@kernel
def finish(k: int, exact: Exact, code: I32s, lists: Lists, out_items: I32s, out_scores: F32s) -> None:
    """Exact scores of what is left, and the best of it in order."""
    low, high, item, sure = lists.low, lists.high, lists.item, lists.sure
    keys, spare = np.empty(low.shape[1], np.uint64), np.empty(low.shape[1], np.uint64)
    for row in range(len(exact.codes)):
        count = lists.counts[row]
        if count > k + _FEW_EXACT:
            count, sure[row] = trim(low, high, item, row, count, k, sure[row])
        if count > k + _FEW_EXACT:  # exact scores of the likely ones first: they rule out most of the others
            settle(row, count, sure[row], exact, code, lists)
            count, sure[row] = trim(low, high, item, row, count, k, sure[row])
        settle(row, count, LOWEST, exact, code, lists)
        if count > k:
            count, sure[row] = trim(low, high, item, row, count, k, sure[row])
        sort_list(low, item, row, count, code, keys, spare)
        write_list(keys, count, out_items, out_scores, row)
