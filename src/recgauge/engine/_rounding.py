"""Items rounded panel by panel and laid out for the product of tiles. Numba kernels."""

import numpy as np

from recgauge.engine._bounds import Panels
from recgauge.engine._jit import entry, kernel
from recgauge.engine._types import Codes, F64s

PANEL_TILES = 4
"""Tiles of a panel, which share a scale and bounds: more loosen the bounds, fewer cost arithmetic."""


@kernel
def round_item(x: F64s, tile: Codes, lane: int, scale: float, bias: float) -> tuple[float, float]:
    """Write one item to its lane of a tile; its squared norm, and that of what rounding took."""
    group = 4 if bias > 0.0 else 1
    norm = residual = 0.0
    for j in range(len(x)):
        value = x[j] / scale
        if bias > 0.0:
            value = np.rint(value)
        at = (j // group * 64 + lane) * group + j % group
        tile[at] = value + bias
        back = (np.float64(tile[at]) - bias) * scale
        norm += x[j] * x[j]
        residual += (x[j] - back) * (x[j] - back)
    return norm, residual


@entry
def round_items(moved: F64s, panels: Panels) -> None:
    """Fill tiles, scales and norms from items in their new basis, (n_items, d)."""
    tiles, norm, residual, scales, code, _, _, _, limit, bias, _, _, _ = panels
    for panel in range(len(norm)):
        places = range(panel * PANEL_TILES * 64, min((panel + 1) * PANEL_TILES * 64, len(code)))
        top = 0.0
        for at in places:
            if code[at] >= 0:
                for value in moved[code[at]]:
                    top = max(top, abs(value))
        scale = top / limit if top > 0.0 else 1.0
        longest = worst = 0.0
        for at in places:
            if code[at] >= 0:
                length, lost = round_item(moved[code[at]], tiles[at >> 6], at & 63, scale, bias)
                longest, worst = max(longest, length), max(worst, lost)
        scales[panel] = scale
        norm[panel], residual[panel] = np.sqrt(longest), np.sqrt(worst)
