"""Values as JSON beside arrays, without pickles: how fitted models and prepared data sets are stored."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from recgauge.utils.checks import shown

Arrays = dict[str, npt.NDArray[Any]]
_SPARSE = {"csr": sparse.csr_array, "csc": sparse.csc_array}


def pack(value: Any, name: str, arrays: Arrays, kinds: Mapping[str, type] | None = None) -> Any:
    """Return a value as JSON; arrays go to `arrays` under names that begin with `name`.

    `kinds` are the dataclasses that may be stored, by their names. Anything else is a TypeError.
    """
    if value is None or isinstance(value, (bool, int, float, str)):
        return {"value": value}
    if isinstance(value, np.ndarray) and value.dtype == object:
        texts = [str(text).encode("utf-8", "surrogatepass") for text in value.tolist()]
        arrays[f"{name}.text"] = np.frombuffer(b"".join(texts), np.uint8)
        arrays[f"{name}.ends"] = np.cumsum([len(text) for text in texts], dtype=np.int64)
        return {"texts": name}
    if isinstance(value, (np.ndarray, np.generic)):
        arrays[name] = np.asarray(value)
        return {"array": name, "scalar": isinstance(value, np.generic)}
    if isinstance(value, (sparse.csr_array, sparse.csc_array)):
        for part in ("data", "indices", "indptr"):
            arrays[f"{name}.{part}"] = getattr(value, part)
        return {"sparse": name, "format": value.format, "shape": [int(n) for n in value.shape]}
    kind = type(value).__name__
    if is_dataclass(value) and kinds and kind in kinds:
        parts = {each.name: getattr(value, each.name) for each in fields(value)}
        packed = {key: pack(part, f"{name}.{key}", arrays, kinds) for key, part in parts.items()}
        return {"kind": kind, "parts": packed}
    raise TypeError(f"{name} is a {kind}")


def unpack(
    packed: Mapping[str, Any],
    arrays: Mapping[str, npt.NDArray[Any]],
    kinds: Mapping[str, type] | None = None,
) -> Any:
    """Return what was packed; a damaged one raises a KeyError, TypeError or ValueError."""
    match packed:
        case {"value": value}:
            return value
        case {"array": name, "scalar": is_scalar}:
            return arrays[name][()] if is_scalar else arrays[name]
        case {"texts": name}:
            return _texts(arrays[f"{name}.text"], arrays[f"{name}.ends"])
        case {"sparse": name, "format": form, "shape": shape}:
            parts = tuple(arrays[f"{name}.{part}"] for part in ("data", "indices", "indptr"))
            matrix = _SPARSE[form](parts, shape=tuple(shape))
            matrix.check_format()  # every index: compiled code does not look
            return matrix
        case {"kind": kind, "parts": own} if kinds:
            return kinds[kind](**{key: unpack(part, arrays, kinds) for key, part in own.items()})
    raise ValueError(f"{shown(packed)} is no stored value")


def _texts(text: npt.NDArray[np.uint8], ends: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
    content, places = text.tobytes(), [0, *ends.tolist()]
    texts = np.empty(len(ends), dtype=object)
    texts[:] = [content[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(places)]
    return texts
