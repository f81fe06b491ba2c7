"""Metrics beyond accuracy through the public function: users, codes and missing arguments."""

import numpy as np
import pytest

import recgauge
from recgauge.errors import MetricError
from recgauge.metrics.beyond.diversity import Diversity

LISTS = {"ann": ["x", "y", "z"], "bob": ["y", "z", "w"], "cid": []}
RELEVANT = {"ann": ["x"], "bob": ["q"]}
TRAIN = {"ann": ["w", "v"], "bob": ["x"], "cid": ["x", "y"]}
FEATURES = {item: [float(item in "xy"), 1.0] for item in "vwxyzq"}


def test_users_without_a_list_count_where_the_metric_counts_them() -> None:
    found = recgauge.evaluate(
        LISTS,
        RELEVANT,
        metrics=("user_coverage", "novelty", "prediction_coverage"),
        cutoffs=(2,),
        train=TRAIN,
        users=["ann", "bob", "cid"],
    )
    assert found.per_user("user_coverage_at_2").tolist() == [1.0, 1.0, 0.0]
    assert found.values()["user_coverage_at_2"] == pytest.approx(2 / 3)
    assert np.isnan(found.per_user("novelty_at_2")[2])
    assert found.values()["prediction_coverage_at_2"] == pytest.approx(4 / (3 * 6))


def test_features_and_training_reach_the_metrics_by_id() -> None:
    found = recgauge.evaluate(
        LISTS,
        RELEVANT,
        metrics=("diversity", "popularity"),
        cutoffs=(2,),
        train=TRAIN,
        item_features=FEATURES,
    )
    assert found.per_user("diversity_at_2")[:2] == pytest.approx([0, 1 - 1 / np.sqrt(2)])
    assert found.per_user("popularity_at_2")[:2] == pytest.approx([1.5, 0.5])


@pytest.mark.parametrize(
    ("metric", "argument"), [("novelty", "train="), ("diversity", "item_features="), ("gini", "n_items=")]
)
def test_a_missing_argument_is_named(metric: str, argument: str) -> None:
    with pytest.raises(MetricError, match=argument):
        recgauge.evaluate(LISTS, RELEVANT, metrics=(metric,), cutoffs=(2,))
    with pytest.raises(MetricError, match="train="):
        recgauge.evaluate(LISTS, RELEVANT, metrics={"ild": Diversity("cooccurrence")}, item_features=FEATURES)
