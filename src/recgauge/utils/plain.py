"""Reads dataclasses back from what JSON makes of them."""

from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from recgauge.errors import SchemaError, listed


def from_plain(kind: Any, value: Any, path: str) -> Any:
    """Return `value` as `kind`."""
    if kind is Any:
        return value
    if is_dataclass(kind):
        return _dataclass(kind, value, path)
    if isinstance(kind, UnionType):
        (inner,) = (one for one in get_args(kind) if one is not NoneType)
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
    return tuple(from_plain(one, value, f"{path}[{n}]") for n, (one, value) in pairs)


def _unexpected(kind: Any, value: object, path: str) -> SchemaError:
    return SchemaError(f"{path}: expected {kind}, got {value!r}.")


def _dataclass(kind: Any, value: Any, path: str) -> Any:
    hints, needed = _fields(kind)
    if not isinstance(value, dict) or not needed <= value.keys() <= hints.keys():
        found = listed(value) if isinstance(value, dict) else repr(value)
        raise SchemaError(f"{path}: expected the fields {', '.join(hints)}; got {found}.")
    return kind(**{name: from_plain(hints[name], part, f"{path}.{name}") for name, part in value.items()})


@cache
def _fields(kind: Any) -> tuple[dict[str, Any], set[str]]:
    """Return the types of a dataclass's fields by their names, and the names of those without a default."""
    known, hints = fields(kind), get_type_hints(kind)
    needed = {one.name for one in known if one.default is MISSING and one.default_factory is MISSING}
    return {one.name: hints[one.name] for one in known}, needed
