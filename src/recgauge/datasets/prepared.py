"""Prepared copies of data sets: made once, mapped by every later load; listed and removed at will."""

import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from recgauge.datasets._copies import (
    read_about,
)
from recgauge.utils.files import cache_folder

__all__ = ["PreparedCopy", "clear", "entries", "prepared_folder"]


@dataclass(frozen=True)
class PreparedCopy:
    """The prepared copy of a data set.

    Parameters
    ----------
    path : Path
        An npz file.
    name, source : str
        The data set's name and the files it was read from; empty if the copy is damaged.
    n_rows : int
    size : int
        Bytes.
    used : float
        When it was last used, seconds since 1970.
    """

    path: Path
    name: str
    source: str
    n_rows: int
    size: int
    used: float


def prepared_folder(cache: str | None = None) -> Path:
    """Return the folder of prepared copies inside the cache folder.

    Parameters
    ----------
    cache : str, optional
        The cache folder (``data.cache``); by default the user's own.

    Examples
    --------
    >>> prepared_folder("/data/cache").as_posix()
    '/data/cache/prepared'
    """
    return cache_folder(cache) / "prepared"


def entries(cache: str | None = None) -> list[PreparedCopy]:
    """Return the prepared copies, the one used last first.

    Parameters
    ----------
    cache : str, optional
        The cache folder; by default the user's own.

    Returns
    -------
    list of PreparedCopy
        File, name, source, rows, bytes and time of the last use of each.

    Examples
    --------
    >>> entries("/no/such/folder")
    []
    """
    found = []
    for path in prepared_folder(cache).glob("*.npz"):
        with suppress(OSError):  # another job may have just removed it
            facts, about = path.stat(), read_about(path)
            name, source, n_rows = about.get("name", ""), about.get("source", ""), about.get("n_rows", 0)
            found.append(PreparedCopy(path, name, source, n_rows, facts.st_size, facts.st_mtime))
    return sorted(found, key=lambda entry: -entry.used)


def clear(cache: str | None = None, name: str | None = None) -> list[PreparedCopy]:
    """Remove prepared copies; whatever is needed again is prepared again.

    Jobs that use a copy are not disturbed.

    Parameters
    ----------
    cache : str, optional
        The cache folder; by default the user's own.
    name : str, optional
        Remove only copies of this data set.

    Returns
    -------
    list of PreparedCopy
        What was removed.

    Raises
    ------
    OSError
        If a copy must not be removed.

    Examples
    --------
    >>> clear("/no/such/folder")
    []
    """
    removed = [entry for entry in entries(cache) if name in (None, entry.name)]
    for entry in removed:
        entry.path.unlink(missing_ok=True)
    if name is None:
        shutil.rmtree(prepared_folder(cache) / "digests", ignore_errors=True)
    return removed
