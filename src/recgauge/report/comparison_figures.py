"""Figures of a comparison: means, and differences to one run, with their intervals."""

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from recgauge.comparison import Comparison, MetricComparison, Pair
from recgauge.comparison.claims import metric_label
from recgauge.report.comparison_tables import number
from recgauge.report.figures.style import (
    GREY,
    INK,
    MUTED,
    PALETTE,
    REFERENCE,
    SMALL,
    new_figure,
    write_beside,
)

LABEL: dict[str, Any] = {"color": INK, "bbox": {"facecolor": "white", "edgecolor": "none", "pad": 0.6}}


def forest(comparison: Comparison, metric: str | None = None, dataset: str | None = None) -> Figure:
    """Return a figure of every run's mean, and of its difference to the baseline, else to the best run.

    Points are filled where the corrected test shows a difference, open where it does not.

    Parameters
    ----------
    metric : str, optional
        The first if not given.
    dataset : str, optional
        The first if not given.

    Raises
    ------
    ConfigError
        If there is no such metric or data set.
    """
    one = comparison.result(metric or comparison.metrics[0], dataset)
    reference = comparison.procedure.baseline or one.rows[0].run
    where = f" on {one.dataset}" if one.dataset else ""
    title = f"{metric_label(one.metric)}{where}, {one.n_users:,} users"
    runs = [row.run for row in one.rows]
    with new_figure(title, height=1.5 + 0.36 * len(runs), panels=2) as (figure, (left, right)):
        _draw_means(left, one, reference)
        _draw_differences(right, one, reference)
        confidence = f"{100 * comparison.procedure.confidence:g} % interval"
        left.set_xlabel(f"mean over users,\n{confidence}", fontsize=SMALL)
        right.set_xlabel(f"difference to {_short(reference)},\n{confidence}", fontsize=SMALL)
        for axes in (left, right):
            axes.set_ylim(len(runs) - 0.45, -0.7)
            axes.tick_params(axis="y", length=0)
            axes.grid(visible=False, axis="y")
            axes.spines["left"].set_visible(False)
            axes.margins(x=0.12)
        left.set_yticks(range(len(runs)), [_short(run) for run in runs])
        right.set_yticks(range(len(runs)), [""] * len(runs))
        note = "filled: shown to differ after correction for all pairs; open: not shown to differ"
        figure.supxlabel(note, x=0.012, ha="left", fontsize=SMALL, color=MUTED)
    return figure


def _short(name: str, longest: int = 28) -> str:
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


def _draw_means(axes: Axes, one: MetricComparison, reference: str) -> None:
    for place, row in enumerate(one.rows):
        _draw(axes, place, (row.low, row.mean, row.high), filled=True, ink=_ink(row.run, reference))
        label = number(row.mean) + (f"  {row.letters}" if row.letters else "")
        write_beside(axes, label, (row.mean, place), (0, 7), ha="center", **LABEL)


def _draw_differences(axes: Axes, one: MetricComparison, reference: str) -> None:
    axes.axvline(0.0, **REFERENCE)
    for place, row in enumerate(one.rows):
        if row.run == reference:
            axes.plot([0.0], [place], marker="|", markersize=11, color=GREY)
            continue
        pair = one.pair(row.run, reference)
        values = _difference(pair, row.run)
        _draw(axes, place, values, filled=pair.differs, ink=PALETTE[0])
        write_beside(axes, number(values[1], sign=True), (values[1], place), (0, 7), ha="center", **LABEL)


def _difference(pair: Pair, run: str) -> tuple[float, float, float]:
    """Return low end, difference and high end of a run less the other."""
    if pair.a == run:
        return pair.low, pair.difference, pair.high
    return -pair.high, -pair.difference, -pair.low


def _ink(run: str, reference: str) -> str:
    return INK if run == reference else PALETTE[0]


def _draw(axes: Axes, place: int, values: Sequence[float], *, filled: bool, ink: str) -> None:
    low, middle, high = values
    axes.plot([low, high], [place, place], color=ink, linewidth=1.6, solid_capstyle="butt")
    face = ink if filled else "white"
    axes.plot([middle], [place], marker="o", markersize=6, color=ink, markerfacecolor=face)
