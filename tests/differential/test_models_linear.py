"""EASE, SLIM, P3alpha and RP3beta on random matrices, ours and those of irspack side by side."""

import numpy as np
import pytest
from scipy import sparse

from differential.libraries import library
from recgauge.data.interactions import Interactions
from recgauge.models.ease import EASE
from recgauge.models.p3alpha import P3alpha
from recgauge.models.rp3beta import RP3beta
from recgauge.models.slim import SLIM

irspack = library("irspack.recommenders")
pytestmark = [pytest.mark.differential, pytest.mark.filterwarnings("ignore")]
SHAPES = pytest.mark.parametrize(
    ("n_users", "n_items", "share"), [(60, 25, 0.3), (300, 150, 0.1), (80, 200, 0.1)]
)


def rows_and_matrix(n_users, n_items, share):
    rng = np.random.default_rng(n_users)
    taken = rng.random((n_users, n_items)) < share * 2 * rng.random(n_items)
    taken[:, 0] |= ~taken.any(axis=1)
    taken[0] |= ~taken.any(axis=0)
    rows = Interactions(
        *np.nonzero(taken), np.ones(taken.sum()), None, np.arange(n_users), np.arange(n_items)
    )
    return rows, sparse.csr_matrix(taken.astype(np.float64))


def ours(model, rows):
    weights = model.fit(rows, rng=np.random.default_rng(0)).item_weights().weights
    return weights.toarray() if sparse.issparse(weights) else weights


def theirs(model):
    weights = model.learn()._W
    weights = weights.toarray() if sparse.issparse(weights) else np.array(weights)
    np.fill_diagonal(weights, 0)  # they keep walks back to their item
    return weights


@SHAPES
@pytest.mark.parametrize("l2", [5.0, 250.0])
def test_ease(n_users, n_items, share, l2):
    rows, matrix = rows_and_matrix(n_users, n_items, share)
    expected = theirs(irspack.DenseSLIMRecommender(matrix, reg=l2))
    np.testing.assert_allclose(ours(EASE(l2), rows), expected, atol=2e-6)


@SHAPES
def test_p3alpha(n_users, n_items, share):
    rows, matrix = rows_and_matrix(n_users, n_items, share)
    found = ours(P3alpha(alpha=1.0, top_k=None), rows)
    np.testing.assert_allclose(found, theirs(irspack.P3alphaRecommender(matrix)), rtol=1e-5)


@SHAPES
@pytest.mark.parametrize("beta", [0.2, 0.6])
def test_rp3beta(n_users, n_items, share, beta):
    rows, matrix = rows_and_matrix(n_users, n_items, share)
    found = ours(RP3beta(alpha=1.0, beta=beta, top_k=None), rows)
    np.testing.assert_allclose(found, theirs(irspack.RP3betaRecommender(matrix, beta=beta)), rtol=1e-5)


def test_neighbours_that_are_kept():
    """Where a walk back is among their k + 1 largest, the others are our k."""
    rows, matrix = rows_and_matrix(300, 150, 0.1)
    expected = irspack.RP3betaRecommender(matrix, top_k=11).learn()._W.toarray()
    alike = np.diag(expected) > 0
    assert alike.sum() > 100
    np.fill_diagonal(expected, 0)
    found = ours(RP3beta(alpha=1.0, beta=0.6, top_k=10), rows)
    np.testing.assert_allclose(found[:, alike], expected[:, alike], rtol=1e-5)


@SHAPES
@pytest.mark.parametrize(("l1", "l2"), [(0.5, 20.0), (2.0, 5.0), (0.0, 10.0)])
@pytest.mark.parametrize("non_negative", [True, False])
def test_slim(n_users, n_items, share, l1, l2, non_negative):
    rows, matrix = rows_and_matrix(n_users, n_items, share)
    strength = {"alpha": (l1 + l2) / n_users, "l1_ratio": l1 / (l1 + l2), "positive_only": non_negative}
    expected = theirs(irspack.SLIMRecommender(matrix, **strength, n_iter=2000, tol=1e-7))
    found = ours(SLIM(l1, l2, non_negative=non_negative, tol=1e-7), rows)
    np.testing.assert_allclose(found, expected, atol=1e-4)  # they descend in float32
