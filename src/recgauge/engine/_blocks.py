"""Users cut into blocks, blocks given to threads.

Every kind of source has a lane, which says how much memory a user takes and fills the lists of a block
of users.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

import numpy as np

from recgauge.engine._arrays import checked_codes
from recgauge.utils.checks import FloatArray, IntArray


class Lane(Protocol):
    """One kind of source, ready to be asked."""

    n_users: int | None
    n_candidates: int
    most_users: int

    def bytes_per_user(self, k: int) -> int:
        """Memory a user of a block takes."""

    def fill(self, users: IntArray, items: IntArray, scores: FloatArray) -> None:
        """Write the lists of the users, (b, k), from any thread."""


def run(
    lane: Lane,
    users: IntArray,
    k: int,
    memory: int,
    n_threads: int,
    on_progress: Callable[[int], None] | None,
) -> tuple[IntArray, FloatArray]:
    """All lists, block by block."""
    users = checked_codes("users", users, lane.n_users)
    width = max(1, min(k, lane.n_candidates))
    # written by the threads: the first touch of new memory costs as much as making short lists
    items, scores = np.empty((len(users), k), np.int32), np.empty((len(users), k), np.float32)
    size = memory // n_threads // lane.bytes_per_user(width)
    size = max(1, min(size, lane.most_users, -(-len(users) // n_threads)))

    def block(start: int) -> int:
        part = slice(start, start + size)
        if width == k and lane.n_candidates:
            lane.fill(users[part], items[part], scores[part])
        else:
            few, best = (
                np.empty((len(users[part]), width), np.int32),
                np.empty((len(users[part]), width), np.float32),
            )
            if lane.n_candidates:
                lane.fill(users[part], few, best)
            else:
                few[:], best[:] = -1, -np.inf
            items[part, :width], scores[part, :width] = few, best
            items[part, width:], scores[part, width:] = -1, -np.inf
        return len(users[part])

    starts = range(0, len(users), size)
    if n_threads == 1:
        _report(map(block, starts), on_progress)
    else:
        with ThreadPoolExecutor(n_threads) as pool:
            _report(pool.map(block, starts), on_progress)
    return items, scores


def _report(done: Any, on_progress: Callable[[int], None] | None) -> None:
    for n_users in done:
        if on_progress is not None:
            on_progress(n_users)
