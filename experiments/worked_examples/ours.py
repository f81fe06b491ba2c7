"""Computes the worked cases with recgauge, each under its article's own convention."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

import recgauge
from recgauge.conventions import get_convention
from recgauge.errors import MetricError, SchemaError
from recgauge.metrics.beyond.novelty import UnpopularSerendipity
from recgauge.metrics.classes import ClassFScore, ClassMetric, ClassPrecision, ClassRecall

from .cases import (
    Case,
    Computed,
    expected_values,
    iris_labels,
    same,
    tolerance,
)

if TYPE_CHECKING:
    from recgauge.metrics import Metric

RATINGS = {"mae", "mse", "rmse"}
CLASSES: dict[str, type[ClassMetric]] = {
    "precision": ClassPrecision,
    "recall": ClassRecall,
    "f1": ClassFScore,
}
BEYOND = {
    "catalog_coverage",
    "prediction_coverage",
    "diversity",
    "list_diversity",
    "intra_list_similarity",
    "personalization",
    "novelty",
    "serendipity",
}
NAMES = {
    "average_precision": "ap",
    "reciprocal_rank": "rr",
    "hit_ratio": "hit",
    "map": "ap",
    "mrr": "rr",
    "mar": "ar",
}
RANKING = {"precision", "recall", "f1", "ndcg", "dcg", *NAMES}
LEFT_OUT = {
    "ap-duplicates": "mixes two ways of counting a repeated item: each is a hit, precision counts it once",
    "ndcg-default-k": "the article's default cutoff crashes; without one recgauge looks at the whole list",
    "mapk": "the article's function takes k for the divisor but never cuts the list",
    "mapk-default-k": "the article's function leaves k at 10 for a list of 20, so that AP is 2",
    "novelty-printed-code": "the page lost a line of code; the whole one is compared",
    "novelty-printed-unseen": "the page lost a line of code; the whole one is compared",
    "personalization-ragged": "the code fails on lists of unequal length, ours does not",
}
"""Case to the reason why recgauge does not compute what the article's code does."""


def compute(case: Case) -> Computed:
    """Return what recgauge makes of a case, under the article's convention."""
    if reason := left_out(case):
        return Computed(reason=reason, left_out=True)
    if case["metric"] in BEYOND:
        return _evaluate(case, _beyond_arguments(case))
    if case["metric"] in RATINGS:
        return _compute_ratings(case)
    if case["metric"] == "precision_recall":
        return _compute_two_systems(case)
    return (
        _compute_classes(case) if "average=" in case["variant"] else _evaluate(case, _ranking_arguments(case))
    )


def agrees(case: Case, ours: Computed) -> bool:
    """Whether ours is the value of the article's code; where that has none, ours must have none either."""
    theirs = expected_values(case)
    if ours.left_out:
        return False
    if not theirs or any(value != value for value in theirs):  # a crash or NaN
        return not ours.values
    return same(ours.values, theirs, tolerance(case))


def is_ranking(case: Case) -> bool:
    """Whether the case is about ranked lists and metrics that look at hits."""
    return case["metric"] in RANKING and "y_true" not in case["inputs"]


def left_out(case: Case) -> str | None:
    """Return why recgauge does not compute what the article's code does, None if it does."""
    if case["id"] == "ap-duplicates" and case["article"] != "article_offline_metrics":
        return None
    return LEFT_OUT.get(case["id"])


def _evaluate(case: Case, arguments: dict[str, Any]) -> Computed:
    """Evaluate the case; its values are the users' where the article lists those."""
    try:
        result = recgauge.evaluate(**arguments).results[0]
    except MetricError as error:
        return Computed(reason=str(error))
    if is_ranking(case) and result.n_users < len(arguments["recommendations"]):
        return Computed(reason="undefined for a user, who is left out and counted")
    if isinstance(case["expected"], list) and result.per_user is not None:
        return Computed(tuple(map(float, result.per_user)))
    return Computed((result.value,))


def _ranking_arguments(case: Case) -> dict[str, Any]:
    """Turn a case's inputs into arguments of `recgauge.evaluate`."""
    inputs = case["inputs"]
    lists, relevant = _from_grades(inputs) if "r" in inputs else _from_items(inputs)
    convention = get_convention(case["article"])
    if "duplicates=count" in case["variant"]:
        convention = replace(convention, policies=replace(convention.policies, repeats="every"))
    return {
        "recommendations": lists,
        "relevant": relevant,
        "metrics": (_named(NAMES.get(case["metric"]) or str(case["metric"]), case),),
        "cutoffs": (inputs.get("k", inputs.get("at")),),
        "conventions": convention,
    }


def _named(metric: str, case: Case) -> str:
    """Return the convention's name for the variant that the case is about."""
    if "round=2" in case["variant"]:
        return f"{'map' if metric == 'ap' else metric}_rounded"
    if case["article"] == "article_capri" and metric == "ndcg":
        return "ndcg_graded" if case["inputs"]["relevance"] else "ndcg"
    if case["article"] != "article_ndcg_note":
        return metric
    method0 = "_method0" if "jarvelin2" in case["variant"] else ""
    if metric == "ndcg" and "best_r" in case["inputs"]:
        metric = "ndcg_2_minmax" if "minmax" in case["variant"] else "ndcg_2"
    elif metric == "ndcg" and "minmax" not in case["variant"]:
        metric = "ndcg_plain"
    return metric + method0


def _from_items(inputs: dict[str, Any]) -> tuple[dict[int, list[Any]], dict[int, dict[Any, float]]]:
    lists: Any = inputs.get("predicted", inputs.get("recommended"))
    relevant: Any = inputs.get("relevant", inputs.get("actual"))
    grades = inputs.get("grades") or inputs.get("relevance")
    if not (lists and isinstance(lists[0], list)) and not (relevant and isinstance(relevant[0], list)):
        lists, relevant = [lists], [relevant]
    graded = [dict.fromkeys(items, 1.0) for items in relevant]
    if grades:
        graded = [dict(zip(relevant[0], grades, strict=True))]
    return dict(enumerate(lists)), dict(enumerate(graded))


def _from_grades(inputs: dict[str, Any]) -> tuple[dict[int, list[Any]], dict[int, dict[Any, float]]]:
    """Make up items for lists given as grades in order of rank; the best list adds those that were missed."""
    grades = list(inputs["r"])
    if inputs.get("worst_r"):
        # the worst list has one item more than the list: one that the list shows below the cutoff
        rest = list(inputs["worst_r"])
        for grade in grades:
            rest.remove(grade)
        grades += rest
    items = [f"item {rank}" for rank in range(len(grades))]
    relevant = {item: grade for item, grade in zip(items, grades, strict=True) if grade > 0}
    missed = list(inputs.get("best_r", []))
    for grade in relevant.values():
        if missed:
            missed.remove(grade)
    relevant |= {f"missed {number}": grade for number, grade in enumerate(missed)}
    return {0: items}, {0: relevant}


def _beyond_arguments(case: Case) -> dict[str, Any]:
    """Turn a case's inputs into arguments of `recgauge.evaluate` for a metric beyond accuracy."""
    inputs = case["inputs"]
    lists = _lists(inputs)
    relevant = {
        f"user {row}": dict.fromkeys(items, 1.0) for row, items in enumerate(inputs.get("relevant", []))
    }
    metric: str | Metric = "prediction_coverage" if case["id"] == "prediction-coverage" else case["metric"]
    if metric == "serendipity":
        # the article names nine of its twenty items popular; here they are the nine that are in training
        metric = UnpopularSerendipity(popular=9 / 20)
    features, matrix = inputs.get("features"), inputs.get("similarity")
    known = {_item(item) for item in [*inputs.get("catalog", []), *(features or {})]}
    known |= {item for items in (*lists.values(), *relevant.values()) for item in items}
    counts = (len(known), inputs.get("total_items", 0), len(matrix or []), 20 if "popular" in inputs else 0)
    return {
        "recommendations": lists,
        "relevant": relevant,
        "metrics": {"asked": metric},
        "cutoffs": (inputs.get("k") or inputs.get("n"),),
        "conventions": case["article"],
        "train": _train(inputs),
        "item_features": features and {_item(item): vector for item, vector in features.items()},
        "item_similarity": None if matrix is None else np.array(matrix),
        "n_items": max(counts),
        "users": [*lists],
    }


def _train(inputs: dict[str, Any]) -> dict[str, list[Any]]:
    """Make up training users so that each item has as many as the case says."""
    counts = inputs.get("pop") or dict.fromkeys(map(str, inputs.get("popular", [])), 1)
    train: dict[str, list[Any]] = {f"trained {user}": [] for user in range(inputs.get("u", 1))}
    for item, count in counts.items():
        for user in range(count):
            train[f"trained {user}"].append(int(item))
    return train


def _lists(inputs: dict[str, Any]) -> dict[str, list[Any]]:
    lists = inputs.get("recommended") or inputs.get("predicted") or inputs["predicted_ratings"]
    lists = lists if isinstance(lists[0], (list, dict)) else [lists]
    return {f"user {row}": [_item(item) for item in items] for row, items in enumerate(lists)}


def _item(item: Any) -> Any:
    return int(item) if str(item).isdecimal() else item


def _compute_ratings(case: Case) -> Computed:
    """Evaluate predicted ratings; the articles define these in the usual way."""
    inputs, metric = case["inputs"], case["metric"]
    result = recgauge.evaluate_ratings(inputs["actual"], inputs["predicted"], metrics=(metric,))
    return Computed((result.values()[metric],))


def _compute_classes(case: Case) -> Computed:
    """Evaluate labels with the average that the case names; those of iris are of a classifier trained now."""
    inputs = case["inputs"]
    metric = CLASSES[case["metric"]](average=case["variant"].removeprefix("average="))
    actual, predicted, reason = inputs["y_true"], inputs["y_pred"], ""
    if inputs.get("sample") == "iris":
        if iris_labels() != (actual, predicted):
            reason = "this version of scikit-learn gives other labels than the stored ones"
        actual, predicted = iris_labels()
    try:
        return Computed((float(metric.value(actual, predicted)),), reason)
    except SchemaError as error:
        return Computed(reason=str(error))


def _compute_two_systems(case: Case) -> Computed:
    """Evaluate precision and recall of two systems where the article compares them: at their end."""
    inputs = case["inputs"]
    lists = {"a": inputs["predicted_a"], "b": inputs["predicted_b"]}
    result = recgauge.evaluate(
        lists, dict.fromkeys(lists, inputs["relevant"]), metrics=("precision", "recall"), cutoffs=(5,)
    )
    pairs = zip(result.per_user("precision_at_5"), result.per_user("recall_at_5"), strict=True)
    return Computed(tuple(float(value) for pair in pairs for value in pair))
