"""Runs of the experiment `next_item_targets` have its committed numbers, a few of each choice."""

import pytest

import recgauge
from recgauge.experiments import FOLDER
from recgauge.studies import read_results, where

pytestmark = [pytest.mark.slow, pytest.mark.data]

RUNS = [
    ("ml_latest_small,first,item_id", "ease", {"target": "first", "ties": "item_id"}),
    ("ml_latest_small,random", "recent", {"target": "random", "ties": "fixed_random"}),
    ("ml_latest_small,all", "item_knn", {"target": "all", "ties": "fixed_random"}),
    ("ml_100k,last,tie_order_3", "popularity", {"target": "last", "ties": "random", "seed": "3"}),
    (
        "ml_100k,successive,by_popularity",
        "sequential_rules",
        {"target": "successive", "candidates": "popularity"},
    ),
    ("ml_1m,leave_one_out,uniform", "sequential_rules", {"target": "leave_one_out", "candidates": "uniform"}),
]


@pytest.mark.parametrize(("condition", "model", "cells"), RUNS)
def test_a_run_has_the_committed_numbers(mirror, tmp_path, monkeypatch, condition, model, cells):
    monkeypatch.chdir(tmp_path)
    run = recgauge.run(
        *("experiment=next_item_targets", "hydra.mode=RUN", "study=null", "tracking=off"),
        f"+experiment/next_item_targets/protocol=[{condition}]",
        f"+experiment/next_item_targets/model={model}",
        f"data.mirror={mirror}",
    )
    name = {"recent": "popularity, 30 days"}.get(model, model)
    usual = {"candidates": "all", "dataset": condition.partition(",")[0], "model": name}
    committed = where(read_results(FOLDER / "next_item_targets" / "results.csv"), **usual | cells)
    assert {row["metric"] for row in committed} == set(run.numbers)
    for row in committed:
        assert run.numbers[row["metric"]] == pytest.approx(float(row["value"]), abs=2e-6), row
    assert {int(row["users"]) for row in committed} == {run.record.counts["users_evaluated"]}
