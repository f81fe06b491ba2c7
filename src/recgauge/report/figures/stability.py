"""How many pairs of models turn along each choice, and whether the winner stays, in one figure."""

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recgauge.comparison.stability import AxisOrders, Stability
from recgauge.report.figures.style import (
    INK,
    MUTED,
    PALETTE,
    RULE,
    SMALL,
    name_rows,
    new_figure,
    short_name,
    write_beside,
)
from recgauge.report.stability_tables import turned_text, winner_text

_LONGEST = 100  # characters of the line below a bar


def plot_stability(stability: Stability, *, title: str | None = "Does the order of models stay?") -> Figure:
    """Draw one bar per choice: the share of pairs of models that turn, its dark part beyond noise.

    The line below a bar says which model wins, and under which options another one does.
    """
    n_axes = len(stability.axes)
    with new_figure(title, height=1.35 + 0.62 * n_axes) as (figure, (axes,)):
        for row, axis in enumerate(stability.axes):
            _draw(axes, row, axis)
        axes.set_xlim(0, 100)
        name_rows(axes, [f"{axis.axis}\n{len(axis.options)} options" for axis in stability.axes])
        models = len(stability.axes[0].models)
        axes.set_xlabel(f"pairs of models ({models} models) whose order turns between two options, in %")
        if title is not None:
            told = "solid: beyond noise   hatched: within noise"
            figure.text(0.99, 0.985, told, ha="right", va="top", fontsize=SMALL)
    return figure


def _draw(axes: Axes, row: int, axis: AxisOrders) -> None:
    turns = axis.turns()
    n_sure = sum(turn.beyond_noise for turn in turns)
    sure, end = (100 * n / axis.n_pairs for n in (n_sure, len(turns)))
    axes.barh(row, 100, height=0.42, color=RULE, zorder=0)
    axes.barh(row, sure, height=0.42, color=PALETTE[0])
    hatched: dict[str, Any] = {"color": "white", "edgecolor": PALETTE[0], "hatch": "////", "linewidth": 0.8}
    axes.barh(row, end - sure, left=sure, height=0.42, **hatched)
    told = f"{turned_text(axis)}, {n_sure} beyond noise" if turns else f"none of {axis.n_pairs} turns"
    if end > 62:  # no room behind the bar
        background = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
        write_beside(axes, told, (100, row), (-5, 0), va="center", ha="right", color=INK, bbox=background)
    else:
        write_beside(axes, told, (end, row), (5, 0), va="center", color=INK)
    winner = short_name(f"winner {winner_text(axis)}", _LONGEST)
    ink = INK if axis.other_winners() else MUTED
    write_beside(axes, winner, (0, row + 0.21), (0, -2), va="top", color=ink)
