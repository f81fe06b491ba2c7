"""Metrics of full rankings against loops over all pairs, and what they promise."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recgauge.errors import MetricError, SchemaError, ScoreError
from recgauge.metrics.curves import precision_recall_curve, roc_curve
from recgauge.metrics.curves.full_ranking import AUC, FullRankings, StepAveragePrecision, rank_block, rank_one

SCORES = st.sampled_from([-1.0, 0.0, 0.25, 0.5, 0.75, 2.0])
ROWS = st.lists(st.tuples(st.booleans(), SCORES), min_size=1, max_size=15).filter(
    lambda rows: any(relevant for relevant, _ in rows)
)


def columns(rows):
    return [relevant for relevant, _ in rows], [score for _, score in rows]


@given(rows=ROWS)
def test_curves_and_areas_agree(rows):
    relevant, scores = columns(rows)
    rankings = rank_one(relevant, scores)
    curve = precision_recall_curve(relevant, scores)
    assert curve.average_precision() == pytest.approx(StepAveragePrecision().value(rankings))
    assert curve.recall[0] == 1
    assert (np.diff(curve.recall) <= 0).all()
    if not all(relevant):
        for drop in (False, True):
            roc = roc_curve(relevant, scores, drop_collinear=drop)
            assert roc.area() == pytest.approx(AUC().value(rankings))
            assert (np.diff(roc.true_positive_rate) >= 0).all()
            assert (np.diff(roc.false_positive_rate) >= 0).all()


def test_weighted_by_relevant_candidates():
    users = ([1, 1, 0], [3.0, 2.0, 1.0]), ([1, 0], [0.0, 1.0]), ([1], [0.0])
    rankings = FullRankings.merge([rank_one(*user) for user in users])
    assert AUC().per_user(rankings)[:2].tolist() == [1.0, 0.0]
    assert AUC().value(rankings) == 1 / 2
    assert AUC(aggregate="weighted").value(rankings) == 2 / 3
    assert math.isnan(AUC().value(rank_one([1], [0.0])))


@pytest.mark.parametrize(
    ("relevant", "scores", "error", "message"),
    [
        ([], [], SchemaError, "relevant must be one column with at least one row"),
        ([1, 0], [1.0], SchemaError, "scores must have one number for each of 2 rows"),
        ([1, 2], [1.0, 2.0], SchemaError, "relevant must be true or false"),
        ([1, 0], [1.0, float("nan")], SchemaError, "scores must be numbers in every row, got NaN"),
        ([0, 0], [1.0, 2.0], MetricError, "undefined without a relevant row"),
    ],
)
def test_wrong_columns(relevant, scores, error, message):
    for function in (rank_one, roc_curve, precision_recall_curve):
        with pytest.raises(error, match=message):
            function(relevant, scores)


def test_scores_that_are_no_numbers_are_refused():
    with pytest.raises(ScoreError, match="got NaN"):
        rank_block(np.full((1, 3), np.nan, np.float32), np.array([0, 0]), np.zeros(0, np.int32))


def test_only_relevant_rows_have_no_roc_curve():
    with pytest.raises(MetricError, match="undefined if every row is relevant"):
        roc_curve([1, 1], [1.0, 2.0])
