"""A pull request, a CI server and a script read the same verdicts."""

import json
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import pytest

import recgauge

N = 400
IDS = pd.Index(range(N), name="user")
RULES = {"not_worse": {"a": 0.05, "b": 0.05, "c": 0.05}, "higher_is_better": ["a", "b", "c"]}


@pytest.fixture
def result(rng):
    old = pd.DataFrame({name: 0.5 + 0.1 * rng.normal(0, 1, N) for name in "abc"}, index=IDS)
    noise = rng.normal(0, 0.05, (N, 3))
    new = old + noise - noise.mean(axis=0)
    new += [0.0, -0.1, -0.05]
    return recgauge.check(new, old, RULES)


def test_markdown_tells_what_is_not_shown_and_folds_the_rest(result):
    text = result.to_markdown()
    above, folded = text.split("<details>")
    assert above.startswith("**recgauge check: failed.** candidate may not replace baseline")
    assert "not\\_worse.b: worse" in above.replace("not_worse", "not\\_worse")
    assert "c: undecided" in above
    assert "not_worse.a" not in above
    assert len(above.strip().splitlines()) <= 5
    assert "| not_worse.a | shown |" in folded
    assert folded.rstrip().endswith("</details>")


def test_junit_has_a_case_for_each_verdict(result):
    suite = ET.fromstring(result.to_junit()).find("testsuite")
    assert (suite.get("tests"), suite.get("failures")) == ("3", "2")
    kinds = {case.get("name"): case.find("failure") for case in suite}
    assert kinds["not_worse.a"] is None
    assert kinds["not_worse.b"].get("type") == "worse"
    assert kinds["not_worse.c"].get("type") == "undecided"


def test_json_has_the_numbers_unrounded(result):
    content = json.loads(result.to_json())
    assert content["outcome"] == "worse"
    assert [one["outcome"] for one in content["verdicts"]] == ["shown", "worse", "undecided"]
    assert content["verdicts"][0]["low"] == result.verdicts[0].low


def test_names_cannot_forge_a_comment():
    old = pd.DataFrame({"a": np.linspace(0, 1, N)}, index=IDS)
    users = pd.DataFrame({"p": ["</details><img src=x> | <b>"] * N}, index=IDS)
    result = recgauge.check(old, old, {"segments": {"p": {"a": 0.1}}, "higher_is_better": "a"}, users=users)
    assert "<img" not in result.to_markdown()
    assert result.to_markdown().count("</details>") == 1
    ET.fromstring(result.to_junit())


def test_a_test_fails_with_the_same_message(rng):
    old = pd.DataFrame({"ndcg": rng.random(N)}, index=IDS)
    assert recgauge.assert_not_worse(old + 0.01, old, {"ndcg": "1%"}).passed
    with pytest.raises(AssertionError, match="recgauge check: failed") as error:
        recgauge.assert_not_worse(old - 0.1 * rng.random((N, 1)), old, {"ndcg": "1%"})
    assert "not_worse.ndcg: worse" in str(error.value)
