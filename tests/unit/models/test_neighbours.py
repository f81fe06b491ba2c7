"""Neighbours by items and users, against dense matrices and a full sort."""

import numpy as np
import pytest
from scipy import sparse

from recgauge.data.interactions import Interactions
from recgauge.engine import top_k
from recgauge.errors import ConfigError
from recgauge.models.item_knn import ItemKNN
from recgauge.models.user_knn import UserKNN

RNG = np.random.default_rng(0)
SETTINGS = [
    {},
    {"shrinkage": 3.0},
    {"similarity": "asymmetric_cosine", "alpha": 0.8, "shrinkage": 1.0},
    {"similarity": "adjusted_cosine", "values": "rating"},
    {"similarity": "pearson", "values": "rating", "shrinkage": 2.0},
    {"similarity": "asymmetric_cosine", "alpha": -0.5},
    {"similarity": "jaccard"},
    {"similarity": "dice", "shrinkage": 3.0},
    {"similarity": "tversky", "tversky_alpha": 0.3, "tversky_beta": 1.4, "shrinkage": 2.0},
    {"similarity": "dot", "values": "rating"},
    {"similarity": "dot", "weighting": "bm25", "values": "rating"},
    {"weighting": "tf_idf"},
    {"weighting": "bm25", "k1": 2.0, "b": 0.3, "normalize": True},
    {"similarity": "asymmetric_cosine", "weighting": "tf_idf", "shrinkage": 5.0},
]


def random_ratings(seed, n_users=50, n_items=30, share=0.25):
    rng = np.random.default_rng(seed)
    user, item = np.nonzero(rng.random((n_users, n_items)) < share * rng.random(n_items) * 2)
    values = rng.choice([1.0, 2.0, 3.5, 4.0, 5.0], len(user))
    return Interactions(user, item, values, None, np.arange(n_users + 1), np.arange(n_items + 1))


def weighed(model, x):
    """Entries as words of documents, which are the columns."""
    if model.weighting == "none":
        return x
    rarity = np.log(x.shape[1] / (1 + (x != 0).sum(axis=1)))[:, None]
    if model.weighting == "tf_idf":
        return np.sqrt(x) * rarity
    lengths = x.sum(axis=0)
    relative = 1 - model.b + model.b * lengths / lengths.mean()
    return x * (model.k1 + 1) / (model.k1 * relative + x) * rarity


def dense_similarities(model, x, is_first):
    """Similarity of each column (its row) to the others (columns), all in float64."""
    there = x != 0
    if model.similarity in ("jaccard", "dice", "tversky"):
        both, counts = there.T.astype(float) @ there, there.sum(axis=0)
        if model.similarity == "dice":
            return 2 * both / np.maximum(counts[:, None] + counts + model.shrinkage, 1e-300)
        alpha, beta = model.tversky_alpha, model.tversky_beta
        own, other = (alpha, beta) if is_first else (beta, alpha)
        below = both + own * (counts[:, None] - both) + other * (counts - both) + model.shrinkage
        return both / np.maximum(below, 1e-300)
    if model.similarity in ("adjusted_cosine", "pearson"):
        axis = 1 if model.similarity == "adjusted_cosine" else 0
        means = x.sum(axis=axis, keepdims=True) / np.maximum(1, there.sum(axis=axis, keepdims=True))
        x = np.where(there, x - means, 0.0)
    if model.similarity == "dot":
        return x.T @ x
    squares = (x**2).sum(axis=0)
    squares[squares == 0] = 1.0
    power = model.alpha if model.similarity == "asymmetric_cosine" else 0.5
    power = power if is_first else 1 - power
    below = np.outer(squares**power, squares ** (1 - power)) + model.shrinkage
    return x.T @ x / np.maximum(below, 1e-300)


def nearest(similarities, k, normalize):
    """Rows with the k largest positive similarities but for a column's own, equal ones by rising code."""
    similarities = np.float32(similarities.round(9))
    np.fill_diagonal(similarities, 0.0)
    kept = np.zeros_like(similarities)
    for row, values in enumerate(similarities):
        order = np.argsort(-values, kind="stable")[:k]
        kept[row, order] = np.maximum(values[order], 0.0)
    return kept / np.maximum(kept.sum(axis=1, keepdims=True), 1e-30) if normalize else kept


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("k", [1, 4, 100])
def test_items_are_scored_by_their_neighbours(settings, k):
    train = random_ratings(k)
    users = np.arange(train.n_users, dtype=np.int32)
    for of in ("history", "candidate"):
        model = ItemKNN(k=k, neighbours_of=of, **settings).fit(train, rng=RNG)
        rows = model.user_rows(train).toarray().astype(np.float64)
        kept = nearest(dense_similarities(model, weighed(model, rows), of == "history"), k, model.normalize)
        expected = rows @ (kept if of == "history" else kept.T)
        np.testing.assert_allclose(model.score(users), expected, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("k", [1, 4, 100])
@pytest.mark.parametrize(("of", "documents"), [("user", "users"), ("other", "users"), ("other", "items")])
def test_users_are_given_what_their_neighbours_have(settings, k, of, documents):
    train = random_ratings(k + 10)
    model = UserKNN(k=k, neighbours_of=of, documents=documents, **settings).fit(train, rng=RNG)
    rows = model.user_rows(train).toarray().astype(np.float64)
    compared = weighed(model, rows.T) if documents == "users" else weighed(model, rows).T
    kept = nearest(dense_similarities(model, compared, of == "user"), k, model.normalize)
    users = np.arange(train.n_users, dtype=np.int32)
    scores = model.score(users)
    np.testing.assert_allclose(scores, (kept if of == "user" else kept.T) @ rows, rtol=2e-5, atol=1e-6)
    seen = train.to_csr()
    lists, best = top_k(model.item_weights(), users, 5, seen=seen)
    for user in users:
        free = np.where(seen[[user]].toarray()[0] == 0, scores[user], -np.inf)
        np.testing.assert_allclose(best[user], np.sort(free)[::-1][:5], rtol=1e-5, atol=1e-6)
    assert lists.shape == (len(users), 5)


def test_many_things_with_few_entries_take_the_sparse_way():
    rng = np.random.default_rng(4)
    rows, things = rng.integers(0, 700, 2000), rng.integers(0, 1000, 2000)
    taken = sparse.coo_array((np.ones(2000, np.float32), (rows, things)), shape=(700, 1000)).tocsr()
    taken.data[:] = rng.choice([1.0, 2.0], taken.nnz)
    model = ItemKNN(k=3, values="rating")
    expected = nearest(
        dense_similarities(model, taken.toarray().astype(np.float64), True), 3, normalize=False
    )
    np.testing.assert_allclose(
        model.nearest(taken, None, is_first=True).toarray(), expected, rtol=1e-6, atol=1e-9
    )


def test_settings_that_do_not_fit_together_are_refused():
    with pytest.raises(ConfigError, match="documents must be one of users, items"):
        UserKNN(documents="words")
    with pytest.raises(ConfigError, match="similarity=pearson compares ratings; set values=rating"):
        UserKNN(similarity="pearson")
    with pytest.raises(ConfigError, match="weighting=bm25 has no meaning for similarity=jaccard"):
        ItemKNN(similarity="jaccard", weighting="bm25")
