"""Finds every metric of the package, so that a new one is one file and no list needs an entry."""

from dataclasses import MISSING, fields
from functools import cache
from importlib import import_module
from inspect import isabstract
from pkgutil import walk_packages

import recgauge.metrics
from recgauge.metrics import Metric


@cache
def metric_classes() -> tuple[type[Metric], ...]:
    """Return all metric classes of lists, sorted by name and class name.

    Returns
    -------
    tuple of type
    """
    for module in walk_packages(recgauge.metrics.__path__, "recgauge.metrics."):
        import_module(module.name)
    found = {leaf for leaf in _below(Metric) if leaf.__module__.startswith("recgauge.metrics.")}
    concrete = (leaf for leaf in found if not isabstract(leaf) and hasattr(leaf, "name"))
    return tuple(sorted(concrete, key=lambda leaf: (leaf.name, leaf.__name__)))


@cache
def default_metrics() -> dict[str, Metric]:
    """Return ``{name: metric with all defaults}`` for the classes that have defaults throughout."""
    return {leaf.name: leaf() for leaf in metric_classes() if _has_defaults(leaf)}


def _has_defaults(leaf: type[Metric]) -> bool:
    return all(f.default is not MISSING or f.default_factory is not MISSING for f in fields(leaf))


def _below(parent: type[Metric]) -> set[type[Metric]]:
    children = set(parent.__subclasses__())
    return children.union(*(_below(child) for child in children))
