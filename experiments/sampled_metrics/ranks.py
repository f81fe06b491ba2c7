"""The order of models under several conditions: ranks, how far two orders agree, which pairs turn round."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from recgauge.report import markdown_table
from recgauge.studies import Row, distinct, label, where

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def values_of(rows: Sequence[Row], metric: str, **condition: str) -> dict[str, float]:
    """Return the models' values under a condition, a column and its text such as ``candidates="all"``."""
    return {row["model"]: float(row["value"]) for row in where(rows, metric=metric, **condition)}


def ranks_of(values: Mapping[str, float]) -> dict[str, int]:
    """Return each model's rank, the highest value first.

    Examples
    --------
    >>> ranks_of({"random": 0.1, "svd": 0.3, "popularity": 0.2})
    {'svd': 1, 'popularity': 2, 'random': 3}
    """
    return {model: rank for rank, model in enumerate(sorted(values, key=lambda m: -values[m]), start=1)}


def turned(reference: Mapping[str, float], other: Mapping[str, float]) -> list[tuple[str, str]]:
    """Return the pairs (better, worse under `reference`) whose order `other` turns round.

    Examples
    --------
    >>> turned({"a": 3.0, "b": 2.0, "c": 1.0}, {"a": 0.2, "b": 0.3, "c": 0.1})
    [('a', 'b')]
    """
    order = [model for model in ranks_of(reference) if model in other]
    return [(better, worse) for better, worse in combinations(order, 2) if other[better] < other[worse]]


def rank_table(rows: Sequence[Row], column: str, metric: str, first: str) -> str:
    """Return values and ranks, a column per condition; the models in their order under `first`."""
    conditions = distinct(rows, column)
    found = {name: values_of(rows, metric, **{column: name}) for name in conditions}
    ranks = {name: ranks_of(values) for name, values in found.items()}
    order = list(ranks.get(first, ranks[conditions[0]]))
    cells = []
    for model in dict.fromkeys([*order, *distinct(rows, "model")]):
        both = [(found[name].get(model), ranks[name].get(model)) for name in conditions]
        cells.append([model, *("" if value is None else f"{value:.4f} ({rank})" for value, rank in both)])
    return markdown_table(cells, ["model", *conditions], right=conditions) + (
        "\n\nIn brackets: the model's rank."
    )


def agreement_table(rows: Sequence[Row], column: str, reference: str) -> str:
    """Return, per metric and condition, Kendall's τ with a reference, pairs that turn, another best model."""
    others, cells = [name for name in distinct(rows, column) if name != reference], []
    for metric in distinct(rows, "metric"):
        known = values_of(rows, metric, **{column: reference})
        taus = [_agreement(known, values_of(rows, metric, **{column: name})) for name in others]
        cells.append([label(metric), next(iter(ranks_of(known)), ""), *taus])
    return markdown_table(cells, ["metric", f"best under {reference}", *others], right=others)


def _agreement(reference: dict[str, float], other: dict[str, float]) -> str:
    shared = [model for model in reference if model in other]
    if len(shared) < 2:
        return ""
    from scipy.stats import kendalltau

    found = float(kendalltau([reference[m] for m in shared], [other[m] for m in shared]).statistic)
    n_turned = len(turned(reference, other))
    best, its = next(iter(ranks_of(reference))), next(iter(ranks_of(other)))
    return f"{found:.2f} ({n_turned}{'' if its == best else f'; best: {its}'})"


def plot_ranks(
    rows: Sequence[Row], column: str, metric: str, ticks: Mapping[str, str] | None = None
) -> "Figure":
    """Return one line per model from condition to condition; lines that cross are models that change order.

    `ticks` has the text of conditions whose names are too long for an axis.
    """
    from recgauge.report.figures.style import INK, line_look, new_figure, write_beside

    conditions, models = distinct(rows, column), distinct(rows, "model")
    ranks = [ranks_of(values_of(rows, metric, **{column: name})) for name in conditions]
    texts = [(ticks or {}).get(name, name) for name in conditions]
    height = 1.06 + 0.17 * max(len(text.split("\n")) for text in texts) + 0.31 * len(models)
    beside = 0.1375 * len(conditions)  # for names of models, at both sides
    with new_figure(f"Rank of each model by {label(metric)}", height=height) as (figure, (axes,)):
        for number, model in enumerate(models):
            columns = [place for place, rank in enumerate(ranks) if model in rank]
            heights = [ranks[place][model] for place in columns]
            drawn = line_look(number, marker=True) | {"markersize": 6}
            axes.plot(columns, heights, **drawn)
            for end, shift, side in ((0, -10, "right"), (-1, 10, "left")):
                point = columns[end], heights[end]
                write_beside(axes, model, point, (shift, 0), ha=side, va="center", color=drawn["color"])
        axes.set_xlim(-beside, len(conditions) - 1 + beside)
        axes.set_ylim(len(models) + 0.5, 0.5)
        axes.set_xticks(range(len(conditions)), texts, color=INK)
        axes.set_yticks([1, len(models)], ["best", "worst"])
        axes.grid(visible=False, axis="y")
        axes.set_xlabel(column)
        return figure
