"""The golden values of ratings, classes and curves, and how a computed one is compared with them."""

import math

import numpy as np

from golden.cases import article_cases, golden_values


def entries(*kinds):
    """Every stored value of these kinds as (case, expected)."""
    return [entry for kind in kinds for entry in (_articles() if kind == "article" else _libraries(kind))]


def _libraries(kind):
    for golden in golden_values(kind):
        expected = {"library": golden.library, "metric": golden.metric, "k": golden.k, "value": golden.value}
        if golden.per_user is not None:
            expected["per_user"] = golden.per_user
        yield {"id": golden.case, "kind": kind, "inputs": golden.inputs}, expected | golden.more


def _articles():
    for case in article_cases():
        if case["metric"] in ("mae", "mse", "rmse", "precision_recall") or "average=" in case["variant"]:
            expected = {
                "library": case["article"],
                "metric": case["metric"],
                "variant": case["variant"],
                "value": case["expected"],
            }
            yield {"id": case["id"], "kind": "article", "inputs": case["inputs"]}, expected


def stored(value):
    """JSON has no NaN, infinity or array: turn them back."""
    if value is None:
        return math.nan
    if isinstance(value, list):
        return np.array([stored(one) for one in value], dtype=np.float64)
    return float(value)


def agree(computed, expected, tolerance=1e-9):
    """Absolute below 1, relative above; NaN only equals NaN. Return how many numbers were compared."""
    computed, expected = np.asarray(computed, np.float64), np.asarray(stored(expected), np.float64)
    assert computed.shape == expected.shape
    both_infinite = np.isinf(expected) & (computed == expected)
    undefined = np.isnan(expected)
    assert np.array_equal(np.isnan(computed), undefined)
    with np.errstate(invalid="ignore"):
        near = np.abs(computed - expected) <= tolerance * np.maximum(1.0, np.abs(expected))
    assert (near | both_infinite | undefined).all(), (computed, expected)
    return expected.size
