"""Work in blocks, on as many threads as the process may use; results never depend on their number."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from recgauge.utils.progress import Advance

Made = TypeVar("Made")


def usable_cpus() -> int:
    """Return the number of CPUs of this process, at most as many as NUMBA_NUM_THREADS says, as in workers."""
    from numba import config  # takes long to import, and who asks has compiled functions

    return min(process_cpus(), int(config.NUMBA_NUM_THREADS))  # type: ignore[attr-defined]


def process_cpus() -> int:
    """Return the number of CPUs that the system lets this process use, limited or not."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def over_blocks(
    work: Callable[[int, int], Made],
    n: int,
    size: int,
    *,
    advance: Advance | None = None,
    n_threads: int | None = None,
) -> Sequence[Made]:
    """Return ``work(start, stop)`` of all blocks of ``range(n)``, in order, made side by side.

    Examples
    --------
    >>> over_blocks(lambda start, stop: sum(range(start, stop)), 10, 4)
    [6, 22, 17]
    """
    starts = range(0, n, size)
    threads = min(usable_cpus() if n_threads is None else n_threads, len(starts))

    def block(start: int) -> tuple[int, Made]:
        stop = min(start + size, n)
        return stop - start, work(start, stop)

    pool = ThreadPoolExecutor(threads) if threads > 1 else None
    made = []
    try:
        for n_done, result in map(block, starts) if pool is None else pool.map(block, starts):
            made.append(result)
            if advance is not None:
                advance(n_done)
    finally:
        if pool is not None:
            pool.shutdown(cancel_futures=True)  # after an error or Ctrl-C blocks that wait are not begun
    return made
