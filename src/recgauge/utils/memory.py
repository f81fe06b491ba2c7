"""Memory that a process can still have, so that large work is refused before it starts."""

from collections.abc import Callable
from pathlib import Path

_MEMINFO = Path("/proc/meminfo")
_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
_CGROUP = Path("/sys/fs/cgroup")


def free_memory() -> int | None:
    """Return the bytes that this process can still take, None if the system does not say.

    The least of what Linux calls available and what is left of the container's limit.
    """
    known = [found for found in (_available(), _left_in_container()) if found is not None]
    return min(known) if known else None


def watch_peak() -> Callable[[], int | None]:
    """Return what tells the most bytes that this process has held since now; None where nobody knows."""
    try:
        _RESET.write_text("5", encoding="ascii")
    except OSError:  # the peak of the whole process, with earlier runs in it, would say nothing of this one
        return lambda: None
    return lambda: _bytes(_STATUS, "VmHWM:")


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


def _available() -> int | None:
    return _bytes(_MEMINFO, "MemAvailable:")


def _bytes(path: Path, name: str) -> int | None:
    """Return the bytes on the line of a file that begins with a name."""
    try:
        lines = path.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    found = [line.split()[1] for line in lines if line.startswith(name)]
    return int(found[0]) * 1024 if found else None


def _left_in_container() -> int | None:
    """Return the limit of the control group less what is used; cached files count as free."""
    try:
        limit, used = (_first_word(_CGROUP / name) for name in ("memory.max", "memory.current"))
        stat = (_CGROUP / "memory.stat").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    cached = sum(int(line.split()[1]) for line in stat if line.startswith("inactive_file "))
    return None if limit == "max" else max(0, int(limit) - int(used) + cached)


def _first_word(path: Path) -> str:
    return path.read_text(encoding="ascii").split()[0]
