"""Lists of models that give scores, and of item weights."""

from threading import Lock
from typing import Any

import numpy as np
from scipy import sparse

from recgauge.engine import _rows
from recgauge.engine._candidates import capacity_of
from recgauge.engine.sources import (
    Allowed,
    ItemWeights,
    SeenRows,
    Source,
    allowed_items,
    as_float32,
    check_finite,
    check_range,
    checked_codes,
    frozen,
    seen_rows,
)
from recgauge.errors import ScoreError
from recgauge.utils.checks import FloatArray, IntArray


def _barred(seen: SeenRows | None, items: Allowed | None, n_users: int, n_items: int) -> _rows.Barred:
    code = np.arange(n_items, dtype=np.int32)
    free = np.zeros((n_items + 63) & -64, np.bool_)
    free[allowed_items(items, n_items)] = True
    everybody = np.packbits(~free, bitorder="little").view(np.uint64)
    return _rows.Barred(code, everybody, *seen_rows(seen, n_users, n_items))


def _list_bytes(n_items: int, k: int) -> int:
    return 8 * capacity_of(k) + n_items // 8 + 128


class ScoreLists:
    """Lists of a model that only gives scores; it is called by one thread at a time.

    The source's attribute `users_at_once`, if it has one, says how many users it should be asked for at most.
    The first of `users` is scored at once, to learn the number of items.
    """

    most_users = 4096

    def __init__(
        self, source: Source, seen: SeenRows | None, items: Allowed | None, name: str, users: IntArray
    ) -> None:
        self._score: Any = getattr(source, "score", source)
        self.most_users = min(self.most_users, getattr(source, "users_at_once", self.most_users))
        self._name = name
        if not callable(self._score):
            raise ScoreError(f"top_k: source must have factors or score(users), got {self._name}.")
        self._lock = Lock()
        self.n_items = self._ask(users[:1], None).shape[1] if len(users) else 0
        if isinstance(seen, tuple):
            n_users = len(seen[0]) - 1
        else:
            n_users = int(users.max(initial=-1)) + 1 if seen is None else seen.shape[0]
        self.n_users: int | None = n_users
        self._barred = _barred(seen, items, n_users, self.n_items) if self.n_items else None
        self.n_candidates = (
            self.n_items if items is None or not self.n_items else len(allowed_items(items, self.n_items))
        )

    def _ask(self, users: IntArray, n_items: int | None) -> FloatArray:
        with self._lock:
            scores = np.asarray(self._score(users))
        if scores.ndim != 2 or len(scores) != len(users) or n_items not in (None, scores.shape[1]):
            expected = n_items if n_items is not None else "n_items"
            raise ScoreError(
                f"{self._name}: score(users) must return shape ({len(users)}, {expected}), "
                f"got {scores.shape}."
            )
        return as_float32(f"{self._name}: scores", scores)

    def bytes_per_user(self, k: int) -> int:
        """Memory a user of a block takes: the model's scores and as much again for its work, and the list."""
        return 8 * max(1, self.n_items) + _list_bytes(self.n_items, k)

    def fill(self, users: IntArray, items: IntArray, scores: FloatArray) -> None:
        """Write the lists of the users, (b, k)."""
        values = self._ask(users, self.n_items)
        assert self._barred is not None
        bad = _rows.top_rows(values, users, self._barred, capacity_of(items.shape[1]), items, scores)
        if bad >= 0:
            raise ScoreError(
                f"{self._name}: scores must be finite; scores of user {users[bad]} are not finite. "
                "Did training diverge?"
            )


class WeightLists:
    """Lists of a model of item weights, dense or sparse."""

    most_users = 16384

    def __init__(self, source: ItemWeights, seen: SeenRows | None, items: Allowed | None, name: str) -> None:
        rows = sparse.csr_array(source.interactions)
        self.n_users, self.n_items = rows.shape[0], source.weights.shape[1]
        self._rows = (
            frozen(rows.indptr.astype(np.int64)),
            checked_codes("interactions", rows.indices, rows.shape[1]),
        )
        self._values = as_float32(f"{name}: interactions", rows.data)
        self._barred = _barred(seen, items, self.n_users, self.n_items)
        self.n_candidates = len(allowed_items(items, self.n_items))
        if sparse.issparse(source.weights):
            weights = sparse.csr_array(source.weights)
            columns = checked_codes("weights", weights.indices, self.n_items)
            self._weights: tuple[Any, ...] = (
                frozen(weights.indptr.astype(np.int64)),
                columns,
                as_float32(f"{name}: weights", weights.data),
            )
        else:
            self._weights = (as_float32(f"{name}: weights", source.weights),)
        longest = int(np.diff(rows.indptr).max(initial=0))
        largest = check_finite(f"{name}: interactions", self._values)
        largest *= check_finite(f"{name}: weights", self._weights[-1])
        check_range(name, longest * largest)

    def bytes_per_user(self, k: int) -> int:
        """Memory a user of a block takes."""
        return _list_bytes(self.n_items, k)

    def fill(self, users: IntArray, items: IntArray, scores: FloatArray) -> None:
        """Write the lists of the users, (b, k)."""
        top: Any = _rows.top_sparse if len(self._weights) > 1 else _rows.top_dense
        top(
            *self._rows,
            self._values,
            *self._weights,
            users,
            self._barred,
            capacity_of(items.shape[1]),
            items,
            scores,
        )
