"""One contestant of training.py, as a process of its own: trains once for every line on standard input.

    python benchmarks/_train_peer.py "WHO MODEL EPOCHS" FOLDER

The first line of output says that it is ready or why it cannot be, every further one is a training's seconds
as JSON. Errors on the test rows are computed after the first training only, which training.py does not time.
"""

import sys
from itertools import repeat
from pathlib import Path

import _train_rankers as rankers
import numpy as np
from _serve import serve

N_FACTORS, LEARNING_RATE, REGULARIZATION, INIT_STD = 100, 0.005, 0.02, 0.1
REG_I, REG_U = 10, 15


class Problem:
    """Rows as training.py wrote them: (user, item, rating) of the training and the test part."""

    def __init__(self, folder):
        self.train, self.test = (_columns(Path(folder) / f"{part}.npy") for part in ("train", "test"))
        self.shape = tuple(int(max(part[n].max() for part in (self.train, self.test))) + 1 for n in (0, 1))


def _columns(path):
    user, item, rating = np.load(path)
    return user.astype(np.int32), item.astype(np.int32), rating.astype(np.float32)


def errors(problem, predicted):
    """RMSE and MAE over the test rows, predictions clipped to the scale."""
    apart = np.clip(np.asarray(predicted, np.float64), 1, 5) - problem.test[2]
    return {"rmse": np.sqrt(np.mean(apart**2)), "mae": np.abs(apart).mean()}


def once(problem, fit, predict, quality=errors):
    """Return what is run: a training, and after the first one its quality, too."""
    found = {}

    def run():
        model = fit()
        if not found:
            found.update(quality(problem, predict(model)))
        return found

    return run


def recgauge(problem, kind, n_epochs):
    """Train on arrays."""
    from recgauge import models
    from recgauge.data.interactions import Interactions

    train = Interactions(*problem.train, None, *map(np.arange, problem.shape))
    made = {
        "bias": lambda: models.Bias(n_epochs=n_epochs, reg_i=REG_I, reg_u=REG_U),
        "biased_mf": lambda: models.BiasedMF(N_FACTORS, n_epochs, LEARNING_RATE, REGULARIZATION, INIT_STD),
        "svd_pp": lambda: models.SVDpp(n_epochs=n_epochs),
    }
    rates = kind in made
    make = made[kind] if rates else lambda: rankers.of_recgauge(kind, n_epochs)

    def fit():
        return make().fit(train, rng=np.random.default_rng(0))

    def predict(model):
        predicted = model.predict(*problem.test[:2])
        return np.where(np.isnan(predicted), problem.train[2].mean(dtype=np.float64), predicted)  # as a run

    if rates:
        return once(problem, fit, predict)
    return once(problem, fit, lambda model: model.score, rankers.ndcg)


def surprise(problem, kind, n_epochs):
    """Train on Surprise's own training set, which is made before and not timed."""
    from surprise import SVD, BaselineOnly, Dataset, Reader, SVDpp

    rows = list(zip(*(column.tolist() for column in problem.train), repeat(None)))
    train = Dataset(Reader(rating_scale=(1, 5))).construct_trainset(rows)

    def fit():
        if kind == "bias":
            options = {"method": "als", "n_epochs": n_epochs, "reg_i": REG_I, "reg_u": REG_U}
            return BaselineOnly(bsl_options=options, verbose=False).fit(train)
        if kind != "biased_mf":
            return SVDpp(n_epochs=n_epochs, random_state=0).fit(train)
        return SVD(
            n_factors=N_FACTORS, n_epochs=n_epochs, lr_all=LEARNING_RATE, reg_all=REGULARIZATION,
            init_std_dev=INIT_STD, random_state=0,
        ).fit(train)  # fmt: skip

    pairs = list(zip(*(column.tolist() for column in problem.test[:2]), strict=True))
    return once(problem, fit, lambda model: [model.predict(u, i).est for u, i in pairs])


def cornac(problem, _kind, n_epochs):
    """Train MF with biases on Cornac's own data set, on one thread, which makes it repeatable."""
    from cornac.data import Dataset
    from cornac.models import MF

    rows = list(zip(*(column.tolist() for column in problem.train), strict=True))
    train = Dataset.build(rows)

    def fit():
        return MF(
            k=N_FACTORS, max_iter=n_epochs, learning_rate=LEARNING_RATE, lambda_reg=REGULARIZATION,
            use_bias=True, early_stop=False, num_threads=1, seed=0,
        ).fit(train)  # fmt: skip

    def predict(model):
        u, i = (
            np.array([ids.get(code, -1) for code in column.tolist()])
            for ids, column in zip((train.uid_map, train.iid_map), problem.test[:2], strict=True)
        )
        known = (u >= 0) & (i >= 0)
        predicted = np.full(len(u), model.global_mean, np.float64)
        u, i = u[known], i[known]
        predicted[known] += model.u_biases[u] + model.i_biases[i]
        predicted[known] += np.einsum("nd,nd->n", model.u_factors[u], model.i_factors[i])
        return predicted

    return once(problem, fit, predict)


def ranker(name):
    """Return how a peer of the models of lists is prepared."""

    def prepare(problem, kind, n_epochs):
        fit, score = rankers.PEERS[name](problem, kind, n_epochs)
        return once(problem, fit, lambda model: lambda users: score(model, users), rankers.ndcg)

    return prepare


CONTESTANTS = {"recgauge": recgauge, "surprise": surprise, "cornac": cornac}
CONTESTANTS |= {name: ranker(name) for name in rankers.PEERS}

if __name__ == "__main__":
    who, kind, n_epochs = sys.argv[1].split()
    serve(lambda problem: CONTESTANTS[who](problem, kind, int(n_epochs)), lambda: Problem(sys.argv[2]))
