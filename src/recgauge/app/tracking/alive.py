"""Whether a run that its store calls RUNNING still has a process, and what becomes of one that has not."""

import os
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from threading import Event, Thread
from time import monotonic, time

from recgauge.app.tracking.once import HIDDEN_TAG
from recgauge.errors import TrackingError

UNTIL_TAG, PROCESS_TAG, LEASE_TAG = (f"{HIDDEN_TAG}{name}" for name in ("alive_until", "process", "lease"))
LEASE = 180.0
"""Seconds after a sign of life until a process counts as dead; it gives six of them meanwhile."""
CLOCKS = 600.0
"""Seconds by which the clocks of machines may differ."""
_GONE, _UNKNOWN = "gone", ""


def sign_of_life(lease: float = LEASE) -> str:
    """Return until when this process counts as alive, in seconds since 1970 on its own clock."""
    return str(int(time() + lease))


def alive_tags(lease: float = LEASE) -> dict[str, str]:
    """Return the tags of a run that begins in this process.

    The tag of the process has the name of its machine, its number, when it began and where its number counts.
    """
    number = os.getpid()
    process = f"{socket.gethostname()} {number} {_began(number) or '-'} {_place()}"
    return {UNTIL_TAG: sign_of_life(lease), PROCESS_TAG: process, LEASE_TAG: f"{lease:g}"}


@contextmanager
def signs_of_life(give: Callable[[str], None], lease: float = LEASE) -> Iterator[None]:
    """Call `give` with a new sign of life six times in a lease until the context ends.

    Parameters
    ----------
    give : callable
        Stores the sign. An error of the store is left to those who need the store more.
    lease : float
        In seconds.
    """
    ended = Event()

    def repeat() -> None:
        while not ended.wait(lease / 6):
            try:
                give(sign_of_life(lease))
            except TrackingError:
                continue

    thread = Thread(target=repeat, daemon=True, name="signs of life")
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(timeout=5)  # a store that hangs keeps it


def process_of(tags: Mapping[str, str]) -> str:
    """Return which process a run belongs to, for messages.

    Examples
    --------
    >>> process_of({"mlflow.recgauge.process": "node2 4711 86021 0f3a"})
    'process 4711 on node2'
    """
    host, number = [*tags.get(PROCESS_TAG, "").split(" "), ""][:2]
    return f"process {number} on {host}" if number else "another process"


def why_dead(tags: Mapping[str, str]) -> str | None:
    """Return why a run that is called RUNNING has no process any more; None if it may have one.

    On the machine that the process ran on, its end is seen at once. From elsewhere it counts as dead when it
    has been silent for so long that no difference of clocks explains it; `Watch` finds out sooner.

    Parameters
    ----------
    tags : mapping of str to str
        Of the run. Runs of early versions gave no signs of life; nobody knows about those.

    Examples
    --------
    >>> why_dead({PROCESS_TAG: "elsewhere 1", UNTIL_TAG: "1000"})
    'process 1 on elsewhere gave no sign of life for ... minutes'
    >>> why_dead(alive_tags()) is None
    True
    """
    until = tags.get(UNTIL_TAG, "")
    host, number, began, place = [*tags.get(PROCESS_TAG, "").split(" "), "", "", ""][:4]
    if not (host and number.isdigit() and until.isdigit()):
        return None
    here = place == _place() if place else host == socket.gethostname()
    if here:
        now = _began(int(number))
        if now == _GONE or (now and began.isdigit() and now != began):
            return ended_without_a_word(int(number), host)
    silent = time() - int(until) + lease_of(tags)
    return _silent(tags, silent) if time() > int(until) + CLOCKS else None


def ended_without_a_word(process: int, host: str) -> str:
    """Say that a run's process has not said how it ended."""
    return f"process {process} on {host} has ended without a word, perhaps killed"


def lease_of(tags: Mapping[str, str]) -> float:
    """Return the seconds after which a silent process counts as dead, as it has said itself."""
    try:
        return max(1.0, float(tags[LEASE_TAG]))
    except (KeyError, ValueError):
        return LEASE


class Watch:
    """Notices processes that stopped giving signs of life, without comparing clocks of two machines.

    A process is dead when its last sign has been seen unchanged for a lease, as this process counts seconds.
    Between two looks at most a quarter of a lease counts: if this process was stopped, others may have been.

    Parameters
    ----------
    clock : callable
        Returns seconds.

    Examples
    --------
    >>> seconds = iter([0, 40, 80, 120, 160, 200])
    >>> watch, tags = Watch(lambda: next(seconds)), alive_tags()
    >>> [watch.why_dead("run", tags) is None for _ in range(6)]
    [True, True, True, True, True, False]
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._seen: dict[str, tuple[str, float, float]] = {}

    def why_dead(self, run_id: str, tags: Mapping[str, str]) -> str | None:
        """Return why a run that is called RUNNING now has no process any more; None if it may have one."""
        if UNTIL_TAG not in tags or (reason := why_dead(tags)) is not None:
            return reason if UNTIL_TAG in tags else None
        now, lease = self._clock(), lease_of(tags)
        sign, looked, silent = self._seen.get(run_id, ("", now, 0.0))
        silent = silent + min(now - looked, lease / 4) if sign == tags[UNTIL_TAG] else 0.0
        self._seen[run_id] = tags[UNTIL_TAG], now, silent
        return _silent(tags, silent) if silent >= lease else None

    def forget(self) -> None:
        """Begin anew, since the store could not be read: it could not be written either."""
        self._seen.clear()


def _silent(tags: Mapping[str, str], seconds: float) -> str:
    told = f"{seconds / 60:.0f} minutes" if seconds >= 120 else f"{seconds:.0f} seconds"
    return f"{process_of(tags)} gave no sign of life for {told}"


@cache
def _place() -> str:
    """Return a digest of what must be equal for process numbers to mean the same: machine and container."""
    parts = [socket.gethostname()]
    with suppress(OSError):  # systems without /proc have no containers of that kind
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text())
        parts.append(str(Path("/proc/self/ns/pid").readlink()))
    return sha256("\n".join(parts).encode()).hexdigest()[:12]


def _began(process: int) -> str:
    """Return when a process began, in the system's ticks; "gone" if there is none; empty: nobody can tell."""
    if os.name != "posix":  # Windows would take the question for an interruption
        return _UNKNOWN
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return _GONE
    except OSError:  # it is another user's
        pass
    try:
        # state, then 18 fields, then the start; the name before them, in parentheses, may hold anything
        fields = Path(f"/proc/{process}/stat").read_text(errors="replace").rpartition(")")[2].split()
        return _GONE if fields[0] in ("Z", "X") else fields[19]  # Z: ended, its parent has not asked yet
    except (OSError, IndexError):
        return _UNKNOWN
