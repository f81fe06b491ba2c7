"""The models of lists in training.py: how each library trains them, with the same settings."""

import io
from contextlib import redirect_stdout

import numpy as np
from scipy import sparse

D, ALPHA, PULL, FLAT = 64, 0.3, 0.01, 15.0
RATE, NEIGHBOURS, BETA, RIDGE = 0.05, 100, 0.6, 250.0
BPR_START = 1 / (D * np.sqrt(12))  # the spread of even draws from an interval of length 1 / D, as in implicit
L1, L2, TOL = 1.0, 500.0, 1e-4
MOST_USERS = 6_040  # of those whose lists are evaluated


def matrix(problem):
    """Ones for the training rows, CSR of users and items."""
    user, item, _ = problem.train
    rows = sparse.csr_matrix((np.ones(len(user), np.float32), (user, item)), shape=problem.shape)
    rows.sum_duplicates()
    return rows


def ndcg(problem, score, k=10):
    """Mean nDCG@k of the first users over items without a training row of theirs, every test row relevant."""
    seen = matrix(problem)
    test = sparse.csr_matrix((np.ones(len(problem.test[0])), problem.test[:2]), shape=problem.shape)
    weights, values = 1 / np.log2(np.arange(k) + 2), []
    n_users = min(problem.shape[0], MOST_USERS)
    for first in range(0, n_users, 500):
        users = np.arange(first, min(first + 500, n_users), dtype=np.int32)
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
        "slim": lambda: models.SLIM(l1=L1, l2=L2, tol=TOL),
        "rp3beta": lambda: models.RP3beta(alpha=1.0, beta=BETA, top_k=NEIGHBOURS),
        "ials": lambda: models.IALS(D, n_epochs, ALPHA, PULL),
        "ials_nu_0": lambda: models.IALS(D, n_epochs, ALPHA, FLAT, nu=0.0),
        "bpr": lambda: models.BPR(D, n_epochs, RATE, PULL, "popularity", n_tries=1, init_std=BPR_START),
        "svd": lambda: models.SVD(D, "binary"),
    }
    return made[kind]()


def implicit(problem, kind, n_epochs):
    """Return functions that train, and that score users by what was trained."""
    from implicit.cpu.als import AlternatingLeastSquares
    from implicit.cpu.bpr import BayesianPersonalizedRanking
    from implicit.nearest_neighbours import CosineRecommender

    rows = matrix(problem)
    weight, pull = 1 + 1 / ALPHA, FLAT * (1 + ALPHA) / ALPHA  # the same objective where zeros count 1
    made = {
        "item_knn": lambda: CosineRecommender(K=NEIGHBOURS + 1),  # an item is its own first neighbour
        "ials_nu_0": lambda: AlternatingLeastSquares(D, pull, iterations=n_epochs, random_state=0),
        "bpr": lambda: BayesianPersonalizedRanking(
            D, RATE, PULL, iterations=n_epochs, random_state=0, num_threads=1
        ),
    }
    weighed = rows * np.float32(weight) if kind == "ials_nu_0" else rows

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
        "slim": lambda: package.SLIMRecommender(rows, alpha=penalty, l1_ratio=L1 / (L1 + L2), tol=TOL),
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

    def score(model, users):
        # both keep each item's neighbours; here the candidate's count, as in the others
        return (rows[users] @ model.W.T).toarray() if kind == "item_knn" else model.get_score(users)

    return fit, score


def sklearn(problem, _kind, _n_epochs):
    """Return functions that train, and that score users by what was trained."""
    from sklearn.decomposition import TruncatedSVD

    rows = matrix(problem)

    def fit():
        model = TruncatedSVD(D, n_iter=20, random_state=0)  # with its default of 5, factors rank worse
        model.user = model.fit_transform(rows)
        return model

    return fit, lambda model, users: model.user[users] @ model.components_


def scipy(problem, _kind, _n_epochs):
    """Return functions that train, and that score users by what was trained."""
    from scipy.sparse.linalg import svds

    rows = matrix(problem)

    def fit():
        user, sizes, item = svds(rows, D, rng=0)
        return user * sizes, item

    return fit, lambda model, users: model[0][users] @ model[1]


def lapack(problem, _kind, _n_epochs):
    """Return functions that do what EASE cannot do without: invert a Gram matrix that is there already."""
    from scipy.linalg.lapack import spotrf, spotri

    rows = matrix(problem)
    gram = np.asfortranarray((rows.T @ rows).toarray() + RIDGE * np.eye(problem.shape[1], dtype=np.float32))

    def fit():
        lower, _ = spotrf(gram, lower=1, clean=0)
        return spotri(lower, lower=1, overwrite_c=1)[0]

    def score(lower, users):
        inverse = np.tril(lower) + np.tril(lower, -1).T
        weights = inverse / -inverse.diagonal()
        np.fill_diagonal(weights, 0)
        return rows[users] @ weights

    return fit, score


PEERS = {"implicit": implicit, "irspack": irspack, "sklearn": sklearn, "scipy": scipy, "lapack": lapack}
