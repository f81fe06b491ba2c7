r"""Exact top k of a factor model for a block of users, without most of the product.

Items are in falling order of norm. Four users at a time meet a tile of 64 items; only scores that may beat
the user's k-th best become candidates, and a user is done when no norm left can reach it. Users that end at
about the same panel are regrouped for every chunk of panels. Candidates are scored exactly at the end.

What is searched are rounded factors, with bounds that make it safe.

A score is :math:`s = u \cdot v`. Searched is :math:`\hat s = \hat u \cdot \hat v` with :math:`\hat u, \hat v`
rounded to bytes (or float32) after a change of basis that leaves products as they are. Then, by Cauchy and
Schwarz,

.. math::
    |s| \le \|u\| \|v\|, \qquad
    |s - \hat s| = |(u - \hat u) \cdot v + \hat u \cdot (v - \hat v)|
    \le \|u - \hat u\| \|v\| + \|\hat u\| \|v - \hat v\|.

All norms are computed from the rounded numbers themselves, in float64, so nothing is assumed about how they
were rounded. The first bound ends a search, the second widens every comparison; rounding in the bounds' own
arithmetic and in the change of basis is covered by ``slack`` (see ``_factors``). Numba kernels.

References
----------
.. [1] C. Teflioudi, R. Gemulla, O. Mykytiuk, "LEMP: fast retrieval of large entries in a matrix product",
   SIGMOD 2015, section 3 (items by norm, a norm bound per bucket).
.. [2] H. Li, T. N. Chan, M. L. Yiu, N. Mamoulis, "FEXIPRO: fast and exact inner product retrieval in
   recommender systems", SIGMOD 2017, section 4 (change of basis, integers with a bound on what they lose).
"""

from typing import NamedTuple

import numpy as np

from recgauge.engine._candidates import SLACK, Exact, Lists, fill_unordered, finish, narrow
from recgauge.engine._vectors import (
    TINY,
    ULP,
    USERS,
    Codes,
    append,
    bit_count,
    borrower,
    entry,
    kernel,
    reorderer,
    score_tile,
)
from recgauge.utils.compiled import F32s, F64s, I32s, I64s, U64s

NEVER = 2.0e9
"""A level no product of bytes reaches."""

PANEL_TILES = 4
"""Tiles of a panel, which share a scale and bounds: more loosen the bounds, fewer cost arithmetic."""


class Panels(NamedTuple):
    """Items in falling order of norm, in tiles of 64 and panels of 256 that share a scale."""

    tiles: Codes  # (n_tiles, d * 64)
    norm: F64s  # (n_panels,) largest norm of an item in this panel or a later one
    residual: F64s  # (n_panels,) largest norm of what rounding took from an item
    scale: F64s  # (n_panels,) value of one unit of the rounded numbers
    code: I32s  # (n_tiles * 64,) item code at a position, -1 in the last tile's tail
    position: I32s  # (n_items,) position of an item, -1 where it may not be recommended
    blocked: U64s  # (n_tiles,) bits of positions without item
    basis: F64s  # (n_factors, d) change of basis for users
    limit: float  # largest rounded number: 127, or 1 for float32
    bias: float  # what item bytes have been raised by: 128, or 0 for float32
    grain: float  # what rounding a level to its type may change
    rounding: float  # relative error of the rounded product itself: 0 for integers
    slack: float  # relative error of norms and basis


class Queries(NamedTuple):
    """A block's users, rounded; one entry per user."""

    rows: Codes
    scale: F64s
    offset: F64s  # what the items' bias adds to each of the user's products
    norm: F64s
    length: F64s  # norm of the rounded vector
    residual: F64s


@reorderer
def largest_of(x: F64s) -> float:
    """Largest magnitude."""
    top = 0.0
    for j in range(len(x)):
        top = max(top, abs(x[j]))
    return top


@reorderer
def encode_user(x: F64s, row: int, panels: Panels, queries: Queries) -> None:
    """Round a user's vector and measure what that took."""
    rows, scales, offsets, norms, lengths, residuals = queries
    limit, bias = panels.limit, panels.bias
    top = largest_of(x)
    scale = top / limit if top > 0.0 else 1.0
    inverse = 1.0 / scale
    for j in range(len(x)):
        rows[row, j] = np.rint(x[j] * inverse) if bias > 0.0 else x[j] * inverse
    norm = length = residual = total = 0.0
    for j in range(len(x)):
        value = np.float64(rows[row, j])
        lost = x[j] - value * scale
        total += value
        norm += x[j] * x[j]
        length += value * value
        residual += lost * lost
    length *= scale * scale
    scales[row] = scale
    offsets[row] = bias * total
    norms[row] = np.sqrt(norm)
    lengths[row] = np.sqrt(length)
    residuals[row] = np.sqrt(residual)


@reorderer
def change_basis(factors: F32s, code: int, basis: F64s, x: F64s) -> None:
    """Write a row of factors in another basis (n_factors, d) to x."""
    for j in range(len(x)):
        x[j] = 0.0
    for i in range(len(basis)):
        factor = np.float64(factors[code, i])
        for j in range(len(x)):
            x[j] += factor * basis[i, j]


@kernel
def encode_users(user: F32s, codes: I32s, panels: Panels, queries: Queries) -> None:
    """Bring the users of a block to the items' basis and round them."""
    x = np.empty(panels.basis.shape[1], np.float64)
    for row in range(len(codes)):
        change_basis(user, codes[row], panels.basis, x)
        encode_user(x, row, panels, queries)


@borrower
def error_bound(
    residual: float,
    length: float,
    norm: float,
    panel_residual: float,
    panel_norm: float,
    rounding: float,
    slack: float,
) -> float:
    """How far a searched score may be from the true one, for a user and a panel."""
    total = (
        residual * panel_norm + length * (panel_residual + rounding * panel_norm) + slack * norm * panel_norm
    )
    return total * (1.0 + 1e-6)


@borrower
def level_of(threshold: float, error: float, scale: float, offset: float, grain: float) -> float:
    """Give the least rounded product that may belong to a score at the threshold."""
    level = (threshold - error) / scale + offset
    level -= abs(level) * ULP + grain
    return min(max(level, -NEVER), NEVER)


@borrower
def threshold_of(level: np.float32) -> float:
    """Give the least real number that rounds to a float32 score at the level."""
    return np.float64(level) - abs(np.float64(level)) * ULP - TINY


@borrower
def reach_of(norm: F64s, user_norm: float, threshold: float) -> int:
    """How many panels may hold an item whose score reaches the threshold (norms fall: bisection)."""
    low, high = 0, len(norm)
    while low < high:
        middle = (low + high) >> 1
        if user_norm * norm[middle] >= threshold:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def block_seen(indptr: I64s, indices: I32s, codes: I32s, position: I32s, base: U64s, blocked: U64s) -> None:
    """Bits of the positions each user of a block may not be given."""
    for row in range(len(codes)):
        for tile in range(len(base)):
            blocked[row, tile] = base[tile]
        for p in range(indptr[codes[row]], indptr[codes[row] + 1]):
            at = position[indices[p]]
            if at >= 0:
                blocked[row, at >> 6] |= np.uint64(1) << np.uint64(at & 63)


@reorderer
def round_item(x: F64s, tile: Codes, lane: int, scale: float, bias: float) -> tuple[float, float]:
    """Write one item to its lane of a tile; its squared norm, and that of what rounding took."""
    group = 4 if bias > 0.0 else 1
    inverse = 1.0 / scale
    norm = residual = 0.0
    for j in range(len(x)):
        value = np.rint(x[j] * inverse) if bias > 0.0 else x[j] * inverse
        at = (j // group * 64 + lane) * group + j % group
        tile[at] = value + bias
        lost = x[j] - (np.float64(tile[at]) - bias) * scale
        norm += x[j] * x[j]
        residual += lost * lost
    return norm, residual


@entry
def round_items(moved: F64s, first: int, panels: Panels) -> None:
    """Fill tiles, scales and norms of the panels from ``first`` on from their items, in their basis."""
    tiles, norm, residual, scales, _, _, _, _, limit, bias, _, _, _ = panels
    size = PANEL_TILES * 64
    for start in range(0, len(moved), size):
        panel = first + start // size
        items = moved[start : start + size]
        top = 0.0
        for i in range(len(items)):
            top = max(top, largest_of(items[i]))
        scale = top / limit if top > 0.0 else 1.0
        longest = worst = 0.0
        for i in range(len(items)):
            tile = tiles[panel * PANEL_TILES + (i >> 6)]
            length, lost = round_item(items[i], tile, i & 63, scale, bias)
            longest, worst = max(longest, length), max(worst, lost)
        scales[panel] = scale
        norm[panel], residual[panel] = np.sqrt(longest), np.sqrt(worst)


_CHUNK_PANELS = 16


class Space(NamedTuple):
    """Memory of a thread that its blocks use one after another: new memory costs more than using it."""

    rows: Codes  # (m, d) users, rounded
    low: F32s  # (m, capacity), as in Lists
    high: F32s
    item: I32s
    blocked: U64s  # (m, n_tiles)


class Group(NamedTuple):
    """Four users that meet a tile together; one entry per user."""

    rows: I64s  # of the block
    errors: F64s  # how far a searched score may be from the true one in this panel
    scales: F64s  # value of one unit of a product in this panel
    levels: Codes  # least product of interest in this panel
    products: Codes  # (4, 64) with the items of a tile
    masks: U64s  # bits of the items at or above the level


@borrower
def set_level(panel: int, g: int, panels: Panels, queries: Queries, lists: Lists, group: Group) -> None:
    """Ask of a user's products what the list asks of scores."""
    row = group.rows[g]
    group.levels[g] = NEVER
    if panel < lists.reach[row]:
        group.levels[g] = level_of(
            lists.threshold[row], group.errors[g], group.scales[g], queries.offset[row], panels.grain
        )


@borrower
def open_panel(panel: int, n: int, panels: Panels, queries: Queries, lists: Lists, group: Group) -> int:
    """Errors, scales and levels of the group's users in a panel; return how many panels the furthest has."""
    furthest = 0
    for g in range(n):
        row = group.rows[g]
        furthest = max(furthest, lists.reach[row])
        group.errors[g] = error_bound(
            queries.residual[row],
            queries.length[row],
            queries.norm[row],
            panels.residual[panel],
            panels.norm[panel],
            panels.rounding,
            panels.slack,
        )
        group.scales[g] = queries.scale[row] * panels.scale[panel]
        set_level(panel, g, panels, queries, lists, group)
    return furthest


@borrower
def cut_back(row: int, k: int, exact: Exact, panels: Panels, queries: Queries, lists: Lists) -> None:
    """Narrow a user's full list, and ask more of the items that follow."""
    count = narrow(row, k, exact, panels.code, panels.position, lists)
    lists.counts[row] = count
    lists.full[row] = min(lists.low.shape[1] - SLACK, count + max(64, k))
    lists.threshold[row] = threshold_of(lists.sure[row])
    lists.reach[row] = reach_of(panels.norm, queries.norm[row] * (1.0 + panels.slack), lists.threshold[row])


@borrower
def scan_group(
    n: int,
    start: int,
    stop: int,
    k: int,
    exact: Exact,
    panels: Panels,
    queries: Queries,
    blocked: U64s,
    lists: Lists,
    group: Group,
) -> None:
    """Let the first ``n`` users of a group meet the panels ``start`` to ``stop``."""
    rows, errors, scales, levels, products, masks = group
    tiles, query_rows, offset = panels.tiles, queries.rows, queries.offset
    low, high, item, counts, full = lists.low, lists.high, lists.item, lists.counts, lists.full
    for panel in range(start, stop):
        if panel >= open_panel(panel, n, panels, queries, lists, group):
            break
        for tile in range(panel * PANEL_TILES, min((panel + 1) * PANEL_TILES, len(tiles))):
            score_tile(query_rows, rows, tiles, tile, levels, products, masks)
            for g in range(n):
                row = rows[g]
                hits = masks[g] & ~blocked[row, tile]
                if hits == np.uint64(0):
                    continue
                unit, zero, error, count = scales[g], offset[row], errors[g], counts[row]
                append(low, high, item, row, count, hits, tile * 64, products, g, unit, zero, error)
                counts[row] += bit_count(hits)
                if counts[row] >= full[row]:
                    cut_back(row, k, exact, panels, queries, lists)
                    set_level(panel, g, panels, queries, lists, group)


@borrower
def scan_chunk(
    order: I64s,
    start: int,
    stop: int,
    k: int,
    exact: Exact,
    panels: Panels,
    queries: Queries,
    blocked: U64s,
    lists: Lists,
    group: Group,
) -> None:
    """Panels ``start`` to ``stop`` for the users (rows of the block) in ``order``, four at a time."""
    for first in range(0, len(order), USERS):
        n = min(USERS, len(order) - first)
        for g in range(USERS):
            group.rows[g] = order[first + min(g, n - 1)]
            group.levels[g] = NEVER
        scan_group(n, start, stop, k, exact, panels, queries, blocked, lists, group)


@kernel
def new_group(scratch: Codes) -> Group:
    """Arrays of four users; levels and products, of the processor's type, are in ``scratch`` (5, 64)."""
    rows, masks = np.empty(USERS, np.int64), np.empty(USERS, np.uint64)
    return Group(rows, np.empty(USERS), np.empty(USERS), scratch[0, :USERS], scratch[1:], masks)


@kernel
def new_lists(m: int, k: int, space: Space, user_norm: F64s, n_panels: int) -> Lists:
    """Empty lists; users without length need no search."""
    sure = np.full(m, np.float32(-np.inf), np.float32)
    reach = np.where(user_norm > 0.0, n_panels, 0)
    low, high, item = space.low[:m], space.high[:m], space.item[:m]
    return Lists(low, high, item, np.zeros(m, np.int64), np.full(m, k), sure, np.full(m, -np.inf), reach)


@kernel
def regroup(order: I64s, reach: I64s, start: int, n_panels: int) -> I64s:
    """Users that go on beyond panel ``start``, those that end together side by side (a counting sort)."""
    at = np.zeros(n_panels + 2, np.int64)
    for row in order:
        at[reach[row] + 1] += 1
    for panel in range(n_panels + 1):
        at[panel + 1] += at[panel]
    done = at[start + 1]
    result = np.empty(len(order) - done, np.int64)
    for row in order:
        if reach[row] > start:
            result[at[reach[row]] - done] = row
            at[reach[row]] += 1
    return result


@entry
def top_factors(
    user: F32s,
    items: F32s,
    codes: I32s,
    indptr: I64s,
    indices: I32s,
    panels: Panels,
    space: Space,
    scratch: Codes,
    out_items: I32s,
    out_scores: F32s,
) -> None:
    """Write lists of the users ``codes`` to (m, k) outputs; ``space`` and ``scratch`` are filled here."""
    m, k = out_items.shape
    n_panels = len(panels.norm)
    queries = Queries(space.rows[:m], np.empty(m), np.empty(m), np.empty(m), np.empty(m), np.empty(m))
    encode_users(user, codes, panels, queries)
    blocked = space.blocked[:m]
    block_seen(indptr, indices, codes, panels.position, panels.blocked, blocked)
    lists, group = new_lists(m, k, space, queries.norm, n_panels), new_group(scratch)
    exact = Exact(user, codes, items)
    order, start, width = np.arange(m), 0, 1
    while start < n_panels:
        order = regroup(order, lists.reach, start, n_panels)
        stop = min(start + width, n_panels)
        scan_chunk(order, start, stop, k, exact, panels, queries, blocked, lists, group)
        start, width = stop, min(2 * width, _CHUNK_PANELS)
    finish(k, exact, panels.code, lists, out_items, out_scores)
    for row in range(m):
        if queries.norm[row] == 0.0:
            fill_unordered(out_items, out_scores, row, panels.position, blocked)
