"""Predicted ratings: those of a model, what is measured of them, and one threshold everywhere."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recgauge import evaluate
from recgauge.data.interactions import Interactions
from recgauge.data.lists import Relevant, TopK
from recgauge.errors import ConfigError, MetricError, RecgaugeError, SchemaError, ScoreError
from recgauge.evaluation.evaluate_ratings import evaluate_ratings, predict_ratings
from recgauge.metrics.precision import HitRate
from recgauge.metrics.rating import MAE
from recgauge.models import KnownRatings, RatingPredictor
from recgauge.models.bias import Bias
from recgauge.models.svd import SVD
from recgauge.runs.stored import grades

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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"predicted": PREDICTED[:4]}, "predicted must have one rating for each of the 5 of actual, got 4"),
        ({"actual": [1, 2, float("nan"), 4, 5]}, "actual: numbers must be finite, got nan at position 2"),
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
        (["rmsle"], "unknown metric 'rmsle'.* Did you mean rmse?"),
        (["mae", MAE(aggregate="user")], "'mae' is requested twice; pass a mapping"),
        ({"hit": HitRate()}, "'hit' does not measure predicted ratings; recgauge.evaluate"),
        ([MAE(aggregate="user")], "mae: .* is a metric of users; pass users="),
    ],
)
def test_wrong_metrics(metrics, message):
    with pytest.raises(ConfigError, match=message):
        evaluate_ratings(ACTUAL, PREDICTED, metrics=metrics)


SCALES = {
    "shares": np.arange(11) / 10,
    "stars": np.arange(1, 11) / 2,
    "jester": np.arange(-100, 101, 7) / 10,
    "thirds": np.arange(-9, 10) / 3,
    "large": np.array([-1e6, 1.0, 1e5, 1e6 + 0.1]),
}
METRICS = ("precision", "recall", "ndcg", "map")
SETS = ("precision", "recall", "map")


@st.composite
def cases(draw):
    """Return ratings of users and items, and a threshold that is among them or near them."""
    scale = SCALES[draw(st.sampled_from(sorted(SCALES)))]
    values = draw(st.lists(st.sampled_from(scale.tolist()), min_size=12, max_size=12))
    threshold = draw(st.sampled_from([*scale.tolist(), float(scale.mean()), -0.5, 0.0]))
    kind = draw(st.sampled_from([float, np.float64, np.float32]))
    return np.array(values), kind(threshold)


@settings(max_examples=40)
@given(cases())
def test_runs_and_files_call_the_same_rows_relevant(case) -> None:
    values, threshold = case
    users, items = np.repeat(np.arange(3), 4), np.tile(np.arange(4), 3)
    rows = Interactions.from_ids(users, items, values)
    lists = np.array([[0, 1, 2], [3, 2, 1], [1, 3, 0]], np.int32)
    try:
        relevant = Relevant.from_interactions(rows, threshold)
        top_k = TopK(np.arange(3, dtype=np.int32), lists, np.tile(np.float32([3, 2, 1]), (3, 1)))
        metrics = METRICS if values[values >= threshold].min(initial=0) >= 0 else SETS
        of_run = evaluate(top_k, relevant, metrics=metrics, cutoffs=(1, 3)).values()
    except RecgaugeError:
        return  # nobody has a relevant item
    listed = dict(enumerate(lists.tolist()))
    exact = {"user": users, "item": items}
    for truth in (values, values.astype(np.float32), grades(rows.value, threshold)):
        table = pd.DataFrame({**exact, "grade": truth})
        ours = evaluate(listed, table, metrics=metrics, cutoffs=(1, 3), relevant_from=threshold)
        assert ours.values() == pytest.approx(of_run, rel=1e-6)


def test_grades_that_count_for_nothing_are_said_first() -> None:
    told = evaluate({"a": ["x", "y"]}, {"a": {"x": 0.4, "y": 1}}, metrics="recall", cutoffs=(2,))
    assert repr(told).startswith("Warning: 1 of 2 rows of the truth have a grade above 0 and below 1")
    with pytest.raises(RecgaugeError, match="relevant_from=GRADE"):
        evaluate({"a": ["x"]}, {"a": {"x": 0.4}}, metrics="recall", cutoffs=(2,))
    assert evaluate(
        {"a": ["x"]}, {"a": {"x": 0.4}}, metrics="recall", cutoffs=(2,), relevant_from=0.1
    ).values() == {"recall_at_2": 1.0}


def test_a_grade_of_zero_or_below_is_relevant_from_one_below_zero_alone() -> None:
    truth = {"a": {"x": -2.0, "y": 3.0, "z": 0.0}}
    for threshold, recall in ((-3, 1 / 3), (-1, 0.5), (0, 1.0), (1, 1.0)):
        values = evaluate({"a": ["y"]}, truth, metrics="recall", cutoffs=(2,), relevant_from=threshold)
        assert values.values() == {"recall_at_2": recall}
    with pytest.raises(MetricError, match="relevant_from"):
        evaluate({"a": ["x"]}, truth, metrics="ndcg", cutoffs=(2,), relevant_from=-3)
    assert evaluate({"a": ["y"]}, truth, metrics="ndcg", cutoffs=(2,), relevant_from=0).values() == {
        "ndcg_at_2": 1.0
    }
