"""The window keeps its test part whatever is trained on, and the page tells what turns beyond noise."""

from typing import get_args

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.experiments.leakage.window import Training, Window

RNG = np.random.default_rng(0)
PAIRS = RNG.choice(40 * 60, 300, replace=False)
ROWS = Interactions.from_ids(PAIRS // 60, PAIRS % 60, None, RNG.integers(0, 1000, 300))


def parts(training):
    return Window(600, test_until=800, training=training).split(ROWS, rng=np.random.default_rng(1))


def test_the_test_part_is_of_users_with_a_past_and_the_same_for_every_training_part():
    late = Interactions.from_ids(["new", "old", "old", "old"], [1, 1, 2, 3], None, [700, 100, 700, 900])
    for training in get_args(Training):
        assert parts(training).test.sha256() == parts("past").test.sha256()
        split = Window(600, test_until=800, training=training).split(late, rng=RNG)
        assert split.test.user_ids[split.test.user].tolist() == ["old"]


def test_training_parts_are_what_they_are_called():
    tested = np.unique(parts("past").test.user)
    trained = {training: parts(training).train for training in get_args(Training)}
    later = {training: part.take(part.timestamp >= 800) for training, part in trained.items()}
    assert not len(later["past"])
    assert len(later["everybody"]) == (ROWS.timestamp >= 800).sum()
    assert 0 < len(later["others"]) < len(later["everybody"])
    assert not np.isin(later["others"].user, tested).any()
    assert later["as_many"].sha256() == later["others"].sha256()
    assert len(trained["as_many"]) == len(trained["past"])
    of_tested = {
        training: np.isin(part.user, tested)[part.timestamp < 800].sum() for training, part in trained.items()
    }
    assert len(set(of_tested.values())) == 1
    assert all(not ((part.timestamp >= 600) & (part.timestamp < 800)).any() for part in trained.values())
