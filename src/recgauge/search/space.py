"""The settings that a search may try, as conf/search/ declares them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from recgauge.errors import ConfigError, said

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

Space = dict[str, "BaseDistribution"]
"""Setting to the distribution that it is drawn from."""

_RANGE = ("low", "high", "log", "step")


def parse_space(declared: Mapping[str, Any]) -> Space:
    """Return the distributions that a search draws settings from.

    Parameters
    ----------
    declared : mapping of str to Any
        Setting to ``{low: 1, high: 500}``, with ``log: true`` for a scale of powers and ``step`` for whole
        numbers that are not next to each other; whole numbers if both ends are. Or to the list of its values.

    Returns
    -------
    dict of str to optuna.distributions.BaseDistribution

    Raises
    ------
    ConfigError
        If there is no setting, or a range is not one.

    Examples
    --------
    >>> parse_space({"l2": {"low": 1.0, "high": 1e4, "log": True}, "values": ["binary", "rating"]})["l2"]
    FloatDistribution(high=10000.0, log=True, low=1.0, step=None)
    """
    if not declared:
        raise ConfigError(
            "search: there is nothing to search; name a setting, such as {l2: {low: 1, high: 500}}."
        )
    return {str(name): _distribution(f"search.{name}", node) for name, node in declared.items()}


def _distribution(path: str, node: Any) -> "BaseDistribution":
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if isinstance(node, (list, tuple)) and node:
        return CategoricalDistribution(list(node))
    if not isinstance(node, Mapping) or not {"low", "high"} <= set(node) or not set(node) <= set(_RANGE):
        raise ConfigError(f"{path}: must be a list of values, or low and high (and log, step), got {node!r}.")
    for name in ("low", "high"):
        if isinstance(node[name], bool) or not isinstance(node[name], (int, float)):
            raise ConfigError(f"{path}.{name}: must be a number, got {node[name]!r}.")
    whole = isinstance(node["low"], int) and isinstance(node["high"], int)
    try:
        return IntDistribution(**node) if whole else FloatDistribution(**node)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{path}: {said(error)}") from error


def ends(distribution: "BaseDistribution") -> tuple[Any, ...]:
    """Return the ends of a range, or all values of a list."""
    values = getattr(distribution, "choices", None)
    return (distribution.low, distribution.high) if values is None else tuple(values)  # type: ignore[attr-defined]


def holds(space: Space, settings: Mapping[str, Any]) -> bool:
    """Whether all settings of a space are given and inside it."""
    return all(name in settings and _inside(each, settings[name]) for name, each in space.items())


def _inside(distribution: "BaseDistribution", value: Any) -> bool:
    try:
        return bool(distribution._contains(distribution.to_internal_repr(value)))
    except (TypeError, ValueError):
        return False
