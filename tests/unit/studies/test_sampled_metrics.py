"""The page of sampled metrics, on rows whose orders are known."""

import pytest

from recgauge.experiments.sampled_metrics.study import COLUMNS, SampledMetrics
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
