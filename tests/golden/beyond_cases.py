"""Loads the produced values of metrics beyond accuracy and builds what our metrics take from the inputs."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from beyond_lists import cosine
from recgauge.catalogue import Catalogue

CASES = json.loads(Path(__file__).with_name("beyond_cases.json").read_text())


def catalogue_from(case: dict[str, Any], *, plus_one: bool = False, n_items: int | None = None) -> Catalogue:
    """Build the catalogue of a case; `plus_one` adds one user who saw everything."""
    size = n_items or case["n_items"]
    seen = np.zeros((len(case["users"]) + 1, size))
    for row, user in enumerate(case["users"]):
        seen[row, case["train"].get(user, [])] = 1
    seen[-1] = plus_one
    features = None
    if case["features"] is not None:
        features = sparse.csr_array(np.array([case["features"][str(item)] for item in range(size)]))
    matrix = sparse.csr_array(seen)
    return Catalogue(
        size,
        seen.sum(axis=0).astype(np.int64),
        len(case["users"]) + plus_one,
        matrix,
        features,
        None if features is None else cosine(features.toarray()),
    )


def number(value: float | str | None) -> float:
    """Read a value; no value and not-a-number are both NaN."""
    return float("nan") if value is None else float(value)
