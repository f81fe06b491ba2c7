"""Worked cases of predicted ratings and of class labels, and the one that compares two systems."""

import recgauge
from recgauge.errors import SchemaError
from recgauge.metrics.classes import ClassFScore, ClassMetric, ClassPrecision, ClassRecall
from recgauge.studies.worked_examples.cases import Case, Computed
from recgauge.studies.worked_examples.iris import iris_labels

RATINGS = {"mae", "mse", "rmse"}
CLASSES: dict[str, type[ClassMetric]] = {
    "precision": ClassPrecision,
    "recall": ClassRecall,
    "f1": ClassFScore,
}


def compute_ratings(case: Case) -> Computed:
    """Evaluate predicted ratings; the articles define these as everybody does."""
    inputs, metric = case["inputs"], case["metric"]
    result = recgauge.evaluate_ratings(inputs["actual"], inputs["predicted"], metrics=(metric,))
    return Computed((result.values()[metric],))


def compute_classes(case: Case) -> Computed:
    """Evaluate labels with the average that the case names; a classifier trained now gives those of iris."""
    inputs = case["inputs"]
    metric = CLASSES[case["metric"]](average=case["variant"].removeprefix("average="))
    actual, predicted, reason = inputs["y_true"], inputs["y_pred"], ""
    if inputs.get("sample") == "iris":
        labels = iris_labels()
        if (labels.actual, labels.predicted) != (tuple(actual), tuple(predicted)):
            reason = "this version of scikit-learn gives other labels than the stored ones"
        actual, predicted = labels.actual, labels.predicted
    try:
        return Computed((float(metric.value(actual, predicted)),), reason)
    except SchemaError as error:
        return Computed(reason=str(error))


def compute_two_systems(case: Case) -> Computed:
    """Evaluate precision and recall of two systems where the article compares them: at their end."""
    inputs = case["inputs"]
    lists = {"a": inputs["predicted_a"], "b": inputs["predicted_b"]}
    result = recgauge.evaluate(
        lists, dict.fromkeys(lists, inputs["relevant"]), metrics=("precision", "recall"), cutoffs=(5,)
    )
    pairs = zip(result.per_user("precision_at_5"), result.per_user("recall_at_5"), strict=True)
    return Computed(tuple(float(value) for pair in pairs for value in pair))
