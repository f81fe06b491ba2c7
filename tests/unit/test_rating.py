import numpy as np
import pytest

from recgauge.data.interactions import Interactions
from recgauge.errors import ConfigError, EmptySplitError, SchemaError, ScoreError
from recgauge.evaluation.evaluate_ratings import RatingPredictions, predict_ratings
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


def test_without_a_scale_nothing_is_clipped():
    assert predict_ratings(fixed(0.5, 3.0, 7.0), TRAIN, None).predicted.tolist() == [0.5, 3.0, 7.0]


def test_the_unknown_is_counted():
    held_out = rows([0, 2, 0, 2], [1, 0, 2, 2], [4.0, 4.0, 4.0, 4.0])
    predictions = predict_ratings(Bias().fit(TRAIN, rng=None), held_out, SCALE)
    assert predictions.impossible.tolist() == [False, False, False, True]
    assert predictions.partly_unknown.tolist() == [False, True, True, False]
    assert predictions.predicted[3] == 3.0


def test_what_the_model_leaves_open_is_the_mean():
    predictions = predict_ratings(fixed(np.nan, 2.0, 2.0), TRAIN, SCALE)
    assert predictions.predicted.tolist() == [3.0, 2.0, 2.0]
    assert predictions.impossible.tolist() == [True, False, False]


def test_a_model_that_only_ranks_is_refused():
    model = SVD(n_factors=1).fit(TRAIN, rng=np.random.default_rng(0))
    with pytest.raises(ConfigError, match=r"model SVD ranks items but predicts no ratings\. Choose"):
        predict_ratings(model, TRAIN, SCALE)


@pytest.mark.parametrize("scale", [(5.0, 1.0), (1.0,), (1.0, float("nan"))])
def test_wrong_scale(scale):
    with pytest.raises(ConfigError, match="scale"):
        predict_ratings(fixed(1, 1, 1), TRAIN, scale)


def test_nothing_held_out():
    with pytest.raises(EmptySplitError, match="no rows"):
        predict_ratings(fixed(), TRAIN.take(np.zeros(3, bool)), SCALE)


def test_other_ids():
    other = Interactions.from_ids([0, 1, 2, 3], [0, 1, 2, 3])
    with pytest.raises(SchemaError, match="fitted over 3 users and 3 items, held_out is over 4 and 4"):
        predict_ratings(fixed(1, 1, 1, 1), other, SCALE)


@pytest.mark.parametrize(
    ("predicted", "message"), [((1, 2), r"must return shape \(3,\)"), ((1, np.inf, 2), "got infinity")]
)
def test_wrong_predictions(predicted, message):
    with pytest.raises(ScoreError, match=message):
        predict_ratings(fixed(*predicted), TRAIN, SCALE)


def test_columns_must_fit():
    column, flags, codes = np.zeros(2, np.float32), np.zeros(2, bool), np.zeros(2, np.int32)
    with pytest.raises(SchemaError, match=r"actual must have shape \(2,\)"):
        RatingPredictions(codes, codes, column[:1], column, flags, flags)
    with pytest.raises(SchemaError, match="predicted must be finite"):
        RatingPredictions(codes, codes, column, column + np.nan, flags, flags)
