"""Metrics of class labels give what scikit-learn gives, value by value."""

import re

import pytest

from golden.cases import article_cases
from golden.rating_lane import agree, entries
from recgauge.experiments.worked_examples.cases import iris_labels
from recgauge.metrics.classes import ClassFScore, ClassPrecision, ClassRecall

CLASSES = {"precision": ClassPrecision, "recall": ClassRecall, "f1": ClassFScore}


def class_entries():
    articles = [
        (case, expected)
        for case, expected in entries("article")
        if "average=" in expected.get("variant", "") and expected["value"] is not None
    ]
    return entries("classes") + articles


@pytest.mark.parametrize(
    ("case", "expected"), class_entries(), ids=lambda part: part.get("id") or part["metric"]
)
def test_value(case, expected):
    actual, predicted = case["inputs"]["y_true"], case["inputs"]["y_pred"]
    name = expected["metric"].split("_score")[0]
    average = re.search(
        r"(micro|macro|weighted|binary|samples|None)", expected["metric"] + expected.get("variant", "")
    )[0]
    if average == "None":
        labels, values = CLASSES[name]().per_label(actual, predicted)
        assert labels.tolist() == expected["value"]["labels"]
        agree(values, expected["value"]["values"])
    else:
        agree(CLASSES[name](average=average).value(actual, predicted), expected["value"])


def test_the_labels_of_the_note_are_those_of_its_classifier_trained_now():
    (labels,) = {
        (tuple(case["inputs"]["y_true"]), tuple(case["inputs"]["y_pred"]))
        for case in article_cases()
        if case["inputs"].get("sample") == "iris"
    }
    assert tuple(map(tuple, iris_labels())) == labels


def test_all_values_are_compared():
    assert len(class_entries()) == 6 * 12 + 3 * 15 + 24
