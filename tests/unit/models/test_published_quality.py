"""The figures that a well-known library publishes for these models, on its folds."""

import numpy as np
import pytest

from recgauge.datasets.movielens import MovieLens
from recgauge.evaluation.evaluate_ratings import predict_ratings
from recgauge.models.bias import Bias
from recgauge.models.biased_mf import BiasedMF
from recgauge.models.random_rating import RandomRating
from recgauge.models.svd_pp import SVDpp
from recgauge.splits.folds import SurpriseKFold

# RMSE and MAE of the README of scikit-surprise, means over five folds, default parameters.
PUBLISHED = {
    ("ml_100k", Bias): (0.94397, 0.74837, 1e-5),  # printed as .944 and .748
    # other draws than the library's: expected are 1.5201 and 1.5061, each with a spread of .0032 and .0010
    ("ml_100k", RandomRating): (1.518, 1.219, 0.01),
    ("ml_1m", RandomRating): (1.504, 1.206, 0.005),
    ("ml_100k", BiasedMF): (0.934, 0.737, 0.003),
    ("ml_1m", Bias): (0.909, 0.719, 0.001),
    ("ml_1m", BiasedMF): (0.873, 0.686, 0.003),
    ("ml_100k", SVDpp): (0.919, 0.721, 0.003),
    ("ml_1m", SVDpp): (0.862, 0.672, 0.003),
}


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "model"),
    [
        pytest.param(name, model, marks=[pytest.mark.slow] if name == "ml_1m" else [])
        for name, model in PUBLISHED
    ],
)
def test_published_errors(mirror, name, model):
    ratings, errors = MovieLens(name, mirror=mirror, offline=True).load().interactions, []
    for fold in range(5):
        split = SurpriseKFold(fold=fold).split(ratings, rng=np.random.default_rng(0))
        fitted = model().fit(split.train, rng=np.random.default_rng(0))
        predictions = predict_ratings(fitted, split.test, (1.0, 5.0))
        error = predictions.predicted.astype(np.float64) - predictions.actual
        errors.append((np.sqrt(np.mean(error**2)), np.abs(error).mean()))
    rmse, mae, tolerance = PUBLISHED[name, model]
    assert np.mean(errors, axis=0) == pytest.approx([rmse, mae], abs=tolerance)
