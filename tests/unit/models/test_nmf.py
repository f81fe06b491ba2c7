import numpy as np
import pytest
from scipy.optimize import nnls

from recgauge.data.interactions import Interactions
from recgauge.errors import FitError
from recgauge.models.nmf import NMF


def fit(train, seed=0, **settings):
    return NMF(**{"n_factors": 3, "n_epochs": 5} | settings).fit(train, rng=np.random.default_rng(seed))


def by_definition(train, n_epochs, reg_pu, reg_qi):
    """The updates on dense matrices, with the errors before each."""
    ratings, mask = np.zeros((30, 20)), np.zeros((30, 20))
    ratings[train.user, train.item], mask[train.user, train.item] = train.value, 1
    rng = np.random.default_rng(0)
    p, q = rng.random((30, 3))[:29], rng.random((20, 3))[:19]
    ratings, mask = ratings[:29, :19], mask[:29, :19]
    losses = []
    for _ in range(n_epochs):
        predicted = mask * (p @ q.T)
        losses.append(((ratings - predicted) ** 2).sum() / mask.sum())
        p, q = (
            p * (ratings @ q) / (predicted @ q + reg_pu * mask.sum(axis=1, keepdims=True) * p),
            q * (ratings.T @ p) / (predicted.T @ p + reg_qi * mask.sum(axis=0)[:, None] * q),
        )
    return p @ q.T, losses


def test_updates_are_those_of_the_definition(train):
    model = NMF(n_factors=3, n_epochs=5, reg_pu=0.1, reg_qi=0.02)
    losses = list(model.epochs(train, rng=np.random.default_rng(0)))
    expected, expected_losses = by_definition(train, 5, 0.1, 0.02)
    np.testing.assert_allclose(losses, expected_losses, rtol=1e-10)
    predicted = model.predict(train.user, train.item)
    np.testing.assert_allclose(predicted, expected[train.user, train.item], rtol=1e-5)
    assert (model.factors().user >= 0).all()
    assert (model.factors().item >= 0).all()


def test_unknown_users_and_items_are_impossible_and_score_nothing(train):
    model = fit(train)
    pairs = np.array([29, 0, 29], np.int32), np.array([0, 19, 19], np.int32)
    assert np.isnan(model.predict(*pairs)).all()
    assert not model.score(np.array([29], np.int32)).any()


def test_ratings_of_zero_leave_nothing_undefined(train):
    rows = Interactions(
        train.user, train.item, np.where(train.user < 3, 0, train.value), None, np.arange(30), np.arange(20)
    )
    predicted = fit(rows, n_epochs=50).predict(rows.user, rows.item)
    assert np.isfinite(predicted).all()
    assert not predicted[rows.user < 3].any()


def test_folded_users_solve_a_non_negative_ridge_regression(train):
    model = fit(train, n_epochs=20, reg_pu=0.1)
    items, values = np.arange(8), np.array([5.0, 1, 4, 2, 3, 5, 5, 1])
    rows = Interactions(np.full(8, 29), items, values, None, np.arange(30), np.arange(20))
    before = model.score(np.arange(29, dtype=np.int32))
    model.n_epochs = 5000
    after = model.fold_in(rows).score(np.arange(30, dtype=np.int32))
    q = model.factors().item.astype(float)
    pull = np.sqrt(0.1 * 8) * np.eye(3)
    best, _ = nnls(np.vstack([q[items], pull]), np.concatenate([values, np.zeros(3)]))
    np.testing.assert_allclose(after[29], q @ best, atol=1e-3)
    assert np.array_equal(after[:29], before)
    assert np.isfinite(model.predict(np.full(19, 29, np.int32), np.arange(19, dtype=np.int32))).all()


def test_negative_ratings_are_refused(train):
    rows = Interactions(train.user, train.item, train.value - 3, None, np.arange(30), np.arange(20))
    with pytest.raises(FitError, match=r"NMF: ratings must not be negative.*lowest is -2"):
        fit(rows)
