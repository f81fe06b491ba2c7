"""From a fitted model to ranked lists: candidates, mask, rank, ties; once, for all models."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from recgauge._checks import FloatArray, IntArray, check_int, read_only
from recgauge.errors import ScoreError
from recgauge.models import Recommender
from recgauge.progress import NoProgress, Progress


@dataclass(frozen=True, slots=True, eq=False)
class TopK:
    """Ranked lists, best item first.

    Parameters
    ----------
    users : ndarray of int32, shape (m,)
        User codes, distinct.
    items : ndarray of int32, shape (m, k)
        Item codes, distinct in a row; -1 pads lists that are shorter than k.
    scores : ndarray of float32, shape (m, k)
        Falling in a row, equal scores by rising item code; -inf where padded.
    """

    users: IntArray
    items: IntArray
    scores: FloatArray

    def __post_init__(self) -> None:
        if self.items.shape != self.scores.shape or len(self.items) != len(self.users):
            raise ScoreError(
                "TopK: items and scores must have shape (n_users, k), got "
                f"{self.items.shape} and {self.scores.shape} for {len(self.users)} users."
            )
        for name in ("users", "items", "scores"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def lengths(self) -> IntArray:
        """Number of items in each list, shape (m,)."""
        lengths: IntArray = (self.items >= 0).sum(axis=1, dtype=np.int32)
        return lengths


def recommend(
    model: Recommender,
    users: IntArray,
    k: int,
    *,
    excluded: sparse.csr_array | None = None,
    block_users: int = 1024,
    progress: Progress | None = None,
) -> TopK:
    """Return each user's `k` best items among those that are not excluded.

    Parameters
    ----------
    model : Recommender
        Fitted.
    users : ndarray of int32, shape (m,)
        User codes.
    k : int
        Length of the lists, >= 1; lists are shorter where fewer items are left.
    excluded : scipy.sparse.csr_array, shape (n_users, n_items), optional
        Non-zeros are barred, such as the training rows.
    block_users : int
        Users scored at a time; bounds memory, never changes a list.
    progress : Progress, optional

    Returns
    -------
    TopK

    Raises
    ------
    ScoreError
        If the model's scores have a wrong shape or type, or are not finite.
    """
    check_int("recommend: k", k, minimum=1)
    check_int("recommend: block_users", block_users, minimum=1)
    n_items = None
    items, scores = [], []
    with (progress or NoProgress()).step("recommend", len(users), "users") as advance:
        for start in range(0, len(users), block_users):
            block = users[start : start + block_users]
            block_scores = _scores(model, block, n_items)
            n_items = block_scores.shape[1]
            if excluded is not None:
                rows = excluded[block].tocoo()
                block_scores[rows.row, rows.col] = -np.inf
            best, best_scores = _rank(block_scores, k)
            items.append(best)
            scores.append(best_scores)
            advance(len(block))
    return TopK(users, np.concatenate(items), np.concatenate(scores))


def _scores(model: Recommender, users: IntArray, n_items: int | None) -> FloatArray:
    factors = model.factors()
    if factors is not None:
        # float64 products rounded to float32 do not depend on how BLAS groups the rows of a block
        scores = (factors.user[users].astype(np.float64) @ factors.item.T.astype(np.float64)).astype(
            np.float32
        )
    else:
        scores = np.array(model.score(users), dtype=np.float32)
    if scores.ndim != 2 or len(scores) != len(users) or n_items not in (None, scores.shape[1]):
        raise ScoreError(
            f"{type(model).__name__}: score(users) must return shape ({len(users)}, n_items), "
            f"got {scores.shape}."
        )
    if not np.isfinite(scores).all():
        raise ScoreError(f"{type(model).__name__}: scores must be finite; did training diverge?")
    return scores


def _rank(scores: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k].astype(np.int32)
    best = np.take_along_axis(scores, order, axis=1)
    order[np.isneginf(best)] = -1
    short = k - order.shape[1]
    if short > 0:
        order = np.pad(order, ((0, 0), (0, short)), constant_values=-1)
        best = np.pad(best, ((0, 0), (0, short)), constant_values=-np.inf)
    return order, best
