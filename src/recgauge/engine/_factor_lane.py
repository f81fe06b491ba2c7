"""The lane of factor models: prepared panels and the scan."""

import threading
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import ThreadpoolController

from recgauge.engine import _scan
from recgauge.engine._arrays import allowed_items, as_float32, check_finite, check_range, seen_rows
from recgauge.engine._panels import prepare
from recgauge.engine._select import capacity_of
from recgauge.engine.sources import FactorSource
from recgauge.errors import ScoreError
from recgauge.utils.checks import FloatArray, IntArray

if TYPE_CHECKING:
    from recgauge.engine._bounds import Panels


@cache
def _blas() -> ThreadpoolController:
    """Find the loaded BLAS libraries, once: that takes a millisecond."""
    return ThreadpoolController()


class FactorLane:
    """Lists of a factor model.

    Parameters
    ----------
    source : FactorSource
    seen, items, name
        As in `top_k`.
    use_bytes : bool, optional
        Round to bytes, or to float32; by default what this processor does best.
    """

    most_users = 512
    n_users: int | None

    def __init__(
        self, source: FactorSource, seen: Any, items: Any, name: str, use_bytes: bool | None = None
    ) -> None:
        self._user, self._item = (
            as_float32(f"{name}: user factors", source.user),
            as_float32(f"{name}: item factors", source.item),
        )
        if (
            self._user.ndim != 2
            or self._item.ndim != 2
            or self._user.shape[1:] != self._item.shape[1:]
            or not self._user.shape[1]
        ):
            raise ScoreError(
                f"{name}: factors must be matrices with the same number of columns, at least 1, "
                f"got {self._user.shape} and {self._item.shape}."
            )
        self.n_users, width = self._user.shape
        largest = check_finite(f"{name}: user factors", self._user) * check_finite(
            f"{name}: item factors", self._item
        )
        check_range(name, width * largest)
        n_items = len(self._item)
        allowed = allowed_items(items, n_items)
        self.n_candidates = len(allowed)
        self._seen = seen_rows(seen, self.n_users, n_items)
        self._threads = threading.local()
        self._panels: Panels | None = None
        if len(allowed):
            # small products: BLAS threads that wait for one another cost more than they bring
            with _blas().limit(limits=1, user_api="blas"):
                self._panels = prepare(self._user, self._item, allowed, use_bytes)

    def bytes_per_user(self, k: int) -> int:
        """Memory a user of a block takes."""
        n_tiles = self.n_candidates // 64 + 1
        return 12 * capacity_of(k) + 8 * n_tiles + 4 * int(self._user.shape[1]) + 128

    def fill(self, users: IntArray, items: IntArray, scores: FloatArray) -> None:
        """Write the lists of the users, (b, k)."""
        panels = self._panels
        assert panels is not None
        space = self._space(len(users), capacity_of(items.shape[1]), panels)
        room = np.empty((5, 64), np.int32 if panels.bias > 0.0 else np.float32)
        _scan.top_factors(self._user, self._item, users, *self._seen, panels, space, room, items, scores)

    def _space(self, n_users: int, capacity: int, panels: "Panels") -> _scan.Space:
        """Memory of the calling thread, made anew only where it does not fit."""
        space: _scan.Space | None = getattr(self._threads, "space", None)
        if space is None or len(space.rows) < n_users or space.low.shape[1] != capacity:
            space = self._threads.space = _scan.Space(
                np.empty((n_users, panels.basis.shape[1]), np.int8 if panels.bias > 0.0 else np.float32),
                np.empty((n_users, capacity), np.float32),
                np.empty((n_users, capacity), np.float32),
                np.empty((n_users, capacity), np.int32),
                np.empty((n_users, len(panels.blocked)), np.uint64),
            )
        return space
