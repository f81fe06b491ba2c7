"""A pull request, a CI server and a script read the same verdicts."""

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


def test_junit_has_a_case_for_each_verdict(result):
    suite = ET.fromstring(result.to_junit()).find("testsuite")
    assert (suite.get("tests"), suite.get("failures")) == ("3", "2")
    kinds = {case.get("name"): case.find("failure") for case in suite}
    assert kinds["not_worse.a"] is None
    assert kinds["not_worse.b"].get("type") == "worse"
    assert kinds["not_worse.c"].get("type") == "undecided"


def test_names_cannot_forge_a_comment():
    old = pd.DataFrame({"a": np.linspace(0, 1, N)}, index=IDS)
    users = pd.DataFrame({"p": ["</details><img src=x> | <b>"] * N}, index=IDS)
    result = recgauge.check(old, old, {"segments": {"p": {"a": 0.1}}, "higher_is_better": "a"}, users=users)
    assert "<img" not in result.to_markdown()
    assert "</details>" not in result.to_markdown()
    ET.fromstring(result.to_junit())
