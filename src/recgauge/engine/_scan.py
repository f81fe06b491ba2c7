"""Exact top k of a factor model for a block of users, without most of the product.

Items are in falling order of norm. Four users at a time meet a tile of 64 items; only scores that may beat
the user's k-th best become candidates, and a user is done when no norm left can reach it. Users that end at
about the same panel are regrouped for every chunk of panels. Candidates are scored exactly at the
end. Numba kernels.
"""

from typing import NamedTuple

import numpy as np

from recgauge.engine._bounds import (
    NEVER,
    PANEL_TILES,
    Panels,
    Queries,
    block_seen,
    encode_users,
    error_bound,
    level_of,
    reach_of,
    threshold_of,
)
from recgauge.engine._candidates import SLACK, Exact, Lists, fill_unordered, finish, narrow
from recgauge.engine._jit import Codes, borrower, entry, kernel
from recgauge.engine._tiles import USERS, append, score_tile
from recgauge.engine._vectors import bit_count
from recgauge.utils.compiled import F32s, F64s, I32s, I64s, U64s

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
