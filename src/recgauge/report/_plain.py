"""Reads dataclasses back from what JSON makes of them."""

from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from recgauge.errors import SchemaError, listed


def from_plain(kind: Any, value: Any, path: str) -> Any:
    """Return `value` as `kind`.

    Parameters
    ----------
    kind : type
        A dataclass, or what its fields are: plain types, ``tuple``, ``dict`` with str keys, or one of these
        or None.
    value : Any
        What ``json.loads`` made of ``dataclasses.asdict``.
    path : str
        Where the value stands, for messages.

    Raises
    ------
    SchemaError
        If a field is missing, unknown or of another type.
    """
    arguments = get_args(kind)
    if isinstance(kind, UnionType):
        (inner,) = (one for one in arguments if one is not NoneType)
        return None if value is None else from_plain(inner, value, path)
    if is_dataclass(kind):
        return _dataclass(kind, value, path)
    origin = get_origin(kind) or kind
    if origin is tuple and isinstance(value, list):
        kinds = arguments[:1] * len(value) if arguments[-1] is Ellipsis else arguments
        if len(kinds) == len(value):
            pairs = enumerate(zip(kinds, value, strict=True))
            return tuple(from_plain(one, entry, f"{path}[{n}]") for n, (one, entry) in pairs)
    elif origin is dict and isinstance(value, dict):
        return {key: from_plain(arguments[1], entry, f"{path}.{key}") for key, entry in value.items()}
    elif origin is float and type(value) in (int, float):
        return float(value)
    elif origin in (int, str, bool) and type(value) is origin:
        return value
    raise SchemaError(f"{path}: expected {kind}, got {value!r}.")


def _dataclass(kind: Any, value: Any, path: str) -> Any:
    names = [field.name for field in fields(kind)]
    if not isinstance(value, dict) or sorted(value) != sorted(names):
        found = listed(value) if isinstance(value, dict) else repr(value)
        raise SchemaError(f"{path}: expected the fields {', '.join(names)}; got {found}.")
    hints = get_type_hints(kind)
    return kind(**{name: from_plain(hints[name], value[name], f"{path}.{name}") for name in names})
