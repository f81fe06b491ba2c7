"""Rating predictors beside those of Surprise, from the same start; `make differential` installs it."""

import numpy as np
import pytest

from differential.libraries import library
from recgauge.data.interactions import Interactions
from recgauge.models.biased_mf import BiasedMF
from recgauge.models.svd_pp import SVDpp

surprise = library("surprise")
pytestmark = [pytest.mark.differential, pytest.mark.filterwarnings("ignore")]
SEEDS = (0, 1, 2)
N_USERS, N_ITEMS = 60, 40  # the last of each has no rating


class Given(np.random.RandomState):
    """Hands out what is given instead of drawing."""

    def __init__(self, *arrays):
        super().__init__(0)
        self.arrays = list(arrays)

    def normal(self, *_, **__):
        return self.arrays.pop(0)

    uniform = randint = normal


def random_ratings(seed):
    rng = np.random.default_rng([seed, 7])
    user, item = np.nonzero(rng.random((N_USERS - 1, N_ITEMS - 1)) < 0.3)
    value = rng.integers(1, 6, len(user))
    return Interactions(user, item, value, None, np.arange(N_USERS), np.arange(N_ITEMS))


class Theirs:
    """Surprise's trainset of the rows, users in a given order, and predictions of all pairs."""

    def __init__(self, rows, order=None):
        import pandas as pd

        turn = np.arange(N_USERS) if order is None else np.argsort(order)
        self.rows = rows.take(np.argsort(turn[rows.user], kind="stable"))
        columns = {name: getattr(self.rows, name).astype(float) for name in ("user", "item", "value")}
        data = surprise.Dataset.load_from_df(pd.DataFrame(columns), surprise.Reader(rating_scale=(1, 5)))
        self.trainset = data.build_full_trainset()
        self.users = [int(self.trainset.to_raw_uid(u)) for u in self.trainset.all_users()]
        self.items = [int(self.trainset.to_raw_iid(i)) for i in self.trainset.all_items()]

    def predictions(self, model):
        model.fit(self.trainset)
        every = [[model.predict(float(u), float(i), clip=False).est for i in range(40)] for u in range(60)]
        return np.array(every)


def ours(model, rows, seed):
    model.fit(rows, rng=np.random.default_rng(seed))
    users, items = (codes.ravel().astype(np.int32) for codes in np.mgrid[:N_USERS, :N_ITEMS])
    predicted = model.predict(users, items).astype(float)
    return np.where(np.isnan(predicted), model.training().mean, predicted).reshape(N_USERS, N_ITEMS)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("settings", [{}, {"n_factors": 5, "n_epochs": 40, "lr_all": 0.02, "reg_all": 0.1}])
def test_svd_pp(seed, settings):
    """In float32 and with the steps of a user composed; Surprise takes them one by one, in float64."""
    rows = random_ratings(seed)
    names = {"lr_all": "learning_rate", "reg_all": "regularization"}
    model = SVDpp(**{names.get(name, name): value for name, value in settings.items()})
    rng = np.random.default_rng(seed)
    p, q, y = (rng.standard_normal((n, model.n_factors)) * 0.1 for n in (N_USERS, N_ITEMS, N_ITEMS))
    theirs = Theirs(rows, order=rng.permutation(N_USERS))
    start = Given(p[theirs.users], q[theirs.items], y[theirs.items])
    expected = theirs.predictions(surprise.SVDpp(**settings, random_state=start))
    np.testing.assert_allclose(ours(model, rows, seed), expected, rtol=5e-5, atol=5e-5)


@pytest.mark.parametrize("seed", SEEDS)
def test_biased_mf(seed):
    rows = random_ratings(seed)
    theirs, rng = Theirs(rows), np.random.default_rng(seed)
    p, q = (rng.standard_normal((n, 100)) * 0.1 for n in (N_USERS, N_ITEMS))
    start = Given(p[theirs.users], q[theirs.items])
    expected = theirs.predictions(surprise.SVD(random_state=start))
    np.testing.assert_allclose(ours(BiasedMF(), rows, seed), expected, rtol=5e-5, atol=5e-5)
