"""Neighbour models beside those of other libraries on the same rows; `make differential` installs them."""

import numpy as np
import pytest

from recgauge.data.interactions import Interactions
from recgauge.models.rating_knn import RatingKNN

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
    surprise = pytest.importorskip("surprise")
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
        found = np.where(np.isnan(found), ours.known().mean, found)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
