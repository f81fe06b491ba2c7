"""Fetches one address into one file, whatever the network does. Only a verified file gets its name."""

import errno
import os
import shutil
import time
import zlib
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from recgauge.datasets._fetch_errors import TransferError, explain_error, explain_status, explain_storage
from recgauge.datasets.published_files import VerifiedFile
from recgauge.errors import IntegrityError
from recgauge.utils.files import exclusive
from recgauge.utils.progress import Progress

if TYPE_CHECKING:
    import requests

_BLOCK = 1 << 18
_WORTH_GOING_ON = 1 << 16  # new bytes after which a failure is counted as the first again
MOST_BYTES = 1 << 30  # of a file whose size is not known: hundreds of times what such files have

CONNECT, SILENCE = 10.0, 30.0  # seconds to wait for a connection, and for the next byte
# A connection that brings fewer bytes in so many seconds counts as cut: a server that trickles must not hold
# a run for ever.
SLOW_SECONDS, SLOW_BYTES = 60.0, 60 * 1024
ATTEMPTS = 4  # requests in a row that may fail without new bytes
FIRST_WAIT, LONGEST_WAIT = 1.0, 30.0  # seconds before the second request; each further wait is twice as long


@dataclass(frozen=True)
class Download:
    """A file to fetch, to verify and to store.

    Bytes go to a hidden file beside `target` that survives a cut connection and a killed job; the next try
    goes on from there. A lock lets parallel jobs fetch once: the others wait and take the file.

    Parameters
    ----------
    address : str
        An http or https address.
    target : Path
        Where the file shall lie; its folder is made if missing.
    size : int or None
        Bytes that the file has, if known. A server that sends more is cut off, and nothing is kept; the same
        at `MOST_BYTES` where the size is not known.
    check : callable
        Returns what is known about a file, or raises if it must not be used.
    progress : Progress
        Notified about bytes, waits and repetitions.
    """

    address: str
    target: Path
    size: int | None
    check: Callable[[Path], VerifiedFile]
    progress: Progress

    @property
    def part(self) -> Path:
        """The file that grows; one for each address, so that two servers' bytes never mix."""
        return self.target.with_name(f".{self.target.name}.{zlib.crc32(self.address.encode()):08x}.part")

    def run(self) -> VerifiedFile:
        """Return the file, fetched now or meanwhile by another job.

        Raises
        ------
        TransferError
            If the address does not give the file.
        IntegrityError
            If it gives another file.
        MissingDataError
            If the folder cannot keep the file.
        """
        folder, name = self.target.parent, self.target.name
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with exclusive(folder / f".{name}.lock", self._tell_waiting):
                if self.target.is_file():
                    return self.check(self.target)
                found = self._fetch()
                self.part.replace(self.target)
                for leftover in folder.glob(f".{name}.*.part"):
                    leftover.unlink()
                return replace(found, path=self.target)
        except OSError as error:
            raise explain_storage(error, self.target, self.size or 0, self.n_kept()) from error

    def _tell_waiting(self) -> None:
        self.progress.note(f"{self.target.name}: another job is downloading it; waiting.")

    def n_kept(self) -> int:
        """Return how many bytes are there already."""
        return self.part.stat().st_size if self.part.exists() else 0

    def _fetch(self) -> VerifiedFile:
        continued = self.n_kept() > 0
        if shutil.disk_usage(self.target.parent).free < (self.size or 0) - self.n_kept():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._transfer_patiently()
        try:
            return self.check(self.part)
        except IntegrityError:
            self.part.unlink()
            if not continued:
                raise
        # The beginning may be of an older file: only a download in one piece is judged.
        self.progress.note(f"{self.target.name}: the parts do not fit together; downloading it again.")
        return self._fetch()

    def _transfer_patiently(self) -> None:
        failures, most = 0, 0
        while True:
            try:
                self._transfer()
                return
            except TransferError as error:
                fetched = self.n_kept()
                if not fetched:
                    self.part.unlink(missing_ok=True)
                # Counted against the most there ever was, since a server that cannot continue starts at zero.
                failures = 1 if fetched >= most + _WORTH_GOING_ON else failures + 1
                most = max(most, fetched)
                if not error.again or failures >= ATTEMPTS:
                    raise
                wait = min(max(FIRST_WAIT * 2 ** (failures - 1), error.wait), LONGEST_WAIT)
                self.progress.note(f"{self.address}: {error}; asking again in {wait:g} s.")
                time.sleep(wait)

    def _transfer(self) -> None:
        """Fetch the file, or the rest of what is already there."""
        # Imported here: it takes a tenth of a second that runs without a download need not pay.
        from pooch import HTTPDownloader
        from requests.exceptions import RequestException

        with self.part.open("ab") as file, ExitStack() as stack:
            body = _Body(self, file, stack)
            downloader = HTTPDownloader(
                chunk_size=_BLOCK,
                # "identity" since a range of compressed bytes would be of no use.
                headers={"Accept-Encoding": "identity"}
                | ({"Range": f"bytes={body.n_bytes}-"} if body.n_bytes else {}),
                timeout=(CONNECT, SILENCE),
                hooks={"response": body.begin},
            )
            try:
                downloader(self.address, body, None)
            except _AllThereError:
                return
            except RequestException as error:
                failure = explain_error(error, self.address)
                failure.reason += body.so_far()
                raise failure from error
            # The bytes must outlive a power cut before the file gets its name.
            os.fsync(file.fileno())


class _AllThereError(Exception):
    """The last job was stopped when it had all bytes."""


class _Body:
    """The file that pooch writes to: looks at the server's answer first, then counts bytes and their pace."""

    def __init__(self, download: Download, file: IO[bytes], stack: ExitStack) -> None:
        self._download, self._file, self._stack = download, file, stack
        self._most = MOST_BYTES if download.size is None else download.size
        self.n_bytes = download.n_kept()
        if self.n_bytes > self._most:
            self._restart()
        self._total: int | None = None
        self._advance: Callable[[int], None] | None = None
        self._since, self._since_bytes = time.monotonic(), 0

    def begin(self, answer: "requests.Response", **_: object) -> None:
        """Look at the answer before its body is read; requests calls this as a hook."""
        if answer.is_redirect:
            return
        self._stack.callback(answer.close)
        self._check_start(answer)
        length = answer.headers.get("Content-Length", "")
        self._total = self.n_bytes + int(length) if length.isdecimal() else None
        if self._total is not None and self._total > self._most:
            raise self._too_large(f"announces {self._total:,} bytes")
        raw: Any = answer.raw
        # Blocks as they arrive: by itself, requests would wait until a whole one of a trickle is there.
        raw.stream = lambda amount, **_: iter(partial(raw.read1, amount, decode_content=False), b"")
        size = self._total or self._download.size
        step = self._download.progress.step(f"download {self._download.target.name}", size, "bytes")
        self._advance = self._stack.enter_context(step)
        self._advance(self.n_bytes)
        self._since, self._since_bytes = time.monotonic(), self.n_bytes

    def write(self, block: bytes) -> None:
        """Keep a block, unless the server sends too much or too slowly."""
        if self.n_bytes + len(block) > self._most:
            raise self._too_large("goes on sending")
        self._file.write(block)
        self.n_bytes += len(block)
        if self._advance is not None:
            self._advance(len(block))
        seconds = time.monotonic() - self._since
        if seconds >= SLOW_SECONDS:
            fetched = self.n_bytes - self._since_bytes
            if fetched < SLOW_BYTES:
                slow = f"the server was too slow ({fetched:,} bytes in {seconds:.0f} seconds)"
                raise TransferError(slow + self.so_far(), again=True)
            self._since, self._since_bytes = time.monotonic(), self.n_bytes

    def flush(self) -> None:
        """Hand the bytes to the system, which keeps them if the job is killed."""
        self._file.flush()

    def so_far(self) -> str:
        """Say how many bytes there are, if the server began to send some."""
        size = self._total or self._download.size
        of = f" of {size:,}" if size else ""
        return "" if self._advance is None else f" after {self.n_bytes:,}{of} bytes"

    def _check_start(self, answer: "requests.Response") -> None:
        """Make sure that the server sends what follows the bytes that are there, or everything."""
        status, sent = answer.status_code, answer.headers.get("Content-Range", "")
        if status == 200:
            self._restart()
        elif status == 416 and sent == f"bytes */{self.n_bytes}":
            raise _AllThereError
        elif status in (206, 416) and not (status == 206 and sent.startswith(f"bytes {self.n_bytes}-")):
            self._restart()
            raise TransferError("the server no longer has the file that was begun", again=True)
        elif status != 206:
            raise explain_status(status, answer.reason, answer.headers.get("Retry-After"))

    def _restart(self) -> None:
        if self.n_bytes:
            self._file.truncate(0)
            self.n_bytes = 0

    def _too_large(self, what: str) -> TransferError:
        self._download.part.unlink()
        known = "at most {:,} bytes are fetched" if self._download.size is None else "the file has {:,} bytes"
        reason = f"the server {what}, but {known.format(self._most)}; nothing was kept"
        return TransferError(reason, again=False, too_large=True)
