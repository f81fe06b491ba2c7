"""The folder of prepared data: where it is, what lies there, how to empty it."""

import shutil
from pathlib import Path

from recgauge.datasets._fetch.places import cache_folder
from recgauge.datasets._prepared.room import Entry, list_entries, remove_entry

__all__ = ["Entry", "clear", "entries", "prepared_folder"]


def prepared_folder(cache: str | None = None) -> Path:
    """Return the folder of prepared data inside the cache folder.

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


def entries(cache: str | None = None) -> list[Entry]:
    """Return the prepared data sets, the one used last first.

    Parameters
    ----------
    cache : str, optional
        The cache folder; by default the user's own.

    Returns
    -------
    list of Entry
        Folder, name, source, rows, bytes and time of the last use of each.

    Examples
    --------
    >>> entries("/no/such/folder")
    []
    """
    return list_entries(prepared_folder(cache))


def clear(cache: str | None = None, name: str | None = None) -> list[Entry]:
    """Remove prepared data; whatever is needed again is prepared again.

    Jobs that use an entry are not disturbed.

    Parameters
    ----------
    cache : str, optional
        The cache folder; by default the user's own.
    name : str, optional
        Remove only entries of this data set.

    Returns
    -------
    list of Entry
        What was removed.

    Raises
    ------
    OSError
        If an entry must not be removed.

    Examples
    --------
    >>> clear("/no/such/folder")
    []
    """
    removed = [entry for entry in entries(cache) if name in (None, entry.name)]
    for entry in removed:
        remove_entry(entry.folder)
    if name is None:
        shutil.rmtree(prepared_folder(cache) / "digests", ignore_errors=True)
    return removed
