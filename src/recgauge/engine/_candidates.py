"""Candidates of a block of users: narrowed by bounds, settled by exact scores. Numba kernels."""

from typing import NamedTuple

import numpy as np

from recgauge.engine._jit import borrower, kernel
from recgauge.engine._select import SLACK, first_bits, keep_best, sort_list, trim, write_list
from recgauge.engine._types import F32s, F64s, I32s, I64s, U64s
from recgauge.engine._vectors import at_least, exact_dots, lowest_bit, unsettled

LOWEST = np.float32(-np.inf)
_FEW = 32  # exact scores that cost about as much as a pass over a list


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
def next_place(bits: np.uint64, start: int, last: int) -> tuple[np.uint64, int]:
    """Position of the lowest bit, which is cleared; the last one again where none is left."""
    if bits == np.uint64(0):
        return bits, last
    return bits & (bits - np.uint64(1)), start + int(lowest_bit(bits))


@borrower
def settle_four(row: int, a: int, b: int, c: int, d: int, exact: Exact, code: I32s, lists: Lists) -> None:
    """Exact scores of four candidates, which may be the same, in place of bounds."""
    low, high, item = lists.low, lists.high, lists.item
    codes = (code[item[row, a]], code[item[row, b]], code[item[row, c]], code[item[row, d]])
    dots = exact_dots(exact.user, exact.codes[row], exact.item, codes[0], codes[1], codes[2], codes[3])
    low[row, a] = high[row, a] = np.float32(dots[0])
    low[row, b] = high[row, b] = np.float32(dots[1])
    low[row, c] = high[row, c] = np.float32(dots[2])
    low[row, d] = high[row, d] = np.float32(dots[3])


@borrower
def settle(row: int, count: int, level: np.float32, exact: Exact, code: I32s, lists: Lists) -> None:
    """Exact scores in place of bounds that reach the level."""
    low, high = lists.low, lists.high
    for start in range(0, count, 64):
        bits = at_least(low, row, start, level) & unsettled(low, high, row, start) & first_bits(count - start)
        while bits != np.uint64(0):
            bits, a = next_place(bits, start, 0)
            bits, b = next_place(bits, start, a)
            bits, c = next_place(bits, start, b)
            bits, d = next_place(bits, start, c)
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
        if count > k + _FEW:
            count, sure[row] = trim(low, high, item, row, count, k, sure[row])
        if count > k + _FEW:  # exact scores of the likely ones first: they rule out most of the others
            settle(row, count, sure[row], exact, code, lists)
            count, sure[row] = trim(low, high, item, row, count, k, sure[row])
        settle(row, count, LOWEST, exact, code, lists)
        if count > k:
            count, sure[row] = trim(low, high, item, row, count, k, sure[row])
        sort_list(low, item, row, count, code, keys, spare)
        write_list(keys, count, out_items, out_scores, row)
