"""Figures of a comparison."""

from typing import TYPE_CHECKING

from recgauge.comparison import Comparison

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def forest(comparison: Comparison) -> "Figure":
    """Return a figure of means and differences with their intervals."""
    raise NotImplementedError
