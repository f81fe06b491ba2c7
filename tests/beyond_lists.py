"""Judged lists and catalogues from plain Python lists, for tests of metrics beyond accuracy."""

from typing import Any

import numpy as np
from scipy import sparse

from recgauge.data.catalogue import Catalogue
from recgauge.data.top_k import TopK
from recgauge.judging.judge import JudgedTopK, Relevant, judge


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


def cosine(rows: np.ndarray[Any, np.dtype[np.float64]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the cosine of every pair of rows."""
    length = np.linalg.norm(rows, axis=1)
    unit = rows / np.where(length > 0, length, 1)[:, None]
    return unit @ unit.T


def catalogue_of_train(
    train: list[list[int]], n_items: int, features: list[list[float]] | None = None
) -> Catalogue:
    """Count training items; features also give the similarity matrix."""
    seen = np.zeros((len(train), n_items))
    for row, items in enumerate(train):
        seen[row, items] = 1
    rows = None if features is None else np.array(features, float)
    return Catalogue(
        n_items,
        seen.sum(axis=0).astype(np.int64),
        int((seen.sum(axis=1) > 0).sum()),
        sparse.csr_array(seen),
        None if rows is None else sparse.csr_array(rows),
        None if rows is None else cosine(rows),
    )
