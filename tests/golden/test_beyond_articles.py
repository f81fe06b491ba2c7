"""The worked examples of articles beyond accuracy, through the articles' own conventions."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

import recgauge
from golden.beyond_inputs import Asked
from golden.cases import article_cases, same
from recgauge.conventions import get_convention
from recgauge.errors import MetricError
from recgauge.metrics.beyond.serendipity import UnpopularSerendipity

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
CASES = [case for case in article_cases() if case["metric"] in METRICS]
LEFT_OUT = {
    "novelty-printed-code": "the page lost a line of code; the whole one is compared",
    "novelty-printed-unseen": "the page lost a line of code; the whole one is compared",
    "personalization-ragged": "the code fails on lists of unequal length, ours does not",
}
NOT_REPEATABLE = {"diversity-seed0": "the printed value comes from features drawn without a seed"}


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


def _asked(case: dict[str, Any]) -> Asked:
    inputs = case["inputs"]
    convention, lists = get_convention(case["article"]), _lists(inputs)
    relevant = {
        f"user {row}": dict.fromkeys(items, 1.0) for row, items in enumerate(inputs.get("relevant", []))
    }
    metric: Any = "prediction_coverage" if case["id"] == "prediction-coverage" else case["metric"]
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
        convention,
        _train(inputs),
        features and {_item(item): vector for item, vector in features.items()},
        max(len(known), inputs.get("total_items", 0), len(matrix or []), 20 if "popular" in inputs else 0),
        [*lists],
        None if matrix is None else np.array(matrix),
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['article']}-{case['id']}")
def test_worked_case(case: dict[str, Any]) -> None:
    if case["id"] in LEFT_OUT:
        return
    asked = _asked(case)
    if "expected_error" in case:
        with pytest.raises(MetricError, match="two items"):
            asked.evaluate()
        return
    result = asked.evaluate().results[0]
    expected = case["expected"] if isinstance(case["expected"], list) else [case["expected"]]
    found = result.per_user if isinstance(case["expected"], list) else [result.value]
    assert all(same(ours, theirs) for ours, theirs in zip(found, expected, strict=True))
    if case.get("printed") is not None and case["id"] not in NOT_REPEATABLE:
        decimals = len(case["printed"].split(".")[1])
        assert round(result.value, decimals) == pytest.approx(float(case["printed"]), abs=1e-9)


def test_every_worked_case_is_compared_or_left_out_for_a_reason(capsys: pytest.CaptureFixture[str]) -> None:
    counted = Counter("left out" if case["id"] in LEFT_OUT else "compared" for case in CASES)
    with capsys.disabled():
        print(f"\nbeyond accuracy, worked cases of articles: {dict(counted)}")  # noqa: T201
        for name, reason in LEFT_OUT.items():
            print(f"  left out: {name}: {reason}")  # noqa: T201
    assert counted == {"compared": 15, "left out": 3}
    assert {case["metric"] for case in CASES} == METRICS


def test_a_relevant_item_that_all_know_is_no_surprise() -> None:
    """The article's serendipity is its definition under its convention, with the most popular fifth."""
    found = recgauge.evaluate(
        {"ann": [1, 2]},
        {"ann": [1, 2]},
        metrics=("serendipity",),
        cutoffs=(2,),
        conventions="article_system_evaluation",
        train={"bob": [1], "cid": [1]},
        n_items=5,
    )
    assert found.values() == {"serendipity_at_2": 0.5}
