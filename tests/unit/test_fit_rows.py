"""What a model learns from: training rows, or every row where an article leaks."""

import numpy as np
import pytest

from recgauge.errors import ConfigError
from recgauge.models.fitting import leak_mark, rows_to_fit
from recgauge.models.popularity import Popularity
from recgauge.splits.shares import RandomRows
from recgauge.utils.randomness import stream


@pytest.fixture(scope="module")
def split(demo):
    return RandomRows(validation_size=0.1).split(demo.interactions, rng=stream(0, "split"))


def test_training_rows_unless_asked_otherwise(split):
    assert rows_to_fit(split, "train") is split.train
    assert leak_mark("train") is None


def test_all_rows_are_those_of_every_part(split, demo):
    rows = rows_to_fit(split, "all")
    parts = split.train, split.validation, split.test
    assert len(rows) == sum(len(part) for part in parts)
    for column in ("user", "item", "value", "timestamp"):
        assert np.array_equal(
            getattr(rows, column), np.concatenate([getattr(part, column) for part in parts])
        )
    model = Popularity().fit(rows, rng=stream(0, "fit"))
    assert model.score(np.array([0], np.int32))[0].tolist() == demo.interactions.item_counts().tolist()


def test_other_rows_are_refused(split):
    with pytest.raises(ConfigError, match="fit_on must be one of train, train_validation, all; got 'test'"):
        rows_to_fit(split, "test")
