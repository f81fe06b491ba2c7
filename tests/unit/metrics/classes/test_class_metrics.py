import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recgauge.errors import ConfigError, SchemaError
from recgauge.metrics.classes import ClassFScore, ClassPrecision, ClassRecall

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


def test_samples_need_several_labels_a_row_and_binary_one():
    with pytest.raises(SchemaError, match="average=samples needs several labels per row: pass tables"):
        ClassRecall(average="samples").value([1, 0], [1, 1])
    with pytest.raises(ConfigError, match="average=binary needs one label per row, got a table"):
        ClassRecall(average="binary").value([[1, 0]], [[1, 1]])


def test_beta_weighs_recall():
    # precision 1/2, recall 1
    value = ClassFScore(average="binary", beta=2).value([1, 0], [1, 1])
    assert value == pytest.approx(5 * 0.5 * 1 / (4 * 0.5 + 1))


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
