"""The figure of the disagreement of metrics: every convention a dot, every model a colour."""

from collections.abc import Sequence
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recgauge.studies import Row
from recgauge.studies.metric_disagreement.page import by_convention, distinct, label

# Okabe and Ito's colours, told apart with any kind of colour vision
COLOURS = ("#5D5D5D", "#E69F00", "#D55E00", "#009E73", "#0072B2", "#CC79A7")
_LOOK: dict[Any, Any] = {
    "font.size": 10.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
}


def plot_ranges(rows: Sequence[Row]) -> Figure:
    """Return one panel a data set; a line spans what the conventions make of one set of lists.

    Parameters
    ----------
    rows : sequence of dict
        Rows of results.csv that have a value.
    """
    datasets = distinct(rows, "dataset")
    height = 1.2 + 0.15 * (len(distinct(rows, "model")) + 1) * len(distinct(rows, "metric"))
    with rc_context(_LOOK):
        figure = Figure(figsize=(7.2, height), dpi=150, layout="constrained")
        axes = figure.subplots(1, len(datasets), squeeze=False, sharey=True)[0]
        for panel, dataset in zip(axes, datasets, strict=True):
            _draw(panel, rows, dataset)
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper left", ncols=6, frameon=False)
        return figure


def _draw(panel: Axes, rows: Sequence[Row], dataset: str) -> None:
    models, metrics = distinct(rows, "model"), distinct(rows, "metric")
    for place, (model, colour) in enumerate(zip(models, COLOURS, strict=False)):
        shift = (place + 1) / (len(models) + 1) - 0.5
        for row, metric in enumerate(metrics):
            values = list(by_convention(rows, dataset, metric, model).values())
            if values:
                y = row + shift
                panel.plot([min(values), max(values)], [y, y], color=colour, linewidth=2, alpha=0.5)
                name = model if row == 0 else None
                panel.plot(values, [y] * len(values), "o", color=colour, markersize=4, alpha=0.7, label=name)
    panel.set_yticks(range(len(metrics)), [label(metric) for metric in metrics])
    for border in range(1, len(metrics)):
        panel.axhline(border - 0.5, color="#C8C8C8", linewidth=0.8)
    panel.tick_params(axis="y", length=0)
    panel.set_ylim(len(metrics) - 0.5, -0.5)
    panel.set_xlim(left=0)
    panel.grid(axis="x", color="#E3E3E3")
    panel.set_title(dataset, loc="left")
    panel.set_xlabel("value under each convention")
