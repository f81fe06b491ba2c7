"""Models of factors against implicit, irspack and scikit-learn, on the same matrix."""

import numpy as np
import pytest
from scipy import sparse

from differential.libraries import library
from recgauge.data.interactions import Interactions
from recgauge.models.ials import IALS

pytestmark = [
    pytest.mark.differential,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning", "ignore::RuntimeWarning"),
]
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
    ials = library("irspack.recommenders.ials")
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


@pytest.mark.parametrize("use_cg", [True, False])
def test_ials_is_that_of_implicit(train, use_cg):
    """Weights 1 and c, products 1 + alpha times larger, on both sides the root of that."""
    als = library("implicit.cpu.als")
    scale, c = 1 + ALPHA, 1 + 1 / ALPHA
    rows = sparse.csr_matrix(train.to_csr())
    rows.data[:] = c
    # theirs / ours = scale ** 2 / alpha of the sum of errors, scale of the squared norms
    peer = als.AlternatingLeastSquares(
        factors=D, regularization=PULL * scale / ALPHA, alpha=1.0, iterations=6, use_cg=use_cg, num_threads=1
    )
    w, h = ials_start(train)
    peer.user_factors, peer.item_factors = (x * np.float32(np.sqrt(scale)) for x in (w, h))
    peer.fit(rows, show_progress=False)
    model, _ = ials_losses(train, nu=0.0, n_steps=3 if use_cg else 60)
    product = peer.user_factors @ peer.item_factors.T / scale
    np.testing.assert_allclose(model.score(np.arange(150, dtype=np.int32)), product, atol=2e-3)
