"""Worked cases beyond accuracy, through the article's own convention."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from recgauge.conventions import Convention, get_convention
from recgauge.errors import MetricError
from recgauge.evaluation.evaluate import evaluate
from recgauge.evaluation.results import Evaluation
from recgauge.metrics import Metric
from recgauge.metrics.beyond.serendipity import UnpopularSerendipity
from recgauge.studies.worked_examples.cases import Case, Computed
from recgauge.utils.checks import DoubleArray

METRICS = {
    "catalog_coverage",
    "prediction_coverage",
    "diversity",
    "list_diversity",
    "intra_list_similarity",
    "personalization",
    "novelty",
    "serendipity",
}
LEFT_OUT = {
    "novelty-printed-code": "the page lost a line of code; the whole one is compared",
    "novelty-printed-unseen": "the page lost a line of code; the whole one is compared",
    "personalization-ragged": "the code fails on lists of unequal length, ours does not",
}


@dataclass(frozen=True)
class Asked:
    """Arguments of one evaluation, and similarities of items where the metric takes those as given."""

    lists: dict[str, list[Any]]
    relevant: dict[str, dict[Any, float]]
    metric: str | Metric
    k: int | None
    convention: Convention
    train: dict[str, list[Any]]
    features: dict[Any, list[float]] | None
    n_items: int
    similarity: DoubleArray | None


def compute_beyond(case: Case) -> Computed:
    """Evaluate the case; its values are the users' where the article lists those."""
    if case["id"] in LEFT_OUT:
        return Computed(reason=LEFT_OUT[case["id"]], left_out=True)
    try:
        result = _evaluate(ask(case)).results[0]
    except MetricError as error:
        return Computed(reason=str(error))
    if isinstance(case["expected"], list) and result.per_user is not None:
        return Computed(tuple(map(float, result.per_user)))
    return Computed((result.value,))


def ask(case: Case) -> Asked:
    """Turn a case's inputs into what an evaluation takes."""
    inputs = case["inputs"]
    lists = _lists(inputs)
    relevant = {
        f"user {row}": dict.fromkeys(items, 1.0) for row, items in enumerate(inputs.get("relevant", []))
    }
    metric: str | Metric = "prediction_coverage" if case["id"] == "prediction-coverage" else case["metric"]
    if metric == "serendipity":
        # the article names nine of its twenty items popular; here they are the nine that are in training
        metric = UnpopularSerendipity(popular=9 / 20)
    features = inputs.get("features")
    matrix = inputs.get("similarity")
    known = {_item(item) for item in [*inputs.get("catalog", []), *(features or {})]}
    known |= {item for items in (*lists.values(), *relevant.values()) for item in items}
    return Asked(
        lists,
        relevant,
        metric,
        inputs.get("k") or inputs.get("n"),
        get_convention(case["article"]),
        _train(inputs),
        features and {_item(item): vector for item, vector in features.items()},
        max(len(known), inputs.get("total_items", 0), len(matrix or []), 20 if "popular" in inputs else 0),
        None if matrix is None else np.array(matrix),
    )


def _evaluate(asked: Asked) -> Evaluation:
    return evaluate(
        asked.lists,
        asked.relevant,
        metrics={"asked": asked.metric},
        cutoffs=(asked.k,),
        conventions=asked.convention,
        train=asked.train,
        item_features=asked.features,
        item_similarity=asked.similarity,
        n_items=asked.n_items,
        users=[*asked.lists],
    )


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
