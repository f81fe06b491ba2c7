"""The same models under full, sampled and test-only candidates, and whether their order is the same."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, ClassVar

from recgauge.report import markdown_table
from recgauge.runs.outcome import JobOutcome
from recgauge.studies import Row, Study, distinct, label, missing_runs, number_row, where

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from recgauge.runs.record import RunRecord

COLUMNS = ("dataset", "candidates", "model", "metric", "value", "stderr", "definition", "reason")
FULL = "all"
SURE = 2
SHOWN = "ndcg"
"""The metric whose values and ranks are shown in full; the others are in results.csv."""


@dataclass(frozen=True)
class SampledMetrics(Study):
    """Collects the metrics of every model under every candidate rule."""

    columns: ClassVar[tuple[str, ...]] = COLUMNS
    name: str
    k: int = 10  # the cutoff that is looked at

    def about(self, run: JobOutcome) -> Row:
        """Return data set, candidate rule and model."""
        return {"dataset": run.names.get("dataset", ""), "candidates": _rule(run), "model": _model(run)}

    def numbers(self, run: JobOutcome, record: "RunRecord") -> list[Row]:  # noqa: ARG002 - of the record
        """Return one row per metric."""
        return [number_row(entry) for entry in record.results if entry.k == self.k]

    def markdown(self, rows: Sequence[Row]) -> str:
        """Return values, rank agreement and what changes in the order; missing runs are named."""
        lines = missing_runs(rows, "{model} under {candidates}")
        if found := [row for row in rows if row["value"]]:
            shown = _shown(found)
            lines += [
                f"### {label(shown)} of the same models under each candidate rule",
                _values(found, shown),
                f"![Ranks of the models by {label(shown)}](ranks.png)",
                "### Do the rules agree on the order?",
                _agreement(found),
                f"### Which pairs of models change order, by {label(shown)}",
                _turned(found, shown),
            ]
        return "\n\n".join(lines)

    def figures(self, rows: Sequence[Row]) -> "dict[str, Figure]":
        """Return the ranks of the models as a figure."""
        found = [row for row in rows if row["value"]]
        return {"ranks": plot_ranks(found)} if found else {}


def _rule(run: JobOutcome) -> str:
    """Name the candidate rule with what distinguishes it from others."""
    name = run.names.get("candidates", "")
    settings = run.settings.get("candidates", {})
    return f"{name} {settings['n']} by={settings['by']}" if name == "sampled" else name


def _model(run: JobOutcome) -> str:
    """Name the model; several of a kind differ in their number of factors."""
    name = run.names.get("model", "")
    return f"{name} {run.settings['model']['n_factors']}" if name == "svd" else name


def _shown(rows: Sequence[Row]) -> str:
    return next(metric for metric in distinct(rows, "metric") if metric.startswith(SHOWN))


def values_of(rows: Sequence[Row], rule: str, metric: str) -> dict[str, float]:
    """Return the models' values under one rule."""
    return {row["model"]: float(row["value"]) for row in where(rows, candidates=rule, metric=metric)}


def ranks_of(values: dict[str, float]) -> dict[str, int]:
    """Return each model's rank, the highest value first.

    Examples
    --------
    >>> ranks_of({"random": 0.1, "svd": 0.3, "popularity": 0.2})
    {'svd': 1, 'popularity': 2, 'random': 3}
    """
    return {model: rank for rank, model in enumerate(sorted(values, key=lambda m: -values[m]), start=1)}


def _values(rows: Sequence[Row], metric: str) -> str:
    rules = distinct(rows, "candidates")
    found = {rule: values_of(rows, rule, metric) for rule in rules}
    ranks = {rule: ranks_of(values) for rule, values in found.items()}
    order = list(ranks.get(FULL, ranks[rules[0]]))
    cells = []
    for model in dict.fromkeys([*order, *distinct(rows, "model")]):
        both = [(found[rule].get(model), ranks[rule].get(model)) for rule in rules]
        cells.append([model, *("" if value is None else f"{value:.4f} ({rank})" for value, rank in both)])
    return markdown_table(cells, ["model", *rules], right=rules) + "\n\nIn brackets: the model's rank."


def _agreement(rows: Sequence[Row]) -> str:
    """Return Kendall's tau between the whole catalogue and each rule, and the best model, per metric."""
    rules, cells = _other_rules(rows), []
    for metric in distinct(rows, "metric"):
        full = values_of(rows, FULL, metric)
        taus = [_told_tau(full, values_of(rows, rule, metric)) for rule in rules]
        cells.append([label(metric), next(iter(ranks_of(full)), ""), *taus])
    header = ["metric", f"best under {FULL}", *rules]
    return markdown_table(cells, header, right=rules) + (
        "\n\nKendall's τ between the order of the models under the whole catalogue and under the rule "
        "(1: the same order, 0: unrelated, -1: the reverse); after it, how many pairs of models change "
        "order, and the best model where it is another one."
    )


def _told_tau(full: dict[str, float], other: dict[str, float]) -> str:
    shared = [model for model in full if model in other]
    if len(shared) < 2:
        return ""
    from scipy.stats import kendalltau

    found = float(kendalltau([full[m] for m in shared], [other[m] for m in shared]).statistic)
    n_turned = len(turned(full, other))
    best, its = next(iter(ranks_of(full))), next(iter(ranks_of(other)))
    return f"{found:.2f} ({n_turned}{'' if its == best else f'; best: {its}'})"


def turned(full: dict[str, float], other: dict[str, float]) -> list[tuple[str, str]]:
    """Return the pairs (better, worse under `full`) whose order `other` turns round.

    Examples
    --------
    >>> turned({"a": 3.0, "b": 2.0, "c": 1.0}, {"a": 0.2, "b": 0.3, "c": 0.1})
    [('a', 'b')]
    """
    order = [model for model in ranks_of(full) if model in other]
    return [(better, worse) for better, worse in combinations(order, 2) if other[better] < other[worse]]


def clear(rows: Sequence[Row], rule: str, metric: str, pair: tuple[str, str]) -> bool:
    """Return whether the values of two models are more than `SURE` standard errors apart under a rule.

    The users are the same for all models, which makes differences surer than taken here.
    """
    one, other = (where(rows, candidates=rule, metric=metric, model=model)[0] for model in pair)
    if not (one["stderr"] and other["stderr"]):
        return False
    apart = abs(float(one["value"]) - float(other["value"]))
    return apart > SURE * math.hypot(float(one["stderr"]), float(other["stderr"]))


def _turned(rows: Sequence[Row], metric: str) -> str:
    full = values_of(rows, FULL, metric)
    cells = []
    for rule in _other_rules(rows):
        pairs = turned(full, values_of(rows, rule, metric))
        sure = {pair for pair in pairs if clear(rows, FULL, metric, pair) and clear(rows, rule, metric, pair)}
        told = {pair: f"{pair[1]} above {pair[0]}" for pair in pairs}
        listed = "; ".join(f"**{text}**" if pair in sure else text for pair, text in told.items())
        cells.append([rule, str(len(pairs)), str(len(sure)), listed or "none"])
    header = ["candidates", "pairs", "of them clear", "which"]
    return markdown_table(cells, header, right=header[1:3]) + (
        f"\n\nClear, in bold: under both rules the two values are more than {SURE} standard errors apart."
    )


def _other_rules(rows: Sequence[Row]) -> list[str]:
    return [rule for rule in distinct(rows, "candidates") if rule != FULL]


def plot_ranks(rows: Sequence[Row]) -> "Figure":
    """Return one line per model from rule to rule; lines that cross are models that change order."""
    from recgauge.report.figures.style import INK, line_look, new_figure, write_beside

    rules, models = distinct(rows, "candidates"), distinct(rows, "model")
    metric = _shown(rows)
    ranks = [ranks_of(values_of(rows, rule, metric)) for rule in rules]
    title = f"Rank of each model by {label(metric)}"
    with new_figure(title, height=1.4 + 0.31 * len(models)) as (figure, (axes,)):
        for number, model in enumerate(models):
            columns = [column for column, rank in enumerate(ranks) if model in rank]
            heights = [ranks[column][model] for column in columns]
            drawn = line_look(number, marker=True) | {"markersize": 6}
            axes.plot(columns, heights, **drawn)
            for end, shift, side in ((0, -10, "right"), (-1, 10, "left")):
                point = columns[end], heights[end]
                write_beside(axes, model, point, (shift, 0), ha=side, va="center", color=drawn["color"])
        axes.set_xlim(-0.55, len(rules) - 0.45)
        axes.set_ylim(len(models) + 0.5, 0.5)
        axes.set_xticks(range(len(rules)), [rule.replace(" by=", "\nby ") for rule in rules], color=INK)
        axes.set_yticks([1, len(models)], ["best", "worst"])
        axes.grid(visible=False, axis="y")
        axes.set_xlabel("candidates")
        return figure
