"""How often a check is wrong where the truth is known, and whether users_needed is enough: 400 worlds."""

import importlib
import json

import numpy as np
import pandas as pd
import pytest

import recgauge
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
    told = {
        "wrongly shown": "any rule is wrongly *shown* in {}",
        "wrongly worse": "any wrongly *worse* in {}",
    }
    for key, words in (told | {"wrongly passed": "a pass is wrong in\n{}"}).items():
        shares = [100 * row[key] for row in rows]
        assert words.format(f"{min(shares):.1f} to {max(shares):.1f} %") in page


@pytest.mark.slow
def test_as_many_users_as_movielens_20m_has_are_judged(rng):
    n = 138_493
    users, names = pd.Index(np.arange(n), name="user"), [f"recall@{k}" for k in range(1, 11)]
    old = pd.DataFrame(rng.random((n, 10)), users, names)
    new = old + rng.normal(0, 0.1, (n, 10))
    groups = pd.DataFrame({"g": rng.choice(list("abcdefgh"), n)}, users)
    rules = {"not_worse": dict.fromkeys(names, "1%"), "segments": {"g": dict.fromkeys(names, "2%")}}
    assert len(recgauge.check(new, old, rules, users=groups).verdicts) == 90
