"""The settings that a search may try, as conf/search/ declares them."""

from collections.abc import Mapping
from math import log
from typing import TYPE_CHECKING, Any

from recgauge.errors import ConfigError, said

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

Space = dict[str, "BaseDistribution"]
"""Setting to the distribution that it is drawn from."""

EDGE = 0.05  # of a range: a value that is nearer to its end is at its edge
_RANGE = ("low", "high", "log", "step")


def parse_space(declared: Mapping[str, Any]) -> Space:
    """Return the distributions that a search draws settings from.

    Parameters
    ----------
    declared : mapping of str to Any
        Setting to ``{low: 1, high: 500}``, with ``log: true`` for a scale of powers and ``step`` for whole
        numbers that are not next to each other; whole numbers if both ends are. Or to the list of its values.

        Settings inside a setting stand below its name, ``{settings: {factors: [32, 64]}}``.

    Returns
    -------
    dict of str to optuna.distributions.BaseDistribution
        By name; settings inside another one as ``settings.factors``.

    Raises
    ------
    ConfigError
        If there is no setting, or a range is not one.

    Examples
    --------
    >>> parse_space({"l2": {"low": 1.0, "high": 1e4, "log": True}, "values": ["binary", "rating"]})["l2"]
    FloatDistribution(high=10000.0, log=True, low=1.0, step=None)
    >>> list(parse_space({"settings": {"factors": [32, 64]}}))
    ['settings.factors']
    """
    declared = flat(declared)
    if not declared:
        raise ConfigError(
            "search: there is nothing to search; name a setting, such as {l2: {low: 1.0, high: 500.0}}."
        )
    return {str(name): _distribution(f"search.{name}", node) for name, node in declared.items()}


def flat(declared: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Return ranges and lists by the full names of their settings.

    Examples
    --------
    >>> flat({"l2": [1, 2], "settings": {"factors": {"low": 8, "high": 64}}})
    {'l2': [1, 2], 'settings.factors': {'low': 8, 'high': 64}}
    """
    settings: dict[str, Any] = {}
    for name, node in declared.items():
        inside = isinstance(node, Mapping) and not set(node) & set(_RANGE)
        settings |= flat(node, f"{before}{name}.") if inside else {f"{before}{name}": node}
    return settings


def value_of(model: Mapping[str, Any], name: str) -> Any:
    """Return a setting's value, None if there is none.

    Examples
    --------
    >>> value_of({"settings": {"factors": 64}}, "settings.factors")
    64
    """
    node: Any = model
    for part in name.split("."):
        node = node.get(part) if isinstance(node, Mapping) else None
    return node


def with_settings(model: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return a model's settings with those of a trial in their places.

    Examples
    --------
    >>> with_settings({"settings": {"factors": 64, "alpha": 1.0}}, {"settings.factors": 32})
    {'settings': {'factors': 32, 'alpha': 1.0}}
    """
    changed = dict(model)
    for name, value in settings.items():
        first, _, rest = name.partition(".")
        changed[first] = with_settings(changed.get(first) or {}, {rest: value}) if rest else value
    return changed


def _distribution(path: str, node: Any) -> "BaseDistribution":
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if isinstance(node, (list, tuple)) and node:
        return CategoricalDistribution(list(node))
    if not isinstance(node, Mapping) or not {"low", "high"} <= set(node) or not set(node) <= set(_RANGE):
        raise ConfigError(f"{path}: must be a list of values, or low and high (and log, step), got {node!r}.")
    for name in ("low", "high"):
        if isinstance(node[name], bool) or not isinstance(node[name], (int, float)):
            raise ConfigError(f"{path}.{name}: must be a number, got {node[name]!r}.")
    low, high = node["low"], node["high"]
    if low > high:
        raise ConfigError(f"{path}: low={low} is above high={high}. Set both: {path}.low=A {path}.high=B.")
    whole = isinstance(low, int) and isinstance(high, int)
    try:
        return IntDistribution(**node) if whole else FloatDistribution(**node)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{path}: {said(error)}. Set {path}.low, {path}.log or {path}.step.") from error


def ends(distribution: "BaseDistribution") -> tuple[Any, ...]:
    """Return the ends of a range, or all values of a list."""
    values = getattr(distribution, "choices", None)
    return (distribution.low, distribution.high) if values is None else tuple(values)  # type: ignore[attr-defined]


def edge(name: str, distribution: "BaseDistribution", value: object, model: str) -> str:
    """Say that a setting's value is at an end of its range, and what widens it; empty if it is not.

    A lower end of 0 is none, since no setting lies below it.

    Examples
    --------
    >>> l2 = parse_space({"l2": {"low": 1.0, "high": 200.0, "log": True}})["l2"]
    >>> edge("l2", l2, 185.8, "ease")
    'l2 at the edge of its range, 1 to 200: raise search.ease.l2.high'
    >>> edge("l2", l2, 20.0, "ease")
    ''
    >>> shrinkage = parse_space({"shrinkage": {"low": 0, "high": 1000}})["shrinkage"]
    >>> edge("shrinkage", shrinkage, 0, "item_knn")
    ''
    """
    low, high = getattr(distribution, "low", None), getattr(distribution, "high", None)
    if low is None or high is None or not isinstance(value, int | float) or low >= high:
        return ""
    scale = log if getattr(distribution, "log", False) else float
    place = (scale(value) - scale(low)) / (scale(high) - scale(low))
    if EDGE < place < 1 - EDGE or (place <= EDGE and low == 0):
        return ""
    end = f"lower search.{model}.{name}.low" if place <= EDGE else f"raise search.{model}.{name}.high"
    return f"{name} at the edge of its range, {low:g} to {high:g}: {end}"


def holds(space: Space, settings: Mapping[str, Any]) -> bool:
    """Whether all settings of a space are given and inside it."""
    return all(name in settings and _inside(each, settings[name]) for name, each in space.items())


def _inside(distribution: "BaseDistribution", value: Any) -> bool:
    try:
        return bool(distribution._contains(distribution.to_internal_repr(value)))
    except (TypeError, ValueError):
        return False
