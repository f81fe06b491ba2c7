"""Figures of a comparison: means and differences with their intervals, mean ranks over data sets."""

from typing import Any

from matplotlib.figure import Figure

from recgauge.comparison import Comparison
from recgauge.comparison.claims import metric_label
from recgauge.comparison.over_datasets import DatasetsResult
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


def critical_difference_diagram(result: DatasetsResult) -> Figure:
    """Draw mean ranks on a line; runs under one bar are not shown to differ.

    References
    ----------
    .. [1] J. Demsar, "Statistical comparisons of classifiers over multiple data sets", Journal of Machine
       Learning Research 7, 2006, figure 1.

    Examples
    --------
    >>> from recgauge.comparison import compare_datasets
    >>> result = compare_datasets({"svd": {"a": 0.3, "b": 0.2}, "popularity": {"a": 0.1, "b": 0.1}})
    >>> [text.get_text() for text in critical_difference_diagram(result).axes[0].texts]
    ['svd  1.00 ', ' 2.00  popularity', '  critical difference 1.39', '1', '2']
    """
    n, groups = len(result.runs), result.groups
    half, first_name = (n + 1) // 2, -0.6 - 0.32 * len(groups)
    title = f"Mean ranks by {metric_label(result.metric)} on {len(result.datasets)} data sets; 1 is best"
    with new_figure(title, height=1.5 + 0.3 * half + 0.12 * len(groups)) as (figure, (axes,)):
        for place, run in enumerate(result.runs):
            # written at the side and joined to the line, so that no two lines cross
            rank, left = result.mean_ranks[run], place < half
            height = first_name - 0.55 * (place if left else n - 1 - place)
            end = 1 - 0.06 * (n - 1) if left else n + 0.06 * (n - 1)
            axes.plot([rank, rank, end], [0, height, height], color=MUTED, linewidth=1)
            name, side = (f"{run}  {rank:.2f} ", "right") if left else (f" {rank:.2f}  {run}", "left")
            axes.text(end, height, name, ha=side, va="center")
        for level, group in enumerate(groups):
            ends = [result.mean_ranks[group[0]] - 0.04, result.mean_ranks[group[-1]] + 0.04]
            axes.plot(ends, [-0.35 - 0.32 * level] * 2, color=INK, linewidth=4, solid_capstyle="butt")
        if (length := result.critical_difference) is not None:
            axes.plot([1, 1 + length], [1.15, 1.15], color=INK, linewidth=1.2)
            for end in (1, 1 + length):
                axes.plot([end, end], [1.0, 1.3], color=INK, linewidth=1.2)
            axes.text(1 + length, 1.15, f"  critical difference {length:.2f}", ha="left", va="center")
        axes.set_ylim(first_name - 0.55 * half, 1.6)
        axes.set_xlim(1 - 0.42 * (n - 1), n + 0.42 * (n - 1))
        axes.plot([1, n], [0, 0], color=INK, linewidth=1.2)
        for rank in range(1, n + 1):
            axes.plot([rank, rank], [0, 0.15], color=INK, linewidth=1.2)
            axes.annotate(f"{rank}", (rank, 0.22), ha="center", va="bottom", annotation_clip=False)
        axes.axis("off")
    return figure
