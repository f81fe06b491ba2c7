"""The compiled comparison of every candidate with the relevant ones; imported where it is called."""

from typing import Any

import numpy as np
import numpy.typing as npt

from recgauge.utils.compiled import I32s, I64s, compiled

CANDIDATE, EXCLUDED, POSITIVE = 0, 1, 2


@compiled(nogil=True)
def rank_row(
    scores: npt.NDArray[Any],
    positives: I32s,
    excluded: I32s,
    kind: npt.NDArray[np.int8],
    counts: I64s,
) -> int:
    """Compare all candidates of one user with the relevant ones by binary search.

    Parameters
    ----------
    scores : ndarray of float, shape (n_items,)
    positives, excluded : ndarray of int32
        Item codes, `positives` ascending; an excluded item is no candidate even if it is relevant.
    kind : ndarray of int8, shape (n_items,)
        Scratch, all 0; all 0 again on return.
    counts : ndarray of int64, shape (4, p)
        Zeros; column j is about the j-th lowest score among relevant candidates: candidates that are not
        relevant and score higher; as much; as much with a lower code; relevant ones that score at least as
        much.

    Returns
    -------
    int
        Number of relevant candidates: columns filled.
    """
    kind[excluded] = EXCLUDED
    kept = positives[kind[positives] == CANDIDATE]
    kept = kept[np.argsort(scores[kept], kind="mergesort")]  # equal scores by rising code
    levels = scores[kept]
    n_positive = len(kept)
    kind[kept] = POSITIVE
    for item in range(len(scores)):
        if n_positive == 0 or scores[item] < levels[0] or kind[item] != CANDIDATE:
            continue  # below all relevant ones: most items, if the model is any good
        low = np.searchsorted(levels, scores[item])
        if low > 0:
            counts[0, low - 1] += 1  # above all relevant ones before `low`: summed up below
        level = low
        while level < n_positive and levels[level] == scores[item]:
            counts[1, level] += 1
            if item < kept[level]:
                counts[2, level] += 1
            level += 1
    for level in range(n_positive - 2, -1, -1):
        counts[0, level] += counts[0, level + 1]
    for level in range(n_positive):
        same = level > 0 and levels[level] == levels[level - 1]
        counts[3, level] = counts[3, level - 1] if same else n_positive - level
    kind[excluded] = CANDIDATE
    kind[kept] = CANDIDATE
    return n_positive


@compiled(nogil=True)
def rank_rows(
    scores: npt.NDArray[Any],
    positive_start: I64s,
    positives: I32s,
    excluded_start: I64s,
    excluded: I32s,
) -> tuple[I64s, I64s]:
    """Compare row by row; return the counts (4, p), users back to back, and relevant candidates (b,)."""
    counts = np.zeros((4, len(positives)), np.int64)
    n_positive = np.zeros(len(scores), np.int64)
    kind = np.zeros(scores.shape[1], np.int8)
    filled = 0
    for row in range(len(scores)):
        own = positives[positive_start[row] : positive_start[row + 1]]
        barred = excluded[excluded_start[row] : excluded_start[row + 1]]
        n_positive[row] = rank_row(scores[row], own, barred, kind, counts[:, filled : filled + len(own)])
        filled += n_positive[row]
    return counts[:, :filled], n_positive
