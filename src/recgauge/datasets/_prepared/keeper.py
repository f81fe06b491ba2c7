"""Gives a kept data set, or has it read once and keeps it; trouble with the folder never stops a run."""

import os
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from recgauge.datasets._prepared.content import NotStorableError, Prepared
from recgauge.datasets._prepared.entry import MANIFEST, DamagedEntryError, read_entry, write_entry
from recgauge.datasets._prepared.room import make_room
from recgauge.utils.locks import exclusive
from recgauge.utils.progress import Progress

WORTH_KEEPING = 1 << 20  # bytes of input; smaller files are read as fast as they are mapped


@dataclass(frozen=True)
class Keeper:
    """Keeps what was read from one source.

    Parameters
    ----------
    folder : Path
        Holds an entry a data set.
    key : str
        Digest of everything that decides what reading gives.
    name : str
        Name of the data set, for people.
    source : str
        The files, for people.
    progress : Progress
        Told about waiting, damage and why something could not be kept.
    """

    folder: Path
    key: str
    name: str
    source: str
    progress: Progress

    def get(self, read: Callable[[], Prepared]) -> Prepared:
        """Return the kept data set, or what `read` gives, kept for the next time.

        Parameters
        ----------
        read : callable
            Reads the source; its errors are passed on and nothing is kept.
        """
        found = self._find()
        if found is not None:
            return found
        with ExitStack() as stack:
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                stack.enter_context(exclusive(self.folder / f".{self._entry.name}.lock", self._tell_waiting))
            except OSError as error:
                self._tell_trouble(error)
                return read()
            if (found := self._find(quiet=True)) is not None:
                return found  # another job kept it while this one waited
            prepared = read()
            self._keep(prepared)
            return prepared

    @property
    def _entry(self) -> Path:
        return self.folder / self.key[:32]

    def _find(self, *, quiet: bool = False) -> Prepared | None:
        try:
            found = read_entry(self._entry, self.key)
        except FileNotFoundError:
            return None
        except DamagedEntryError as damage:
            if not quiet:
                self.progress.note(
                    f"{self.name}: the prepared copy {self._entry} is damaged: {damage}; preparing it anew."
                )
            return None
        except OSError as error:
            if not quiet:
                self._tell_trouble(error)
            return None
        self._mark_used()
        return found

    def _mark_used(self) -> None:
        # In a read-only folder entries only look older than they are.
        with suppress(OSError):
            os.utime(self._entry / MANIFEST)

    def _keep(self, prepared: Prepared) -> None:
        about = {
            "key": self.key,
            "name": self.name,
            "source": self.source,
            "n_rows": len(prepared.interactions),
            "written": int(time.time()),
        }
        try:
            make_room(self.folder, prepared)
            write_entry(self._entry, prepared, about)
        except NotStorableError as error:
            self.progress.note(
                f"{self.name}: no prepared copy is kept, since plain files cannot hold {error}."
            )
        except OSError as error:
            self._tell_trouble(error)

    def _tell_waiting(self) -> None:
        self.progress.note(f"{self.name}: another job is preparing it; waiting.")

    def _tell_trouble(self, error: OSError) -> None:
        self.progress.note(
            f"{self.name}: the prepared copy cannot be used or kept in {self.folder} "
            f"({error.strerror or error}), so the files are read. Repair the folder, choose another with "
            "data.cache=FOLDER, or set data.prepared=false."
        )
