"""Lets one job at a time do something in a folder. Imports nothing of recgauge."""

import errno
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

_POLL = 0.2  # seconds between two looks at a lock that another job holds
_HELD = {errno.EACCES, errno.EAGAIN, errno.EDEADLK}

if sys.platform == "win32":
    import msvcrt

    def _take(file: IO[bytes]) -> None:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _take(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _without_waiting(path: str, flags: int) -> int:
    """Open a file; a pipe of that name, which would wait for a reader, is an error."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0), 0o666)


@contextmanager
def exclusive(path: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold the lock file `path`; wait for whoever holds it.

    The system frees the lock when its holder ends, however it ends, so a killed job leaves nothing to clean
    up. The empty file stays: removing it would let a third job lock a new file of the same name.

    Parameters
    ----------
    path : Path
        The lock file, made if missing.
    waiting : callable
        Called once if another job holds the lock.

    Raises
    ------
    OSError
        If the file cannot be made, or its file system knows no locks.
    """
    with open(path, "ab", opener=_without_waiting) as file:
        told = False
        while True:
            try:
                _take(file)
                break
            except OSError as error:
                if error.errno not in _HELD:
                    raise
            if not told:
                waiting()
                told = True
            time.sleep(_POLL)
        yield
