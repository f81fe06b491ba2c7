"""Suites beyond ranking: rated, diverse, under other conventions."""

import csv

import pyarrow.parquet as pq
import pytest

from recgauge.cli.commands.cli import main

pytestmark = pytest.mark.e2e


def test_ratings_and_lists_in_one_run(workplace, mirror):
    done = workplace.run(
        "dataset=ml_100k", "model=biased_mf", "metrics=[rating,ranking]", RECGAUGE_MIRROR=mirror
    )
    assert done.code == 0, done.err
    (run,) = workplace.runs()
    assert 0.92 < run.data.metrics["rmse"] < 0.95
    assert {"mae", "fcp", "ndcg_at_10"} <= set(run.data.metrics)
    assert "ratings impossible" in run.data.tags["recgauge.counts"]
    (folder,) = workplace.output()
    table = pq.read_table(folder / "predictions.parquet").to_pydict()
    squares = [(a - p) ** 2 for a, p in zip(table["rating"], table["predicted"], strict=True)]
    assert (sum(squares) / len(squares)) ** 0.5 == pytest.approx(run.data.metrics["rmse"], abs=1e-9)


@pytest.fixture(scope="module")
def as_recbole(shared_workplace):
    words = ("conventions=recbole", "conventions_table=true", "metrics=[ranking,auc]")
    assert shared_workplace.run(*words).code == 0
    return shared_workplace


def test_the_same_lists_under_every_convention(as_recbole, capsys):
    workplace = as_recbole
    (folder,) = workplace.output()
    rows = list(csv.DictReader((folder / "conventions.csv").read_text().splitlines()))
    by_name = {(row["convention"], row["metric"]): row["value"] for row in rows}
    assert by_name["standard", "auc_at_10"] == ""  # of all candidates: lists have no such value
    (run,) = workplace.runs()
    assert float(by_name["recbole", "ndcg_at_10"]) == pytest.approx(run.data.metrics["ndcg_at_10"], abs=1e-12)
    assert by_name["recbole", "ndcg_at_10"] != by_name["rectools", "ndcg_at_10"]
    assert main(["conventions", run.info.run_id, "--uri", workplace.uri]) == 0
    printed = capsys.readouterr().out
    line = next(line for line in printed.splitlines() if line.startswith("rectools"))
    assert f"{float(by_name['rectools', 'ndcg_at_10']):.4f}" in line
    assert "highest" in printed
    assert main(["conventions", run.info.run_id, "--uri", workplace.uri, "--k", "30"]) == 1
    assert "1..20, got 30" in capsys.readouterr().err
