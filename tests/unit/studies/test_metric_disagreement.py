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


def test_the_page_tells_ranges_orders_and_what_can_be_turned_round(rows):
    page = STUDY.markdown(rows)
    assert "| demo | map@10 | 2 | 2 | 0.2000 – 0.5000 (×2.50) | 0.1000 – 0.3000 (×3.00) |" in page
    assert "svd > popularity (2)" in page
    assert "popularity 0.3000 (recbole) | svd 0.2000 (standard) | 1 |" in page
    assert "open: ml_1m svd: ml-1m.zip: not there" in page
    assert "| map@10 | sklearn | 2 | refuses these lists |" in page


def test_a_change_of_order_is_told(tmp_path):
    values = {"svd": {"standard": 0.2, "recbole": 0.1}, "popularity": {"standard": 0.1, "recbole": 0.3}}
    rows = STUDY.rows([finished(tmp_path / m, m, v) for m, v in values.items()], tmp_path)
    assert "svd > popularity (1); popularity > svd (1)" in STUDY.markdown(rows)


def test_the_figure_has_a_panel_a_data_set(rows):
    (figure,) = STUDY.figures(rows).values()
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["demo"]


def test_nothing_measured_makes_a_page_without_a_figure(rows):
    assert STUDY.figures(rows[-1:]) == {}
    assert "open: ml_1m" in STUDY.markdown(rows[-1:])
