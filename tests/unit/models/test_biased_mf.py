"""Biased matrix factorisation and SVD++: the descent, users folded in."""

import numpy as np
import pytest

from recgauge.data.interactions import Interactions
from recgauge.models.biased_mf import BiasedMF
from recgauge.models.svd_pp import SVDpp


def reference(train, seed, n_factors, n_epochs, step, pull):
    """One plain step a rating, in float64."""
    rng = np.random.default_rng(seed)
    p = rng.standard_normal((train.n_users, n_factors)) * 0.1
    q = rng.standard_normal((train.n_items, n_factors)) * 0.1
    b_u, b_i, mean = np.zeros(train.n_users), np.zeros(train.n_items), train.value.mean(dtype=float)
    rows = sorted(range(len(train)), key=lambda row: train.user[row])
    for _ in range(n_epochs):
        for row in rows:
            u, i = train.user[row], train.item[row]
            error = train.value[row] - (mean + b_u[u] + b_i[i] + p[u] @ q[i])
            b_u[u] += step * (error - pull * b_u[u])
            b_i[i] += step * (error - pull * b_i[i])
            p[u], q[i] = (
                p[u] + step * (error * q[i] - pull * p[u]),
                q[i] + step * (error * p[u] - pull * q[i]),
            )
    return mean + b_u[:, None] + b_i + p @ q.T


def test_descent_equals_a_loop(train):
    model = BiasedMF(3, 2, 0.02, 0.1).fit(train, rng=np.random.default_rng(0))
    expected = reference(train, 0, 3, 2, 0.02, 0.1)
    predicted = model.predict(train.user, train.item)
    np.testing.assert_allclose(predicted, expected[train.user, train.item], rtol=1e-5)


def test_epochs_yield_the_mean_squared_error(train):
    model = BiasedMF(n_factors=3, n_epochs=4, learning_rate=1e-7)
    losses = list(model.epochs(train, rng=np.random.default_rng(0)))
    error = float(np.mean((model.predict(train.user, train.item) - train.value) ** 2))
    assert losses == pytest.approx([error] * 4, rel=1e-4)
    losses = list(BiasedMF(n_factors=3, n_epochs=9).epochs(train, rng=np.random.default_rng(0)))
    assert losses == sorted(losses, reverse=True)


def plain_descent(train, seed, n_factors, n_epochs, step, pull):
    """One step a rating, which moves the implicit factors of all the user's items, in float64."""
    rng = np.random.default_rng(seed)
    p, q, y = (
        rng.standard_normal((n, n_factors)) * 0.1 for n in (train.n_users, train.n_items, train.n_items)
    )
    b_u, b_i, mean = np.zeros(train.n_users), np.zeros(train.n_items), train.value.mean(dtype=float)
    y[np.bincount(train.item, minlength=train.n_items) == 0] = 0.0
    turn = np.argsort(rng.permutation(train.n_users))
    rows = sorted(range(len(train)), key=lambda row: turn[train.user[row]])
    losses = []
    for _ in range(n_epochs):
        losses.append(0.0)
        for row in rows:
            u, i = train.user[row], train.item[row]
            theirs = train.item[train.user == u]
            root = np.sqrt(len(theirs))
            implicit = y[theirs].sum(axis=0) / root
            error = train.value[row] - (mean + b_u[u] + b_i[i] + q[i] @ (p[u] + implicit))
            losses[-1] += error**2 / len(train)
            b_u[u] += step * (error - pull * b_u[u])
            b_i[i] += step * (error - pull * b_i[i])
            y[theirs] += step * (error * q[i] / root - pull * y[theirs])
            p[u], q[i] = (
                p[u] + step * (error * q[i] - pull * p[u]),
                q[i] + step * (error * (p[u] + implicit) - pull * q[i]),
            )
    whole = [
        p[u] + y[train.item[train.user == u]].sum(0) / np.sqrt((train.user == u).sum()) for u in range(29)
    ]
    return mean + b_u[:29, None] + b_i + np.array(whole) @ q.T, losses


def test_composed_steps_are_plain_descent(train):
    model = SVDpp(3, 3, 0.05, 0.1)
    losses = list(model.epochs(train, rng=np.random.default_rng(0)))
    expected, expected_losses = plain_descent(train, 0, 3, 3, 0.05, 0.1)
    predicted = model.predict(train.user, train.item)
    np.testing.assert_allclose(predicted, expected[train.user, train.item], rtol=2e-5)
    np.testing.assert_allclose(losses, expected_losses, rtol=1e-5)


def test_folded_users_are_served_by_their_items_and_a_ridge_regression(train):
    model = SVDpp(3, 10, 0.05, 0.1).fit(train, rng=np.random.default_rng(0))
    q, b_i = model.factors().item[:, :3].astype(float), model.factors().item[:, 3].astype(float)
    items, values = np.array([2, 5, 7, 11, 3]), np.array([5.0, 1, 4, 2, 3])
    rows = Interactions(np.full(5, 29), items, values, None, np.arange(30), np.arange(20))
    implicit = model._implicit_factors[items].sum(axis=0) / np.sqrt(5)
    mean = model.training().mean
    deviation = values - mean - b_i[items] - q[items] @ implicit
    design = np.column_stack([q[items], np.ones(5)])
    solution = np.linalg.solve(design.T @ design + 0.1 * 5 * np.eye(4), design.T @ deviation)
    expected = mean + solution[3] + b_i + q @ (solution[:3] + implicit)
    before = model.score(np.arange(29, dtype=np.int32))
    folded = model.fold_in(rows).score(np.arange(30, dtype=np.int32))
    np.testing.assert_allclose(folded[29], expected, rtol=1e-5)
    assert np.array_equal(folded[:29], before)
