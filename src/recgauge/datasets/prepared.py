"""Prepared copies of data sets: made once, mapped by every later load.

A copy is a folder of npy files, which are mapped into memory and checked by their CRC-32.
"""

import json
import shutil
import zlib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from recgauge.data.dataset import ItemFeatures
from recgauge.data.interactions import Interactions
from recgauge.data.packing import Arrays, pack, unpack
from recgauge.errors import IntegrityError

_ROWS = ("user", "item", "value", "timestamp", "user_ids", "item_ids")
_ABOUT = "about"  # JSON: what the copy says of itself, as an array of bytes
_CHECKSUMS = "checksums.json"  # of each file
_THREADS = 4  # checksums wait for memory, not for Python


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """All that reading a source gives; what a run's settings add to it is not part."""

    interactions: Interactions
    item_titles: npt.NDArray[Any] | None = None
    item_features: ItemFeatures | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)  # the reader's notes; survives JSON


def write_copy(folder: Path, prepared: Prepared, about: Mapping[str, Any]) -> None:
    """Write a copy next to `folder`, and give it its name when it is complete; another one is replaced."""
    arrays, described = _to_arrays(prepared)
    arrays[_ABOUT] = np.frombuffer(json.dumps({**about, **described}).encode(), np.uint8)
    hidden = folder.with_name(f".{folder.name}.tmp")  # the caller holds the lock, so nobody else writes it
    shutil.rmtree(hidden, ignore_errors=True)
    try:
        hidden.mkdir()
        for name, array in arrays.items():
            np.save(hidden / f"{name}.npy", array, allow_pickle=False)
        checksums = {name: _checksum(hidden / f"{name}.npy") for name in arrays}
        (hidden / _CHECKSUMS).write_text(json.dumps(checksums), encoding="utf-8")
        shutil.rmtree(folder, ignore_errors=True)
        hidden.rename(folder)
    finally:
        shutil.rmtree(hidden, ignore_errors=True)


def read_copy(folder: Path) -> tuple[Prepared, dict[str, Any]]:
    """Return a kept data set, mapped into memory, which jobs share, and what it says of itself.

    Raises
    ------
    IntegrityError
        If anything about it is not as it was written: every byte is checked against its checksum.
    OSError
        If it cannot be read; FileNotFoundError if there is none.
    """
    try:
        checksums = json.loads((folder / _CHECKSUMS).read_text(encoding="utf-8"))
        paths = {name: folder / f"{name}.npy" for name in checksums}
        with ThreadPoolExecutor(_THREADS) as threads:
            for path, found in zip(paths.values(), threads.map(_checksum, paths.values()), strict=True):
                if found != checksums[path.stem]:
                    raise IntegrityError(f"{path.name} does not have its checksum")
        # one after the other: numpy parses their headers, at which two threads of Python 3.11 can fail
        arrays = {name: np.asarray(np.load(path, mmap_mode="r")) for name, path in paths.items()}
        about: dict[str, Any] = json.loads(arrays[_ABOUT].tobytes())
        return _from_arrays(arrays, about), about
    except IntegrityError:
        raise
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise IntegrityError(f"it is incomplete or was changed ({error})") from error


def _checksum(path: Path) -> int:
    return zlib.crc32(np.memmap(path, mode="r").data)


def _to_arrays(prepared: Prepared) -> tuple[Arrays, dict[str, Any]]:
    """Return arrays by name, and what else is needed, as JSON."""
    features, arrays = prepared.item_features, Arrays()
    parts = {name: getattr(prepared.interactions, name) for name in _ROWS}
    parts |= {"item_titles": prepared.item_titles, "features": features and features.matrix}
    return arrays, {
        "parts": {name: pack(part, name, arrays) for name, part in parts.items()},
        "feature_names": None if features is None else list(features.names),
        "facts": dict(prepared.facts),
    }


def _from_arrays(arrays: Arrays, described: Mapping[str, Any]) -> Prepared:
    parts = {name: unpack(packed, arrays) for name, packed in described["parts"].items()}
    rows = Interactions(*(parts[name] for name in _ROWS))
    names = described["feature_names"]
    features = None if names is None else ItemFeatures(parts["features"], tuple(names))
    return Prepared(rows, parts["item_titles"], features, described["facts"])
