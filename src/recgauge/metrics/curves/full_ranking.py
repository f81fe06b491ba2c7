"""The ranks of the relevant items in the ranking of all candidates of their user."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from recgauge.errors import SchemaError, ScoreError
from recgauge.metrics.curves.points import check_scored
from recgauge.utils.checks import DoubleArray, FloatArray, IntArray, LongArray


@dataclass(frozen=True, slots=True, eq=False)
class FullRankings:
    """For each relevant candidate, how many others score more, as much or less; users back to back.

    A few numbers per relevant item, whatever the size of the catalogue.

    Parameters
    ----------
    n_positive, n_negative : ndarray of int64, shape (m,)
        Candidates of each user that are relevant, and those that are not.
    above, tied, tied_before : ndarray of int64, shape (r,)
        Candidates that are not relevant and score higher than this relevant one; as much; as much with a
        lower item code. Lowest relevant item first inside a user.
    positive_at_least : ndarray of int64, shape (r,)
        Relevant candidates that score at least as much, this one included.
    """

    n_positive: LongArray
    n_negative: LongArray
    above: LongArray
    tied: LongArray
    tied_before: LongArray
    positive_at_least: LongArray

    def total(self, weight: DoubleArray) -> DoubleArray:
        """Sum `weight` (r,) over each user's relevant candidates, shape (m,)."""
        owner = np.repeat(np.arange(len(self.n_positive)), self.n_positive)
        return np.bincount(owner, weight, minlength=len(self.n_positive)).astype(np.float64)

    def of_each(self, values: npt.NDArray[np.int64]) -> DoubleArray:
        """Repeat users' `values` (m,) for each of their relevant candidates, shape (r,)."""
        return np.repeat(values, self.n_positive).astype(np.float64)

    @classmethod
    def merge(cls, blocks: Sequence["FullRankings"]) -> "FullRankings":
        """Return the users of all blocks, in order."""
        return cls(*(np.concatenate([getattr(block, name) for block in blocks]) for name in cls.__slots__))


def rank_one(relevant: npt.ArrayLike, scores: npt.ArrayLike) -> FullRankings:
    """Rank one user's candidates, or all users' candidates taken as one pool.

    Parameters
    ----------
    relevant : array-like of bool, shape (n,)
    scores : array-like of float, shape (n,)

    Returns
    -------
    FullRankings
        Of one user.

    Examples
    --------
    >>> rank_one([1, 0, 1, 0], [0.9, 0.7, 0.7, 0.1]).above.tolist()
    [0, 0]
    """
    positive, values = check_scored(relevant, scores)
    items = np.flatnonzero(positive).astype(np.int32)
    return rank_block(values[None, :], np.array([0, len(items)]), items)


def rank_block(
    scores: FloatArray | DoubleArray,
    positive_start: LongArray,
    positives: IntArray,
    excluded: sparse.csr_array | None = None,
) -> FullRankings:
    """Rank the candidates of a block of users, and keep the ranks of the relevant items.

    Parameters
    ----------
    scores : ndarray of float, shape (b, n_items)
        Of all items.
    positive_start : ndarray of int64, shape (b + 1,)
        Row j's relevant items are at ``positives[positive_start[j]:positive_start[j + 1]]``.
    positives : ndarray of int32, shape (p,)
        Item codes, ascending inside a row.
    excluded : scipy.sparse.csr_array, shape (b, n_items), optional
        Non-zeros are no candidates, such as the users' training items; relevant ones among them are
        left out too.

    Returns
    -------
    FullRankings
        Time n_items log(relevant items) per user; memory a few numbers per relevant item.

    Raises
    ------
    ScoreError
        If a score is NaN.
    SchemaError
        If shapes do not fit.
    """
    from recgauge.metrics.curves._full_ranking_kernel import rank_rows  # compiled where it is used

    n_rows, n_items = scores.shape
    if len(positive_start) != n_rows + 1 or (excluded is not None and excluded.shape != scores.shape):
        raise SchemaError(f"rank_block: relevant and excluded items must be given for {n_rows} rows.")
    if np.isnan(scores).any():
        raise ScoreError("rank_block: scores must be numbers, got NaN.")
    if excluded is None:
        barred_start, barred = np.zeros(n_rows + 1, np.int64), np.zeros(0, np.int32)
    else:
        barred_start, barred = excluded.indptr.astype(np.int64), excluded.indices.astype(np.int32)
    counts, n_positive = rank_rows(
        np.ascontiguousarray(scores),
        np.asarray(positive_start, np.int64),
        np.ascontiguousarray(positives, np.int32),
        barred_start,
        barred,
    )
    return FullRankings(n_positive, n_items - np.diff(barred_start) - n_positive, *counts)
