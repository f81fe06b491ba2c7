"""Fetches one address into one file. Only a verified file gets its name."""

import errno
import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from recgauge.datasets._fetch_errors import TransferError, explain_error, explain_status, explain_storage
from recgauge.datasets.published_files import VerifiedFile
from recgauge.utils.files import exclusive
from recgauge.utils.progress import Progress

if TYPE_CHECKING:
    import requests

_BLOCK = 1 << 18
MOST_BYTES = 1 << 30  # of a file whose size is not known: hundreds of times what such files have
CONNECT, SILENCE = 10.0, 30.0  # seconds to wait for a connection, and for the next byte
# A server that brings fewer bytes a second, after so many seconds, must not hold a run for ever.
SLOW_SECONDS, SLOW_BYTES = 60.0, 1024
WAITS = (1.0, 2.0, 4.0)  # seconds before each further request


def download(
    address: str,
    target: Path,
    size: int | None,
    check: Callable[[Path], VerifiedFile],
    progress: Progress,
) -> VerifiedFile:
    """Fetch, verify and store a file, whole or not at all, unless another job has done so meanwhile.

    A server that sends more than `size` bytes (`MOST_BYTES` where it is not known) is cut off. `check`
    returns what is known about a file, or raises if it must not be used.
    """
    folder, name = target.parent, target.name
    hidden = folder / f".{name}.part"
    waiting = f"{name}: another job is downloading it; waiting."
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with exclusive(folder / f".{name}.lock", lambda: progress.note(waiting)):
            if target.is_file():
                return check(target)
            if shutil.disk_usage(folder).free < (size or 0):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            try:
                _transfer_patiently(address, hidden, name, size, progress)
                verified = check(hidden)
                hidden.replace(target)
                return replace(verified, path=target)
            finally:
                hidden.unlink(missing_ok=True)
    except OSError as error:
        raise explain_storage(error, target, size or 0) from error


def _transfer_patiently(address: str, file: Path, name: str, size: int | None, progress: Progress) -> None:
    """Ask again, a few times, where the trouble may pass."""
    for wait in (*WAITS, None):
        try:
            _transfer(address, file, name, size, progress)
            return
        except TransferError as error:
            if wait is None or not error.again:
                raise
            progress.note(f"{address}: {error}; asking again in {wait:g} s.")
            time.sleep(wait)


def _transfer(address: str, file: Path, name: str, size: int | None, progress: Progress) -> None:
    import requests  # takes a tenth of a second, which runs without a download need not pay
    from urllib3.exceptions import HTTPError

    most = MOST_BYTES if size is None else size
    n_bytes = 0
    try:
        with (
            requests.get(
                address, headers={"Accept-Encoding": "identity"}, stream=True, timeout=(CONNECT, SILENCE)
            ) as answer,
            file.open("wb") as stream,
        ):
            if answer.status_code != 200:
                raise explain_status(answer.status_code, answer.reason)
            length = answer.headers.get("Content-Length", "")
            total = int(length) if length.isdecimal() else size
            if total is not None and total > most:
                raise _too_large(f"announces {total:,} bytes", size)
            with progress.step(f"download {name}", total, "bytes") as advance:
                for block in _blocks(answer):
                    n_bytes += len(block)
                    if n_bytes > most:
                        raise _too_large("goes on sending", size)
                    stream.write(block)
                    advance(len(block))
            stream.flush()
            os.fsync(stream.fileno())  # the bytes must outlive a power cut before the file gets its name
    except (requests.RequestException, HTTPError) as error:
        failure = explain_error(error, address)
        raise replace(failure, reason=f"{failure} after {n_bytes:,} bytes") from error


def _blocks(answer: "requests.Response") -> Iterator[bytes]:
    """Yield bytes as they arrive: `iter_content` would wait until a whole block of a trickle is there."""
    began, n_bytes = time.monotonic(), 0
    for block in iter(partial(answer.raw.read1, _BLOCK), b""):
        yield block
        n_bytes += len(block)
        seconds = time.monotonic() - began
        if seconds > SLOW_SECONDS and n_bytes < SLOW_BYTES * seconds:
            reason = f"the server was too slow ({n_bytes:,} bytes in {seconds:.0f} seconds)"
            raise TransferError(reason, again=True)


def _too_large(what: str, size: int | None) -> TransferError:
    known = f"at most {MOST_BYTES:,} bytes are fetched" if size is None else f"the file has {size:,} bytes"
    return TransferError(f"the server {what}, but {known}; nothing was kept", again=False, too_large=True)
