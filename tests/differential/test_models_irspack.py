"""EASE, SLIM, P3alpha, RP3beta and iALS on random matrices, ours and those of irspack side by side."""

import numpy as np
import pytest
from scipy import sparse

from differential.libraries import library
from recgauge.data.interactions import Interactions
from recgauge.models.ease import EASE
from recgauge.models.ials import IALS
from recgauge.models.p3alpha import P3alpha
from recgauge.models.rp3beta import RP3beta
from recgauge.models.slim import SLIM

irspack = library("irspack.recommenders")
library("irspack.recommenders.ials")
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


@SHAPES
@pytest.mark.parametrize(("l1", "l2"), [(0.5, 20.0), (2.0, 5.0), (0.0, 10.0)])
@pytest.mark.parametrize("non_negative", [True, False])
def test_slim(n_users, n_items, share, l1, l2, non_negative):
    rows, matrix = rows_and_matrix(n_users, n_items, share)
    strength = {"alpha": (l1 + l2) / n_users, "l1_ratio": l1 / (l1 + l2), "positive_only": non_negative}
    expected = theirs(irspack.SLIMRecommender(matrix, **strength, n_iter=2000, tol=1e-7))
    found = ours(SLIM(l1, l2, non_negative=non_negative, tol=1e-7), rows)
    np.testing.assert_allclose(found, expected, atol=1e-4)  # they descend in float32


D, ALPHA, PULL = 8, 0.1, 0.01


@pytest.fixture(scope="module")
def train():
    rng = np.random.default_rng(11)
    pairs = np.unique((rng.random((4000, 2)) ** 2 * [150, 90]).astype(int), axis=0)
    return Interactions(*pairs.T, rng.integers(1, 6, len(pairs)), None, np.arange(150), np.arange(90))


def ials_losses(train, n_epochs=6, **settings):
    model = IALS(n_factors=D, alpha=ALPHA, regularization=PULL, n_epochs=n_epochs, **settings)
    return model, list(model.epochs(train, rng=np.random.default_rng(3)))


def ials_start(train):
    """What the model draws from the same generator: users' factors, then items'."""
    rng = np.random.default_rng(3)
    draws = [rng.standard_normal((n, D), dtype=np.float32) for n in (train.n_users, train.n_items)]
    return [draw * np.float32(0.1 / np.sqrt(D)) for draw in draws]


@pytest.mark.parametrize("values", ["binary", "rating"])
@pytest.mark.parametrize("nu", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("solver", ["CG", "CHOLESKY"])
def test_ials_is_that_of_irspack(train, values, nu, solver):
    ials = irspack.ials
    rows = sparse.csr_matrix(train.to_csr())
    if values == "binary":
        rows.data[:] = 1
    kind, steps = getattr(ials.SolverType, solver), 3 if solver == "CG" else 60
    peer = ials.IALSTrainer(
        rows, D, ALPHA, PULL, nu, 0.1, kind, 3, 64, ials.LossType.IALSPP, 0, 1, 5, 1
    )  # fmt: skip
    peer.core_trainer.user, peer.core_trainer.item = ials_start(train)
    model, ours = ials_losses(train, nu=nu, values=values, n_steps=steps)
    theirs = []
    for _ in ours:
        peer.run_epoch()
        theirs.append(2 * peer.compute_loss())
    # its loss leaves out the constant sum of the weights
    apart = np.array(ours) - theirs
    np.testing.assert_allclose(apart, apart[0], atol=1e-4 * ours[0])
    np.testing.assert_allclose(apart[0] / rows.data.sum(), round(apart[0] / rows.data.sum()), atol=1e-3)
    product = peer.core_trainer.user @ peer.core_trainer.item.T
    np.testing.assert_allclose(model.score(np.arange(150, dtype=np.int32)), product, atol=2e-3)
