"""What the embedded data set promises: size, shape and something for every model to find."""

import numpy as np


def test_it_is_the_same_on_every_machine(demo):
    """If this changes, every number of the demo set does: see "Move a number" in CONTRIBUTING.md."""
    assert demo.sha256 == "0b5e63109d1577fd4a2a5e47680f5994177039050c5bc7f22263f6c92e410873"


def test_everything_that_metrics_need_is_there(demo):
    assert len(set(demo.item_titles)) == 1_500
    assert demo.item_features.matrix.sum(axis=1).min() >= 1
    assert (np.diff(demo.interactions.timestamp) >= 0).all()
    assert demo.relevant_from == 4.0
