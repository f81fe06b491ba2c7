"""The models of lists in training.py: how each library trains them, with the same settings."""

import io
from contextlib import redirect_stdout

import numpy as np
from scipy import sparse

D, ALPHA, PULL = 64, 0.3, 0.01
RATE, NEIGHBOURS, BETA, RIDGE = 0.05, 100, 0.6, 250.0
L1, L2 = 1.0, 100.0


def matrix(problem):
    """Ones for the training rows, CSR of users and items."""
    user, item, _ = problem.train
    rows = sparse.csr_matrix((np.ones(len(user), np.float32), (user, item)), shape=problem.shape)
    rows.sum_duplicates()
    return rows


def ndcg(problem, score, k=10):
    """Mean nDCG@k over items without a training row of the user, every test row relevant."""
    seen = matrix(problem)
    test = sparse.csr_matrix((np.ones(len(problem.test[0])), problem.test[:2]), shape=problem.shape)
    weights, values = 1 / np.log2(np.arange(k) + 2), []
    for first in range(0, problem.shape[0], 500):
        users = np.arange(first, min(first + 500, problem.shape[0]), dtype=np.int32)
        scores = np.array(score(users), np.float32)
        scores[seen[users].nonzero()] = -np.inf
        relevant = test[users].toarray() > 0
        best = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        gained = np.take_along_axis(relevant, best, axis=1) @ weights
        ideal = np.cumsum(weights)[np.clip(relevant.sum(axis=1), 1, k) - 1]
        values.append((gained / ideal)[relevant.any(axis=1)])
    return {"ndcg": np.concatenate(values).mean()}


def of_recgauge(kind, n_epochs):
    """Return an untrained model."""
    from recgauge import models

    made = {
        "item_knn": lambda: models.ItemKNN(k=NEIGHBOURS),
        "ease": lambda: models.EASE(l2=RIDGE),
        "slim": lambda: models.SLIM(l1=L1, l2=L2),
        "rp3beta": lambda: models.RP3beta(beta=BETA, top_k=NEIGHBOURS),
        "ials": lambda: models.IALS(D, n_epochs, ALPHA, PULL),
        "bpr": lambda: models.BPR(D, n_epochs, RATE, PULL, "popularity"),
        "svd": lambda: models.SVD(D, "binary"),
    }
    return made[kind]()


def implicit(problem, kind, n_epochs):
    """Return functions that train, and that score users by what was trained."""
    from implicit.cpu.als import AlternatingLeastSquares
    from implicit.cpu.bpr import BayesianPersonalizedRanking
    from implicit.nearest_neighbours import CosineRecommender

    rows = matrix(problem)
    weight = 1 + 1 / ALPHA  # zeros count 1 here; the pull is that of a user or item with a mean share of rows
    pull = PULL * weight * (rows.nnz / sum(rows.shape) + ALPHA * sum(rows.shape) / 2)
    made = {
        "item_knn": lambda: CosineRecommender(K=NEIGHBOURS + 1),  # an item is its own first neighbour
        "ials": lambda: AlternatingLeastSquares(D, pull, iterations=n_epochs, random_state=0),
        "bpr": lambda: BayesianPersonalizedRanking(D, RATE, PULL, iterations=n_epochs, random_state=0),
    }
    weighed = rows * np.float32(weight) if kind == "ials" else rows

    def fit():
        model = made[kind]()
        model.fit(weighed, show_progress=False)
        return model

    def score(model, users):
        if kind == "item_knn":
            similar = model.similarity.tolil()
            similar.setdiag(0)
            return (rows[users] @ similar.tocsr().T).toarray()
        return model.user_factors[users] @ model.item_factors.T

    return fit, score


def irspack(problem, kind, n_epochs):
    """Return functions that train, and that score users by what was trained."""
    import irspack as package

    rows = matrix(problem).astype(np.float64)
    penalty = (L1 + L2) / problem.shape[0]
    made = {
        "item_knn": lambda: package.CosineKNNRecommender(rows, normalize=True, top_k=NEIGHBOURS),
        "ease": lambda: package.DenseSLIMRecommender(rows, reg=RIDGE),
        "slim": lambda: package.SLIMRecommender(rows, alpha=penalty, l1_ratio=L1 / (L1 + L2)),
        "rp3beta": lambda: package.RP3betaRecommender(rows, beta=BETA, top_k=NEIGHBOURS),
        "ials": lambda: package.IALSRecommender(
            rows, n_components=D, alpha0=ALPHA, reg=PULL, train_epochs=n_epochs
        ),
    }

    def fit():
        model = made[kind]()
        with redirect_stdout(io.StringIO()):  # a bar of progress
            model.learn()
        return model

    return fit, lambda model, users: model.get_score(users)


def sklearn(problem, _kind, _n_epochs):
    """Return functions that train, and that score users by what was trained."""
    from sklearn.decomposition import TruncatedSVD

    rows = matrix(problem)

    def fit():
        model = TruncatedSVD(D, random_state=0)
        model.user = model.fit_transform(rows)
        return model

    return fit, lambda model, users: model.user[users] @ model.components_


PEERS = {"implicit": implicit, "irspack": irspack, "sklearn": sklearn}
