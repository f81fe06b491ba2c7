"""P3alpha and RP3beta: the weights of their formulas, neighbours, users folded in."""

import numpy as np
import pytest

from recgauge.models.p3alpha import P3alpha
from recgauge.models.rp3beta import RP3beta
from recgauge.utils.randomness import stream


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


@pytest.mark.parametrize("k", [1, 7, 400])
def test_the_largest_weights_of_an_item_are_kept(part, k):
    every = weights_of(RP3beta(top_k=None), part)
    order = np.argsort(-every, axis=0, kind="stable")
    kept = np.zeros_like(every)
    np.put_along_axis(kept, order[:k], np.take_along_axis(every, order[:k], axis=0), axis=0)
    assert np.array_equal(weights_of(RP3beta(top_k=k), part), kept)


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
