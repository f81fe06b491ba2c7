"""The pairs of models whose order turns along each choice, as a figure."""

from typing import Any

from matplotlib.figure import Figure

from recgauge.comparison.stability import Stability
from recgauge.report.figures.style import (
    PALETTE,
    RULE,
    name_rows,
    new_figure,
    short_name,
    write_at_edge,
    write_beside,
)
from recgauge.report.stability_tables import winner_text

LONGEST_WINNER = 100  # characters of the line below a bar
WITHIN_NOISE: dict[str, Any] = {
    "color": "white",
    "edgecolor": PALETTE[0],
    "hatch": "////",
    "linewidth": 0.8,
}


def plot_stability(stability: Stability) -> Figure:
    """Draw one bar per choice: the share of pairs of models that turn, its dark part beyond noise.

    The line below a bar says which model wins, and under which options another one does.
    """
    axes_of = stability.axes
    with new_figure("Does the order of models stay?", height=1.35 + 0.62 * len(axes_of)) as (figure, (axes,)):
        for row, axis in enumerate(axes_of):
            turned, surely = axis.n_turned
            sure, end = 100 * surely / axis.n_pairs, 100 * turned / axis.n_pairs
            axes.barh(row, 100, height=0.42, color=RULE, zorder=0)
            axes.barh(row, sure, height=0.42, color=PALETTE[0])
            axes.barh(row, end - sure, left=sure, height=0.42, **WITHIN_NOISE)
            write_at_edge(axes, f"{turned} of {axis.n_pairs} pairs", row)
            winner = short_name(f"winner {winner_text(axis)}", LONGEST_WINNER)
            write_beside(axes, winner, (0, row + 0.21), (0, -2), va="top")
        axes.set_xlim(0, 100)
        name_rows(axes, [f"{axis.axis}\n{len(axis.options)} options" for axis in axes_of])
        n_models = len(axes_of[0].models)
        label = f"pairs of the {n_models} models whose order turns between two options, in %\n"
        axes.set_xlabel(f"{label}solid and !: beyond noise; hatched: within noise")
    return figure
