import numpy as np
import pytest

from recgauge.models.biased_mf import BiasedMF


def fit(train, seed=0, **settings):
    return BiasedMF(**{"n_factors": 3, "n_epochs": 2} | settings).fit(train, rng=np.random.default_rng(seed))


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
    model = fit(train, learning_rate=0.02, regularization=0.1)
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
