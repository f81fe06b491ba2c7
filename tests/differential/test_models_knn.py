"""Neighbour models beside those of other libraries on the same rows; `make differential` installs them."""

import numpy as np
import pytest
from scipy import sparse

from differential.libraries import library
from recgauge.data.interactions import Interactions
from recgauge.models.item_knn import ItemKNN
from recgauge.models.rating_knn import RatingKNN
from recgauge.models.user_knn import UserKNN

pytestmark = [pytest.mark.differential, pytest.mark.filterwarnings("ignore")]


def random_ratings(seed, n_users=60, n_items=40, share=0.3):
    """Ratings on a grid, so that many similarities are equal."""
    rng = np.random.default_rng(seed)
    user, item = np.nonzero(rng.random((n_users, n_items)) < share)
    return Interactions.from_ids(user, item, rng.choice([0.5, 1.0, 2.0, 3.5, 4.0, 5.0], len(user)))


@pytest.mark.parametrize("user_based", [True, False])
@pytest.mark.parametrize("similarity", ["msd", "cosine", "pearson", "pearson_baseline"])
@pytest.mark.parametrize(
    ("method", "theirs"),
    [
        ("basic", "KNNBasic"),
        ("means", "KNNWithMeans"),
        ("zscore", "KNNWithZScore"),
        ("baseline", "KNNBaseline"),
    ],
)
def test_surprise_predicts_the_same_ratings(method, theirs, similarity, user_based):
    surprise = library("surprise")
    import pandas as pd

    rows = random_ratings(seed=len(method) + len(similarity))
    test = np.random.default_rng(1).random(len(rows)) < 0.2
    train = rows.take(~test)
    # Surprise takes, of equally similar neighbours, the one whose row came first: here in the order of codes
    by_code = np.lexsort((train.item, train.user)) if user_based else np.lexsort((train.user, train.item))
    columns = {name: getattr(train, name)[by_code].astype(float) for name in ("user", "item", "value")}
    data = surprise.Dataset.load_from_df(pd.DataFrame(columns), surprise.Reader(rating_scale=(0.5, 5)))
    options = {"name": similarity, "user_based": user_based, "min_support": 2, "shrinkage": 20}
    kind = getattr(surprise, theirs)
    for k, min_k in [(40, 1), (5, 1), (8, 4)]:
        model = kind(k=k, min_k=min_k, sim_options=options, verbose=False).fit(data.build_full_trainset())
        expected = [
            model.predict(float(u), float(i), clip=False).est
            for u, i in zip(rows.user[test], rows.item[test], strict=True)
        ]
        ours = RatingKNN(method, user_based, similarity, k, min_k, min_support=2, shrinkage=20.0)
        ours.fit(train, rng=np.random.default_rng(0))
        found = ours.predict(rows.user[test], rows.item[test])
        found = np.where(np.isnan(found), ours.training().mean, found)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def random_counts(seed, n_users=80, n_items=50):
    rng = np.random.default_rng(seed)
    user, item = np.nonzero(rng.random((n_users, n_items)) < 0.4 * rng.random(n_items))
    ids = np.arange(n_users), np.arange(n_items)
    return Interactions(user, item, rng.integers(1, 6, len(user)).astype(np.float32), None, *ids)


@pytest.mark.parametrize(
    ("theirs", "settings"),
    [
        ("CosineRecommender", {}),
        ("TFIDFRecommender", {"weighting": "tf_idf"}),
        ("BM25Recommender", {"weighting": "bm25", "similarity": "dot"}),
    ],
)
@pytest.mark.parametrize("k", [3, 10, 60])
def test_implicit_has_the_same_item_neighbours(theirs, settings, k):
    implicit = library("implicit.nearest_neighbours")
    train = random_counts(k)
    model = ItemKNN(k=k, values="rating", neighbours_of="history", **settings)
    model.fit(train, rng=np.random.default_rng(0))
    found = model.learned_weights().weights.toarray()
    peer = getattr(implicit, theirs)(K=k + 1)  # an item is its own first neighbour there
    peer.fit(sparse.csr_matrix(train.to_csr().astype(np.float64)), show_progress=False)
    expected = peer.similarity.toarray()
    if theirs == "BM25Recommender":  # not normalised, an item need not be the nearest to itself
        own = np.diag(expected) > 0
        expected, found = expected[own], found[own]
        expected[np.arange(len(expected)), np.flatnonzero(own)] = 0.0
    else:
        np.fill_diagonal(expected, 0.0)
    np.testing.assert_allclose(np.sort(found, axis=1), np.sort(expected, axis=1), rtol=1e-5, atol=1e-6)
    distinct = found > found.max(axis=1, keepdims=True) * 1e-3
    agree = np.isclose(found, expected, rtol=1e-5, atol=1e-6) | ~distinct
    assert agree.mean() > 0.99  # of equally similar items another may be kept


COSINE = "Cosine", {}, {"normalize": True}
ASYMMETRIC = "AsymmetricCosine", {"similarity": "asymmetric_cosine", "alpha": 0.7}, {"alpha": 0.7}
JACCARD = "Jaccard", {"similarity": "jaccard"}, {}  # irspack has it of items only


@pytest.mark.parametrize(
    ("kind", "theirs", "settings", "options"),
    [
        *((ItemKNN, *similarity) for similarity in (COSINE, ASYMMETRIC, JACCARD)),
        *((UserKNN, *similarity) for similarity in (COSINE, ASYMMETRIC)),
    ],
)
@pytest.mark.parametrize("shrinkage", [0.0, 5.0])
def test_irspack_gives_the_same_scores(theirs, settings, options, shrinkage, kind):
    irspack = library("irspack")
    train = random_counts(1)
    rows = train.to_csr().astype(np.float64)
    rows.data[:] = 1.0
    of = "KNN" if kind is ItemKNN else "UserKNN"
    peer = getattr(irspack, f"{theirs}{of}Recommender")
    # all neighbours: irspack drops an item's own similarity after it has chosen
    model = kind(k=1000, shrinkage=shrinkage, **settings).fit(train, rng=np.random.default_rng(0))
    learned = peer(sparse.csr_matrix(rows), shrinkage=shrinkage, top_k=1000, n_threads=1, **options).learn()
    expected = learned.get_score(np.arange(train.n_users))
    found = model.score(np.arange(train.n_users, dtype=np.int32))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
