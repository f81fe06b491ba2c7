"""Fetches one address into one file. Only a verified file gets its name."""

import os
import socket
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from recgauge.datasets.published_files import VerifiedFile
from recgauge.errors import IntegrityError, MissingDataError, said
from recgauge.utils.files import exclusive
from recgauge.utils.progress import Progress

_BLOCK = 1 << 18
MOST_BYTES = 1 << 30  # of a file whose size is not known: hundreds of times what such files have
CONNECT, SILENCE = 10.0, 30.0  # seconds to wait for a connection, and for the next byte
WAITS = (1.0, 2.0, 4.0)  # seconds before each further request
_ASK_AGAIN = {408, 425, 429, 500, 502, 503, 504}


@dataclass
class TransferError(Exception):
    """An address did not give the file."""

    reason: str  # as part of a sentence
    again: bool  # whether the same request may succeed a little later

    def __str__(self) -> str:
        return self.reason


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
            try:
                _transfer_patiently(address, hidden, name, size, progress)
                verified = check(hidden)
                hidden.replace(target)
                return replace(verified, path=target)
            finally:
                hidden.unlink(missing_ok=True)
    except OSError as error:
        raise MissingDataError(
            f"The cache folder {folder} cannot hold {name}{f' ({size:,} bytes)' if size else ''}: "
            f"{error.strerror or said(error)}. Free space or make it writable, choose another folder with "
            "data.cache=FOLDER or RECGAUGE_CACHE, or name a local archive with dataset.archive=FILE."
        ) from error


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

    n_bytes, most = 0, size or MOST_BYTES
    try:
        with (
            requests.get(
                address, headers={"Accept-Encoding": "identity"}, stream=True, timeout=(CONNECT, SILENCE)
            ) as answer,
            file.open("wb") as stream,
        ):
            if answer.status_code != 200:
                raise TransferError(
                    f"the server answered {answer.status_code} {answer.reason}",
                    answer.status_code in _ASK_AGAIN,
                )
            length = answer.headers.get("Content-Length", "")
            total = int(length) if length.isdecimal() else size
            with progress.step(f"download {name}", total, "bytes") as advance:
                for block in answer.iter_content(_BLOCK):
                    n_bytes += len(block)
                    if max(n_bytes, total or 0) > most:
                        raise IntegrityError(
                            f"{address} sends {max(n_bytes, total or 0):,} bytes or more, at most {most:,} "
                            "are taken; nothing was kept."
                        )
                    stream.write(block)
                    advance(len(block))
            stream.flush()
            os.fsync(stream.fileno())  # the bytes must outlive a power cut before the file gets its name
    except requests.RequestException as error:
        raise _failure(error, address) from error


def _failure(error: BaseException, address: str) -> TransferError:
    """Say in words what is at the bottom of an error of requests."""
    while (cause := error.__cause__ or error.__context__) is not None:
        error = cause
    host = urlsplit(address).hostname or address
    if isinstance(error, ssl.SSLCertVerificationError):
        return TransferError(
            f"the certificate of {host} is not accepted ({error.verify_message}); if your network inspects "
            "traffic, name its authority's certificate with REQUESTS_CA_BUNDLE; if only the "
            f"certificate is old, curl --insecure -O {address} does, since recgauge verifies the file",
            again=False,
        )
    reason = error.strerror if isinstance(error, OSError) and error.strerror else said(error)
    unknown = isinstance(error, socket.gaierror)
    return TransferError(f"the connection to {host} failed ({reason})", again=not unknown)
