"""Figures of a comparison: means, and differences to one run, with their intervals."""

from typing import Any

from matplotlib.figure import Figure

from recgauge.comparison import Comparison
from recgauge.comparison.claims import metric_label
from recgauge.report.comparison_tables import number
from recgauge.report.figures.style import (
    GREY,
    INK,
    MUTED,
    PALETTE,
    REFERENCE,
    SMALL,
    draw_interval,
    name_rows,
    new_figure,
    short_name,
    write_beside,
)

LABEL: dict[str, Any] = {
    "ha": "center",
    "color": INK,
    "bbox": {"facecolor": "white", "edgecolor": "none", "pad": 0.6},
}


def forest(comparison: Comparison, metric: str | None = None, dataset: str | None = None) -> Figure:
    """Return a figure of every run's mean, and of its difference to the baseline, else to the best run.

    Points are filled where the corrected test shows a difference, open where it does not. Of several metrics
    or data sets it is the first if none is named; ConfigError if there is no such one.
    """
    result = comparison.result(metric or comparison.metrics[0], dataset)
    reference = comparison.procedure.baseline or result.rows[0].run
    where = f" on {result.dataset}" if result.dataset else ""
    title = f"{metric_label(result.metric)}{where}, {result.n_users:,} users"
    runs = [row.run for row in result.rows]
    with new_figure(title, height=1.5 + 0.36 * len(runs), panels=2) as (figure, (left, right)):
        right.axvline(0.0, **REFERENCE)
        for place, row in enumerate(result.rows):
            ink = INK if row.run == reference else PALETTE[0]
            draw_interval(left, place, (row.low, row.mean, row.high), ink=ink)
            label = number(row.mean) + (f"  {row.letters}" if row.letters else "")
            write_beside(left, label, (row.mean, place), (0, 7), **LABEL)
            if row.run == reference:
                right.plot([0.0], [place], marker="|", markersize=11, color=GREY)
                continue
            pair = result.pair(row.run, reference)
            difference = (pair.low, pair.difference, pair.high)
            if pair.a != row.run:
                difference = (-pair.high, -pair.difference, -pair.low)
            draw_interval(right, place, difference, filled=pair.differs)
            write_beside(right, number(difference[1], sign=True), (difference[1], place), (0, 7), **LABEL)
        for axes, names in ((left, list(map(short_name, runs))), (right, [""] * len(runs))):
            name_rows(axes, names, above=0.7)
            axes.margins(x=0.12)
        confidence = f"{100 * comparison.procedure.confidence:g} % interval"
        left.set_xlabel(f"mean over users,\n{confidence}", fontsize=SMALL)
        right.set_xlabel(f"difference to {short_name(reference)},\n{confidence}", fontsize=SMALL)
        note = "filled: shown to differ after correction for all pairs; open: not shown to differ"
        figure.supxlabel(note, x=0.012, ha="left", fontsize=SMALL, color=MUTED)
    return figure
