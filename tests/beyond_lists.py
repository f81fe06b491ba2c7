"""Judged lists and catalogues from plain Python lists, for tests of metrics."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from recgauge.data.catalogue import Catalogue
from recgauge.data.lists import Relevant, TopK
from recgauge.judging import JudgedTopK, judge


def judged_lists(
    lists: Sequence[Sequence[int]],
    relevant: Sequence[Collection[int] | Mapping[int, float]],
    users: Sequence[int] | None = None,
    catalogue: Catalogue | None = None,
) -> JudgedTopK:
    """Join lists with relevant items, which may have grades; a user may lack either."""
    width = max(1, *(len(codes) for codes in lists), 1)
    items = np.full((len(lists), width), -1, np.int32)
    for row, codes in enumerate(lists):
        items[row, : len(codes)] = codes
    scores = np.where(items >= 0, -np.arange(width, dtype=np.float32), -np.inf).astype(np.float32)
    who = np.array(range(len(lists)) if users is None else users, np.int32)
    graded = [own if isinstance(own, Mapping) else dict.fromkeys(own, 1.0) for own in relevant]
    start = np.concatenate(([0], np.cumsum([len(own) for own in graded])))
    wanted = np.array([code for own in graded for code in sorted(own)], np.int32)
    gains = np.array([own[code] for own in graded for code in sorted(own)], np.float64)
    return judge(TopK(who, items, scores), Relevant(who, start, wanted, gains, 0), catalogue)


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
