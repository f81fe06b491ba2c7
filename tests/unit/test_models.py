"""What single models promise beyond the contract."""

import numpy as np
import pytest

from recgauge.data.interactions import Interactions
from recgauge.errors import FitError
from recgauge.models.popularity import Popularity
from recgauge.models.random import Random
from recgauge.models.svd import SVD
from recgauge.utils.randomness import stream


def test_random_is_uniform(demo):
    scores = Random().fit(demo.interactions, rng=stream(0, "fit")).score(np.arange(200, dtype=np.int32))
    assert 0 <= scores.min() < scores.max() < 1
    counts, _ = np.histogram(scores, bins=20, range=(0, 1))
    expected = scores.size / 20
    chi_square = ((counts - expected) ** 2 / expected).sum()
    assert chi_square < 43.8  # 19 degrees of freedom, p = 0.001
    assert abs(np.corrcoef(scores[0], scores[1])[0, 1]) < 0.1


def test_rows_are_drawn_in_proportion_to_their_items():
    train = Interactions.from_ids(np.arange(10), [1] * 6 + [2] * 3 + [3])
    wide = Interactions(train.user, train.item, train.value, None, train.user_ids, np.arange(5))
    model = Random(draw="rows").fit(wide, rng=stream(0, "fit"))
    scores = model.score(np.arange(20_000, dtype=np.int32))
    order = np.argsort(-scores, axis=1)
    shares = np.bincount(order[:, 0], minlength=5) / 20_000
    np.testing.assert_allclose(shares, [0.6, 0.3, 0.1, 0, 0], atol=0.012)
    # the second item is drawn among the rows of the others: 2 follows 1 with chance 3 / 4
    after = np.bincount(order[order[:, 0] == 0, 1], minlength=5)
    assert after[1] / after.sum() == pytest.approx(0.75, abs=0.015)
    assert set(order[:, 3:].ravel()) == {3, 4}  # items without rows come last, in any order
    assert np.mean(order[:, 3] == 3) == pytest.approx(0.5, abs=0.012)


def test_popularity_by_sum_and_damped_mean():
    train = Interactions.from_ids([1, 2, 3, 4], ["x", "x", "y", "z"], [5.0, 3.0, 5.0, 3.0])
    wide = Interactions(train.user, train.item, train.value, None, train.user_ids, np.array(list("xyzw")))

    def scores(**settings):
        model = Popularity(**settings).fit(wide, rng=stream(0, "fit"))
        return model.score(np.array([0], np.int32))[0].tolist()

    assert scores() == [2, 1, 1, 0]
    assert scores(by="sum") == [8, 5, 3, 0]
    assert scores(by="mean_rating") == [4, 5, 3, 2]  # who has no row comes last
    assert scores(by="mean_rating", damping=3) == [4, 4.25, 3.75, 4]


def test_recent_popularity_counts_the_last_days_before_the_newest_row():
    day = 86_400
    times = np.array([10 * day, 10 * day - 1, 9 * day + 1, 9 * day, 3 * day])
    train = Interactions.from_ids([1, 2, 3, 4, 5], ["x", "x", "y", "y", "z"], [5, 3, 2, 4, 1], times)

    def scores(**settings):
        model = Popularity(**settings).fit(train, rng=stream(0, "fit"))
        return model.score(np.array([0], np.int32))[0].tolist()

    assert scores(last_days=1) == [2, 1, 0]
    assert scores(last_days=2.5) == [2, 2, 0]
    assert scores(last_days=1000) == scores() == [2, 2, 1]
    assert scores(last_days=1, by="sum") == [8, 2, 0]
    # the window's mean, not that of all rows, is what the damped means are pulled to
    assert scores(last_days=1, by="mean_rating", damping=1) == pytest.approx([34 / 9, 8 / 3, 10 / 3])


@pytest.mark.parametrize("k", [1, 5, 140])
def test_svd_of_many_items_is_exact(k):
    """Above 500 items only products are made; some singular values are equal, some are 0."""
    rng = np.random.default_rng(4)
    dense = np.zeros((300, 700))
    dense[:, :600] = (rng.random((300, 600)) < 0.05) * rng.integers(1, 6, (300, 600))
    dense[200:250] = 0
    dense[200:250, 600:650] = 3 * np.eye(50)
    user, item = np.nonzero(dense)
    train = Interactions(user, item, dense[user, item], None, np.arange(300), np.arange(700))
    factors = SVD(k).fit(train, rng=stream(0, "fit")).factors()
    singular = np.linalg.svd(dense, compute_uv=False)[:k]
    np.testing.assert_allclose(np.linalg.norm(factors.user, axis=0), singular, rtol=1e-6)
    np.testing.assert_allclose(factors.item.T @ factors.item, np.eye(k), atol=1e-5)
    np.testing.assert_allclose(dense @ factors.item, factors.user, atol=1e-4)


def test_svd_of_fewer_distinct_users_than_factors_is_finite():
    user, item = np.repeat(np.arange(60), 10), np.tile(np.arange(10), 60)
    rows = Interactions(user, item, np.ones(600), None, np.arange(60), np.arange(600))
    factors = SVD(30).fit(rows, rng=stream(0, "fit")).factors()
    expected = np.zeros((60, 600))
    expected[:, :10] = 1
    np.testing.assert_allclose(factors.user @ factors.item.T, expected, atol=1e-5)


def test_svd_refuses_more_factors_than_the_matrix_has():
    with pytest.raises(FitError, match="below the 2 users and 2 items, got 2"):
        SVD(2).fit(Interactions.from_ids([1, 2], [1, 2]), rng=np.random.default_rng(0))


def test_svd_is_the_best_approximation_of_its_rank(rng):
    dense = rng.integers(0, 5, (30, 20)) * rng.integers(0, 2, (30, 20))
    user, item = np.nonzero(dense)
    train = Interactions(user, item, dense[user, item], None, np.arange(30), np.arange(20))
    scores = SVD(4).fit(train, rng=rng).score(np.arange(30, dtype=np.int32))
    left, singular, right = np.linalg.svd(dense.astype(float), full_matrices=False)
    best = (left[:, :4] * singular[:4]) @ right[:4]
    np.testing.assert_allclose(scores, best, atol=1e-4)
