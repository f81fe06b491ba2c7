"""The worked examples of articles beyond accuracy, through the articles' own conventions."""

from collections import Counter
from typing import Any

import pytest

import recgauge
from golden.cases import article_cases
from recgauge.experiments.worked_examples.ours import BEYOND, LEFT_OUT
from recgauge.experiments.worked_examples.study import agrees, compute

CASES = [case for case in article_cases() if case["metric"] in BEYOND]
NOT_REPEATABLE = {"diversity-seed0": "the printed value comes from features drawn without a seed"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['article']}-{case['id']}")
def test_worked_case(case: dict[str, Any]) -> None:
    ours = compute(case)
    assert ours.left_out == (case["id"] in LEFT_OUT)
    if ours.left_out:
        return
    assert agrees(case, ours)
    if "expected_error" in case:
        assert "two items" in ours.reason
    elif case.get("printed") is not None and case["id"] not in NOT_REPEATABLE:
        decimals = len(case["printed"].split(".")[1])
        mean = sum(ours.values) / len(ours.values)
        assert round(mean, decimals) == pytest.approx(float(case["printed"]), abs=1e-9)


def test_every_worked_case_is_compared_or_left_out_for_a_reason(capsys: pytest.CaptureFixture[str]) -> None:
    counted = Counter("left out" if case["id"] in LEFT_OUT else "compared" for case in CASES)
    with capsys.disabled():
        print(f"\nbeyond accuracy, worked cases of articles: {dict(counted)}")  # noqa: T201
        for name in sorted(LEFT_OUT.keys() & {case["id"] for case in CASES}):
            print(f"  left out: {name}: {LEFT_OUT[name]}")  # noqa: T201
    assert counted == {"compared": 15, "left out": 3}
    assert {case["metric"] for case in CASES} == BEYOND


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
