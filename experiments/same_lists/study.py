"""The same lists under every library: each value, which of them differ from the default, and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar

from recgauge.conventions import Convention, conventions, get_convention
from recgauge.judging import Policies
from recgauge.metrics import Metric
from recgauge.report import markdown_table
from recgauge.runs.folder import JobOutcome
from recgauge.studies import Row, distinct, folded, label, missing_runs, where

from ..metric_disagreement.study import MISSING, MetricDisagreement, orders, ranges, refusals

DEFAULT = "standard"
OF_METRIC: Mapping[tuple[str, str, Any], str] = {
    ("ndcg", "gain", "binary"): "every relevant item gains 1",
    ("ndcg", "gain", "exponential"): "a rating gains 2^rating - 1",
    ("ndcg", "gain_offset", -1.0): "with one added to the rating first",
    ("ndcg", "discount", "jarvelin2"): "ranks 1 and 2 weigh the same, later ones 1 / log2(rank)",
    ("ndcg", "discount", "ln"): "",
    ("ndcg", "ideal", "k_ones"): "the best list has k hits, however few items are relevant",
    ("ndcg", "ideal", "full"): "the best list has all relevant items, also more than k",
    ("ndcg", "ideal", "list_length"): "the best list is as long as the judged one",
    ("ndcg", "ideal", "own_list"): "the best list is the judged one re-sorted, whatever it misses",
    ("ndcg", "ideal", "own_at_k"): "the best list is the judged one, cut at k and re-sorted",
    ("ndcg", "normalization", "minmax"): "stretched from the worst order of the list to the best",
    ("recall", "denominator", "min_relevant_k"): "divides by at most k relevant items",
    ("precision", "denominator", "list"): "divides by the length of the list",
    ("precision", "zero", "nan"): "",
    ("f1", "zero", "nan"): "a list without a hit has no value",
    ("map", "normalizer", "min_relevant_k"): "divides by at most k relevant items",
    ("map", "normalizer", "min_relevant_list"): "divides by at most as many items as the list has",
    ("map", "normalizer", "hits"): "divides by the hits, so that missed items cost nothing",
    ("map", "normalizer", "k"): "divides by k",
    ("map", "at", "ranks"): "sums the precision of every rank, not that of hits",
    ("map", "zero", "nan"): "a list whose divisor is 0 has no value",
    ("mrr", "miss", "raise"): "a list without a hit is refused",
}
"""What a parameter that differs from the default means, by metric, parameter and value; empty as below."""
OF_CLASS = {
    "f1_of_means": "of the mean precision and the mean recall",
    "micro_precision": "all users' hits are pooled and divided by what all could have hit",
}
"""What a metric means that is not the default one under this name."""
OF_POLICY: Mapping[tuple[str, Any], str] = {
    ("no_relevant", "zero"): "users without relevant items count 0",
    ("no_relevant", "nan"): "",
    ("no_relevant", "raise"): "users without relevant items are refused",
    ("no_positive_grade", "zero"): "users without relevant items count 0",
    ("no_list", "skip"): "",
    ("no_list", "raise"): "",
    ("ties", "id_descending"): "equal scores put the higher item id first",
    ("ties", "item_code"): "",
    ("ties", "average"): "items with equal scores share their ranks",
    ("repeats", "miss"): "",
    ("repeats", "every"): "",
    ("repeats", "distinct"): "",
    ("lists_of", "relevant"): "",
    ("lists_of", "evaluated"): "",
    ("unknown", "drop"): "",
    ("seen", "drop"): "",
    ("longest", 50): "",
    ("threshold", 0.0): "",
    ("round", 4): "each user's value keeps 4 decimals",
    ("round", 5): "each user's value keeps 5 decimals",
    ("rounding", "printf"): "",
    ("score_precision", "single"): "",
}
"""What a policy means; empty where a run's lists and grades give it nothing to act on."""


@dataclass(frozen=True)
class SameLists(MetricDisagreement):
    """Judges every run's lists under all conventions, and tells why a value is not the default one."""

    artifacts: ClassVar[tuple[str, ...]] = ("conventions.csv",)
    shown: str = "svd"  # the model whose values the page shows first

    def rows(self, runs: Sequence[JobOutcome], source: Path) -> list[Row]:
        """Return one row per data set, model, metric and convention, and why it differs."""
        rows = super().rows(runs, source)
        named = ("dataset", "model", "metric")
        default = {
            tuple(row[name] for name in named): row["value"] for row in where(rows, convention=DEFAULT)
        }
        found = []
        for row in rows:
            same = row["value"] in ("", default.get(tuple(row[name] for name in named)))
            metric = row["metric"].rpartition("_at_")[0]
            found.append(row | {"why": "" if same else reason(get_convention(row["convention"]), metric)})
        return found

    def markdown(self, rows: Sequence[Row]) -> str:
        """Return every value, the groups of equal ones with their reason, ranges and orders of the models."""
        lines = missing_runs(rows, MISSING)
        if measured := [row for row in rows if row["value"]]:
            models = sorted(distinct(measured, "model"), key=lambda model: model != self.shown)
            lines += [
                f"### The lists of {models[0]}",
                *(_values(rows, dataset, models[0]) for dataset in distinct(measured, "dataset")),
                *(
                    folded(f"{model} on {dataset}", _values(rows, dataset, model))
                    for model in models[1:]
                    for dataset in distinct(measured, "dataset")
                ),
                "### Which differ, and why",
                _groups(where(measured, model=models[0])),
                "### How far each metric spreads",
                ranges(measured),
                "![Each metric of each model under every convention](ranges.png)",
                "### Does the order of the models change?",
                orders(measured),
                *refusals([row for row in rows if row["metric"] and not row["value"]]),
            ]
        return "\n\n".join(lines)


def reason(convention: Convention, metric: str) -> str:
    """Return what a convention changes of a metric's default definition, empty for nothing that a run shows.

    Examples
    --------
    >>> reason(get_convention("rectools"), "ndcg")
    'every relevant item gains 1; the best list has k hits, however few items are relevant'
    """
    chosen, default = convention.definition(metric), get_convention(DEFAULT).definition(metric)
    texts = _of_metric(metric, chosen.metric, default.metric)
    for field in fields(Policies):
        value = getattr(chosen.policies, field.name)
        if value != getattr(default.policies, field.name) and value is not None:
            texts.append(OF_POLICY[field.name, value])
    return "; ".join(filter(None, texts))


def _of_metric(name: str, chosen: Metric, default: Metric) -> list[str]:
    if type(chosen) is not type(default):
        return [OF_CLASS[chosen.name]]
    changed = [
        (field.name, getattr(chosen, field.name))
        for field in fields(chosen)
        if getattr(chosen, field.name) != getattr(default, field.name)
    ]
    return [OF_METRIC[name, parameter, value] for parameter, value in changed]


def _values(rows: Sequence[Row], dataset: str, model: str) -> str:
    """Return convention x metric; refused where the source's own code stops."""
    mine = where(rows, dataset=dataset, model=model)
    metrics = distinct(mine, "metric")
    cells = {
        (row["convention"], row["metric"]): f"{float(row['value']):.4f}" if row["value"] else "refused"
        for row in mine
    }
    names = [name for name in conventions() if any((name, metric) in cells for metric in metrics)]
    table = [[f"`{name}`", *(cells.get((name, metric), "") for metric in metrics)] for name in names]
    header = ["convention", *map(label, metrics)]
    return f"{model} on {dataset}:\n\n{markdown_table(table, header, right=header[1:])}"


def _groups(rows: Sequence[Row]) -> str:
    """Return the conventions of each metric by value on all data sets, with what sets them apart."""
    datasets = distinct(rows, "dataset")
    cells = []
    for metric in distinct(rows, "metric"):
        groups: dict[tuple[str, ...], list[str]] = {}
        for name in distinct(where(rows, metric=metric), "convention"):
            mine = {row["dataset"]: row for row in where(rows, metric=metric, convention=name)}
            values = (
                f"{float(mine[dataset]['value']):.4f}" if dataset in mine else "" for dataset in datasets
            )
            groups.setdefault((*values, next(iter(mine.values()))["why"]), []).append(name)
        cells += [
            [label(metric), *values, ", ".join(f"`{name}`" for name in names), why or "as `standard`"]
            for (*values, why), names in groups.items()
        ]
    header = ["metric", *(f"on {dataset}" for dataset in datasets), "conventions", "what sets them apart"]
    return markdown_table(cells, header, right=header[1 : 1 + len(datasets)])
