"""The page of the disagreement, on rows whose ranges and orders are known."""

import csv

import pytest

from recgauge.experiments.metric_disagreement.study import COLUMNS, MetricDisagreement
from records import ended, record_with

VALUES = {"svd": {"standard": 0.2, "recbole": 0.5}, "popularity": {"standard": 0.1, "recbole": 0.3}}
STUDY = MetricDisagreement("metric_disagreement", k=10)


def finished(folder, model, values):
    folder.mkdir()
    with (folder / "conventions.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["metric", "convention", "value", "definition"])
        writer.writerows(["map_at_10", name, value, "MAP@10"] for name, value in values.items())
        writer.writerow(["map_at_10", "sklearn", "", "refuses these lists"])
        writer.writerow(["map_at_5", "standard", 9, "MAP@5"])
    record = record_with()
    return ended({"dataset": "demo", "model": model}, {}, record, folder)


@pytest.fixture
def rows(tmp_path):
    runs = [finished(tmp_path / model, model, values) for model, values in VALUES.items()]
    missing = ended({"dataset": "ml_1m", "model": "svd"}, {}, None, tmp_path, "ml-1m.zip: not there\nmore")
    return STUDY.rows([*runs, missing], tmp_path)


def test_rows_are_those_of_the_cutoff_and_say_what_is_missing(rows):
    assert {tuple(row) for row in rows} == {COLUMNS}
    assert len(rows) == 2 * 3 + 1
    assert {row["metric"] for row in rows} == {"map_at_10", ""}
    assert rows[-1]["reason"] == "ml-1m.zip: not there"
    assert rows[2]["value"] == ""
    assert rows[2]["reason"] == "refuses these lists"
