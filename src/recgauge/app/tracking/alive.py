"""Whether a run that its store calls RUNNING still has a process, and what becomes of one that has not."""

import os
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Event, Thread
from time import time

from recgauge.errors import TrackingError

UNTIL_TAG, PROCESS_TAG = "recgauge.alive_until", "recgauge.process"
EVERY = 30.0
"""Seconds between two signs of life."""
LEASE = 180.0
"""Seconds after a sign of life until a process counts as dead, long enough for clocks that differ."""


def sign_of_life() -> str:
    """Return until when this process counts as alive, in seconds since 1970."""
    return str(int(time() + LEASE))


def alive_tags() -> dict[str, str]:
    """Return the tags of a run that begins in this process."""
    return {UNTIL_TAG: sign_of_life(), PROCESS_TAG: f"{socket.gethostname()} {os.getpid()}"}


@contextmanager
def signs_of_life(give: Callable[[str], None]) -> Iterator[None]:
    """Call `give` with a new sign of life every `EVERY` seconds until the context ends.

    Parameters
    ----------
    give : callable
        Stores the sign. An error of the store is left to those who need the store more.
    """
    ended = Event()

    def repeat() -> None:
        while not ended.wait(EVERY):
            try:
                give(sign_of_life())
            except TrackingError:
                continue

    thread = Thread(target=repeat, daemon=True, name="signs of life")
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(timeout=5)  # a store that hangs keeps it


def why_dead(tags: Mapping[str, str]) -> str | None:
    """Return why a run that is called RUNNING has no process any more; None if it may have one.

    Parameters
    ----------
    tags : mapping of str to str
        Of the run. Runs of earlier versions gave no signs of life; nobody knows about those.

    Examples
    --------
    >>> why_dead({"recgauge.process": "elsewhere 1", "recgauge.alive_until": "1000"})
    'its process (1 on elsewhere) gave no sign of life for ... minutes'
    >>> why_dead(alive_tags()) is None
    True
    """
    host, _, number = tags.get(PROCESS_TAG, "").partition(" ")
    until = tags.get(UNTIL_TAG, "")
    if not (host and number.isdigit() and until.isdigit()):
        return None
    # Windows would take the question for an interruption
    if os.name == "posix" and host == socket.gethostname() and not _exists(int(number)):
        return ended_without_a_word(int(number), host)
    silent = time() - int(until) + LEASE
    if silent <= LEASE:
        return None
    return f"its process ({number} on {host}) gave no sign of life for {silent / 60:.0f} minutes"


def ended_without_a_word(process: int, host: str) -> str:
    """Say that a run's process has not said how it ended."""
    return f"its process ({process} on {host}) has ended without a word, perhaps killed"


def _exists(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is another user's, or this system cannot tell
        return True
    return True
