"""Ineligible items of lists from outside: out of the catalogue, in the user's training rows, or repeated."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Literal

import numpy as np

from recgauge.data.catalogue import Catalogue
from recgauge.utils.checks import BoolArray, FloatArray, IntArray, LongArray
from recgauge.utils.grouped import repeats, shared

if TYPE_CHECKING:
    from recgauge.judging import Policies

Reason = Literal["unknown", "seen", "repeats"]


def unknown_items(items: IntArray, users: IntArray, catalogue: Catalogue | None) -> BoolArray | None:  # noqa: ARG001
    """Return which places (m, k) hold an item that is in no training and no judged row; None: not known."""
    if catalogue is None or catalogue.in_data is None:
        return None
    return (items >= 0) & ~catalogue.in_data[items]


def seen_items(items: IntArray, users: IntArray, catalogue: Catalogue | None) -> BoolArray | None:
    """Return which places (m, k) hold an item of the user's training rows; None: not known."""
    start, listed = _starts(items)
    seen = seen_codes(start, items[listed], users, catalogue)
    if seen is None:
        return None
    mask = np.zeros(items.shape, bool)
    mask[listed] = seen
    return mask


def seen_codes(
    start: LongArray, codes: IntArray, users: IntArray, catalogue: Catalogue | None
) -> BoolArray | None:
    """Return which items are of the user's training rows; user j's are ``codes[start[j]:start[j + 1]]``."""
    if catalogue is None or catalogue.in_data is None:
        return None
    matrix = catalogue.seen if catalogue.excluded is None else catalogue.excluded
    if matrix is None:
        return None
    rows = matrix[users]
    return shared(start, codes, rows.indptr.astype(np.int64), rows.indices, catalogue.n_items)


def repeated_items(items: IntArray, users: IntArray, catalogue: Catalogue | None) -> BoolArray | None:  # noqa: ARG001
    """Return which places (m, k) hold an item that the list has at an earlier place; None: no list does."""
    start, listed = _starts(items)
    repeated = repeats(start, items[listed], int(items.max(initial=-1)) + 1)
    if repeated is None:
        return None
    mask = np.zeros(items.shape, bool)
    mask[listed] = repeated
    return mask


REASONS: Mapping[Reason, Callable[[IntArray, IntArray, Catalogue | None], BoolArray | None]] = {
    "unknown": unknown_items,
    "seen": seen_items,
    "repeats": repeated_items,
}


def count_ineligible(
    items: IntArray, users: IntArray, catalogue: Catalogue | None, longest: int | None
) -> dict[str, int]:
    """Return how many of the `longest` first places of lists (m, k) are ineligible, by reason; no zeros."""
    items = items[:, :longest]
    masks = {name: find(items, users, catalogue) for name, find in REASONS.items()}
    return {name: int(mask.sum()) for name, mask in masks.items() if mask is not None and mask.any()}


def drop_ineligible(
    items: IntArray, scores: FloatArray, users: IntArray, catalogue: Catalogue | None, policies: "Policies"
) -> tuple[IntArray, FloatArray]:
    """Return lists and scores (m, k) cut to the longest, without the items that policies drop."""
    items, scores = items[:, : policies.longest], scores[:, : policies.longest]
    masks = [
        mask
        for name, find in REASONS.items()
        if getattr(policies, name) == "drop" and (mask := find(items, users, catalogue)) is not None
    ]
    if not masks:
        return items, scores
    dropped = np.logical_or.reduce(masks)
    order = np.argsort(dropped | (items < 0), axis=1, kind="stable")
    items = np.take_along_axis(np.where(dropped, -1, items), order, axis=1)
    return items, np.take_along_axis(np.where(dropped, -np.inf, scores), order, axis=1)


def with_misses(
    items: IntArray, scores: FloatArray, users: IntArray, catalogue: Catalogue | None, policies: "Policies"
) -> tuple[IntArray, FloatArray, BoolArray]:
    """Return lists and scores (m, k) after dropping, and which places count and hit nothing.

    Such a place is the only one of a list of which nothing is left.
    """
    begun = items[:, 0] >= 0
    items, scores = drop_ineligible(items, scores, users, catalogue, policies)
    missed = np.zeros(items.shape, bool)
    for name, find in REASONS.items():
        if getattr(policies, name) == "miss" and (mask := find(items, users, catalogue)) is not None:
            missed |= mask
    emptied = begun & (items[:, 0] < 0)
    missed[emptied, 0] = True
    scores = scores.copy()
    scores[emptied, 0] = 0.0
    return items, scores, missed


def _starts(items: IntArray) -> tuple[LongArray, BoolArray]:
    """Return where the lists (m, k) begin back to back, and which places hold an item."""
    listed = items >= 0
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(listed.sum(axis=1)))), listed
