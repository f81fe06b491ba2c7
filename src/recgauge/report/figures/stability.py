"""How many pairs of models turn along each choice, and whether the winner stays, in one figure."""

from typing import TYPE_CHECKING

from recgauge.report.figures.style import INK, MUTED, PALETTE, RULE, SMALL, new_figure, write_beside
from recgauge.report.stability_tables import shorten, turned_text, winner_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from recgauge.comparison.stability import AxisOrders, Stability

_LONGEST = 100  # characters of the line below a bar


def plot_stability(
    stability: "Stability", *, title: str | None = "Does the order of models stay?"
) -> "Figure":
    """Draw one bar per choice: the share of pairs of models that turn, its dark part beyond noise.

    The line below a bar says which model wins, and under which options another one does.

    Examples
    --------
    >>> from recgauge.comparison.stability import compare_orders
    >>> at_1 = {"a": [1.0, 1.0, 0.9, 1.0], "b": [0.0, 0.1, 0.0, 0.0]}
    >>> at_5 = {"a": [0.5, 0.4, 0.4, 0.5], "b": [0.9, 0.9, 0.9, 0.8]}
    >>> figure = plot_stability(compare_orders({"cutoff": {"1": at_1, "5": at_5}}))
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['1 of 1 turns, 1 beyond noise', 'winner a, but b! under 5']
    """
    n_axes = len(stability.axes)
    with new_figure(title, height=1.35 + 0.62 * n_axes) as (figure, (axes,)):
        for row, axis in enumerate(stability.axes):
            _draw(axes, row, axis)
        axes.set_xlim(0, 100)
        axes.set_ylim(n_axes - 0.35, -0.5)
        names = [f"{axis.axis}\n{len(axis.options)} options" for axis in stability.axes]
        axes.set_yticks(range(n_axes), names)
        axes.tick_params(axis="y", length=0)
        axes.grid(visible=False, axis="y")
        axes.spines["left"].set_visible(False)
        models = len(stability.axes[0].models)
        axes.set_xlabel(f"pairs of models ({models} models) whose order turns between two options, in %")
        if figure.get_suptitle():
            figure.text(
                0.99,
                0.985,
                "solid: beyond noise   hatched: within noise",
                ha="right",
                va="top",
                fontsize=SMALL,
            )
    return figure


def _draw(axes: "Axes", row: int, axis: "AxisOrders") -> None:
    turns = axis.turns()
    sure = sum(turn.beyond_noise for turn in turns)
    share = 100 / axis.n_pairs
    axes.barh(row, 100, height=0.42, color=RULE, zorder=0)
    axes.barh(row, sure * share, height=0.42, color=PALETTE[0])
    axes.barh(
        row,
        (len(turns) - sure) * share,
        left=sure * share,
        height=0.42,
        color="white",
        edgecolor=PALETTE[0],
        hatch="////",
        linewidth=0.8,
    )
    told = f"{turned_text(axis)}, {sure} beyond noise" if turns else f"none of {axis.n_pairs} turns"
    end = len(turns) * share
    inside = end > 62
    point, shift = ((end, row), (5, 0)) if not inside else ((100, row), (-5, 0))
    background = {"facecolor": "white", "edgecolor": "none", "pad": 1.5} if inside else None
    write_beside(
        axes, told, point, shift, va="center", ha="right" if inside else "left", color=INK, bbox=background
    )
    text = shorten(f"winner {winner_text(axis)}", _LONGEST)
    write_beside(axes, text, (0, row + 0.21), (0, -2), va="top", color=INK if axis.other_winners() else MUTED)
