"""What lies in the folder of prepared data, and what makes room for more."""

import errno
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from recgauge.datasets._prepared.content import Prepared
from recgauge.datasets._prepared.entry import MANIFEST, DamagedEntryError, read_manifest

LIMIT = 20 * 2**30  # bytes of all entries together
_SPARE = 64 * 2**20  # bytes that are left free on the disk


@dataclass(frozen=True)
class Entry:
    """One prepared data set.

    Parameters
    ----------
    folder : Path
    name, source : str
        The data set's name and the files it was read from; empty if the entry is damaged.
    n_rows : int
    size : int
        Bytes.
    used : float
        When it was last used, seconds since 1970.
    """

    folder: Path
    name: str
    source: str
    n_rows: int
    size: int
    used: float


def list_entries(folder: Path) -> list[Entry]:
    """Return the entries, the one used last first; an absent folder has none."""
    entries = []
    for inside in sorted(folder.glob("*")) if folder.is_dir() else []:
        if (inside / MANIFEST).is_file():
            try:
                entries.append(_entry(inside))
            except OSError:
                continue  # another job has just removed it
    return sorted(entries, key=lambda entry: -entry.used)


def remove_entry(folder: Path) -> None:
    """Remove an entry; jobs that have mapped it keep their pages.

    Raises
    ------
    OSError
        If it must not be removed.
    """
    doomed = folder.with_name(f".{folder.name}.{os.getpid()}.tmp")
    try:
        folder.rename(doomed)  # at once, so that nobody finds half of it
    except FileNotFoundError:
        return  # another job was faster
    shutil.rmtree(doomed, ignore_errors=True)


def make_room(folder: Path, prepared: Prepared, limit: int = LIMIT) -> None:
    """Remove the entries used longest ago until the new one fits below the limit.

    Raises
    ------
    OSError
        If the disk has no room for it.
    """
    rows = prepared.interactions
    columns = (rows.user, rows.item, rows.value, rows.timestamp, rows.user_ids, rows.item_ids)
    needed = sum(column.nbytes for column in columns if column is not None)
    kept = list_entries(folder)
    total = sum(entry.size for entry in kept)
    while kept and total + needed > limit:
        total -= kept[-1].size
        remove_entry(kept.pop().folder)
    if shutil.disk_usage(folder).free < needed + _SPARE:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _entry(folder: Path) -> Entry:
    size = sum(file.stat().st_size for file in folder.iterdir())
    used = (folder / MANIFEST).stat().st_mtime
    try:
        body = read_manifest(folder)
        return Entry(folder, str(body["name"]), str(body["source"]), int(body["n_rows"]), size, used)
    except (DamagedEntryError, KeyError):
        return Entry(folder, "", "", 0, size, used)
