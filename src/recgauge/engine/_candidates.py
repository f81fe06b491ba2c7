"""Candidates of a block of users: narrowed by bounds, settled by exact scores. Numba kernels."""

from typing import NamedTuple

import numpy as np

from recgauge.engine._jit import borrower, kernel
from recgauge.engine._select import SLACK, TINY, ULP, keep_best, sort_list, trim, write_list
from recgauge.engine._types import Codes, F32s, F64s, I32s, I64s, U64s
from recgauge.engine._vectors import exact_dot, lowest_bit


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
def settle(row: int, count: int, exact: Exact, code: I32s, lists: Lists) -> None:
    """Exact scores in place of bounds."""
    low, high, item = lists.low, lists.high, lists.item
    user, factors, who = exact.user, exact.item, np.int64(exact.codes[row])
    for i in range(count):
        score = np.float32(exact_dot(user, who, factors, np.int64(code[item[row, i]])))
        low[row, i] = score
        high[row, i] = score


@borrower
def collect(
    low: F32s,
    high: F32s,
    item: I32s,
    counts: I64s,
    row: int,
    hits: np.uint64,
    base: int,
    products: Codes,
    g: int,
    scale: float,
    offset: float,
    error: float,
) -> None:
    """Append the items of a tile whose bits are set."""
    count = counts[row]
    while hits != np.uint64(0):
        bit = lowest_bit(hits)
        hits &= hits - np.uint64(1)
        score = (np.float64(products[g, bit]) - offset) * scale
        margin = error + abs(score) * ULP + TINY
        low[row, count] = score - margin
        high[row, count] = score + margin
        item[row, count] = base + bit
        count += 1
    counts[row] = count


@borrower
def narrow(row: int, k: int, exact: Exact, code: I32s, position: I32s, lists: Lists) -> int:
    """Cut a full list back; where bounds overlap too much decide by exact scores, and ties by item code."""
    low, high, item, sure = lists.low, lists.high, lists.item, lists.sure
    room = low.shape[1] - 2 * SLACK
    kept, level = trim(low, high, item, row, lists.counts[row], k, sure[row])
    if kept > room:
        settle(row, kept, exact, code, lists)
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
        if count > k:
            count, sure[row] = trim(low, high, item, row, count, k, sure[row])
        settle(row, count, exact, code, lists)
        if count > k:
            count, sure[row] = trim(low, high, item, row, count, k, sure[row])
        sort_list(low, item, row, count, code, keys, spare)
        write_list(keys, count, out_items, out_scores, row)
