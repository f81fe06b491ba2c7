"""The figure of published values and ours: every model a row, published hollow, ours filled."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from recgauge.report.figures.style import MUTED, PALETTE, look, new_figure
from recgauge.studies import Row


def plot_values(rows: Sequence[Row], metrics: Sequence[str], without: Sequence[str] = ()) -> Figure:
    """Return one panel a data set and metric; models in the order of the first panel, largest on top.

    Parameters
    ----------
    rows : sequence of dict
        Rows of results.csv; those without any value are left out.
    metrics : sequence of str
        Which are drawn.
    without : sequence of str
        Models that are left out, such as one so far off that the others would fall together.
    """
    drawn = [
        row
        for row in rows
        if row["metric"] in metrics and row["model"] not in without and (row["published"] or row["ours"])
    ]
    panels = list(dict.fromkeys((row["dataset"], row["metric"]) for row in drawn))
    models = _order(drawn, panels[0])
    with look():
        figure, axes = new_figure(None, height=1.3 + 0.26 * len(models), panels=len(panels))
        for place, (panel, one) in enumerate(zip(panels, axes, strict=True)):
            _draw(one, [row for row in drawn if (row["dataset"], row["metric"]) == panel], models)
            one.set_title(f"{panel[0]}  {panel[1].replace('_at_', '@')}", loc="left")
            one.set_yticks(range(len(models)), models if place == 0 else [""] * len(models))
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper right", ncols=2)
    return figure


def _order(rows: Sequence[Row], panel: tuple[str, str]) -> list[str]:
    """Return the models, those of the first panel by falling value before the others."""
    first = {
        row["model"]: float(row["published"] or row["ours"])
        for row in rows
        if (row["dataset"], row["metric"]) == panel
    }
    ranked = sorted(first, key=lambda model: -first[model])
    return list(dict.fromkeys([*ranked, *(row["model"] for row in rows)]))


def _draw(axes: Axes, rows: Sequence[Row], models: Sequence[str]) -> None:
    marks = {"published": ("o", MUTED, "none", 8.0), "ours": ("o", PALETTE[0], PALETTE[0], 4.5)}
    for column, (marker, edge, face, size) in marks.items():
        found = [(float(row[column]), models.index(row["model"])) for row in rows if row[column]]
        axes.plot(
            *(zip(*found, strict=True) if found else ([], [])),
            marker,
            markeredgecolor=edge,
            markerfacecolor=face,
            markersize=size,
            label=column,
        )
    axes.set_ylim(len(models) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.margins(x=0.08)
    axes.xaxis.set_major_locator(MaxNLocator(5))
