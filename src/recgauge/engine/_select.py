"""Candidate lists: what may still enter a user's top k, cut back whenever the k-th best is known better.

A list is a row of three arrays: lower bounds and upper bounds of float32 scores, and positions of items.
Numba kernels.
"""

import numpy as np

from recgauge.engine._jit import borrower, kernel
from recgauge.engine._pack import pack
from recgauge.engine._types import F32s, I32s, U64s
from recgauge.engine._vectors import at_least, bit_count, largest

SLACK = 64
"""Entries kept free in a list: one tile of items may be appended without looking."""

_FEW = 256  # beyond, looking at every score for every score costs more than merging

ALL_BITS = np.uint64(0xFFFFFFFFFFFFFFFF)
_CODES = np.uint64(0xFFFFFFFF)


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
    places = 0
    for i in range(count):
        place = _count_at_least(scores, row, count, scores[row, i]) - 1
        places += place
        spare[place] = keys[i]
    if places != count * (count - 1) // 2:  # equal scores count each other
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
