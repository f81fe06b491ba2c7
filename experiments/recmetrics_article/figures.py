"""The figures of the recmetrics article, MAR over the cutoff and coverage: data sets by protocols."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recgauge.report.figures.style import (
    MUTED,
    PALETTE,
    line_look,
    look,
    name_rows,
    percent_axis,
    write_beside,
)
from recgauge.studies import Row, distinct, where

from .study import (
    ARTICLE,
    COVERAGE,
    HONEST,
    LABELS,
    PROTOCOLS,
    TEST_ITEMS,
    apart,
    as_measured,
    mar_curve,
    value,
)


def plot_mar(rows: Sequence[Row]) -> Figure:
    """Return MAR@K of the three models under each protocol, with one scale per data set."""
    with look():
        figure, lines = _grid(rows, PROTOCOLS, heights=(1.0, 1.75), sharey="row")
        for dataset, its, panels in lines:
            for protocol, panel in panels.items():
                _draw_mar(panel, its, dataset, protocol)
            first = panels[PROTOCOLS[0]]
            first.set_ylabel(f"{first.get_ylabel()}\nMAR@K")
            first.set_ylim(bottom=0)
        for panel in lines[-1][2].values():
            panel.set_xlabel("cutoff K")
            panel.set_xticks([1, 5, 10])
        handles = lines[0][2][ARTICLE].get_legend_handles_labels()
        figure.legend(*handles, loc="outside upper left", ncols=3, frameon=False)
    return figure


def _draw_mar(panel: Axes, rows: Sequence[Row], dataset: str, protocol: str) -> None:
    if not where(rows, dataset=dataset, protocol=protocol):
        _not_published(panel)
    # where lines coincide, the larger markers of the lower ones show around the upper ones
    sizes = (10.0, 6.5, 3.0) if protocol == TEST_ITEMS else (4.0, 4.0, 4.0)
    for index, (model, size) in enumerate(zip(LABELS.values(), sizes, strict=True)):
        points = mar_curve(rows, dataset, protocol, model)
        drawn = line_look(index, marker=True) | {"markersize": size, "linewidth": 1.4}
        panel.plot(list(points), list(points.values()), label=model, **drawn)


def plot_coverages(rows: Sequence[Row]) -> Figure:
    """Return the coverage of the three models at K = 10 as bars, under two protocols.

    Notes
    -----
    What the article draws with recmetrics' coverage_plot.
    """
    with look():
        figure, lines = _grid(where(rows, metric=COVERAGE), (ARTICLE, HONEST), heights=(0.7, 1.05))
        for dataset, its, panels in lines:
            for protocol, panel in panels.items():
                found = {model: value(its, dataset, protocol, model, COVERAGE) for model in LABELS.values()}
                shares = {model: float(row["ours"]) / 100 for model, row in found.items() if row is not None}
                if not shares:
                    _not_published(panel)
                    panel.set_yticks([])
                    continue
                first = protocol == ARTICLE
                panel.barh(range(len(shares)), list(shares.values()), height=0.62, color=PALETTE[0])
                for row, share in enumerate(shares.values()):
                    write_beside(panel, f"{share * 100:.2f} %", (share, row), (4, 0), va="center")
                panel.set_xlim(0, 1)
                panel.set_xticks(np.linspace(0, 1, 6))
                name_rows(panel, list(shares) if first else [""] * len(shares))
        for panel in lines[-1][2].values():
            percent_axis(panel.xaxis)
            panel.set_xlabel("items in at least one list")
    return figure


def _grid(
    rows: Sequence[Row], protocols: Sequence[str], *, heights: tuple[float, float], **shared: Any
) -> tuple[Figure, list[tuple[str, list[Row], dict[str, Axes]]]]:
    """Return a figure of data sets by protocols: of each line of panels the data set, rows and panels."""
    printed, ours = apart(rows)
    published = as_measured(printed)
    named = [(name, f"{name}\npublished", published) for name in distinct(published, "dataset")]
    named += [(name, name, ours) for name in distinct(ours, "dataset")]
    height = heights[0] + heights[1] * len(named)
    figure = Figure(figsize=(7.2, height), dpi=150, layout="constrained")
    grid = figure.subplots(len(named), len(protocols), squeeze=False, sharex=True, **shared)
    lines = []
    for axes, (dataset, title, its) in zip(grid, named, strict=True):
        axes[0].set_ylabel(title)
        lines.append((dataset, its, dict(zip(protocols, axes, strict=True))))
    for protocol, panel in zip(protocols, grid[0], strict=True):
        panel.set_title(protocol)
    return figure, lines


def _not_published(panel: Axes) -> None:
    panel.text(0.5, 0.5, "not published", transform=panel.transAxes, ha="center", color=MUTED)
