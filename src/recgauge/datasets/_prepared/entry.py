"""One kept data set: a folder of .npy files and a manifest. Whole and checked, or not there."""

import json
import os
import shutil
import zlib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from recgauge.datasets._prepared.content import ROWS, Prepared, from_columns, to_columns
from recgauge.errors import SchemaError

MANIFEST = "manifest.json"
_THREADS = 4  # checksums and writes wait for memory and disk, not for Python


class DamagedEntryError(Exception):
    """An entry is not what was written; the text says what is wrong with it."""


def write_entry(folder: Path, prepared: Prepared, about: Mapping[str, Any]) -> int:
    """Write the entry beside `folder` and give it its name when all bytes are on the disk.

    Parameters
    ----------
    folder : Path
        The entry's place; whatever lies there is replaced.
    prepared : Prepared
    about : mapping of str to Any
        What the entry should say of itself.

    Returns
    -------
    int
        Bytes written.

    Raises
    ------
    NotStorableError
        If the data cannot be kept exactly.
    OSError
        If the folder cannot be written.
    """
    columns, described = to_columns(prepared)
    half_made = folder.with_name(f".{folder.name}.tmp")
    _sweep(folder)  # what a killed job left: whoever calls holds the lock
    try:
        half_made.mkdir()
        with ThreadPoolExecutor(_THREADS) as threads:
            paths = [half_made / f"{name}.npy" for name in columns]
            seals = dict(zip(columns, threads.map(_write_column, paths, columns.values()), strict=True))
        body = {**about, **described, "columns": seals}
        _write_synced(half_made / MANIFEST, _sealed(body))
        _sync_folder(half_made)
        if folder.exists():
            folder.rename(folder.with_name(f".{folder.name}.old.tmp"))
        half_made.rename(folder)
        _sync_folder(folder.parent)
    finally:
        _sweep(folder)
    return sum(seal["size"] for seal in seals.values())


def read_entry(folder: Path, key: str) -> Prepared:
    """Return a kept data set, its rows mapped into memory: jobs that read it share the system's pages.

    Every byte is checked against its checksum.

    Raises
    ------
    FileNotFoundError
        If there is no entry.
    DamagedEntryError
        If anything about it is not as it was written.
    OSError
        If it cannot be read.
    """
    if not folder.is_dir():
        raise FileNotFoundError(folder)
    try:
        body = read_manifest(folder)
        if body["key"] != key:
            raise DamagedEntryError(f"{MANIFEST} belongs to other data")
        seals = body["columns"]
        with ThreadPoolExecutor(_THREADS) as threads:
            arrays = threads.map(lambda name: _read_column(folder / f"{name}.npy", seals[name]), seals)
            columns = dict(zip(seals, arrays, strict=True))
        return from_columns(columns, body)
    except FileNotFoundError as error:
        raise DamagedEntryError(f"{Path(error.filename).name} is missing") from error
    except (KeyError, TypeError, ValueError, AttributeError, SchemaError) as error:
        raise DamagedEntryError(f"it does not fit together ({error})") from error


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return what the entry says of itself.

    Raises
    ------
    DamagedEntryError
        If the manifest is not as it was written.
    """
    try:
        sealed = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        body: dict[str, Any] = sealed["body"]
        if sealed["crc32"] != _crc_of_body(body):
            raise DamagedEntryError(f"{MANIFEST} was changed")
    except (KeyError, TypeError, ValueError) as error:
        raise DamagedEntryError(f"{MANIFEST} is broken") from error
    return body


def _sweep(folder: Path) -> None:
    for leftover in folder.parent.glob(f".{folder.name}*.tmp"):
        shutil.rmtree(leftover, ignore_errors=True)


def _sealed(body: Mapping[str, Any]) -> bytes:
    return json.dumps({"crc32": _crc_of_body(body), "body": body}, indent=1).encode()


def _crc_of_body(body: Mapping[str, Any]) -> int:
    return zlib.crc32(json.dumps(body, sort_keys=True).encode())


def _crc(array: npt.NDArray[Any]) -> int:
    return zlib.crc32(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)


def _write_column(path: Path, array: npt.NDArray[Any]) -> dict[str, Any]:
    with path.open("xb") as file:
        np.save(file, array, allow_pickle=False)
        file.flush()
        os.fsync(file.fileno())
        size = file.tell()
    return {"dtype": array.dtype.str, "shape": list(array.shape), "size": size, "crc32": _crc(array)}


def _read_column(path: Path, seal: Mapping[str, Any]) -> npt.NDArray[Any]:
    size = path.stat().st_size
    if size != seal["size"]:
        raise DamagedEntryError(f"{path.name} has {size:,} bytes instead of {seal['size']:,}")
    mapped = path.stem in ROWS and seal["shape"] != [0]
    array = np.asarray(np.load(path, mmap_mode="r" if mapped else None, allow_pickle=False))
    if [array.dtype.str, list(array.shape), _crc(array)] != [seal["dtype"], seal["shape"], seal["crc32"]]:
        raise DamagedEntryError(f"{path.name} does not have its checksum")
    return array


def _write_synced(path: Path, content: bytes) -> None:
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """Make new names outlive a power cut, where the system can."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
