"""One threshold: a run, `evaluate` on ratings and on exported grades call the same rows relevant."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recgauge import evaluate, evaluate_ratings
from recgauge.data.interactions import Interactions, at_least
from recgauge.data.lists import Relevant, TopK
from recgauge.errors import MetricError, RecgaugeError
from recgauge.metrics import LikedScore
from recgauge.runs.stored import grades

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


@pytest.mark.parametrize("kind", [float, np.float32, np.float64])
@pytest.mark.parametrize("of_rating", [np.float32, np.float64])
def test_a_rating_reaches_the_threshold_that_it_is_written_as(kind, of_rating) -> None:
    assert at_least(np.array([0.7, 0.3], of_rating), kind(0.7)).tolist() == [True, False]


def test_grades_that_count_for_nothing_are_said_first() -> None:
    told = evaluate({"a": ["x", "y"]}, {"a": {"x": 0.4, "y": 1}}, metrics="recall", cutoffs=(2,))
    assert repr(told).startswith("Warning: 1 of 2 rows of the truth have a grade above 0 and below 1")
    with pytest.raises(RecgaugeError, match="relevant_from=GRADE"):
        evaluate({"a": ["x"]}, {"a": {"x": 0.4}}, metrics="recall", cutoffs=(2,))
    assert evaluate(
        {"a": ["x"]}, {"a": {"x": 0.4}}, metrics="recall", cutoffs=(2,), relevant_from=0.1
    ).values() == {"recall_at_2": 1.0}


def test_a_grade_of_zero_or_below_may_be_relevant_and_is_no_gain_below_zero() -> None:
    truth = {"a": {"x": -2.0, "y": 3.0, "z": 0.0}}
    for threshold, recall in ((-3, 1 / 3), (-1, 0.5), (0, 0.5), (1, 1.0)):
        values = evaluate({"a": ["y"]}, truth, metrics="recall", cutoffs=(2,), relevant_from=threshold)
        assert values.values() == {"recall_at_2": recall}
    with pytest.raises(MetricError, match="relevant_from"):
        evaluate({"a": ["x"]}, truth, metrics="ndcg", cutoffs=(2,), relevant_from=-3)
    assert evaluate({"a": ["y"]}, truth, metrics="ndcg", cutoffs=(2,), relevant_from=0).values() == {
        "ndcg_at_2": 1.0
    }


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_rating_of_a_run_is_liked_from_the_threshold_that_it_is_written_as(kind) -> None:
    ratings = np.array([0.7, 0.1, 0.6, 0.3], kind)
    for threshold in (0.1, 0.3, 0.6, 0.7):
        metric = LikedScore(score="recall", average="binary", liked_from=threshold)
        found = evaluate_ratings(
            ratings, np.where(ratings == kind(threshold), ratings, 0), metrics={"liked": metric}
        )
        assert found.values()["liked"] == 1 / np.sum(ratings >= kind(threshold))
