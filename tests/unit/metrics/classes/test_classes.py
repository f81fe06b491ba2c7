"""Metrics of class labels against loops, and ratings cut into liked and not liked."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recgauge
from recgauge.errors import ConfigError, SchemaError
from recgauge.experiments.worked_examples.cases import read_cases
from recgauge.metrics.classes import ClassFScore, ClassPrecision, ClassRecall, LikedScore


def test_binary_needs_its_label():
    with pytest.raises(
        ConfigError, match="average=binary needs two labels, one of them positive=1; got 0, 2"
    ):
        ClassRecall(average="binary").value([0, 2], [0, 0])
    with pytest.raises(ConfigError, match="got 0, 1, 2"):
        ClassRecall(average="binary").value([0, 1], [0, 2])
    assert ClassRecall(average="binary", positive="like").value(["like", "skip"], ["like", "like"]) == 1


@pytest.mark.parametrize(
    ("actual", "predicted", "message"),
    [
        ([], [], "actual must be one column with at least one label"),
        ([1, 2], [1], r"predicted must have the shape of actual, \(2,\), got \(1,\)"),
        ([1, 2], [1, float("nan")], "predicted must not hold missing labels"),
        ([[1, 2]], [[1, 0]], "actual is a table, which must hold 1 where a row has a label"),
        ([[1, 0]], [[1, 0, 0]], r"predicted must have the shape of actual, \(1, 2\), got \(1, 3\)"),
    ],
)
def test_wrong_columns(actual, predicted, message):
    with pytest.raises(SchemaError, match=message):
        ClassPrecision().value(actual, predicted)


LABELS = {"precision": ClassPrecision, "recall": ClassRecall, "f1": ClassFScore}
STARS = st.sampled_from([1.0, 2.0, 3.5, 4.0, 5.0])
ROWS = st.lists(st.tuples(st.integers(0, 2), STARS, STARS), min_size=1, max_size=12)


def value(rows, **settings):
    users, actual, predicted = zip(*rows, strict=True)
    suite = {"liked": LikedScore(**settings)}
    return recgauge.evaluate_ratings(actual, predicted, users=users, metrics=suite).values()["liked"]


@given(rows=ROWS, score=st.sampled_from([*LABELS]), average=st.sampled_from(["macro", "micro", "weighted"]))
def test_averages_are_those_of_the_labels(rows, score, average):
    actual, predicted = [r >= 4 for _, r, _ in rows], [p >= 4 for _, _, p in rows]
    expected = LABELS[score](average=average).value(actual, predicted)
    assert value(rows, score=score, average=average) == pytest.approx(expected)


@given(rows=ROWS, score=st.sampled_from([*LABELS]))
def test_samples_are_users_with_several_labels(rows, score):
    users = sorted({user for user, _, _ in rows})
    tables = np.zeros((2, len(users), len(rows)), int)
    for item, (user, actual, predicted) in enumerate(rows):
        tables[:, users.index(user), item] = actual >= 4, predicted >= 4
    expected = LABELS[score](average="samples").value(*tables)
    assert value(rows, score=score, average="binary", aggregate="user") == pytest.approx(expected)


def test_the_labels_of_the_note_as_ratings(request):
    cases = read_cases(request.config.rootpath / "experiments/worked_examples/cases.json")
    noted = [case for case in cases if case["inputs"].get("sample") == "iris" and case["expected"]]
    assert len(noted) == 12
    for case in noted:
        metric = LikedScore(score=case["metric"], average=case["variant"].split("=")[1], liked_from=1)
        labels = case["inputs"]["y_true"], case["inputs"]["y_pred"]
        (found,) = recgauge.evaluate_ratings(*labels, metrics={"liked": metric}).values().values()
        assert found == pytest.approx(case["expected"], abs=1e-12)
