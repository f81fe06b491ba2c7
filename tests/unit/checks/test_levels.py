"""How often a check is wrong where the truth is known, and whether users_needed is enough: 400 worlds."""

import importlib
import json

import numpy as np
import pytest

from conftest import REPOSITORY

WORLDS = 400


@pytest.fixture
def worlds(monkeypatch):
    monkeypatch.syspath_prepend(REPOSITORY / "benchmarks")
    return importlib.import_module("check_levels")


@pytest.mark.slow
def test_the_level_holds_for_one_rule_and_for_forty_eight(worlds):
    rows = list(worlds.levels(WORLDS, worlds.world_mean()))
    assert {row["truth"].split(",")[0] for row in rows} == {"one rule", "8 metrics x 6 groups"}
    for row in rows:
        assert row["wrongly shown"] <= worlds.most(WORLDS), row
        assert row["wrongly passed"] <= worlds.most(WORLDS), row
        assert row["wrongly worse"] <= worlds.most(WORLDS), row
    of_one_bad = [row["wrongly passed"] for row in rows if "47 far better" in row["truth"]]
    assert min(of_one_bad) > 0.03  # the level is used: a pass pays nothing for its 47 other rules


@pytest.mark.slow
def test_users_needed_decide_and_few_users_do_not_pass(worlds):
    rows = list(worlds.power(WORLDS, worlds.world_mean()))
    error = 2 * np.sqrt(0.8 * 0.2 / WORLDS)
    for row in rows:
        if row["of users_needed"] == 1:
            assert abs(row["shown"] - 0.8) <= error + 0.01, row  # users_needed is a quantile of Student's t
        if row["of users_needed"] == 0.05:
            assert row["undecided"] > 0.75, row
        assert row["worse"] <= worlds.most(WORLDS), row


def test_the_page_shows_the_stored_results(worlds):
    page = (REPOSITORY / "docs" / "check.md").read_text(encoding="utf-8")
    rows = json.loads((REPOSITORY / "benchmarks/results/check-levels.json").read_text())["rows"]
    assert f"a pass is wrong in at most {100 * max(row['wrongly passed'] for row in rows):.1f} %" in page
