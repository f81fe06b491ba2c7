"""Fetches one address into one file, whatever the network does. Only a verified file gets its name."""

import errno
import os
import shutil
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from recgauge.datasets._fetch.failures import TransferError
from recgauge.datasets._fetch.storage import explain_storage
from recgauge.datasets._fetch.transfer import Patience, transfer
from recgauge.datasets._fetch.verify import VerifiedFile
from recgauge.errors import IntegrityError
from recgauge.utils.files import exclusive
from recgauge.utils.progress import Progress

_WORTH_GOING_ON = 1 << 16  # new bytes after which a failure is counted as the first again


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
        Bytes expected, if known.
    check : callable
        Returns what is known about a file, or raises if it must not be used.
    progress : Progress
        Told about bytes, waits and repetitions.
    patience : Patience
    """

    address: str
    target: Path
    size: int | None
    check: Callable[[Path], VerifiedFile]
    progress: Progress
    patience: Patience

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
            kept = self.part.stat().st_size if self.part.is_file() else 0
            raise explain_storage(error, self.target, self.size or 0, kept) from error

    def _tell_waiting(self) -> None:
        self.progress.note(f"{self.target.name}: another job is downloading it; waiting.")

    def _fetch(self) -> VerifiedFile:
        continued = self.part.exists()
        self._check_space()
        self._transfer_patiently()
        try:
            return self.check(self.part)
        except IntegrityError:
            self.part.unlink()
            if not continued:
                raise
        # The beginning may have come from an older file: only a download in one piece is judged.
        self.progress.note(f"{self.target.name}: what was continued does not fit together; fetching it anew.")
        return self._fetch()

    def _check_space(self) -> None:
        kept = self.part.stat().st_size if self.part.exists() else 0
        if shutil.disk_usage(self.target.parent).free < (self.size or 0) - kept:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _transfer_patiently(self) -> None:
        patience, failures, most = self.patience, 0, 0
        while True:
            try:
                transfer(self.address, self.part, self.target.name, self.size, patience, self.progress)
                self._flush()
                return
            except TransferError as error:
                fetched = self.part.stat().st_size if self.part.exists() else 0
                # Counted against the most there ever was, since a server that cannot continue starts at zero.
                failures = 1 if fetched >= most + _WORTH_GOING_ON else failures + 1
                most = max(most, fetched)
                if not error.again or failures >= patience.attempts:
                    raise
                wait = max(patience.first_wait * 2 ** (failures - 1), error.wait)
                wait = min(wait, patience.longest_wait)
                self.progress.note(f"{self.address}: {error}; asking again in {wait:g} s.")
                time.sleep(wait)

    def _flush(self) -> None:
        """Make sure that the bytes outlive a power cut before the file gets its name."""
        with self.part.open("rb+") as file:
            os.fsync(file.fileno())
