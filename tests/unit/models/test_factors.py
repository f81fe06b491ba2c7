"""iALS and BPR: losses, systems and steps against plain numpy."""

import numpy as np
import pytest

from recgauge.data.interactions import Interactions
from recgauge.models import bpr as kernel
from recgauge.models.ials import IALS


@pytest.fixture
def train():
    rng = np.random.default_rng(5)
    pairs = np.unique(rng.integers(0, [60, 40], (700, 2)), axis=0)
    values = rng.integers(1, 6, len(pairs))
    return Interactions(*pairs.T, values, None, np.arange(62), np.arange(41))


def fit(train, seed=0, **settings):
    return IALS(**{"n_factors": 5, "n_epochs": 3, "alpha": 0.1, "regularization": 0.003} | settings).fit(
        train, rng=np.random.default_rng(seed)
    )


def objective(train, factors, weights, alpha=0.1, pull=0.003, nu=1.0):
    w, h = factors.user.astype(float), factors.item.astype(float)
    product = w @ h.T
    n_u, n_i = train.user_counts(), train.item_counts()
    loss = (weights * (1 - product[train.user, train.item]) ** 2).sum() + alpha * (product**2).sum()
    for n, m, own in ((n_u, train.n_items, w), (n_i, train.n_users, h)):
        loss += pull * ((n + alpha * m) ** nu * (own**2).sum(axis=1)).sum()
    return loss


@pytest.mark.parametrize("values", ["binary", "rating"])
@pytest.mark.parametrize("nu", [0.0, 0.5, 1.0])
def test_the_loss_is_the_sum_that_the_page_gives(train, values, nu):
    model = IALS(n_factors=5, n_epochs=4, alpha=0.1, regularization=0.003, nu=nu, values=values)
    weights = train.value if values == "rating" else np.ones(len(train))
    losses = []
    for loss in model.epochs(train, rng=np.random.default_rng(0)):
        assert loss == pytest.approx(objective(train, model.factors(), weights, nu=nu), rel=1e-5)
        losses.append(loss)
    assert len(losses) == 4
    assert (np.diff(losses) < 0).all()


def test_enough_steps_solve_the_systems(train):
    factors = fit(train, n_steps=50, n_epochs=1).factors()
    w, h = factors.user.astype(float), factors.item.astype(float)
    for i in range(40):
        own = w[train.user[train.item == i]]
        pull = 0.003 * (len(own) + 0.1 * 62)
        system = 0.1 * w.T @ w + own.T @ own + pull * np.eye(5)
        np.testing.assert_allclose(h[i], np.linalg.solve(system, own.sum(axis=0)), rtol=1e-3, atol=1e-5)


def test_folding_in_the_training_rows_solves_their_systems(train):
    model = fit(train, n_epochs=100)
    before = model.factors()
    after = model.fold_in(train).factors()
    assert np.array_equal(before.item, after.item)
    np.testing.assert_allclose(after.user, before.user, atol=0.03)


@pytest.fixture
def purchases():
    rng = np.random.default_rng(5)
    pairs = np.unique((rng.random((900, 2)) ** 2 * [60, 40]).astype(int), axis=0)
    return Interactions(*pairs.T, np.ones(len(pairs)), None, np.arange(62), np.arange(41))


def triples(purchases, n=40_000, *, popular=False, n_negatives=1, n_tries=32):
    rows = purchases.to_csr()
    owner = np.repeat(np.arange(rows.shape[0], dtype=np.int32), np.diff(rows.indptr))
    found = np.empty((n, 3), np.int32)
    lists = owner, rows.indptr.astype(np.int64), rows.indices.astype(np.int32)
    settings = rows.shape[1], popular, n_negatives, n_tries
    kernel.draw_triples(np.array([3], np.uint64), *lists, *settings, found)
    return rows.toarray() > 0, found


@pytest.mark.parametrize("popular", [False, True])
def test_triples_are_of_a_taken_and_another_item(purchases, popular):
    taken, found = triples(purchases, popular=popular)
    user, item, other = found[found[:, 2] >= 0].T
    assert taken[user, item].all()
    assert not taken[user, other].any()
    pairs = np.bincount(user * 41 + item, minlength=62 * 41).reshape(62, 41)[taken]
    expected = len(user) / taken.sum()
    assert pairs.min() > expected / 2
    assert pairs.max() < expected * 2


def test_descent_equals_a_loop(purchases):
    """One step a triple, in float64; the chance is that of the logistic function."""
    rng = np.random.default_rng(1)
    p, q = (rng.standard_normal((n, 16)).astype(np.float32) * 0.3 for n in (62, 41))
    bias = rng.standard_normal(41).astype(np.float32)
    _, found = triples(purchases, 500)
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
