"""Worked cases of ranked lists, through the article's own convention."""

from dataclasses import dataclass, replace
from typing import Any

import recgauge
from recgauge.conventions import get_convention
from recgauge.errors import MetricError
from recgauge.studies.worked_examples.cases import Case, Computed

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
}


@dataclass(frozen=True)
class Asked:
    """What a case asks `recgauge.evaluate` for."""

    lists: dict[int, list[Any]]
    relevant: dict[int, dict[Any, float]]
    metric: str
    k: int | None
    policies: dict[str, Any]


def is_ranking(case: Case) -> bool:
    """Whether the case is about ranked lists and metrics that look at hits."""
    return case["metric"] in RANKING and "y_true" not in case["inputs"]


def left_out(case: Case) -> str | None:
    """Return why recgauge does not compute what the article's code does, None if it does."""
    if case["id"] == "ap-duplicates" and case["article"] != "article_offline_metrics":
        return None
    return LEFT_OUT.get(case["id"])


def compute_ranking(case: Case) -> Computed:
    """Evaluate the case; its values are the users' where the article lists those."""
    if reason := left_out(case):
        return Computed(reason=reason, left_out=True)
    asked = ask(case)
    convention = get_convention(case["article"])
    convention = replace(convention, policies=replace(convention.policies, **asked.policies))
    try:
        evaluation = recgauge.evaluate(
            asked.lists,
            asked.relevant,
            metrics=(asked.metric,),
            cutoffs=(asked.k,),
            conventions=convention,
        )
    except MetricError as error:
        return Computed(reason=str(error))
    result = evaluation.results[0]
    if result.n_users < len(asked.lists):
        return Computed(reason="undefined for a user, who is left out and counted")
    if isinstance(case["expected"], list) and result.per_user is not None:
        return Computed(tuple(map(float, result.per_user)))
    return Computed((result.value,))


def ask(case: Case) -> Asked:
    """Turn a case's inputs into what `recgauge.evaluate` takes."""
    inputs = case["inputs"]
    lists, relevant = _from_grades(inputs) if "r" in inputs else _from_items(inputs)
    metric = NAMES.get(case["metric"]) or str(case["metric"])
    policies = {"duplicates": "every"} if "duplicates=count" in case["variant"] else {}
    return Asked(lists, relevant, _named(metric, case), inputs.get("k", inputs.get("at")), policies)


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
    """Make up items for lists given as grades in order of rank; missed ones come from the best list."""
    grades = list(inputs["r"])
    if inputs.get("worst_r"):
        # the worst list has an item more than the list: one that the list shows below the cutoff
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
    relevant |= {f"missed {place}": grade for place, grade in enumerate(missed)}
    return {0: items}, {0: relevant}
