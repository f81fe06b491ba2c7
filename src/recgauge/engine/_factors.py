r"""Exact top k of factor models, without most of the product.

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
arithmetic and in the change of basis is covered by ``slack`` (see `prepare`).

Items are prepared once for each model, in plain numpy: a change of basis that tightens the bounds, order by
norm, rounding, tiles. The search is Numba kernels.

References
----------
.. [1] C. Teflioudi, R. Gemulla, O. Mykytiuk, "LEMP: fast retrieval of large entries in a matrix product",
   SIGMOD 2015, section 3 (items by norm, a norm bound per bucket).
.. [2] H. Li, T. N. Chan, M. L. Yiu, N. Mamoulis, "FEXIPRO: fast and exact inner product retrieval in
   recommender systems", SIGMOD 2017, section 4 (change of basis, integers with a bound on what they lose).
"""

import threading
from typing import NamedTuple

import numpy as np
from threadpoolctl import ThreadpoolController

from recgauge.engine._lists import (
    HAS_BYTE_DOT,
    ITEMS,
    SLACK,
    TINY,
    ULP,
    USERS,
    Codes,
    Exact,
    Lists,
    bit_count,
    block_seen,
    borrower,
    capacity_of,
    entry,
    exact_dots,
    fill_unordered,
    finish,
    kernel,
    lowest_bit,
    narrow,
    reorderer,
    score_tile,
    sort_key,
    write_list,
)
from recgauge.engine.sources import (
    Allowed,
    FactorSource,
    SeenRows,
    allowed_items,
    as_float32,
    candidate_rows,
    check_sums,
    seen_rows,
)
from recgauge.errors import ScoreError
from recgauge.utils.checks import FloatArray, IntArray
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
def error_bound(row: int, panel: int, queries: Queries, panels: Panels) -> float:
    """How far a searched score may be from the true one, for a user and a panel."""
    norm, rounded = panels.norm[panel], panels.residual[panel] + panels.rounding * panels.norm[panel]
    total: float = queries.residual[row] * norm + queries.length[row] * rounded
    total += panels.slack * queries.norm[row] * norm
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
        group.errors[g] = error_bound(row, panel, queries, panels)
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
def append(
    low: F32s, high: F32s, item: I32s, row: int, count: int, hits: np.uint64, base: int, products: Codes,
    g: int, scale: float, offset: float, error: float,
) -> None:  # fmt: skip
    """Put a tile's items whose bits are set, with their bounds and positions, behind `count` candidates."""
    while hits != np.uint64(0):
        bit = lowest_bit(hits)
        hits &= hits - np.uint64(1)
        score = (np.float64(products[g, bit]) - offset) * scale
        margin = error + abs(score) * ULP + TINY
        low[row, count] = score - margin
        high[row, count] = score + margin
        item[row, count] = base + bit
        count += 1


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
    sure = np.full(m, np.float32(-np.inf), np.float32)
    reach = np.where(queries.norm > 0.0, n_panels, 0)  # users without length need no search
    low, high, item = space.low[:m], space.high[:m], space.item[:m]
    lists = Lists(low, high, item, np.zeros(m, np.int64), np.full(m, k), sure, np.full(m, -np.inf), reach)
    # levels and products are of the processor's type
    rows, masks = np.empty(USERS, np.int64), np.empty(USERS, np.uint64)
    group = Group(rows, np.empty(USERS), np.empty(USERS), scratch[0, :USERS], scratch[1:], masks)
    exact = Exact(user, codes, items)
    order, start, width = np.arange(m), 0, 1
    while start < n_panels:
        order = regroup(order, lists.reach, start, n_panels)
        stop = min(start + width, n_panels)
        for first in range(0, len(order), USERS):
            n = min(USERS, len(order) - first)
            for g in range(USERS):
                group.rows[g] = order[first + min(g, n - 1)]
                group.levels[g] = NEVER
            scan_group(n, start, stop, k, exact, panels, queries, blocked, lists, group)
        start, width = stop, min(2 * width, _CHUNK_PANELS)
    finish(k, exact, panels.code, lists, out_items, out_scores)
    for row in range(m):
        if queries.norm[row] == 0.0:
            fill_unordered(out_items, out_scores, row, panels.position, blocked)


_BLAS = ThreadpoolController()  # finds the loaded libraries, which takes a millisecond
_SAMPLE = 1_024
_PART = 2 * PANEL_TILES * ITEMS


def _moment(factors: F32s) -> F64s:
    """Mean outer product of the rows (of a sample), scaled to mean 1 and kept away from singular.

    In float32, since any moments make a valid basis: exact ones make it only a little better.
    """
    sample = factors[:: max(1, len(factors) // _SAMPLE)]
    largest = np.abs(sample).max(initial=0.0)
    width = factors.shape[1]
    if largest == 0.0:
        return np.eye(width)
    sample = sample / largest
    moment = (sample.T @ sample).astype(np.float64)
    scaled: F64s = moment * (width / np.trace(moment)) + 1e-6 * np.eye(width)
    return scaled


def _powers(symmetric: F64s, *exponents: float) -> list[F64s]:
    values, vectors = np.linalg.eigh(symmetric)
    values = np.maximum(values, values[-1] * 1e-12)
    return [(vectors * values**exponent) @ vectors.T for exponent in exponents]


def balance(user: F32s, item: F32s) -> tuple[F64s, F64s]:
    """Bases A, B with A B^T = I, so that (u A) . (v B) = u . v, in which norms say most about products.

    The mean of ``|u A|^2 |v B|^2`` is least where users and items have the same second moments; for a
    truncated SVD that puts the root of the singular values on both sides. A is the geometric mean of the two
    moments' inverses and a random rotation, which spreads every vector evenly over its numbers, so that
    rounding to bytes takes least.
    """
    root, inverse_root = _powers(_moment(user), 0.5, -0.5)
    stretch, shrink = _powers(root @ _moment(item) @ root, 0.25, -0.25)
    rotation = np.linalg.qr(np.random.default_rng(0).standard_normal(root.shape))[0]
    return inverse_root @ stretch @ rotation, root @ shrink @ rotation


def prepare(user: F32s, item: F32s, allowed: I32s, is_byte: bool) -> Panels:
    """Panels of the items whose codes are in ``allowed``, rounded to bytes or to float32."""
    left, right = balance(user, item[allowed] if len(allowed) < len(item) else item)
    width = len(left)
    padded = -(-width // 4) * 4
    # falling norms in the new basis: roughly, in float32, since the bounds below are safe in any order
    narrow_right, squares = right.astype(np.float32), np.empty(len(allowed), np.float32)
    with np.errstate(over="ignore", invalid="ignore"):  # where squares overflow, bounds are only less tight
        for start in range(0, len(allowed), _PART):
            part = item[allowed[start : start + _PART]] @ narrow_right
            np.einsum("ij,ij->i", part, part, out=squares[start : start + _PART])
    order = allowed[np.argsort(-squares, kind="stable")]
    # what the change of basis and its rounding do to a product, relative to the norms after it
    spread = float(np.linalg.norm(left) * np.linalg.norm(right))  # Frobenius: at least the largest stretch
    inexact = float(np.linalg.norm(left @ right.T - np.eye(width)))
    slack = 4.0 * spread * (inexact + width * 2.3e-16 * spread)
    n_tiles = -(-len(order) // ITEMS)
    n_panels = -(-n_tiles // PANEL_TILES)
    code = np.full(n_tiles * ITEMS, -1, np.int32)
    code[: len(order)] = order
    position = np.full(len(item), -1, np.int32)
    position[order] = np.arange(len(order), dtype=np.int32)
    basis = np.zeros((width, padded))
    basis[:, :width] = left
    panels = Panels(
        tiles=np.zeros((n_tiles, padded * ITEMS), np.uint8 if is_byte else np.float32),
        norm=np.zeros(n_panels),
        residual=np.zeros(n_panels),
        scale=np.ones(n_panels),
        code=code,
        position=position,
        blocked=np.packbits(code < 0, bitorder="little").view(np.uint64),
        basis=basis,
        limit=127.0 if is_byte else 1.0,
        bias=128.0 if is_byte else 0.0,
        grain=1.0 if is_byte else 1e-37,
        rounding=0.0 if is_byte else padded * 2.4e-7,
        slack=slack,
    )
    wide = np.empty((_PART, width))  # a part at a time in the same memory, since new memory costs more
    for start in range(0, len(order), _PART):
        items = item[order[start : start + _PART]].astype(np.float64)
        moved = np.matmul(items, right, out=wide[: len(items)])
        round_items(moved, start // (PANEL_TILES * ITEMS), panels)
    # the search ends by bisection, so a panel's bound is that of all that follow
    panels.norm[:] = np.maximum.accumulate(panels.norm[::-1])[::-1]
    return panels


@entry
def gather_factors(
    user: F32s, item: F32s, codes: I32s, indptr: I64s, indices: I32s, out_items: I32s, out_scores: F32s
) -> None:
    """Fill lists of users' own candidates; scores are summed as `top_factors` sums them."""
    for row in range(len(codes)):
        who = np.int64(codes[row])
        start, stop = indptr[who], indptr[who + 1]
        keys = np.empty(stop - start, np.uint64)
        for p in range(start, stop, 4):
            last = stop - 1
            b, c, d = min(p + 1, last), min(p + 2, last), min(p + 3, last)
            dots = exact_dots(user, who, item, indices[p], indices[b], indices[c], indices[d])
            for offset in range(min(4, stop - p)):
                keys[p - start + offset] = sort_key(np.float32(dots[offset]), indices[p + offset])
        write_list(np.sort(keys)[::-1], len(keys), out_items, out_scores, row)


class FactorLists:
    """Lists of a factor model, of all items or of users' own candidates, which cost a product each."""

    most_users = 512
    n_users: int | None

    def __init__(
        self,
        source: FactorSource,
        seen: SeenRows | None,
        items: Allowed | None,
        candidates: SeenRows | None,
        name: str,
        use_bytes: bool = HAS_BYTE_DOT,
    ) -> None:
        names = f"{name}: user factors", f"{name}: item factors"
        self._user, self._item = map(as_float32, names, (source.user, source.item))
        shapes = self._user.shape, self._item.shape
        if [len(shape) for shape in shapes] != [2, 2] or not shapes[0][1] == shapes[1][1] > 0:
            raise ScoreError(
                f"{name}: factors must be matrices with the same number of columns, at least 1, "
                f"got {shapes[0]} and {shapes[1]}."
            )
        self.n_users, width = shapes[0]
        check_sums(name, (names[0], self._user), (names[1], self._item), width)
        n_items = len(self._item)
        self._threads = threading.local()
        self._panels: Panels | None = None
        if candidates is not None:
            self._rows = candidate_rows(candidates, self.n_users, n_items)
            self.n_candidates = int(np.diff(self._rows[0]).max(initial=0))
            return
        self._rows = seen_rows(seen, self.n_users, n_items)
        allowed = allowed_items(items, n_items)
        self.n_candidates = len(allowed)
        if len(allowed):
            # small products: BLAS threads that wait for one another cost more than they bring
            with _BLAS.limit(limits=1, user_api="blas"):
                self._panels = prepare(self._user, self._item, allowed, use_bytes)

    def bytes_per_user(self, k: int) -> int:
        """Memory a user of a block takes; keys of candidates are one user's at a time."""
        if self._panels is None:
            return 8 * k + 16
        n_tiles = self.n_candidates // 64 + 1
        return 12 * capacity_of(k) + 8 * n_tiles + 4 * int(self._user.shape[1]) + 128

    def fill(self, users: IntArray, items: IntArray, scores: FloatArray) -> None:
        """Write the lists of the users, (b, k)."""
        panels = self._panels
        if panels is None:
            gather_factors(self._user, self._item, users, *self._rows, items, scores)
            return
        n_users, capacity, is_byte = len(users), capacity_of(items.shape[1]), panels.bias > 0.0
        space: Space | None = getattr(self._threads, "space", None)
        if space is None or len(space.rows) < n_users or space.low.shape[1] != capacity:
            space = self._threads.space = Space(
                np.empty((n_users, panels.basis.shape[1]), np.int8 if is_byte else np.float32),
                np.empty((n_users, capacity), np.float32),
                np.empty((n_users, capacity), np.float32),
                np.empty((n_users, capacity), np.int32),
                np.empty((n_users, len(panels.blocked)), np.uint64),
            )
        scratch = np.empty((5, 64), np.int32 if is_byte else np.float32)
        top_factors(self._user, self._item, users, *self._rows, panels, space, scratch, items, scores)
