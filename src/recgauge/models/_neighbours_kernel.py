"""The compiled search for nearest neighbours of all columns of a sparse matrix; imported when it runs.

Columns, called things here, are numbered by rising number of entries. For each thing the products with all
things after it are summed; a pair is offered to both of its things. So every pair is summed once, and most
sums fall on the few things with many entries, which stay in the processor's cache.
"""

from typing import NamedTuple

import numpy as np

from recgauge.utils.compiled import F32s, F64s, I32s, I64s, U64s, compiled

CLOSE = 1.0 - 1e-6  # similarities are compared as float32: what is nearer than that is looked at
LOW = np.uint64(0xFFFFFFFF)

helper = compiled(nogil=True, error_model="numpy")


class Entries(NamedTuple):
    """A matrix by row and by thing; `place` says where a thing's entries are among those by row."""

    row_ptr: I64s
    thing: I32s
    value: F32s  # empty: all are 1
    thing_ptr: I64s
    row: I32s
    place: I64s
    code: I32s  # of the things, as the caller has them


class Measure(NamedTuple):
    """Similarity of x to y: sum / (own[x] other[y] + shrinkage).

    Of sets it is sum / (own[x] + other[y] + common * sum + shrinkage).
    """

    of_sets: bool
    own: F64s
    other: F64s
    shrinkage: float
    common: float


class Nearest(NamedTuple):
    """Best neighbours so far by thing, as keys, and the lowest similarity that may still enter."""

    keys: U64s  # (n, capacity), the float32's bits above the complement of the code
    counts: I64s
    level: F64s


class Scratch(NamedTuple):
    """Sums of one thing with all others, all 0 between two things; codes with a sum; a value's bits."""

    sums: F64s
    reached: I32s
    bits: F32s


@helper
def cut(keys: U64s, x: int, count: int, k: int) -> None:
    """Bring the k largest of the first `count` keys of row x, which differ, to the front."""
    low, high = 0, count - 1
    while low < high:
        pivot = keys[x, (low + high) >> 1]
        i, j = low, high
        while i <= j:
            while keys[x, i] > pivot:
                i += 1
            while keys[x, j] < pivot:
                j -= 1
            if i <= j:
                keys[x, i], keys[x, j] = keys[x, j], keys[x, i]
                i += 1
                j -= 1
        if k - 1 <= j:
            high = j
        elif k - 1 >= i:
            low = i
        else:
            return


@helper
def cut_back(keys: U64s, x: int, k: int, bits: F32s) -> float:
    """Keep the k nearest of a full row; return what a similarity must reach from now on."""
    cut(keys, x, keys.shape[1], k)
    lowest = keys[x, 0]
    for at in range(1, k):
        lowest = min(lowest, keys[x, at])
    bits.view(np.uint32)[0] = np.uint32(lowest >> np.uint64(32))
    return np.float64(bits[0]) * CLOSE


@helper
def offer(best: Nearest, x: int, similarity: float, code: int, k: int, bits: F32s) -> None:
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
def sum_dense(entries: Entries, i: int, sums: F64s) -> None:
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
def sum_sparse(entries: Entries, i: int, sums: F64s, reached: I32s) -> int:
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
    entries: Entries,
    measure: Measure,
    work: I64s,
    begin: int,
    end: int,
    k: int,
    best: Nearest,
    scratch: Scratch,
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
    indices: I32s,
    values: F32s,
    found: I64s,
) -> None:
    """Join what the threads found: the nearest k of each thing, by rising code, in rows by code.

    Shapes: `keys` (n_threads, n, capacity), `counts` (n_threads, n), `code` and `found` (n,), `indices` and
    `values` (n, k).
    """
    every = np.empty((1, keys.shape[0] * keys.shape[2]), np.uint64)
    bits = np.empty(1, np.uint32)
    for x in range(begin, end):
        total = 0
        for thread in range(keys.shape[0]):
            for at in range(counts[thread, x]):
                every[0, total] = keys[thread, x, at]
                total += 1
        if total > k:
            cut(every, 0, total, k)
            total = k
        for at in range(total):  # by code: swap the halves of the key, then back
            key = every[0, at]
            every[0, at] = ((LOW - (key & LOW)) << np.uint64(32)) | (key >> np.uint64(32))
        every[0, :total].sort()
        row = code[x]
        found[row] = total
        for at in range(total):
            indices[row, at] = np.int32(every[0, at] >> np.uint64(32))
            bits[0] = np.uint32(every[0, at] & LOW)
            values[row, at] = bits.view(np.float32)[0]
