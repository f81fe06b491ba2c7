"""One request for one file: whole, or the rest of what is already there."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from recgauge.datasets._fetch.failures import TransferError, explain_error, explain_status
from recgauge.utils.progress import Progress

if TYPE_CHECKING:
    import requests

_BLOCK = 1 << 18
MOST_BYTES = 1 << 30  # of a file whose size is not known: hundreds of times what such files have


@dataclass(frozen=True)
class Patience:
    """How long to wait for a server, and how often to ask again.

    Parameters
    ----------
    connect, silence : float
        Seconds to wait for a connection, and for the next byte.
    slow_seconds, slow_bytes : float
        A connection that brings fewer than `slow_bytes` in `slow_seconds` counts as cut: a server that
        trickles must not hold a run for ever.
    attempts : int
        Requests in a row that may fail without new bytes.
    first_wait, longest_wait : float
        Seconds before the second request; each further wait is twice as long, up to the longest.
    """

    connect: float = 10.0
    silence: float = 30.0
    slow_seconds: float = 60.0
    slow_bytes: float = 60 * 1024
    attempts: int = 4
    first_wait: float = 1.0
    longest_wait: float = 30.0


def transfer(
    address: str, part: Path, name: str, size: int | None, patience: Patience, progress: Progress
) -> None:
    """Fetch `address` into `part`, which may hold the beginning already.

    Parameters
    ----------
    address : str
        An http or https address.
    part : Path
        Grows as bytes come in, and keeps them if the connection is cut.
    name : str
        Name of the file, for the progress shown.
    size : int or None
        Bytes that the file has. A server that sends more is cut off, and nothing is kept; the same at
        `MOST_BYTES` where the size is not known.
    patience : Patience
    progress : Progress
        Told about the bytes.

    Raises
    ------
    TransferError
        If the address does not give the whole file.
    OSError
        If `part` cannot be written.
    """
    most = MOST_BYTES if size is None else size
    start = part.stat().st_size if part.exists() else 0
    if start > most:
        part.unlink()
        start = 0
    with _open(address, start, patience) as answer:
        if answer.status_code == 416 and answer.headers.get("Content-Range", "") == f"bytes */{start}":
            return  # the last job was stopped when all bytes were there
        start = _accepted_start(answer, part, start)
        length = answer.headers.get("Content-Length", "")
        total = start + int(length) if length.isdecimal() else None
        if total is not None and total > most:
            part.unlink(missing_ok=True)
            raise _too_large(f"announces {total:,} bytes", most, size)
        with (
            progress.step(f"download {name}", total or size, "bytes") as advance,
            part.open("ab" if start else "wb") as file,
        ):
            advance(start)
            try:
                for block in _blocks(answer, address, patience):
                    if file.tell() + len(block) > most:
                        part.unlink()
                        raise _too_large("goes on sending", most, size)
                    file.write(block)
                    advance(len(block))
            except TransferError as error:
                if error.too_large:
                    raise
                error.reason += f" after {file.tell():,} of {total or size:,} bytes"
                raise


def _too_large(what: str, most: int, size: int | None) -> TransferError:
    known = f"the file has {most:,} bytes" if size is not None else f"at most {most:,} bytes are fetched"
    return TransferError(f"the server {what}, but {known}; nothing was kept", again=False, too_large=True)


@contextmanager
def _open(address: str, start: int, patience: Patience) -> Iterator["requests.Response"]:
    # Imported here: it takes a tenth of a second that runs without a download need not pay.
    import requests

    # "identity" since a range of compressed bytes would be of no use.
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={start}-"} if start else {})
    try:
        answer = requests.get(
            address, headers=headers, stream=True, timeout=(patience.connect, patience.silence)
        )
    except requests.exceptions.RequestException as error:
        raise explain_error(error, address) from error
    with answer:
        yield answer


def _accepted_start(answer: "requests.Response", part: Path, start: int) -> int:
    """Return the position from which the server sends, or raise if it sends no file."""
    if answer.status_code == 200:
        return 0
    if answer.status_code == 206 and re.match(rf"bytes {start}-", answer.headers.get("Content-Range", "")):
        return start
    if answer.status_code in (206, 416):
        part.unlink()
        raise TransferError("the server no longer has the file that was begun", again=True)
    raise explain_status(answer.status_code, answer.reason, answer.headers.get("Retry-After"))


def _blocks(answer: "requests.Response", address: str, patience: Patience) -> Iterator[bytes]:
    import urllib3

    since, fetched = time.monotonic(), 0
    while True:
        try:
            # read1 gives what has arrived; iter_content would wait for a whole block of a trickle.
            block = answer.raw.read1(_BLOCK, decode_content=False)
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise explain_error(error, address) from error
        if not block:
            return
        yield block
        fetched += len(block)
        seconds = time.monotonic() - since
        if seconds >= patience.slow_seconds:
            if fetched < patience.slow_bytes:
                raise TransferError(
                    f"the server was too slow ({fetched:,} bytes in {seconds:.0f} seconds)", again=True
                )
            since, fetched = time.monotonic(), 0
