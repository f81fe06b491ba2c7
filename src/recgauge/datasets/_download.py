"""Fetches one address into one file, whatever the network does. Only a verified file gets its name."""

import errno
import os
import shutil
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING

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
    goes on from there. A lock lets parallel jobs fetch once: the others wait and take the file. A server that
    sends more than `size` bytes (`MOST_BYTES` where it is not known) is cut off, and nothing is kept. `check`
    returns what is known about a file, or raises if it must not be used.
    """

    address: str
    target: Path
    size: int | None
    check: Callable[[Path], VerifiedFile]
    progress: Progress

    def run(self) -> VerifiedFile:
        """Return the file, fetched now or meanwhile by another job."""
        folder, name = self.target.parent, self.target.name
        waiting = f"{name}: another job is downloading it; waiting."
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with exclusive(folder / f".{name}.lock", lambda: self.progress.note(waiting)):
                if self.target.is_file():
                    return self.check(self.target)
                verified = self._fetch()
                self._part.replace(self.target)
                for leftover in folder.glob(f".{name}.*.part"):
                    leftover.unlink()
                return replace(verified, path=self.target)
        except OSError as error:
            raise explain_storage(error, self.target, self.size or 0, self._n_kept()) from error

    @property
    def _part(self) -> Path:
        """The file that grows; one for each address, so that two servers' bytes never mix."""
        return self.target.with_name(f".{self.target.name}.{zlib.crc32(self.address.encode()):08x}.part")

    def _n_kept(self) -> int:
        return self._part.stat().st_size if self._part.exists() else 0

    def _fetch(self) -> VerifiedFile:
        continued = self._n_kept() > 0
        if shutil.disk_usage(self.target.parent).free < (self.size or 0) - self._n_kept():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._transfer_patiently()
        try:
            return self.check(self._part)
        except IntegrityError:
            self._part.unlink()
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
                n_bytes = self._n_kept()
                if error.too_large or not n_bytes:
                    self._part.unlink(missing_ok=True)
                # Counted against the most there ever was, since a server that cannot continue starts at zero.
                failures = 1 if n_bytes >= most + _WORTH_GOING_ON else failures + 1
                most = max(most, n_bytes)
                if not error.again or failures >= ATTEMPTS:
                    raise
                wait = min(max(FIRST_WAIT * 2 ** (failures - 1), error.wait), LONGEST_WAIT)
                self.progress.note(f"{self.address}: {error}; asking again in {wait:g} s.")
                time.sleep(wait)

    def _transfer(self) -> None:
        """Fetch the file, or the rest of what is already there."""
        # Imported here: it takes a tenth of a second that runs without a download need not pay.
        import requests
        from urllib3.exceptions import HTTPError

        n_kept = self._n_kept()
        # "identity" since a range of compressed bytes would be of no use.
        headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={n_kept}-"} if n_kept else {})
        with self._part.open("ab") as file:
            try:
                with requests.get(
                    self.address, headers=headers, stream=True, timeout=(CONNECT, SILENCE)
                ) as answer:
                    if not self._is_all_there(answer, n_kept, file):
                        self._receive(answer, file)
            except (requests.RequestException, HTTPError) as error:
                raise explain_error(error, self.address) from error
            # The bytes must outlive a power cut before the file gets its name.
            os.fsync(file.fileno())

    def _is_all_there(self, answer: "requests.Response", n_kept: int, file: IO[bytes]) -> bool:
        """Make sure that the server sends what follows the bytes that are there, or everything."""
        status, sent = answer.status_code, answer.headers.get("Content-Range", "")
        if status == 416 and sent == f"bytes */{n_kept}" and n_kept <= self._most:
            return True  # the last job was stopped when it had all bytes
        if status == 206 and sent.startswith(f"bytes {n_kept}-"):
            return False
        if status in (200, 206, 416) and n_kept:
            file.truncate(0)
        if status in (206, 416):
            raise TransferError("the server no longer has the file that was begun", again=True)
        if status != 200:
            raise explain_status(status, answer.reason, answer.headers.get("Retry-After"))
        return False

    @property
    def _most(self) -> int:
        return MOST_BYTES if self.size is None else self.size

    def _receive(self, answer: "requests.Response", file: IO[bytes]) -> None:
        """Add the bytes of an answer to the file, unless the server sends too much or too slowly."""
        from urllib3.exceptions import HTTPError

        n_bytes = file.seek(0, os.SEEK_END)
        length = answer.headers.get("Content-Length", "")
        total = n_bytes + int(length) if length.isdecimal() else None
        if total is not None and total > self._most:
            raise self._too_large(f"announces {total:,} bytes")
        of = f" of {total or self.size:,}" if total or self.size else ""
        began, n_before = time.monotonic(), n_bytes
        step = self.progress.step(f"download {self.target.name}", total or self.size, "bytes")
        try:
            with step as advance:
                advance(n_bytes)
                # Blocks as they arrive: iter_content would wait until a whole one of a trickle is there.
                for block in iter(partial(answer.raw.read1, _BLOCK), b""):
                    if n_bytes + len(block) > self._most:
                        raise self._too_large("goes on sending")
                    file.write(block)
                    file.flush()  # the system keeps them if the job is killed
                    n_bytes += len(block)
                    advance(len(block))
                    if (seconds := time.monotonic() - began) >= SLOW_SECONDS:
                        if n_bytes - n_before < SLOW_BYTES:
                            raise TransferError(
                                f"the server was too slow ({n_bytes - n_before:,} bytes in {seconds:.0f} "
                                f"seconds) after {n_bytes:,}{of} bytes",
                                again=True,
                            )
                        began, n_before = time.monotonic(), n_bytes
        except HTTPError as error:
            failure = explain_error(error, self.address)
            raise replace(failure, reason=f"{failure} after {n_bytes:,}{of} bytes") from error

    def _too_large(self, what: str) -> TransferError:
        known = "at most {:,} bytes are fetched" if self.size is None else "the file has {:,} bytes"
        reason = f"the server {what}, but {known.format(self._most)}; nothing was kept"
        return TransferError(reason, again=False, too_large=True)
