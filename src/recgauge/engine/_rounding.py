"""Items rounded panel by panel and laid out for the product of tiles. Numba kernels."""

import numpy as np

from recgauge.engine._bounds import Panels, largest_of
from recgauge.engine._jit import entry, reorderer
from recgauge.engine._types import Codes, F64s

PANEL_TILES = 4
"""Tiles of a panel, which share a scale and bounds: more loosen the bounds, fewer cost arithmetic."""


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
