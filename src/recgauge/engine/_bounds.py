r"""Rounded factors and the bounds that make it safe to search with them.

A score is :math:`s = u \cdot v`. Searched is :math:`\hat s = \hat u \cdot \hat v` with :math:`\hat u, \hat v`
rounded to bytes (or float32) after a change of basis that leaves products as they are. Then, by Cauchy and
Schwarz,

.. math::
    |s| \le \|u\| \|v\|, \qquad
    |s - \hat s| = |(u - \hat u) \cdot v + \hat u \cdot (v - \hat v)|
    \le \|u - \hat u\| \|v\| + \|\hat u\| \|v - \hat v\|.

All norms are computed from the rounded numbers themselves, in float64, so nothing is assumed about how they
were rounded. The first bound ends a search, the second widens every comparison; rounding in the bounds' own
arithmetic and in the change of basis is covered by ``slack`` (see ``_panels``). Numba kernels.

References
----------
.. [1] C. Teflioudi, R. Gemulla, O. Mykytiuk, "LEMP: fast retrieval of large entries in a matrix product",
   SIGMOD 2015, section 3 (items by norm, a norm bound per bucket).
.. [2] H. Li, T. N. Chan, M. L. Yiu, N. Mamoulis, "FEXIPRO: fast and exact inner product retrieval in
   recommender systems", SIGMOD 2017, section 4 (change of basis, integers with a bound on what they lose).
"""

from typing import NamedTuple

import numpy as np

from recgauge.engine._jit import Codes, borrower, entry, kernel, reorderer
from recgauge.engine._tiles import TINY, ULP
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
