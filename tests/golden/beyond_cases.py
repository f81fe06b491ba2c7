"""Loads the produced values of metrics beyond accuracy and builds what our metrics take from the inputs."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from recgauge.catalogue import Catalogue
from recgauge.judging import JudgedTopK, Relevant, judge
from recgauge.recommending import TopK

CASES = json.loads(Path(__file__).with_name("beyond_cases.json").read_text())


def judged_lists(
    lists: list[list[int]], relevant: list[list[int]], users: list[int], catalogue: Catalogue
) -> JudgedTopK:
    """Join lists with relevant items; a user may lack either."""
    width = max(1, *(len(codes) for codes in lists), 1)
    items = np.full((len(lists), width), -1, np.int32)
    scores = np.full(items.shape, -np.inf, np.float32)
    for row, codes in enumerate(lists):
        items[row, : len(codes)] = codes
        scores[row, : len(codes)] = -np.arange(len(codes))
    codes_of_users = np.array(users, np.int32)
    start = np.concatenate(([0], np.cumsum([len(codes) for codes in relevant])))
    wanted = np.array([code for codes in relevant for code in sorted(codes)], np.int32)
    known = Relevant(codes_of_users, start, wanted, np.ones(len(wanted), np.float32), 0)
    return judge(TopK(codes_of_users, items, scores), known, catalogue)


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


def cosine(rows: np.ndarray[Any, np.dtype[np.float64]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the cosine of every pair of rows."""
    length = np.linalg.norm(rows, axis=1)
    unit = rows / np.where(length > 0, length, 1)[:, None]
    return unit @ unit.T


def number(value: float | str | None) -> float:
    """Read a value; no value and not-a-number are both NaN."""
    return float("nan") if value is None else float(value)
