"""Metrics beyond accuracy through the public function: users, codes and missing arguments."""

import numpy as np
import pytest
from scipy import sparse

import recgauge
from recgauge.errors import SchemaError

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


def test_similarities_reach_list_diversity_as_a_mapping_or_a_matrix_or_from_features() -> None:
    """CAPRI's function: one minus the mean of what the matrix holds for the pairs of a list."""
    lists = {"ann": [0, 2, 1], "bob": [2, 1, 3]}
    matrix = np.array([[1, 0.5, 0.2, 0], [0.5, 1, 0.1, 0.3], [0.2, 0.1, 1, 0], [0, 0.3, 0, 1]])
    pairs = {0: {1: 0.5, 2: 0.2}, 1: {2: 0.1, 3: 0.3}, 2: {1: 0.1}, 3: {}}
    for given in (matrix, matrix.tolist(), sparse.csr_array(matrix), pairs):
        found = recgauge.evaluate(
            lists, {"ann": [1]}, metrics="list_diversity", cutoffs=(3,), item_similarity=given,
            users=["ann", "bob"], conventions="article_capri",
        )  # fmt: skip
        assert found.per_user("list_diversity_at_3") == pytest.approx([1 - 0.8 / 3, 1 - 0.4 / 3])
    names = ("diversity", "list_diversity")
    cosine = recgauge.evaluate(LISTS, RELEVANT, metrics=names, cutoffs=(2,), item_features=FEATURES)
    assert cosine.values()["list_diversity_at_2"] == cosine.values()["diversity_at_2"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"x": {"y": 1.0}, "y": {"x": 0.5}}, "a pair must have the same similarity in both directions"),
        ({"x": {"y": 1.0}}, "item_similarity: item .* is recommended but has no similarities"),
        ({"x": 1.0}, "item 'x' must have {item: similarity}, got float"),
        ({item: {"x": float("nan")} for item in "xyzw"}, "item_similarity: numbers must be finite"),
        ("similar", "item_similarity: pass a mapping with one key per item, .* got str"),
        ([[1.0, 0.5]], "a matrix must be square, got shape"),
    ],
)
def test_similarities_that_cannot_be_used_are_refused(given: object, said: str) -> None:
    lists = {"ann": ["x", "y", "z"], "bob": ["y", "z", "w"]}
    if isinstance(given, list):
        lists = {"ann": [0]}
    with pytest.raises(SchemaError, match=said):
        recgauge.evaluate(lists, {"ann": [0]}, metrics="list_diversity", cutoffs=(2,), item_similarity=given)
