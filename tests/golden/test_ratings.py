"""Rating metrics give what the libraries and articles give, value by value."""

import numpy as np
import pytest

from golden.rating_lane import agree, entries
from recgauge.conventions import get_convention
from recgauge.errors import MetricError
from recgauge.evaluation.evaluate_ratings import evaluate_ratings
from recgauge.metrics.rating import (
    MAE,
    MSE,
    RMSE,
    ConcordantPairs,
    Kendall,
    MedianAbsoluteError,
    Minkowski,
    Pearson,
    RSquared,
    Spearman,
)

ARTICLE = "article_system_evaluation"
DEFINITIONS = {
    **{(lib, name): MAE() for lib, name in [("cornac", "MAE"), ("recbole", "MAE"), ("surprise", "mae")]},
    **{(lib, name): MSE() for lib, name in [("cornac", "MSE"), ("recmetrics", "mse"), ("surprise", "mse")]},
    **{(lib, "RMSE"): RMSE() for lib in ("cornac", "recbole")},
    **{(lib, "rmse"): RMSE() for lib in ("recmetrics", "surprise", ARTICLE)},
    (ARTICLE, "mae"): MAE(),
    (ARTICLE, "mse"): MSE(),
    ("sklearn", "mean_absolute_error"): MAE(),
    ("sklearn", "mean_squared_error"): MSE(),
    ("sklearn", "root_mean_squared_error"): RMSE(),
    ("sklearn", "median_absolute_error"): MedianAbsoluteError(),
    ("sklearn", "r2_score"): RSquared(),
    **{
        ("scipy", f"minkowski(p={q})"): Minkowski(q=q, normalization="sum")
        for q in (1, 2, 3)
    },
    ("formula", "user_mean_mae"): MAE(aggregate="user"),
    ("formula", "user_mean_rmse"): RMSE(aggregate="user"),
    ("lenskit", "MAE (user mean)"): MAE(aggregate="user"),
    ("lenskit", "RMSE (user mean)"): RMSE(aggregate="user"),
    **{
        (name, metric): get_convention(name).metric(metric.lower())
        for name, metrics in {
            "warprec": ("MAE", "MSE", "RMSE"),
            "omnirec": ("MAE", "RMSE"),
            "omnirec_1_1": ("MAE", "RMSE"),
        }.items()
        for metric in metrics
    },
    ("surprise", "fcp"): ConcordantPairs(aggregate="counted_users"),
    ("scipy", "pearsonr"): Pearson(),
    ("scipy", "spearmanr"): Spearman(),
    ("scipy", "kendalltau"): Kendall(),
}  # fmt: skip
FLOAT32 = ("lenskit",)  # keeps scores in float32, so its values agree to 1e-6
N_VALUES = 295


def columns(case):
    inputs = case["inputs"]
    if case["kind"] == "rating":
        users, _, actual, predicted = zip(*inputs["rows"], strict=True)
        return actual, predicted, users
    if case["kind"] == "correlation":
        return inputs["x"], inputs["y"], None
    return inputs["actual"], inputs["predicted"], None


def rating_entries():
    chosen = entries("rating", "correlation", "article")
    return [(case, e) for case, e in chosen if case["kind"] != "article" or "actual" in case["inputs"]]


@pytest.mark.parametrize(
    ("case", "expected"), rating_entries(), ids=lambda part: part.get("id") or part["metric"]
)
def test_value(case, expected):
    actual, predicted, users = columns(case)
    metric = DEFINITIONS[expected["library"], expected["metric"]]
    if "error" in expected or expected["value"] == "NaN":
        with pytest.raises(MetricError, match="is undefined for these"):
            evaluate_ratings(actual, predicted, users=users, metrics={"m": metric})
        return
    value = evaluate_ratings(actual, predicted, users=users, metrics={"m": metric}).values()["m"]
    agree(value, expected["value"], 1e-6 if expected["library"] in FLOAT32 else 1e-9)


def test_power_mean_is_the_distance_over_the_root_of_the_count():
    for case, expected in entries("rating"):
        if expected["library"] == "scipy":
            q = int(expected["metric"][-2])
            actual, predicted, _ = columns(case)
            value = evaluate_ratings(actual, predicted, metrics=[Minkowski(q=q)]).values()["minkowski"]
            agree(value, expected["value"] / len(actual) ** (1 / q))


def test_correlations_of_users_are_those_of_their_rows():
    by_metric = {"pearsonr": Pearson, "spearmanr": Spearman, "kendalltau": Kendall}
    for name, metric in by_metric.items():
        chosen = [(case["inputs"], e["value"]) for case, e in entries("correlation") if e["metric"] == name]
        users = np.repeat(np.arange(len(chosen)), [len(inputs["x"]) for inputs, _ in chosen])
        x, y = (np.concatenate([inputs[axis] for inputs, _ in chosen]) for axis in "xy")
        stored = [value for _, value in chosen]
        evaluation = evaluate_ratings(x, y, users=users, metrics={"m": metric(aggregate="user")})
        agree(evaluation.per_user("m"), stored)
        undefined = sum(value == "NaN" for value in stored)
        assert evaluation.counts.get("users_undefined_m", 0) == undefined > 0


def test_all_values_are_compared():
    chosen = rating_entries()
    assert len(chosen) == N_VALUES
    assert {(e["library"], e["metric"]) for _, e in chosen} == set(DEFINITIONS)
