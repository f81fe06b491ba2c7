import subprocess
import sys

import numpy as np
import pytest

from recgauge.data.interactions import Interactions
from recgauge.errors import ConfigError, FitError, NotFittedError
from recgauge.models._factor_ratings import ROWS_AT_A_TIME
from recgauge.models.biased_mf import BiasedMF


@pytest.fixture
def train():
    rng = np.random.default_rng(5)
    user, item = rng.integers(0, 29, 600), rng.integers(0, 19, 600)
    return Interactions(
        user.astype(np.int32),
        item.astype(np.int32),
        rng.integers(1, 6, 600).astype(np.float32),
        None,
        np.arange(30),
        np.arange(20),
    )


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


def test_one_seed_gives_one_model(train):
    first, again, other = (fit(train, seed).predict(train.user, train.item) for seed in (0, 0, 1))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_scores_are_predictions(train):
    model = fit(train)
    scores = model.score(np.arange(30, dtype=np.int32))
    predicted = model.predict(train.user, train.item)
    np.testing.assert_allclose(scores[train.user, train.item], predicted, rtol=1e-5)


def test_unknown_user_and_item_get_the_mean(train):
    predicted = fit(train).predict(np.array([29], np.int32), np.array([19], np.int32))
    assert predicted[0] == pytest.approx(train.value.mean(), rel=1e-6)


def test_blocks_of_rows_do_not_change_predictions(train):
    model = fit(train)
    many = np.resize(train.user, ROWS_AT_A_TIME + 7), np.resize(train.item, ROWS_AT_A_TIME + 7)
    predicted = model.predict(*many)
    assert np.array_equal(predicted[: len(train)], model.predict(train.user, train.item))
    assert np.array_equal(predicted[-7:], model.predict(many[0][-7:], many[1][-7:]))


def test_learning_lowers_the_error(train):
    errors = [
        float(np.mean((fit(train, n_epochs=n).predict(train.user, train.item) - train.value) ** 2))
        for n in (1, 20, 80)
    ]
    assert errors == sorted(errors, reverse=True)


def test_divergence_is_an_error(train):
    with pytest.raises(FitError, match=r"diverged in epoch \d+ of 20.*Lower learning_rate, which is 5"):
        fit(train, n_epochs=20, learning_rate=5.0)


def test_not_fitted():
    with pytest.raises(NotFittedError, match="BiasedMF: fit"):
        BiasedMF().predict(np.array([0], np.int32), np.array([0], np.int32))


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"n_factors": 0}, "n_factors must be a whole number >= 1"),
        ({"n_epochs": 1.5}, "n_epochs must be a whole number >= 1"),
        ({"learning_rate": 0}, "learning_rate must be a finite number > 0"),
        ({"regularization": -0.1}, "regularization must be a finite number >= 0"),
        ({"init_std": "wide"}, "init_std must be a finite number >= 0"),
    ],
)
def test_parameters_are_checked(setting, message):
    with pytest.raises(ConfigError, match=message):
        BiasedMF(**setting)


def test_importing_the_model_compiles_nothing():
    code = "import sys, recgauge.models.biased_mf; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_epochs_yield_the_mean_squared_error(train):
    model = BiasedMF(n_factors=3, n_epochs=4, learning_rate=1e-7)
    losses = list(model.epochs(train, rng=np.random.default_rng(0)))
    error = float(np.mean((model.predict(train.user, train.item) - train.value) ** 2))
    assert losses == pytest.approx([error] * 4, rel=1e-4)
    losses = list(BiasedMF(n_factors=3, n_epochs=9).epochs(train, rng=np.random.default_rng(0)))
    assert losses == sorted(losses, reverse=True)
