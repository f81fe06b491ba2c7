"""Values as JSON, and arrays beside it, and back: without pickles."""

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from itertools import pairwise
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt

from recgauge.errors import SchemaError, listed
from recgauge.utils.checks import shown


def from_plain(kind: Any, value: Any, path: str) -> Any:
    """Return `value` as `kind`."""
    if kind is Any:
        return value
    if is_dataclass(kind):
        return _dataclass(kind, value, path)
    if isinstance(kind, UnionType):
        (inner,) = (option for option in get_args(kind) if option is not NoneType)
        return None if value is None else from_plain(inner, value, path)
    origin = get_origin(kind) or kind
    if origin is tuple and isinstance(value, list):
        return _tuple(kind, value, path)
    if origin is dict and isinstance(value, dict):
        return {key: from_plain(get_args(kind)[1], part, f"{path}.{key}") for key, part in value.items()}
    if origin is float and type(value) in (int, float):
        return float(value)
    if value in get_args(kind) if origin is Literal else type(value) is origin:
        return value
    raise _unexpected(kind, value, path)


def _tuple(kind: Any, values: list[Any], path: str) -> tuple[Any, ...]:
    kinds = get_args(kind)
    if kinds[-1] is Ellipsis:
        kinds = kinds[:1] * len(values)
    if len(kinds) != len(values):
        raise _unexpected(kind, values, path)
    pairs = enumerate(zip(kinds, values, strict=True))
    return tuple(from_plain(part, value, f"{path}[{n}]") for n, (part, value) in pairs)


def _unexpected(kind: Any, value: object, path: str) -> SchemaError:
    return SchemaError(f"{path}: expected {kind}, got {value!r}.")


def _dataclass(kind: Any, value: Any, path: str) -> Any:
    hints, needed = _fields(kind)
    if not isinstance(value, dict) or not needed <= value.keys() <= hints.keys():
        keys = listed(value.keys() - hints.keys() or value) if isinstance(value, dict) else repr(value)
        raise SchemaError(f"{path}: expected the fields {', '.join(hints)}; got {keys}.")
    return kind(**{name: from_plain(hints[name], part, f"{path}.{name}") for name, part in value.items()})


@cache
def _fields(kind: Any) -> tuple[dict[str, Any], set[str]]:
    """Return the types of a dataclass's fields by their names, and the names of those without a default."""
    own, hints = fields(kind), get_type_hints(kind)
    needed = {part.name for part in own if part.default is MISSING and part.default_factory is MISSING}
    return {part.name: hints[part.name] for part in own}, needed


Arrays = dict[str, npt.NDArray[Any]]


def pack(value: Any, name: str, arrays: Arrays, kinds: Mapping[str, type] | None = None) -> Any:
    """Return a value as JSON; arrays go to `arrays` under names that begin with `name`.

    `kinds` are the dataclasses that may be stored, by their names. Anything else is a TypeError.
    """
    from scipy import sparse  # half a second of start-up

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
    return _pack_parts(value, name, arrays, kinds)


def _pack_parts(value: Any, name: str, arrays: Arrays, kinds: Mapping[str, type] | None) -> Any:
    """Pack what has parts."""
    if isinstance(value, (list, tuple)):
        packed = [pack(part, f"{name}.{at}", arrays, kinds) for at, part in enumerate(value)]
        return {"list": packed, "is_tuple": isinstance(value, tuple)}
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {"mapping": {key: pack(part, f"{name}.{key}", arrays, kinds) for key, part in value.items()}}
    kind = type(value).__name__
    if is_dataclass(value) and kinds and kind in kinds:
        parts = {each.name: getattr(value, each.name) for each in fields(value) if each.init}
        return {"kind": kind, "parts": pack(parts, name, arrays, kinds)["mapping"]}
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
            from scipy import sparse

            own = tuple(arrays[f"{name}.{part}"] for part in ("data", "indices", "indptr"))
            matrix = {"csr": sparse.csr_array, "csc": sparse.csc_array}[form](own, shape=tuple(shape))
            matrix.check_format()  # every index: compiled code does not look
            return matrix
        case {"list": parts, "is_tuple": is_tuple}:
            values = [unpack(part, arrays, kinds) for part in parts]
            return tuple(values) if is_tuple else values
        case {"mapping": parts}:
            return {key: unpack(part, arrays, kinds) for key, part in parts.items()}
        case {"kind": kind, "parts": own} if kinds:
            return kinds[kind](**{key: unpack(part, arrays, kinds) for key, part in own.items()})
    raise ValueError(f"{shown(packed)} is no stored value")


def _texts(text: npt.NDArray[np.uint8], ends: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
    content, bounds = text.tobytes(), [0, *ends.tolist()]
    texts = np.empty(len(ends), dtype=object)
    texts[:] = [content[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(bounds)]
    return texts
