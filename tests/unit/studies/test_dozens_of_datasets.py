"""Groups of data sets agree as far as their orders of models do."""

import pytest

from recgauge.comparison import compare_datasets
from recgauge.experiments.dozens_of_datasets.study import replications, scores

ALIKE = {
    "good": {f"data{i}": 0.4 + i / 100 for i in range(12)},
    "fair": {f"data{i}": 0.2 + i / 100 for i in range(12)},
    "twin": {f"data{i}": 0.2 + i / 100 for i in range(12)},
}


def test_groups_agree_on_a_model_that_is_best_everywhere_and_by_half_on_twins():
    found = replications(compare_datasets(ALIKE))
    assert found == {
        "best model": [1.0] * 6,
        "pairs told apart by 30": [1.0] * 6,
        "other pairs": [0.5] * 6,
    }


def test_a_model_out_of_reach_of_the_best_has_no_score():
    table = {"best": {"a": 0.9, "b": 0.8}, "near": {"a": 0.9, "b": 0.4}, "far": {"a": 0.1, "b": 0.1}}
    found = scores(compare_datasets(table))
    assert found["far"] == 0.0
    # within 1.9 of the best on one data set, from 2 on both: .9 * .5 + .1 * .75 + 1 of the best's area, 2
    assert found["near"] / found["best"] == pytest.approx(1.525 / 2)
