"""What this process may use of its machine: memory, so that large work is refused early, and processors."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import psutil

from recgauge.errors import DataError
from recgauge.utils.progress import Advance

Made = TypeVar("Made")

_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
_CGROUP = Path("/sys/fs/cgroup")
_REMEDY = "Use a machine with more memory, end other programs, or give a part of the rows."


def free_memory() -> int | None:
    """Return the bytes that the machine and the container still have, None if the system does not say.

    Of a container it is the limit of the control group less what is used; cached files count as free.
    """
    try:
        available = psutil.virtual_memory().available
    except OSError:  # a sandbox without /proc
        return None
    try:
        names = ("memory.max", "memory.current", "memory.stat")
        limit, used, stat = ((_CGROUP / name).read_text(encoding="ascii").strip() for name in names)
    except OSError:
        return available
    cached = sum(int(line.split()[1]) for line in stat.splitlines() if line.startswith("inactive_file "))
    return available if limit == "max" else min(available, max(0, int(limit) - int(used) + cached))


def watch_peak() -> Callable[[], int | None]:
    """Return what tells the most bytes that this process has held since now; None where nobody knows."""
    try:
        _RESET.write_text("5", encoding="ascii")
    except OSError:  # the peak of the whole process, with earlier runs in it, would say nothing of this one
        return lambda: None
    return _peak


def _peak() -> int | None:
    lines = _STATUS.read_text(encoding="ascii").splitlines()
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), None)


def in_units(n_bytes: float) -> str:
    """Return a number of bytes for people.

    Examples
    --------
    >>> in_units(6_717_769_444), in_units(31_584_400), in_units(512)
    ('6.7 GB', '32 MB', '512 bytes')
    """
    if n_bytes >= 1e9:
        return f"{n_bytes / 1e9:.1f} GB"
    return f"{n_bytes / 1e6:.0f} MB" if n_bytes >= 1e6 else f"{n_bytes:,.0f} bytes"


def check_memory(file: object, n_rows: float, bytes_per_row: int) -> None:
    """Refuse a file whose rows need more memory than there is."""
    free, needed = free_memory(), n_rows * bytes_per_row
    if free is not None and needed > free:
        raise DataError(
            f"{file}: its {n_rows:,.0f} rows or so need about {needed:,.0f} bytes ({in_units(needed)}) of "
            f"memory, {in_units(free)} can be had. {_REMEDY}"
        )


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

    made = []
    with ThreadPoolExecutor(max(threads, 1)) as pool:
        for n_done, result in pool.map(block, starts):  # after an error, blocks that wait are not begun
            made.append(result)
            if advance is not None:
                advance(n_done)
    return made
