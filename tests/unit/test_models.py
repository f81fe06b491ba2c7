"""What single models promise beyond the contract."""

import numpy as np
import pytest

from recgauge.errors import ConfigError, FitError
from recgauge.interactions import Interactions
from recgauge.models.popularity import Popularity
from recgauge.models.random import Random
from recgauge.models.svd import SVD
from recgauge.randomness import stream


def test_popularity_counts_training_rows(demo):
    model = Popularity().fit(demo.interactions, rng=stream(0, "fit"))
    assert np.array_equal(model.score(np.array([5], np.int32))[0], demo.interactions.item_counts())


def test_random_is_uniform(demo):
    scores = Random().fit(demo.interactions, rng=stream(0, "fit")).score(np.arange(200, dtype=np.int32))
    assert 0 <= scores.min() < scores.max() < 1
    counts, _ = np.histogram(scores, bins=20, range=(0, 1))
    expected = scores.size / 20
    chi_square = ((counts - expected) ** 2 / expected).sum()
    assert chi_square < 43.8  # 19 degrees of freedom, p = 0.001
    assert abs(np.corrcoef(scores[0], scores[1])[0, 1]) < 0.1


def test_random_changes_with_the_seed(demo):
    users = np.arange(3, dtype=np.int32)
    first, second = (Random().fit(demo.interactions, rng=stream(s, "fit")).score(users) for s in (0, 1))
    assert (first != second).mean() > 0.99


def test_svd_is_the_best_approximation_of_its_rank(rng):
    dense = rng.integers(0, 5, (30, 20)) * rng.integers(0, 2, (30, 20))
    user, item = np.nonzero(dense)
    train = Interactions(user, item, dense[user, item], None, np.arange(30), np.arange(20))
    scores = SVD(4).fit(train, rng=rng).score(np.arange(30, dtype=np.int32))
    left, singular, right = np.linalg.svd(dense.astype(float), full_matrices=False)
    best = (left[:, :4] * singular[:4]) @ right[:4]
    np.testing.assert_allclose(scores, best, atol=1e-4)


def test_svd_orders_factors_and_fixes_signs(demo):
    factors = SVD(6).fit(demo.interactions, rng=stream(0, "fit")).factors()
    strength = np.linalg.norm(factors.user, axis=0)
    assert (np.diff(strength) <= 0).all()
    peaks = np.take_along_axis(factors.item, np.abs(factors.item).argmax(axis=0)[None], axis=0)
    assert (peaks > 0).all()


def test_svd_of_ones_ignores_ratings(demo):
    users = np.arange(5, dtype=np.int32)
    rows = demo.interactions
    ones = Interactions(rows.user, rows.item, np.ones(len(rows)), None, rows.user_ids, rows.item_ids)
    binary = SVD(4, values="binary").fit(rows, rng=stream(0, "fit")).score(users)
    np.testing.assert_allclose(binary, SVD(4).fit(ones, rng=stream(0, "fit")).score(users), atol=1e-5)


@pytest.mark.parametrize("settings", [{"n_factors": 0}, {"n_factors": "abc"}, {"values": "stars"}])
def test_svd_refuses_wrong_settings(settings):
    with pytest.raises(ConfigError, match="SVD"):
        SVD(**settings)


def test_svd_refuses_more_factors_than_the_matrix_has():
    with pytest.raises(FitError, match="below the 2 users and 2 items, got 2"):
        SVD(2).fit(Interactions.from_ids([1, 2], [1, 2]), rng=np.random.default_rng(0))
