"""The figure of sampled metrics: the place of every model under every candidate rule."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from recgauge.report.figures.style import INK, MARKERS, SMALL, color, line_style, look, new_figure
from recgauge.studies import Row
from recgauge.studies.metric_disagreement.page import distinct, label
from recgauge.studies.sampled_metrics.page import SHOWN, places, values_of


def plot_places(rows: Sequence[Row]) -> Figure:
    """Return one line a model from rule to rule; lines that cross are models whose order is turned round.

    Parameters
    ----------
    rows : sequence of dict
        Rows of results.csv that have a value.
    """
    rules, models = distinct(rows, "candidates"), distinct(rows, "model")
    metric = next(m for m in distinct(rows, "metric") if m.startswith(SHOWN))
    ranks = [places(values_of(rows, rule, metric)) for rule in rules]
    with look():
        figure, (axes,) = new_figure(
            f"Place of each model by {label(metric)}", height=1.4 + 0.31 * len(models)
        )
        for number, model in enumerate(models):
            columns = [column for column, rank in enumerate(ranks) if model in rank]
            heights = [ranks[column][model] for column in columns]
            axes.plot(
                columns,
                heights,
                color=color(number),
                linestyle=line_style(number),
                marker=MARKERS[number % len(MARKERS)],
                markersize=6,
            )
            for end, shift, side in ((0, -10, "right"), (-1, 10, "left")):
                axes.annotate(
                    model,
                    (columns[end], heights[end]),
                    xytext=(shift, 0),
                    textcoords="offset points",
                    ha=side,
                    va="center",
                    color=color(number),
                    fontsize=SMALL,
                )
        axes.set_xlim(-0.55, len(rules) - 0.45)
        axes.set_ylim(len(models) + 0.5, 0.5)
        axes.set_xticks(range(len(rules)), [rule.replace(" by=", "\nby ") for rule in rules], color=INK)
        axes.set_yticks([1, len(models)], ["best", "worst"])
        axes.grid(visible=False, axis="y")
        axes.set_xlabel("candidates")
        return figure
