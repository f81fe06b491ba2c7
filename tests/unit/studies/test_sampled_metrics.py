"""The page of sampled metrics, on rows whose orders are known."""

import numpy as np
import pandas as pd
import pytest

from recgauge.experiments.sampled_metrics.study import COLUMNS, SampledMetrics, clear
from recgauge.studies import where
from recgauge.studies.ranks import turned
from records import ended, metric, record_with

VALUES = {
    "all": {"random": 0.1, "popularity": 0.2, "svd": 0.4},
    "sampled": {"random": 0.5, "popularity": 0.7, "svd": 0.9},
    "test_items": {"random": 0.7, "popularity": 0.9, "svd": 0.8},
}
STUDY = SampledMetrics("sampled_metrics", k=10, negatives=())


def finished(folder, rule, model, value, stderr=0.01):
    entry = {"stderr": stderr, "definition": "nDCG@10"}
    record = record_with(metric("ndcg", 10, value, **entry), metric("ndcg", 5, 9.0, **entry))
    names = {"dataset": "ml_1m", "candidates": rule, "model": model}
    settings = {"candidates": {"n": 100, "by": "uniform"}, "model": {"n_factors": 16}}
    return ended(names, settings, record, folder)


@pytest.fixture
def rows(tmp_path):
    runs = [finished(tmp_path, r, m, v) for r, models in VALUES.items() for m, v in models.items()]
    missing = ended({"candidates": "all", "model": "bias"}, {}, None, tmp_path, "diverged\nat length")
    return STUDY.rows([*runs, missing], tmp_path)


def test_rows_are_those_of_the_cutoff_and_name_rule_and_model(rows):
    assert {tuple(row) for row in rows} == {COLUMNS}
    assert {row["metric"] for row in rows} == {"ndcg_at_10", ""}
    assert {row["candidates"] for row in rows} == {"all", "sampled 100 by=uniform", "test_items"}
    assert {row["model"] for row in rows} == {"random", "popularity", "svd 16", "bias"}
    assert rows[-1]["reason"] == "diverged"


def test_equal_values_are_not_turned_round():
    assert turned({"a": 2.0, "b": 1.0}, {"a": 1.0, "b": 1.0}) == []


@pytest.mark.parametrize(("stderr", "expected"), [(0.07, True), (0.08, False), (None, False)])
def test_clear_is_more_than_two_standard_errors_of_the_difference(stderr, expected, tmp_path):
    runs = [finished(tmp_path, "all", model, VALUES["all"][model], stderr) for model in ("popularity", "svd")]
    assert clear(STUDY.rows(runs, tmp_path), "all", "ndcg_at_10", ("svd 16", "popularity")) == expected


def test_with_all_negatives_a_sampled_rank_is_the_exact_one(tmp_path):
    runs = []
    for model, ranks in {"svd": [1, 2, 40], "popularity": [2, 30, 90]}.items():
        folder = tmp_path / model
        folder.mkdir()
        values = {"user_id": [1, 2, 3], "rank_of_one": np.array(ranks, float), "others_of_one": [99.0] * 3}
        pd.DataFrame(values).to_parquet(folder / "per_user.parquet", index=False)
        runs.append(finished(folder, "all", model, VALUES["all"][model]))
    rows = SampledMetrics("sampled_metrics", negatives=(99, 10), draws=5).rows(runs, tmp_path)
    exact = {(row["model"], row["metric"]): row["value"] for row in where(rows, negatives="all")}
    assert exact["svd 16", "recall_at_10"] == "0.666667"
    assert exact["popularity", "ap"] == f"{(1 / 2 + 1 / 30 + 1 / 90) / 3:.6g}"
    for correction in ("none", "rank"):
        found = where(rows, negatives="99", correction=correction)
        assert {(row["model"], row["metric"]): row["value"] for row in found} == exact
        assert {(row["spread"], row["turned"]) for row in found} == {("0", "0")}
    assert any(float(row["spread"]) for row in where(rows, negatives="10", correction="none"))
