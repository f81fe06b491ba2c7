"""What changes the winner among tuned models, and what changes only the numbers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from recgauge.comparison.stability import BEYOND_NOISE, AxisOrders, Stability
from recgauge.report import markdown_table, render_markdown
from recgauge.runs.folder import JobOutcome
from recgauge.studies import Row, distinct, folded, label, where

from ..stability.study import WinnerStability, option_table, read_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

OTHER_QUANTITY = ("metric",)
"""Choices whose options measure something else, so that their values have no ratio."""


@dataclass(frozen=True)
class ProtocolSensitivity(WinnerStability):
    """Compares the order of models along every choice of the protocol, on each data set by itself."""

    def rows(self, runs: Sequence[JobOutcome], source: Path) -> list[Row]:
        """Return one row per data set, choice, option and model, and one for each missing run."""
        rows = []
        for dataset in dict.fromkeys(run.names["dataset"] for run in runs):
            here = [run for run in runs if run.names["dataset"] == dataset]
            rows += [{"dataset": dataset} | row for row in super().rows(here, source)]
        return rows

    def markdown(self, rows: Sequence[Row]) -> str:
        """Return missing runs, what each choice does to order and values, and every order."""
        missing = [
            f"- open: {row['dataset']}: {row['model']}: {row['reason']}" for row in where(rows, choice="")
        ]
        parts = ["\n".join(missing)] if missing else []
        by_dataset = _by_dataset(rows)
        if not by_dataset:
            return "\n\n".join(parts)
        details = [
            f"{dataset}\n\n{render_markdown([replace(option_table(orders), caption='')])}"
            for dataset, orders in by_dataset.items()
        ]
        return "\n\n".join(
            [
                *parts,
                *(_best(by_dataset, dataset) for dataset in by_dataset),
                _table(by_dataset),
                f"Pairs of models that turn, and how many of them beyond noise ({BEYOND_NOISE}). Values: the "
                f"median over models of {label(self.metric)} under the option, as a multiple of the "
                "reference's; smallest and largest over the options.",
                "![What moves the numbers, and what moves the order](choices.png)",
                folded("The order of the models under every option", "\n\n".join(details)),
            ]
        )

    def figures(self, rows: Sequence[Row]) -> "dict[str, Figure]":
        """Return how far values move and how many pairs turn, side by side."""
        by_dataset = _by_dataset(rows)
        return {"choices": plot_choices(by_dataset)} if by_dataset else {}


def _by_dataset(rows: Sequence[Row]) -> dict[str, Stability]:
    read = {dataset: read_rows(where(rows, dataset=dataset)) for dataset in distinct(rows, "dataset")}
    return {dataset: orders for dataset, orders in read.items() if orders is not None}


def _choices(by_dataset: dict[str, Stability]) -> list[str]:
    """Return the choices, those that turn most pairs first."""
    names = dict.fromkeys(axis.axis for orders in by_dataset.values() for axis in orders.axes)
    return sorted(names, key=lambda name: -sum(axis.n_turned[0] for axis in _axes(by_dataset, name).values()))


def _axes(by_dataset: dict[str, Stability], name: str) -> dict[str, AxisOrders]:
    return {data: axis for data, orders in by_dataset.items() for axis in orders.axes if axis.axis == name}


def moves(axis: AxisOrders) -> tuple[float, float] | None:
    """Return the least and largest multiple of the reference's values, each a median over models."""
    if axis.axis in OTHER_QUANTITY:
        return None
    medians = np.median(axis.values[1:] / axis.values[0], axis=1)
    return float(medians.min()), float(medians.max())


def _best(by_dataset: dict[str, Stability], dataset: str) -> str:
    axis = by_dataset[dataset].axes[0]
    order = axis.order(axis.reference)
    order_text = " > ".join(f"{model} {axis.values[0, axis.models.index(model)]:.4f}" for model in order)
    return f"- {dataset}, the reference: {order_text}"


def _table(by_dataset: dict[str, Stability]) -> str:
    cells = [
        [name, dataset, str(len(axis.options)), _turned(axis), _moved(axis), _winners(axis)]
        for name in _choices(by_dataset)
        for dataset, axis in _axes(by_dataset, name).items()
    ]
    titles = ["choice", "data set", "options", "pairs that turn", "values", "other winners"]
    return markdown_table(cells, titles, right=["options"])


def _turned(axis: AxisOrders) -> str:
    turned, surely = axis.n_turned
    return f"{turned} of {axis.n_pairs}, {surely}{BEYOND_NOISE}"


def _moved(axis: AxisOrders) -> str:
    ends = moves(axis)
    return "" if ends is None else f"× {ends[0]:.2f} to {ends[1]:.2f}"


def _winners(axis: AxisOrders) -> str:
    winners: dict[str, bool] = {}
    for model, sure in axis.other_winners().values():
        winners[model] = winners.get(model, False) or sure
    return ", ".join(f"{model}{BEYOND_NOISE if sure else ''}" for model, sure in winners.items()) or "none"


def plot_choices(by_dataset: dict[str, Stability]) -> "Figure":
    """Draw one row per choice: how far the values move, and which share of the pairs of models turns."""
    from matplotlib.patches import Patch

    from recgauge.report.figures.style import INK, MUTED, PALETTE, SMALL, name_rows, new_figure, write_beside

    names = _choices(by_dataset)
    title, height = "What moves the numbers, and what moves the order?", 1.6 + 0.5 * len(names)
    with new_figure(title, height=height, panels=2) as (figure, (values, pairs)):
        for row, name in enumerate(names):
            for place, (dataset, axis) in enumerate(_axes(by_dataset, name).items()):
                height, ink = (
                    row + 0.22 * (place - (len(by_dataset) - 1) / 2),
                    PALETTE[[*by_dataset].index(dataset)],
                )
                _draw_values(values, height, moves(axis), ink)
                _draw_pairs(pairs, height, axis, ink)
            if name in OTHER_QUANTITY:
                write_beside(values, "other quantities", (1.0, row), (5, 0), va="center", color=MUTED)
        name_rows(values, names)
        name_rows(pairs, [""] * len(names))
        values.set_xscale("log")
        values.axvline(1.0, color=INK, linewidth=0.8)
        ticks = (0.1, 0.2, 0.5, 1, 2, 5)
        values.set_xticks(ticks, [f"× {tick:g}" for tick in ticks])
        values.set_xticks([], minor=True)
        values.set_xlabel("values under other options,\nas a multiple of the reference's")
        pairs.set_xlim(0, None)
        pairs.set_xlabel("pairs of models that change order, in %\nsolid: beyond noise   ★ another winner")
        handles = [Patch(color=PALETTE[n], label=dataset) for n, dataset in enumerate(by_dataset)]
        figure.legend(
            handles=handles, loc="outside lower center", ncols=len(by_dataset), frameon=False, fontsize=SMALL
        )
        return figure


def _draw_values(axes: "Axes", height: float, ends: tuple[float, float] | None, ink: str) -> None:
    if ends is not None:
        low, high = min(*ends, 1.0), max(*ends, 1.0)
        axes.plot([low, high], [height, height], color=ink, linewidth=3.2, solid_capstyle="butt")
        axes.plot(ends, [height, height], color=ink, marker="|", markersize=6, linestyle="none")


def _draw_pairs(axes: "Axes", height: float, axis: AxisOrders, ink: str) -> None:
    share, beyond = (100 * n / axis.n_pairs for n in axis.n_turned)
    axes.barh(height, share, height=0.18, color="white", edgecolor=ink, linewidth=0.8)
    axes.barh(height, beyond, height=0.18, color=ink)
    if winners := axis.other_winners().values():
        face = ink if any(sure for _, sure in winners) else "white"
        axes.scatter([share + 1.5], [height], 50, marker="*", facecolor=face, edgecolor=ink, linewidth=0.8)
