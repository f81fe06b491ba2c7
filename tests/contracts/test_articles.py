"""docs/articles.md leaves nothing out that the five articles name, and is that of its table."""

import re

import numpy as np
import pytest
from omegaconf import OmegaConf

import recgauge
from articles_page import SOURCES, articles_page, named_by_articles
from conftest import REPOSITORY
from recgauge.conventions import ARTICLES, get_convention
from recgauge.experiments.worked_examples.cases import read_cases
from recgauge.metrics.rating import RatingMetric

NAMED = named_by_articles()
PLOTS = (
    # recmetrics' plots
    *("long tail", "coverage", "personalization", "MAR@K", "MAP@K", "class separation", "ROC"),
    *("precision-recall", "metrics", "ratings distribution"),
)


def given(article, column):
    return {one for named in NAMED if named.article == article for one in getattr(named, column)}


def test_the_page_is_up_to_date():
    page = (REPOSITORY / "docs" / "articles.md").read_text(encoding="utf-8")
    assert page == articles_page(), "run: make docs"


def test_the_articles_are_those_of_the_conventions():
    assert [f"article_{name}" for name in SOURCES] == list(ARTICLES)
    assert {named.article for named in NAMED} == set(SOURCES)
    assert {named.kind for named in NAMED} == {"metric", "plot", "experiment"}


@pytest.mark.parametrize("article", SOURCES)
def test_every_metric_of_the_convention_and_of_the_worked_examples_is_named(article):
    assert given(article, "library") == set(get_convention(f"article_{article}").metrics)
    cases = read_cases(REPOSITORY / "experiments/worked_examples/cases.json")
    assert given(article, "cases") == {
        case["metric"] for case in cases if case["article"] == f"article_{article}"
    }


def test_every_metric_of_the_suite_is_named_and_the_other_way_round():
    suite = OmegaConf.load(REPOSITORY / "conf/metrics/articles.yaml")
    of_suite = [named for named in NAMED if named.kind == "metric" and "metrics=articles" in named.command]
    assert {one for named in of_suite for one in named.gives} == set(suite)


def test_every_plot_of_recmetrics_is_named():
    names = " ".join(named.name for named in NAMED if (named.article, named.kind) == ("recmetrics", "plot"))
    assert [plot for plot in PLOTS if not re.search(rf"{plot}( plot|\b)", names)] == []


LISTS = {"ann": [0, 2, 1], "bob": [2, 1, 3]}
GRADES = {"ann": {2: 3, 4: 1}, "bob": {1: 2, 2: 1}}
BESIDE = {
    "train": {"ann": [1, 3], "bob": [0], "cid": [0, 1, 2, 3]},
    "item_features": np.eye(5) + 0.1,
    "item_similarity": np.full((5, 5), 0.25),
}


@pytest.mark.parametrize(
    ("article", "name"), [(named.article, one) for named in NAMED for one in named.library], ids=str
)
def test_every_name_reaches_evaluate(article, name):
    """`evaluate` takes it by name, `evaluate_ratings` as the convention's metric."""
    convention = get_convention(f"article_{article}")
    metric = convention.metric(name)
    if isinstance(metric, RatingMetric):
        found = recgauge.evaluate_ratings(
            [4, 2, 5, 3], [3.5, 2, 4, 4.5], users=["ann", "ann", "bob", "bob"], metrics={name: metric}
        )
    else:
        found = recgauge.evaluate(
            LISTS, GRADES, metrics=(name,), cutoffs=(3,), conventions=convention, n_items=5, **BESIDE
        )
    (value,) = found.values().values()
    assert np.isfinite(value)
