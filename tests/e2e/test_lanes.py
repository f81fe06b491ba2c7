"""Suites beyond ranking: rated, diverse, under other conventions."""

import pyarrow.parquet as pq
import pytest

pytestmark = pytest.mark.e2e


def test_ratings_and_lists_in_one_run(workplace, mirror):
    workplace.succeed(
        "dataset=ml_100k", "model=biased_mf", "metrics=[rating,ranking]", RECGAUGE_MIRROR=mirror
    )
    (run,) = workplace.runs()
    assert 0.92 < run.data.metrics["rmse"] < 0.95
    assert {"mae", "fcp", "ndcg_at_10"} <= set(run.data.metrics)
    assert "ratings impossible" in run.data.tags["recgauge.counts"]
    (folder,) = workplace.output()
    table = pq.read_table(folder / "predictions.parquet").to_pydict()
    squares = [(a - p) ** 2 for a, p in zip(table["rating"], table["predicted"], strict=True)]
    assert (sum(squares) / len(squares)) ** 0.5 == pytest.approx(run.data.metrics["rmse"], abs=1e-9)
