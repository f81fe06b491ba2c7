"""Checks of arguments, with one form of message: subject, rule, what was found. Imports errors and texts."""

import builtins
import math
import typing
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from types import NoneType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt

from recgauge.errors import ConfigError, shortened

IntArray = npt.NDArray[np.int32]
LongArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float32]
DoubleArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

_WASTED = 1 << 26  # bytes that an array of texts of one width may take beyond what is in them


def check_int(subject: str, value: object, *, minimum: int, maximum: float = math.inf) -> int:
    """Return `value` as an int, or say between which bounds `subject` must be."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and minimum <= value <= maximum:
        return int(value)
    bounds = f">= {minimum}" if math.isinf(maximum) else f"from {minimum} to {maximum}"
    raise ConfigError(f"{subject} must be a whole number {bounds}, got {value!r}.")


def check_real(subject: str, value: object, *, low: float, high: float, low_open: bool = False) -> float:
    """Return `value` as a float inside ``[low, high]`` (``(low, high]`` if `low_open`)."""
    if isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool):
        number = float(value)
        above_low = low < number if low_open else low <= number
        if math.isfinite(number) and above_low and number <= high:
            return number
    above = ">" if low_open else ">="
    upper = "" if math.isinf(high) else f" and <= {high:g}"
    lower = "" if math.isinf(low) else f" {above} {low:g}"
    raise ConfigError(f"{subject} must be a finite number{lower}{upper}, got {value!r}.")


def check_choice(subject: str, value: object, choices: Collection[Any]) -> Any:
    """Return `value` if it is one of `choices`, or list them."""
    if value in choices:
        return value
    raise ConfigError(f"{subject} must be one of {', '.join(map(str, choices))}; got {value!r}.")


def check_bool(subject: str, value: object) -> bool:
    """Return `value` if it is True or False."""
    if isinstance(value, bool):
        return value
    raise ConfigError(f"{subject} must be true or false, got {value!r}.")


@dataclass(frozen=True, slots=True)
class Within:
    """What a setting may be, as part of its annotation."""

    low: float
    high: float = math.inf
    low_open: bool = False


Count = Annotated[int, Within(1)]
Natural = Annotated[int, Within(0)]
Real = Annotated[float, Within(-math.inf)]
NotNegative = Annotated[float, Within(0.0)]
Positive = Annotated[float, Within(0.0, low_open=True)]
Share = Annotated[float, Within(0.0, 1.0)]
PositiveShare = Annotated[float, Within(0.0, 1.0, low_open=True)]


class Checked:
    """A dataclass whose settings are checked by their annotations: numbers, `Count`, Literals and bool."""

    def __post_init__(self) -> None:
        kinds = _annotations(type(self))
        for setting in fields(self):  # type: ignore[arg-type] # of a dataclass
            value, kind = getattr(self, setting.name), kinds.get(setting.name, setting.type)
            if NoneType in (options := get_args(kind)):
                kind = options[0] if len(options) == 2 else None
            if value is not None or not (NoneType in options or setting.default is None):
                checked = _checked(f"{type(self).__name__}: {setting.name}", value, kind)
                object.__setattr__(self, setting.name, checked)


def _annotations(owner: type[Any]) -> dict[str, Any]:
    """Return what annotations mean that are texts, as ``from __future__ import annotations`` makes them."""
    if not any(isinstance(setting.type, str) for setting in fields(owner)):
        return {}
    try:
        return get_type_hints(owner, include_extras=True)
    except NameError as error:
        raise ConfigError(
            f"{owner.__name__}: its settings cannot be checked, since {error}. Import at run time what their "
            "annotations name, not for type checkers alone."
        ) from error


def _checked(subject: str, value: Any, kind: Any) -> Any:
    match get_origin(kind), get_args(kind):
        case typing.Annotated, (number, Within(low=low, high=high, low_open=low_open)):
            if number is int:
                return check_int(subject, value, minimum=int(low))
            return check_real(subject, value, low=low, high=high, low_open=low_open)
        case typing.Literal, choices:
            return check_choice(subject, value, choices)
        case builtins.dict, _:
            if not isinstance(value, Mapping):
                raise ConfigError(f"{subject} must be names and values, such as {{k: 20}}; got {value!r}.")
            return dict(value)
    numbers = (int, np.integer) if kind is int else (int, float, np.integer, np.floating)
    if kind in (int, float) and (isinstance(value, bool) or not isinstance(value, numbers)):
        raise ConfigError(f"{subject} must be a {'whole ' * (kind is int)}number, got {value!r}.")
    return check_bool(subject, value) if kind is bool else value


def check_time(subject: str, value: object, *, earliest: float = -math.inf) -> int:
    """Return a time, ISO 8601 (UTC unless it says otherwise) or seconds since 1970, as seconds since 1970.

    `earliest`: lowest number that is taken for seconds, and not for a year or a date without dashes.

    Examples
    --------
    >>> check_time("from", "1998-03-01"), check_time("from", "1998-03-01T12:00+02:00")
    (888710400, 888746400)
    """
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and value >= earliest:
        return int(value)
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            pass
        else:
            return math.ceil((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
    least = "" if math.isinf(earliest) else f", at least {earliest:,}"
    raise ConfigError(
        f"{subject} must be a date such as 1998-03-01 or 1998-03-01T12:30 (UTC), or a whole number of "
        f"seconds since 1970-01-01{least}; got {value!r}."
    )


def time_text(seconds: int) -> str:
    """Return seconds since 1970 as a date in UTC, with the time of day unless it is midnight."""
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.strftime("%Y-%m-%d" if seconds % 86_400 == 0 else "%Y-%m-%dT%H:%M:%SZ")


def check_cutoffs(subject: str, values: Iterable[object]) -> tuple[int, ...]:
    """Return distinct cutoffs in ascending order, each a whole number of at least 1."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ConfigError(f"{subject} must be a list of whole numbers >= 1, got {values!r}.")
    numbers = [check_int(f"{subject}: each cutoff", value, minimum=1) for value in values]
    cutoffs = tuple(sorted(set(numbers)))
    if len(cutoffs) < len(numbers):
        raise ConfigError(f"{subject}: each cutoff may be named once, got {numbers}.")
    if not cutoffs:
        raise ConfigError(f"{subject} must name at least one cutoff, got an empty list.")
    return cutoffs


def shown(value: object) -> str:
    """Return how an id appears in a message: as its owner wrote it, not as numpy holds it."""
    return shortened(repr(value.item() if isinstance(value, np.generic) else value))


def text_array(texts: list[str]) -> npt.NDArray[Any]:
    """Return texts as an array of one width, or of objects where a few long ones would waste much memory.

    Examples
    --------
    >>> text_array(["a", "bc"]).dtype, text_array(["a"] * 10_000 + ["x" * 4000]).dtype
    (dtype('<U2'), dtype('O'))
    """
    widest, total = max(map(len, texts), default=0), sum(map(len, texts))
    wasteful = 4 * (widest * len(texts) - total) > _WASTED
    return np.array(texts, dtype=object if wasteful else np.str_)


def read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a view of `array` that refuses to be written to."""
    if array.flags.writeable:
        array = array.view()
        array.flags.writeable = False
    return array


def frozen(array: Any, dtype: type[np.generic] | None = None) -> Any:
    """Return a contiguous read-only view: numba compiles again for other mixtures of writeable and not."""
    return read_only(np.ascontiguousarray(array, dtype))
