"""Predicted ratings: those of a model, and what is measured of them."""

import numpy as np
import pytest

from recgauge.conventions import Definition
from recgauge.data.interactions import Interactions
from recgauge.errors import ConfigError, SchemaError, ScoreError
from recgauge.evaluation.evaluate_ratings import (
    RatingPredictions,
    evaluate_predictions,
    evaluate_ratings,
    predict_ratings,
)
from recgauge.judging import Policies
from recgauge.metrics.precision import HitRate
from recgauge.metrics.rating import MAE
from recgauge.models import KnownRatings, RatingPredictor
from recgauge.models.bias import Bias
from recgauge.models.svd import SVD

SCALE = (1.0, 5.0)


def rows(users, items, values):
    return Interactions(users, items, values, None, np.arange(3), np.arange(3))


TRAIN = rows([0, 0, 1], [0, 1, 0], [5.0, 3.0, 1.0])


class Fixed(RatingPredictor):
    """Predicts what it is given, in the order of the rows."""

    def __init__(self, predicted):
        self.predicted = np.asarray(predicted, np.float32)

    def fit(self, train, *, rng):
        self._known = KnownRatings.of(train)
        return self

    def predict(self, users, items):
        return self.predicted


def fixed(*predicted):
    return Fixed(predicted).fit(TRAIN, rng=None)


def test_predictions_are_clipped_and_counted():
    predictions = predict_ratings(fixed(0.5, 3.0, 7.0), TRAIN, SCALE)
    assert predictions.predicted.tolist() == [1.0, 3.0, 5.0]
    assert predictions.actual.tolist() == [5.0, 3.0, 1.0]
    assert predictions.counts() == {
        "ratings_predicted": 3,
        "ratings_impossible": 0,
        "ratings_partly_unknown": 0,
        "ratings_clipped": 2,
    }


def test_the_unknown_is_counted():
    held_out = rows([0, 2, 0, 2], [1, 0, 2, 2], [4.0, 4.0, 4.0, 4.0])
    predictions = predict_ratings(Bias().fit(TRAIN, rng=None), held_out, SCALE)
    assert predictions.impossible.tolist() == [False, False, False, True]
    assert predictions.partly_unknown.tolist() == [False, True, True, False]
    assert predictions.predicted[3] == 3.0


def test_a_model_that_only_ranks_is_refused():
    model = SVD(n_factors=1).fit(TRAIN, rng=np.random.default_rng(0))
    with pytest.raises(ConfigError, match=r"model SVD ranks items but predicts no ratings\. Choose"):
        predict_ratings(model, TRAIN, SCALE)


@pytest.mark.parametrize(
    ("predicted", "message"), [((1, 2), r"must return shape \(3,\)"), ((1, np.inf, 2), "got infinity")]
)
def test_wrong_predictions(predicted, message):
    with pytest.raises(ScoreError, match=message):
        predict_ratings(fixed(*predicted), TRAIN, SCALE)


ACTUAL, PREDICTED = [1.0, 2.0, 3.0, 5.0, 4.0], [1.0, 3.0, 2.0, 4.0, 4.0]
USERS = ["ann", "ann", "ann", "bob", "cy"]


def test_users_get_values_and_a_standard_error():
    evaluation = evaluate_ratings(ACTUAL, PREDICTED, users=USERS, metrics=[MAE(aggregate="user")])
    assert evaluation.users.tolist() == ["ann", "bob", "cy"]
    assert evaluation.per_user("mae") == pytest.approx([2 / 3, 1.0, 0.0])
    assert evaluation.values()["mae"] == pytest.approx(5 / 9)
    assert evaluation.stderrs()["mae"] == pytest.approx(np.std([2 / 3, 1, 0], ddof=1) / np.sqrt(3))
    assert evaluation.counts == {"ratings_evaluated": 5, "users_evaluated": 3}


def test_predictions_of_a_model():
    codes = np.array([2, 0, 2], np.int32)
    flags = np.array([True, False, False])
    ratings = np.array([1, 2, 3], np.float32)
    predictions = RatingPredictions(codes, codes, ratings, ratings[::-1], flags, ~flags, n_clipped=1)
    suite = {"mae_user": Definition(MAE(aggregate="user"), Policies())}
    evaluation = evaluate_predictions(suite, predictions, np.array(["a", "b", "c"]))
    assert evaluation.users.tolist() == ["a", "c"]
    assert evaluation.per_user("mae_user").tolist() == [0.0, 2.0]
    assert evaluation.counts["ratings_impossible"] == 1
    assert evaluation.counts["ratings_clipped"] == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"predicted": PREDICTED[:4]}, "predicted must have one rating for each of the 5 of actual, got 4"),
        ({"actual": [], "predicted": []}, "actual must be one column with at least one rating"),
        ({"actual": [1, 2, float("nan"), 4, 5]}, "actual: numbers must be finite, got nan at position 2"),
        ({"actual": ["good"] * 5}, "actual: numbers are needed, got 'good'"),
        ({"users": USERS[:2]}, r"users must have one id for each of the 5 ratings, got \(2,\)"),
        ({"users": [1, 2, float("nan"), 4, 5]}, "users: ids must not be missing, got nan at position 2"),
    ],
)
def test_wrong_columns(arguments, message):
    with pytest.raises(SchemaError, match=message):
        evaluate_ratings(**{"actual": ACTUAL, "predicted": PREDICTED} | arguments)


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        (["rmsle"], "unknown metric 'rmsle'.* kendall, .*mae"),
        (["mae", MAE(aggregate="user")], "'mae' is requested twice; pass a mapping"),
        ({"mae": 3}, "expected names or metrics, got int"),
        ({"hit": HitRate()}, "'hit' does not measure predicted ratings; recgauge.evaluate"),
        ([MAE(aggregate="user")], "mae: .* is a metric of users; pass users="),
    ],
)
def test_wrong_metrics(metrics, message):
    with pytest.raises(ConfigError, match=message):
        evaluate_ratings(ACTUAL, PREDICTED, metrics=metrics)
