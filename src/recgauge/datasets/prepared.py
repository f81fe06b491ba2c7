"""Prepared copies of data sets: made once, mapped by every later load; listed and removed at will.

A copy is an npz file whose arrays are mapped into memory and checked by their CRC-32.
"""

import io
import json
import math
import mmap
import os
import shutil
import struct
import zipfile
import zlib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from recgauge.data.dataset import ItemFeatures
from recgauge.data.interactions import Interactions
from recgauge.data.packing import Arrays, pack, unpack
from recgauge.errors import IntegrityError
from recgauge.utils.files import cache_folder

__all__ = ["PreparedCopy", "clear", "entries", "prepared_folder"]

_ROWS = ("user", "item", "value", "timestamp", "user_ids", "item_ids")
_ABOUT = "about"  # JSON: what the copy says of itself, as an array of bytes
_ALIGNMENT = 64  # bytes; numba compiles other code for arrays that are not aligned
_ALIGNING_FIELD = 0xD935  # the extra field that zip archives use for this purpose
_ZIP64_FIELD = 20  # bytes that zipfile adds to each local header
_LONGEST_HEADER = 4096  # bytes of numpy's header, of which it uses 128
_THREADS = 4  # checksums wait for memory, not for Python
# What broken bytes may raise before a checksum can tell; a SchemaError is a ValueError.
_BROKEN = (zipfile.BadZipFile, struct.error, NotImplementedError, KeyError, TypeError, ValueError)


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


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """All that reading a source gives; what a run's settings add to it is not part."""

    interactions: Interactions
    item_titles: npt.NDArray[Any] | None = None
    item_features: ItemFeatures | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)  # the reader's notes; survives JSON


def write_copy(path: Path, prepared: Prepared, about: Mapping[str, Any]) -> None:
    """Write a copy next to `path` and give it its name when all bytes are on the disk."""
    columns, described = _to_columns(prepared)
    columns[_ABOUT] = np.frombuffer(json.dumps({**about, **described}).encode(), np.uint8)
    unfinished = path.with_name(f".{path.name}.tmp")  # the caller holds the lock, so nobody else writes it
    try:
        with unfinished.open("wb") as file:
            with zipfile.ZipFile(file, "w") as archive:
                for name, array in columns.items():
                    member = _aligned(f"{name}.npy", file.tell())
                    with archive.open(member, "w", force_zip64=True) as stream:
                        np.lib.format.write_array(stream, array, allow_pickle=False)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        with suppress(OSError):
            unfinished.unlink()


def read_copy(path: Path, key: str) -> tuple[Prepared, dict[str, Any]]:
    """Return a kept data set, mapped into memory, which jobs share, and what it says of itself.

    Raises
    ------
    IntegrityError
        If anything about it is not as it was written: every byte is checked against its checksum.
    OSError
        If it cannot be read; FileNotFoundError if there is none.
    """
    try:
        with path.open("rb") as file, zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            content = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        with ThreadPoolExecutor(_THREADS) as threads:
            arrays = threads.map(lambda member: _mapped(content, member), members)
            columns = {member.filename[:-4]: array for member, array in zip(members, arrays, strict=True)}
        about: dict[str, Any] = json.loads(columns[_ABOUT].tobytes())
        if about["key"] != key:
            raise IntegrityError("it belongs to other data")
        return _from_columns(columns, about), about
    except IntegrityError:
        raise
    except _BROKEN as error:
        raise IntegrityError(f"it is incomplete or was changed ({error})") from error


def read_about(path: Path) -> dict[str, Any]:
    """Return what a copy says of itself, nothing if it is damaged."""
    try:
        with path.open("rb") as file, np.load(file) as archive:
            about: dict[str, Any] = json.loads(archive[_ABOUT].tobytes())
        return about
    except _BROKEN:
        return {}


def _aligned(name: str, offset: int) -> zipfile.ZipInfo:
    """Return a member whose content begins at a multiple of the alignment, if its header is at `offset`."""
    member = zipfile.ZipInfo(name)
    n_padding = -(offset + 30 + len(name) + 4 + _ZIP64_FIELD) % _ALIGNMENT
    member.extra = struct.pack("<HH", _ALIGNING_FIELD, n_padding) + bytes(n_padding)
    return member


def _mapped(content: memoryview, member: zipfile.ZipInfo) -> npt.NDArray[Any]:
    """Return an array in the mapped archive; it cannot be written to."""
    n_name, n_extra = struct.unpack_from("<HH", content, member.header_offset + 26)
    start = member.header_offset + 30 + n_name + n_extra
    body = content[start : start + member.file_size]
    if zlib.crc32(body) != member.CRC:
        raise IntegrityError(f"{member.filename} does not have its checksum")
    header = io.BytesIO(body[:_LONGEST_HEADER])
    np.lib.format.read_magic(header)
    shape, _, dtype = np.lib.format.read_array_header_1_0(header)
    return np.frombuffer(body, dtype, math.prod(shape), header.tell()).reshape(shape)


def _to_columns(prepared: Prepared) -> tuple[Arrays, dict[str, Any]]:
    """Return arrays by name, and what else is needed, as JSON."""
    features, columns = prepared.item_features, Arrays()
    parts = {name: getattr(prepared.interactions, name) for name in _ROWS}
    parts |= {"item_titles": prepared.item_titles, "features": features and features.matrix}
    return columns, {
        "parts": {name: pack(part, name, columns) for name, part in parts.items()},
        "feature_names": None if features is None else list(features.names),
        "facts": dict(prepared.facts),
    }


def _from_columns(columns: Arrays, described: Mapping[str, Any]) -> Prepared:
    parts = {name: unpack(packed, columns) for name, packed in described["parts"].items()}
    rows = Interactions(*(parts[name] for name in _ROWS))
    names = described["feature_names"]
    features = None if names is None else ItemFeatures(parts["features"], tuple(names))
    return Prepared(rows, parts["item_titles"], features, described["facts"])
