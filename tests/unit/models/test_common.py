"""What several models promise alike: settings that are checked, scores that are predictions, divergence."""

import numpy as np
import pytest

from recgauge.errors import ConfigError, FitError
from recgauge.models.bias import Bias
from recgauge.models.biased_mf import BiasedMF
from recgauge.models.bpr import BPR
from recgauge.models.co_clustering import CoClustering
from recgauge.models.ease import EASE
from recgauge.models.ials import IALS
from recgauge.models.item_knn import ItemKNN
from recgauge.models.nmf import NMF
from recgauge.models.p3alpha import P3alpha
from recgauge.models.popularity import Popularity
from recgauge.models.random import Random
from recgauge.models.rating_knn import RatingKNN
from recgauge.models.rp3beta import RP3beta
from recgauge.models.slim import SLIM
from recgauge.models.svd import SVD
from recgauge.models.svd_pp import SVDpp
from recgauge.models.user_knn import UserKNN

NEIGHBOURS = {
    "k": 0, "similarity": "euclid", "values": "stars", "shrinkage": -1.0, "alpha": 1.5,
    "weighting": "idf", "k1": -1, "b": 2.0, "normalize": 1, "tversky_alpha": -1, "tversky_beta": "x",
    "neighbours_of": "both",
}  # fmt: skip
WRONG = {
    Bias: {"method": "mean", "n_epochs": 0, "reg_i": -1, "reg_u": float("nan")},
    BiasedMF: {
        "n_factors": 0, "n_epochs": 1.5, "learning_rate": 0, "regularization": -0.1, "init_std": "wide",
    },
    BPR: {
        "n_factors": 0, "learning_rate": 0, "regularization": -1, "negatives": "x", "n_negatives": 0,
        "n_tries": 0,
    },
    CoClustering: {"n_user_clusters": 0, "n_item_clusters": 1.5, "n_epochs": "x"},
    EASE: {"l2": 0, "max_items": 1.5},
    IALS: {"n_factors": 0, "alpha": 0, "regularization": -1, "nu": 2, "n_steps": 0, "values": "x"},
    ItemKNN: NEIGHBOURS,
    NMF: {"n_factors": 0, "n_epochs": 0, "reg_pu": -1, "reg_qi": "x"},
    P3alpha: {"alpha": -1, "top_k": 0, "first_cut": "rows"},
    Popularity: {"by": "fame", "last_days": 0, "damping": -1},
    Random: {"draw": "popular"},
    RatingKNN: {
        "method": "mean", "similarity": "jaccard", "k": 0, "min_k": 0, "min_support": 0, "shrinkage": -1.0,
        "user_based": 1,
    },
    RP3beta: {"alpha": None, "beta": -0.1, "top_k": "x"},
    SLIM: {"l1": -1, "l2": 0, "tol": 0, "non_negative": "no"},
    SVD: {"n_factors": "abc", "values": "stars"},
    SVDpp: {"n_factors": 0},
    UserKNN: NEIGHBOURS,
}  # fmt: skip


@pytest.mark.parametrize("kind", WRONG)
def test_wrong_settings_are_refused_by_name(kind):
    for setting, value in WRONG[kind].items():
        with pytest.raises(ConfigError, match=f"^{kind.__name__}: {setting}"):
            kind(**{setting: value})


@pytest.mark.parametrize("model", [Bias(), BiasedMF(n_factors=3), SVDpp(n_factors=3)], ids=repr)
def test_scores_are_predictions_and_the_mean_for_the_unknown(model, train):
    model.fit(train, rng=np.random.default_rng(0))
    scores = model.score(np.arange(30, dtype=np.int32))
    predicted = model.predict(train.user, train.item)
    np.testing.assert_allclose(scores[train.user, train.item], predicted, rtol=1e-5)
    assert scores[29, 19] == pytest.approx(train.value.mean(), rel=1e-6)


@pytest.mark.parametrize(
    "model", [BPR(learning_rate=1e20), BiasedMF(learning_rate=5.0), SVDpp(learning_rate=5.0)], ids=repr
)
def test_divergence_is_told_with_the_epoch_and_the_remedy(model, train):
    with pytest.raises(FitError, match=r"diverged in epoch \d+ of .*Lower learning_rate"):
        model.fit(train, rng=np.random.default_rng(0))
