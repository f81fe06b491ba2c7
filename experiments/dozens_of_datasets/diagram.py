"""Mean ranks of models on a line, with bars over those that are not shown to differ."""

from matplotlib.figure import Figure

from recgauge.comparison import DatasetsResult
from recgauge.metrics.names import metric_label
from recgauge.report.figures.style import INK, MUTED, new_figure


def critical_difference_diagram(result: DatasetsResult) -> Figure:
    """Draw mean ranks on a line; runs under one bar are not shown to differ.

    References
    ----------
    .. [1] J. Demsar, "Statistical comparisons of classifiers over multiple data sets", Journal of Machine
       Learning Research 7, 2006, figure 1.
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
