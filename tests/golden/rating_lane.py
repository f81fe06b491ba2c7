"""The stored cases of ratings, classes and curves, and how a computed value is compared with a stored one."""

import json
import math
from pathlib import Path

import numpy as np

CASES = json.loads(Path(__file__).with_name("rating_cases.json").read_text(encoding="utf-8"))


def entries(*kinds):
    """Every stored value of these kinds as (case, expected)."""
    return [(case, expected) for case in CASES if case["kind"] in kinds for expected in case["expected"]]


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
