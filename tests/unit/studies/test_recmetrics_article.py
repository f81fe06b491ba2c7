"""The page of the recmetrics article on known numbers, and its claim on a real run of lists."""

import csv

import numpy as np
import pytest

from recgauge.candidates.catalogue import OwnTestItems
from recgauge.conventions import get_convention
from recgauge.datasets.demo import Demo
from recgauge.experiment import Experiment, run_experiment
from recgauge.experiments.recmetrics_article.study import ARTICLE, HONEST, TEST_ITEMS, RecmetricsArticle
from recgauge.models.popularity import Popularity
from recgauge.models.random import Random
from recgauge.models.svd import SVD
from recgauge.splits.shares import RandomRows
from records import ended, metric, record_with

STUDY = RecmetricsArticle("recmetrics_article", {"ml_20m": 1000})
ARMS = (
    ("random", "all", "all", 0.01),
    ("popularity", "all", "all", 0.02),
    ("random", "test_items", "train", 0.1),
    ("popularity", "test_items", "train", 0.1),
    ("biased_mf", "test_items", "train", 0.1),
    ("random", "all", "train", 0.01),
    ("popularity", "all", "train", 0.05),
    ("biased_mf", "all", "train", 0.03),
)


def run_of(dataset, model, candidates, fit_on, value, folder, problem=None):
    names = {"dataset": dataset, "model": model, "candidates": candidates}
    entries = [metric("mar", k, value * k / 10, stderr=0.001, definition=f"MAP@{k}") for k in range(1, 11)]
    entries += [metric("novelty", k, 1.5, definition="Novelty") for k in (9, 10)]
    record = record_with(*entries)
    return ended(names, {"fit_on": fit_on}, None if problem else record, folder, problem)


@pytest.fixture
def source(tmp_path):
    row = {
        "key": "mar_at_1",
        "definition": "MAR",
        "label": "factor model",
        "dataset": "ml_20m",
        "value": "0.003081",
        "tolerance": "0.0001",
        "why": "unseeded",
        "source": "a notebook",
        "model": "biased_mf",
        "candidates": "test_items",
    }
    with (tmp_path / "published.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(row))
        writer.writeheader()
        writer.writerow(row)
    return tmp_path


@pytest.fixture
def rows(source):
    runs = [run_of("demo", *arm, source) for arm in ARMS]
    missing = [run_of("ml_20m", *arm, source, "ml-20m.zip could not be found. Tried:\nhere") for arm in ARMS]
    return STUDY.rows([*missing, *runs], source)


def test_published_rows_come_first_and_stay_open_without_data(rows):
    assert len({tuple(row) for row in rows}) == 1
    assert (rows[0]["published"], rows[0]["verdict"]) == ("0.003081", "open")
    assert rows[0]["reason"] == "1 of 1 runs: ml-20m.zip could not be found."


def test_published_rows_are_compared_when_the_data_are_there(source):
    (row, *_) = STUDY.rows([run_of("ml_20m", "biased_mf", "test_items", "train", 0.03081, source)], source)
    assert (row["verdict"], row["ours"]) == ("reproduced", "0.003081")


def test_the_factor_model_on_test_items_belongs_to_two_protocols(rows):
    found = {(row["protocol"], row["model"]) for row in rows if row["metric"] == "mar_at_10"}
    models = ("random", "popularity", "factor model")
    assert found == {(protocol, model) for protocol in (ARTICLE, TEST_ITEMS, HONEST) for model in models}


@pytest.mark.parametrize("model", [Random("rows"), Popularity(), SVD(8)], ids=lambda m: type(m).__name__)
def test_any_model_has_the_same_line_when_it_is_given_the_test_items(model):
    """MAR@K is K times the mean of 1 / (test items), as long as nobody has fewer than K of them."""
    conventions = get_convention("article_recmetrics")
    experiment = Experiment(
        dataset=Demo(relevant_from=0.5),
        splitter=RandomRows(test_size=0.25),
        candidates=OwnTestItems(),
        model=model,
        metrics={"mar": conventions.definition("mar")},
        cutoffs=(1, 2),
        policies=conventions.policies,
    )
    result = run_experiment(experiment)
    n_test = result.split.test.user_counts()
    n_test = n_test[n_test > 0]
    for entry in result.results:
        assert entry.value == pytest.approx(np.minimum(entry.k / n_test, 1.0).mean(), rel=1e-12)
