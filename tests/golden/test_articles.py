"""The worked examples of five articles: sets and rankings through the articles' own conventions."""

from collections import Counter

import pytest

import recgauge
from golden.cases import article_cases
from recgauge.experiments.worked_examples.cases import expected_values
from recgauge.experiments.worked_examples.ours import is_ranking
from recgauge.experiments.worked_examples.study import agrees, compute


def test_articles_are_reproduced(capsys: pytest.CaptureFixture[str]) -> None:
    counted: Counter[str] = Counter()
    wrong, left_out = [], []
    for case in article_cases():
        if not is_ranking(case):
            continue
        ours = compute(case)
        if ours.left_out:
            left_out.append(f"{case['article']}/{case['id']}: {ours.reason}")
        elif not agrees(case, ours):
            wrong.append(f"{case['article']}/{case['id']}: {ours}, not {expected_values(case)}")
        else:
            counted["values"] += len(ours.values)
            counted["refused or undefined as in the article"] += not ours.values
    with capsys.disabled():
        print(f"\narticles, rankings: compared {dict(counted)}")  # noqa: T201 -- the count is asked for
        for line in left_out:
            print(f"articles, rankings: left out {line}")  # noqa: T201
    assert not wrong
    assert counted["values"] >= 85
    assert len(left_out) == 4


def test_two_lists_are_alike_only_at_their_end() -> None:
    """The article calls two systems identical by precision and recall: true at 5, not at 4."""
    case = next(case for case in article_cases() if case["metric"] == "precision_recall")
    assert agrees(case, compute(case))
    inputs = case["inputs"]
    lists = {"a": inputs["predicted_a"], "b": inputs["predicted_b"]}
    relevant = dict.fromkeys(lists, inputs["relevant"])
    result = recgauge.evaluate(lists, relevant, metrics=("precision", "recall"), cutoffs=(4, 5))
    for name, expected in zip(("precision", "recall"), zip(*case["expected"], strict=True), strict=True):
        assert tuple(result.per_user(f"{name}_at_5")) == pytest.approx(expected, abs=1e-12)
        assert len(set(result.per_user(f"{name}_at_4"))) == 2
