"""Metrics of class labels against loops, and ratings cut into liked and not liked."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recgauge
from recgauge.errors import ConfigError, SchemaError
from recgauge.experiments.worked_examples.cases import read_cases
from recgauge.metrics.classes import ClassFScore, ClassPrecision, ClassRecall, LikedScore

METRICS = [ClassPrecision, ClassRecall, ClassFScore]


def columns(rows):
    return [actual for actual, _ in rows], [predicted for _, predicted in rows]


TABLES = st.integers(1, 4).flatmap(
    lambda width: st.lists(
        st.tuples(*[st.lists(st.integers(0, 1), min_size=width, max_size=width)] * 2), min_size=1, max_size=8
    )
)


@given(rows=TABLES)
def test_averages_of_several_labels_a_row_equal_loops(rows):
    actual, predicted = columns(rows)
    sets = [
        [{place for place, one in enumerate(row) if one} for row in table] for table in (actual, predicted)
    ]
    of_rows = [of_sets(a, p) for a, p in zip(*sets, strict=True)]
    width = len(actual[0])
    users = [
        [{row for row, own in enumerate(table) if label in own} for label in range(width)] for table in sets
    ]
    of_labels = [of_sets(a, p) for a, p in zip(*users, strict=True)]
    for place, metric in enumerate(METRICS):
        samples = [values[place] for values in of_rows]
        assert metric(average="samples").value(actual, predicted) == pytest.approx(np.mean(samples))
        labels = [values[place] for values in of_labels]
        assert metric().value(actual, predicted) == pytest.approx(np.mean(labels))
        sizes = [len(one) for one in users[0]]
        weighted = np.dot(labels, sizes) / sum(sizes) if sum(sizes) else 0.0
        assert metric(average="weighted").value(actual, predicted) == pytest.approx(weighted)


def of_sets(actual, predicted):
    hits = len(actual & predicted)
    precision, recall = hits / len(predicted) if predicted else 0.0, hits / len(actual) if actual else 0.0
    return precision, recall, 2 * precision * recall / (precision + recall) if hits else 0.0


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
        ([[1], [0, 1]], [[1], [0, 1]], "its rows differ in length"),
        ([1, 2], [1], r"predicted must have the shape of actual, \(2,\), got \(1,\)"),
        ([1, 2], [1, float("nan")], "predicted must not hold missing labels"),
        (np.array([1, "a"], object), [1, 2], "labels must be of one sortable type"),
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
