"""The page of sampled metrics, from the rows of results.csv."""

import math
from collections.abc import Sequence
from itertools import combinations

from scipy.stats import kendalltau

from recgauge.studies import Row
from recgauge.studies.files import markdown_table
from recgauge.studies.metric_disagreement.page import distinct, label

FULL = "all"
SURE = 2
SHOWN = "ndcg"
"""The metric whose values and places are shown in full; the others are in results.csv."""


def page(rows: Sequence[Row]) -> str:
    """Return values, rank agreement and changes of the order; missing runs are named."""
    measured = [row for row in rows if row["value"]]
    missing = [
        f"- open: {row['model']} under {row['candidates']}: {row['reason']}"
        for row in rows
        if not row["metric"]
    ]
    lines = ["\n".join(missing)] if missing else []
    if measured:
        shown = next(m for m in distinct(measured, "metric") if m.startswith(SHOWN))
        lines += [
            f"### {label(shown)} of the same models under each candidate rule",
            _values(measured, shown),
            f"![Places of the models by {label(shown)}](places.png)",
            "### Do the rules agree on the order?",
            _agreement(measured),
            f"### Whose order is turned round, by {label(shown)}",
            _turned(measured, shown),
        ]
    return "\n\n".join(lines)


def values_of(rows: Sequence[Row], rule: str, metric: str) -> dict[str, float]:
    """Return the models' values under one rule."""
    wanted = (rule, metric)
    return {row["model"]: float(row["value"]) for row in rows if (row["candidates"], row["metric"]) == wanted}


def places(values: dict[str, float]) -> dict[str, int]:
    """Return each model's place, the highest value first.

    Examples
    --------
    >>> places({"random": 0.1, "svd": 0.3, "popularity": 0.2})
    {'svd': 1, 'popularity': 2, 'random': 3}
    """
    return {model: place for place, model in enumerate(sorted(values, key=lambda m: -values[m]), start=1)}


def _values(rows: Sequence[Row], metric: str) -> str:
    rules = distinct(rows, "candidates")
    found = {rule: values_of(rows, rule, metric) for rule in rules}
    ranks = {rule: places(values) for rule, values in found.items()}
    order = list(ranks.get(FULL, ranks[rules[0]]))
    cells = [
        [
            model,
            *(
                f"{found[rule][model]:.4f} ({ranks[rule][model]})" if model in found[rule] else ""
                for rule in rules
            ),
        ]
        for model in [*order, *(m for m in distinct(rows, "model") if m not in order)]
    ]
    return markdown_table(cells, ["model", *rules], right=rules) + "\n\nIn brackets: the model's place."


def _agreement(rows: Sequence[Row]) -> str:
    """Return Kendall's tau between the whole catalogue and each rule, and the first place, per metric."""
    rules = [rule for rule in distinct(rows, "candidates") if rule != FULL]
    cells = []
    for metric in distinct(rows, "metric"):
        full = values_of(rows, FULL, metric)
        taus = [_told_tau(full, values_of(rows, rule, metric)) for rule in rules]
        cells.append([label(metric), next(iter(places(full)), ""), *taus])
    header = ["metric", f"best under {FULL}", *rules]
    return markdown_table(cells, header, right=rules) + (
        "\n\nKendall's τ between the order of the models under the whole catalogue and under the rule "
        "(1: the same order, 0: unrelated, -1: the reverse); after it, how many pairs of models are turned "
        "round, and the best model where it is another one."
    )


def _told_tau(full: dict[str, float], other: dict[str, float]) -> str:
    shared = [model for model in full if model in other]
    if len(shared) < 2:
        return ""
    found = float(kendalltau([full[m] for m in shared], [other[m] for m in shared]).statistic)
    n_turned = len(turned(full, other))
    best, its = next(iter(places(full))), next(iter(places(other)))
    return f"{found:.2f} ({n_turned}{'' if its == best else f'; best: {its}'})"


def turned(full: dict[str, float], other: dict[str, float]) -> list[tuple[str, str]]:
    """Return the pairs (better, worse under `full`) whose order `other` turns round.

    Examples
    --------
    >>> turned({"a": 3.0, "b": 2.0, "c": 1.0}, {"a": 0.2, "b": 0.3, "c": 0.1})
    [('a', 'b')]
    """
    order = [model for model in places(full) if model in other]
    return [(better, worse) for better, worse in combinations(order, 2) if other[better] < other[worse]]


def clear(rows: Sequence[Row], rule: str, metric: str, pair: tuple[str, str]) -> bool:
    """Return whether the values of two models lie more than `SURE` standard errors apart under a rule.

    The users are the same for all models, which makes differences surer than taken here.
    """
    found = [row for row in rows if (row["candidates"], row["metric"]) == (rule, metric)]
    one, other = (next(row for row in found if row["model"] == model) for model in pair)
    if not (one["stderr"] and other["stderr"]):
        return False
    apart = abs(float(one["value"]) - float(other["value"]))
    return apart > SURE * math.hypot(float(one["stderr"]), float(other["stderr"]))


def _turned(rows: Sequence[Row], metric: str) -> str:
    full = values_of(rows, FULL, metric)
    cells = []
    for rule in distinct(rows, "candidates"):
        if rule == FULL:
            continue
        pairs = turned(full, values_of(rows, rule, metric))
        sure = {pair for pair in pairs if clear(rows, FULL, metric, pair) and clear(rows, rule, metric, pair)}
        told = [_told(pair, sure=pair in sure) for pair in pairs]
        cells.append([rule, str(len(pairs)), str(len(sure)), "; ".join(told) or "none"])
    header = ["candidates", "pairs", "of them clear", "which"]
    return markdown_table(cells, header, right=header[1:3]) + (
        f"\n\nClear, in bold: under both rules the two values lie more than {SURE} standard errors apart."
    )


def _told(pair: tuple[str, str], *, sure: bool) -> str:
    told = f"{pair[1]} above {pair[0]}"
    return f"**{told}**" if sure else told
