"""The lanes of lists from candidates that each user was given; they check sources as the others do."""

from typing import Any

import numpy as np

from recgauge.engine import _gather
from recgauge.engine._arrays import frozen, seen_rows
from recgauge.engine._factor_lane import FactorLane
from recgauge.engine._row_lanes import ItemLane, ScoreLane
from recgauge.engine.sources import FactorSource, ItemWeights
from recgauge.errors import ScoreError
from recgauge.utils.checks import FloatArray, IntArray, LongArray

_NOTHING = np.empty(0, np.int32)
Given = tuple[LongArray, IntArray]


def _given(candidates: Any, n_users: int, n_items: int) -> Given:
    """Row pointers and distinct, rising item codes of every user's candidates."""
    indptr, indices = seen_rows(candidates, n_users, n_items, name="candidates")
    indices = indices[: indptr[-1]]
    owner = np.repeat(np.arange(n_users), np.diff(indptr))
    code = owner * np.int64(n_items) + indices[indptr[0] :]
    if (np.diff(code) <= 0).any():
        code = np.unique(code)
        indptr = np.searchsorted(code, np.arange(n_users + 1) * np.int64(n_items))
        indices = (code % n_items).astype(np.int32)
    return frozen(indptr.astype(np.int64, copy=False)), frozen(indices)


def _longest(given: Given) -> int:
    return int(np.diff(given[0]).max(initial=0))


class GivenFactors(FactorLane):
    """Lists of a factor model: one product a candidate."""

    def __init__(self, source: FactorSource, candidates: Any, name: str) -> None:
        super().__init__(source, None, _NOTHING, name)
        assert self.n_users is not None
        self._rows = _given(candidates, self.n_users, len(self._item))
        self.n_candidates = _longest(self._rows)

    def bytes_per_user(self, k: int) -> int:
        """Memory a user of a block takes: the keys are one user's at a time."""
        return 8 * k + 16

    def fill(self, users: IntArray, items: IntArray, scores: FloatArray) -> None:
        """Write the lists of the users, (b, k)."""
        _gather.gather_factors(self._user, self._item, users, *self._rows, items, scores)


class GivenWeights(ItemLane):
    """Lists of a model of item weights."""

    def __init__(self, source: ItemWeights, candidates: Any, name: str) -> None:
        super().__init__(source, None, None, name)
        self._candidates = _given(candidates, self.n_users, self.n_items)
        self.n_candidates = _longest(self._candidates)

    def fill(self, users: IntArray, items: IntArray, scores: FloatArray) -> None:
        """Write the lists of the users, (b, k)."""
        is_sparse = len(self._weights) > 1
        gather: Any = _gather.gather_sparse if is_sparse else _gather.gather_dense
        width = (self.n_items,) if is_sparse else ()
        gather(
            *self._rows,
            self._values,
            *self._weights,
            *width,
            users,
            *self._candidates,
            items,
            scores,
        )


class GivenScores(ScoreLane):
    """Lists of a model that only gives scores: scores of all items, then those of candidates."""

    def __init__(self, source: Any, candidates: Any, name: str, users: IntArray) -> None:
        super().__init__(source, None, None, name, users)
        if hasattr(candidates, "shape"):
            self.n_users = candidates.shape[0]
        elif len(candidates[0]):
            self.n_users = len(candidates[0]) - 1
        self._candidates: Given = (np.zeros(1, np.int64), _NOTHING)  # nobody is asked about
        if len(users):
            self._candidates = _given(candidates, self.n_users, self.n_items)
        self.n_candidates = _longest(self._candidates)

    def fill(self, users: IntArray, items: IntArray, scores: FloatArray) -> None:
        """Write the lists of the users, (b, k)."""
        values = self._ask(users, self.n_items)
        finite = np.isfinite(values).all(axis=1)
        if not finite.all():
            raise ScoreError(
                f"{self._name}: scores must be finite; scores of user {users[~finite][0]} are not finite. "
                "Did training diverge?"
            )
        _gather.gather_rows(values, users, self._candidates[0], self._candidates[1], items, scores)
