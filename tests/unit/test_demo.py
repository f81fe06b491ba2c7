"""What the embedded data set promises: size, shape and something for every model to find."""

import numpy as np


def test_counts(demo):
    rows = demo.interactions
    assert (len(rows), rows.n_users, rows.n_items) == (60_000, 1_000, 1_500)
    assert len(set(zip(rows.user.tolist(), rows.item.tolist(), strict=True))) == 60_000
    assert set(np.unique(rows.value * 2)) <= set(range(1, 11))
    assert rows.user_counts().min() >= 15
    assert rows.item_counts().min() >= 1


def test_it_is_the_same_on_every_machine(demo):
    """If this changes, every number of the demo set does: see "Move a number" in CONTRIBUTING.md."""
    assert demo.sha256 == "0b5e63109d1577fd4a2a5e47680f5994177039050c5bc7f22263f6c92e410873"


def test_popularity_has_a_long_tail_and_activity_is_uneven(demo):
    counts = np.sort(demo.interactions.item_counts())[::-1]
    assert counts[:300].sum() > 0.5 * counts.sum()
    assert np.median(demo.interactions.user_counts()) < 0.85 * demo.interactions.user_counts().mean()


def test_everything_that_metrics_need_is_there(demo):
    assert len(set(demo.item_titles)) == 1_500
    assert demo.item_features.matrix.sum(axis=1).min() >= 1
    assert (np.diff(demo.interactions.timestamp) >= 0).all()
    assert demo.relevant_from == 4.0
