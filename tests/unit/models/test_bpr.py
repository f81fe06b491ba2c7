import numpy as np
import pytest

from recgauge.data.interactions import Interactions
from recgauge.errors import FitError
from recgauge.models import bpr as kernel
from recgauge.models.bpr import BPR


@pytest.fixture
def train():
    rng = np.random.default_rng(5)
    pairs = np.unique((rng.random((900, 2)) ** 2 * [60, 40]).astype(int), axis=0)
    return Interactions(*pairs.T, np.ones(len(pairs)), None, np.arange(62), np.arange(41))


def fit(train, seed=0, **settings):
    return BPR(**{"n_factors": 5, "n_epochs": 3} | settings).fit(train, rng=np.random.default_rng(seed))


def triples(train, n=40_000, *, popular=False, n_negatives=1, n_tries=32):
    rows = train.to_csr()
    owner = np.repeat(np.arange(rows.shape[0], dtype=np.int32), np.diff(rows.indptr))
    found = np.empty((n, 3), np.int32)
    lists = owner, rows.indptr.astype(np.int64), rows.indices.astype(np.int32)
    settings = rows.shape[1], popular, n_negatives, n_tries
    kernel.draw_triples(np.array([3], np.uint64), *lists, *settings, found)
    return rows.toarray() > 0, found


@pytest.mark.parametrize("popular", [False, True])
def test_triples_are_of_a_taken_and_another_item(train, popular):
    taken, found = triples(train, popular=popular)
    user, item, other = found[found[:, 2] >= 0].T
    assert taken[user, item].all()
    assert not taken[user, other].any()
    pairs = np.bincount(user * 41 + item, minlength=62 * 41).reshape(62, 41)[taken]
    expected = len(user) / taken.sum()
    assert pairs.min() > expected / 2
    assert pairs.max() < expected * 2


def test_one_try_passes_over_as_many_rows_as_draw_what_the_user_took(train):
    taken, found = triples(train, 100_000, popular=True, n_tries=1)
    rows, counts = taken.sum(axis=1), taken.sum(axis=0)
    hits = (taken * counts).sum(axis=1) / counts.sum()  # of a user, the chance to draw what they took
    assert (found[:, 2] < 0).mean() == pytest.approx((rows * hits).sum() / rows.sum(), abs=0.01)


def test_the_loss_is_the_mean_of_the_steps_that_were_taken():
    train = Interactions.from_ids([0, 0, 0, 1], [0, 1, 2, 0])  # who took all items has no step
    (loss,) = BPR(2, 1, learning_rate=1e-9, init_std=1e-9).epochs(train, rng=np.random.default_rng(0))
    assert loss == pytest.approx(np.log(2), rel=1e-6)


def test_descent_equals_a_loop(train):
    """One step a triple, in float64; the chance is that of the logistic function."""
    rng = np.random.default_rng(1)
    p, q = (rng.standard_normal((n, 16)).astype(np.float32) * 0.3 for n in (62, 41))
    bias = rng.standard_normal(41).astype(np.float32)
    _, found = triples(train, 500)
    users, items, biases, loss = p.astype(float), q.astype(float), bias.astype(float), 0.0
    for u, i, j in found[found[:, 2] >= 0]:
        margin = biases[i] - biases[j] + users[u] @ (items[i] - items[j])
        wrong, own = 1 / (1 + np.exp(margin)), users[u].copy()
        loss += np.log1p(np.exp(-margin))
        users[u] += 0.1 * (wrong * (items[i] - items[j]) - 0.02 * own)
        items[i] += 0.1 * (wrong * own - 0.02 * items[i])
        items[j] += 0.1 * (-wrong * own - 0.02 * items[j])
        biases[i] += 0.1 * (wrong - 0.02 * biases[i])
        biases[j] += 0.1 * (-wrong - 0.02 * biases[j])
    assert kernel.descend(found, p, q, bias, np.float32(0.1), np.float32(0.02)) == pytest.approx(
        loss, rel=1e-5
    )
    np.testing.assert_allclose(p, users, atol=1e-5)
    np.testing.assert_allclose(q, items, atol=1e-5)
    np.testing.assert_allclose(bias, biases, atol=1e-5)


def test_data_that_teach_nothing_are_refused(train):
    with pytest.raises(FitError, match="at least one training row"):
        fit(train.take(train.value > 9))
