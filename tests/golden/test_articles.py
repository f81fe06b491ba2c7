"""The worked examples of five articles, rankings and beyond accuracy, by the articles' own conventions."""

from collections import Counter
from typing import Any

import pytest

import recgauge
from golden.cases import article_cases
from recgauge.experiments.worked_examples.ours import BEYOND, is_ranking, left_out
from recgauge.experiments.worked_examples.study import agrees, compute

CASES = [case for case in article_cases() if case["metric"] in BEYOND or is_ranking(case)]
NOT_REPEATABLE = {"diversity-seed0": "the printed value comes from features drawn without a seed"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['article']}-{case['id']}")
def test_worked_case(case: dict[str, Any]) -> None:
    ours = compute(case)
    if ours.left_out:
        assert ours.reason == left_out(case)
        return
    assert agrees(case, ours)
    if case["metric"] not in BEYOND:
        return
    if "expected_error" in case:
        assert "two items" in ours.reason
    elif case.get("printed") is not None and case["id"] not in NOT_REPEATABLE:
        decimals = len(case["printed"].split(".")[1])
        mean = sum(ours.values) / len(ours.values)
        assert round(mean, decimals) == pytest.approx(float(case["printed"]), abs=1e-9)


def test_every_worked_case_is_compared_or_left_out_for_a_reason() -> None:
    counted = Counter((case["metric"] in BEYOND, left_out(case) is None) for case in CASES)
    assert (counted[True, True], counted[True, False], counted[False, False]) == (15, 3, 4)
    assert sum(len(compute(case).values) for case in CASES if case["metric"] not in BEYOND) >= 85
    assert {case["metric"] for case in CASES} >= BEYOND


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
