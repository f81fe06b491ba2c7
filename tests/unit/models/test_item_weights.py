"""Models of weights between items: EASE in closed form, SLIM at its optimum, walks by their formulas."""

import numpy as np
import pytest

from recgauge.data.interactions import Interactions
from recgauge.errors import FitError
from recgauge.models.ease import EASE
from recgauge.models.p3alpha import P3alpha
from recgauge.models.recommend import recommend
from recgauge.models.rp3beta import RP3beta
from recgauge.models.slim import SLIM
from recgauge.utils.randomness import stream


def fitted(rows, progress=None, **settings):
    return EASE(**settings).fit(rows, rng=stream(0, "fit"), progress=progress)


def in_float64(rows, l2):
    x = (rows.to_csr().toarray() > 0).astype(np.float64)
    inverse = np.linalg.inv(x.T @ x + l2 * np.eye(x.shape[1]))
    weights = -inverse / np.diag(inverse)
    np.fill_diagonal(weights, 0)
    return x, weights


@pytest.mark.parametrize(("l2", "error"), [(0.5, 1e-4), (500.0, 1e-6)])
def test_weights_are_those_of_the_closed_form(demo, l2, error):
    x, weights = in_float64(demo.interactions, l2)
    model = fitted(demo.interactions, l2=l2)
    np.testing.assert_allclose(model.item_weights().weights, weights, atol=error)
    users = np.array([4, 900, 17], np.int32)
    np.testing.assert_allclose(model.score(users), (x @ weights)[users], atol=10 * error)


def test_only_popular_items_take_part(demo, progress):
    rows = demo.interactions
    model = fitted(rows, progress, max_items=200)
    ranked = np.argsort(-rows.item_counts(), kind="stable")
    kept, others = np.sort(ranked[:200]), ranked[200:]
    assert "200 of 1,500 items take part" in progress.notes[0]
    scores = model.score(np.arange(50, dtype=np.int32))
    assert scores.shape == (50, 1500)
    assert (scores[:, kept].min(axis=1) > scores[:, others].max(axis=1)).all()
    assert np.array_equal(np.argsort(-scores[:, others], axis=1, kind="stable")[7], np.arange(1300))
    alone = rows.take(np.isin(rows.item, kept))
    np.testing.assert_allclose(scores[:, kept], fitted(alone).score(np.arange(50, dtype=np.int32))[:, kept],
                               atol=1e-6)  # fmt: skip
    assert model.item_weights() is None  # lists are made from its scores
    seen = rows.to_csr()
    lists = recommend(model, np.array([3], np.int32), 1500 - seen[[3]].nnz, excluded=seen)
    unseen = others[~np.isin(others, seen[[3]].indices)]
    assert np.array_equal(lists.items[0, -len(unseen) :], unseen)


def test_a_penalty_too_small_to_invert_is_refused():
    same = Interactions.from_ids(np.repeat(np.arange(2000), 3), np.tile(np.arange(3), 2000))
    with pytest.raises(FitError, match="Raise l2"):
        fitted(same, l2=1e-9)


def slim_weights(rows, **settings):
    return SLIM(**settings).fit(rows, rng=stream(0, "fit")).item_weights().weights.toarray()


@pytest.mark.parametrize(("l1", "l2"), [(1.0, 10.0), (3.0, 0.5), (0.0, 50.0)])
@pytest.mark.parametrize("non_negative", [True, False])
def test_no_weight_could_be_better(part, l1, l2, non_negative):
    weights = slim_weights(part, l1=l1, l2=l2, non_negative=non_negative, tol=1e-6).astype(np.float64)
    x = (part.to_csr().toarray() > 0).astype(np.float64)
    gram = x.T @ x
    slope = gram @ weights - gram + l2 * weights  # of the smooth part
    np.fill_diagonal(slope, 0)
    slack = 2e-6 * (np.diag(gram)[:, None] + l2)
    away = weights != 0
    assert away.any()
    assert not np.diag(weights).any()
    assert (np.abs(slope + l1 * np.sign(weights)) <= slack)[away].all()
    at_zero = -slope if non_negative else np.abs(slope)
    assert (at_zero <= l1 + slack)[~away].all()
    assert (weights >= 0).all() == non_negative


def test_the_largest_weights_of_each_item_are_kept(part):
    every = slim_weights(part, l1=0.0, l2=50.0)
    few = slim_weights(part, l1=0.0, l2=50.0, top_k=5)
    assert (few[few != 0] == every[few != 0]).all()
    n_weights = (every > 0).sum(axis=0)
    assert ((few > 0).sum(axis=0) == np.minimum(n_weights, 5)).all()
    assert (np.where(few > 0, few, np.inf).min(axis=0) >= np.where(few > 0, 0, every).max(axis=0)).all()


def test_each_item_can_lose_its_smallest_weight(part):
    every, fewer = (slim_weights(part, l1=0.0, l2=50.0, drop_smallest=drop) for drop in (False, True))
    lost = every - fewer
    has = (every > 0).any(axis=0)
    assert ((lost > 0).sum(axis=0) == has).all()
    assert (lost.max(axis=0) == np.where(every > 0, every, np.inf).min(axis=0))[has].all()


def weights_of(model, rows):
    return model.fit(rows, rng=stream(0, "fit")).item_weights().weights.toarray()


def by_formula(rows, alpha=1.0, beta=0.0):
    x = (rows.to_csr().toarray() > 0).astype(np.float64)
    of_user, of_item = np.maximum(x.sum(axis=1), 1), np.maximum(x.sum(axis=0), 1)
    weights = ((x / of_item).T ** alpha) @ ((x / of_user[:, None]) ** alpha) / of_item**beta
    np.fill_diagonal(weights, 0)
    return weights


@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 0.0), (0.4, 0.0), (1.0, 0.6), (1.7, 1.0)])
def test_weights_are_those_of_the_formula(part, alpha, beta):
    expected = by_formula(part, alpha, beta)
    found = weights_of(RP3beta(alpha, beta, top_k=None), part)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-12)
    if beta == 0.0:
        assert np.array_equal(found, weights_of(P3alpha(alpha, top_k=None), part))


@pytest.mark.parametrize("first_cut", ["plain", "normalized"])
@pytest.mark.parametrize("k", [3, 40, None])
def test_weights_are_cut_by_rows_and_then_by_columns(part, first_cut, k):
    weights = weights_of(RP3beta(0.6, 0.4, top_k=None), part)
    kept = weights * (np.argsort(np.argsort(-weights, axis=1, kind="stable"), axis=1) < (k or len(weights)))
    if first_cut == "normalized":
        kept = kept / np.maximum(kept.sum(axis=1, keepdims=True), 1e-30)
    kept = kept * (np.argsort(np.argsort(-kept, axis=0, kind="stable"), axis=0) < (k or len(weights)))
    found = weights_of(RP3beta(0.6, 0.4, top_k=k, first_cut=first_cut), part)
    np.testing.assert_allclose(found, kept, rtol=1e-6, atol=1e-12)
