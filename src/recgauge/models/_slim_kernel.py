"""Coordinate descent over the items' Gram matrix, item by item; imported when SLIM is fitted.

The Gram matrix is given by rows: where each begins, its item codes and its values. Without codes the rows
hold all items. No sum depends on the width of vectors: whatever runs in vectors changes numbers one by one.
"""

import numpy as np
import numpy.typing as npt

from recgauge.models._walk_kernel import with_room
from recgauge.utils.compiled import F32s, F64s, I32s, I64s, compiled

Counts = F32s | npt.NDArray[np.uint16]
FIRST = 16  # items that enter the first working set; later ones at most double it
SWEEPS = 1000  # of one working set


@compiled(nogil=True)
def subtract_rows(starts: I64s, codes: I32s, values: Counts, items: I32s, factors: F64s, out: F64s) -> None:
    """Subtract rows of the Gram matrix times factors, in order."""
    together = 0 if len(codes) else len(items) // 4 * 4
    for at in range(0, together, 4):  # each number as row by row; memory is waited for a quarter as often
        a, b, c, d = items[at], items[at + 1], items[at + 2], items[at + 3]
        row_a, row_b = values[starts[a] : starts[a + 1]], values[starts[b] : starts[b + 1]]
        row_c, row_d = values[starts[c] : starts[c + 1]], values[starts[d] : starts[d + 1]]
        by_a, by_b, by_c, by_d = factors[at], factors[at + 1], factors[at + 2], factors[at + 3]
        for other in range(len(out)):
            rest = (out[other] - by_a * row_a[other]) - by_b * row_b[other]
            out[other] = (rest - by_c * row_c[other]) - by_d * row_d[other]
    for at in range(together, len(items)):
        row = values[starts[items[at]] : starts[items[at] + 1]]
        if len(codes) == 0:
            for other in range(len(row)):
                out[other] -= factors[at] * row[other]
        else:
            for place, other in enumerate(codes[starts[items[at]] : starts[items[at] + 1]]):
                out[other] -= factors[at] * row[place]


@compiled(nogil=True)
def could_enter(rest: F64s, target: int, threshold: float, out: I32s) -> I32s:
    """Return the items whose first step is not 0; all others stay at 0 where `threshold` is a bound."""
    count = 0
    for item in range(len(rest)):
        if item != target and rest[item] > threshold:
            out[count] = item
            count += 1
    return out[:count]


@compiled(nogil=True)
def entering(
    rest: F64s, l1: float, positive: bool, curvature: F64s, position: I32s, items: I32s, step: F64s
) -> tuple[float, int]:
    """Return the largest step of an item at 0, and how many there are; all steps are written."""
    most, count = 0.0, 0
    for place, item in enumerate(items):
        size = rest[item] if positive else abs(rest[item])
        step[place] = (size - l1) / curvature[item] if size > l1 and position[item] < 0 else 0.0
        most = max(most, step[place])
        count += step[place] > 0.0
    return most, count


@compiled(nogil=True)
def admit(
    starts: I64s,
    codes: I32s,
    values: Counts,
    new: I32s,
    members: I32s,
    size: int,
    position: I32s,
    small: F32s,
) -> F32s:
    """Append items to the working set; return the part of the Gram matrix between its members."""
    wanted = size + len(new)
    if wanted > len(small):
        wider = np.empty((2 * wanted, 2 * wanted), np.float32)
        wider[:size, :size] = small[:size, :size]
        small = wider
    for at in range(size, wanted):
        item = new[at - size]
        members[at], position[item] = item, at
        row = values[starts[item] : starts[item + 1]]
        if len(codes) == 0:
            for before in range(at + 1):
                small[at, before] = row[members[before]]
        else:
            small[at, : at + 1] = 0.0
            for place, other in enumerate(codes[starts[item] : starts[item + 1]]):
                if position[other] >= 0:
                    small[at, position[other]] = row[place]
        small[:at, at] = small[at, :at]
    return small


@compiled(nogil=True)
def descend(
    rest: F64s, weights: F64s, small: F32s, curvature: F64s, l1: float, l2: float, positive: bool, tol: float
) -> bool:
    """Step from member to member until no weight of the working set moves by more than `tol`."""
    size = len(rest)
    for _ in range(SWEEPS):
        most = 0.0
        for at in range(size):
            old = weights[at]
            pull = rest[at] + (curvature[at] - l2) * old
            new = max(pull - l1, 0.0) / curvature[at]
            if pull < 0.0:
                new = 0.0 if positive else min(pull + l1, 0.0) / curvature[at]
            move = new - old
            if move != 0.0:
                weights[at] = new
                row = small[at]
                for other in range(size):
                    rest[other] -= move * row[other]
                most = max(most, abs(move))
        if most <= tol:
            return True
    return False


@compiled(nogil=True)
def solve(
    starts: I64s,
    codes: I32s,
    values: Counts,
    curvature: F64s,
    l1: float,
    l2: float,
    positive: bool,
    tol: float,
    target: int,
    rest: F64s,
    members: I32s,
    small: F32s,
) -> tuple[F64s, F32s, bool]:
    """Return one item's weights, of the first of `members`, the room that they needed, and whether they rest.

    `rest` and `members` have a place for every item.
    """
    step, position = np.empty(len(rest)), np.full(len(rest), -1, np.int32)
    rest[:] = 0.0
    subtract_rows(starts, codes, values, np.array([target], np.int32), np.array([-1.0]), rest)
    items = could_enter(rest, target, l1 if positive else -np.inf, np.empty(len(rest), np.int32))
    weights, rests = np.zeros(0), True
    while True:
        most, n_entering = entering(rest, l1, positive, curvature, position, items, step)
        if most <= tol or not rests:
            return weights, small, rests
        size, level = len(weights), tol
        room = max(FIRST, size)
        if n_entering > room:
            level = max(tol, np.partition(step[: len(items)], len(items) - room)[len(items) - room])
        new = items[step[: len(items)] >= level]
        small = admit(starts, codes, values, new, members, size, position, small)
        before = np.concatenate((weights, np.zeros(len(new))))
        weights = before.copy()
        inside = members[: len(weights)]
        rests = descend(rest[inside], weights, small, curvature[inside], l1, l2, positive, tol)
        moves = weights - before
        moved = moves != 0.0
        subtract_rows(starts, codes, values, inside[moved], moves[moved], rest)


@compiled(nogil=True)
def regress(
    starts: I64s,
    codes: I32s,
    values: Counts,
    curvature: F64s,
    l1: float,
    l2: float,
    positive: bool,
    tol: float,
    start: int,
    stop: int,
) -> tuple[I32s, I32s, F32s, int]:
    """Return the weights that predict each item from `start` to `stop` by the others.

    `starts`, `codes` and `values` are rows of the Gram matrix, `curvature` its diagonal plus `l2`, `tol` the
    largest step that may be left. Returns how many weights of each item are not 0; the items that they are
    of, one list after the other; the weights; and how many descents were ended before their steps were small.
    """
    n_items, filled, unfinished = len(curvature), 0, 0
    rest, members = np.empty(n_items), np.empty(n_items, np.int32)
    small, counts = np.empty((64, 64), np.float32), np.empty(stop - start, np.int32)
    out_codes, out_weights = np.empty(1024, np.int32), np.empty(1024, np.float32)
    gram_and_settings = (starts, codes, values, curvature, l1, l2, positive, tol)
    for target in range(start, stop):
        weights, small, rests = solve(*gram_and_settings, target, rest, members, small)
        chosen = weights != 0.0
        count = int(chosen.sum())
        out_codes, out_weights = with_room(out_codes, out_weights, filled, count)
        out_codes[filled : filled + count] = members[: len(weights)][chosen]
        out_weights[filled : filled + count] = weights[chosen]
        counts[target - start] = count
        filled += count
        unfinished += not rests
    return counts, out_codes[:filled].copy(), out_weights[:filled].copy(), unfinished
