"""Metrics by class and by name. A metric is imported when it is first used.

``from recgauge.metrics import NDCG`` works for every class; `metric_class` finds one by its name, such as
``ndcg``. Where each class is, `make docs` writes into `recgauge.metrics._index`.
"""

from dataclasses import MISSING, fields
from functools import cache
from importlib import import_module
from inspect import isabstract
from pathlib import Path
from pkgutil import walk_packages
from typing import TYPE_CHECKING, Any

from recgauge.metrics._index import CLASSES, NAMES, SUITES
from recgauge.metrics.metric import Kind as Kind
from recgauge.metrics.metric import Metric as Metric
from recgauge.metrics.metric import RunMetric as RunMetric
from recgauge.metrics.metric import UserMetric as UserMetric
from recgauge.metrics.metric import check_suite as check_suite
from recgauge.metrics.metric import metric_key as metric_key
from recgauge.metrics.metric import quiet as quiet

if TYPE_CHECKING:
    from recgauge.metrics._index import *  # noqa: F403

__all__ = ["SUITES", "Metric", "RunMetric", "UserMetric", "metric_class", "metric_classes", *CLASSES]


def __getattr__(name: str) -> Any:
    if name not in CLASSES:
        raise AttributeError(f"module 'recgauge.metrics' has no attribute {name!r}")
    return getattr(import_module(CLASSES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *CLASSES})


def metric_class(name: str) -> type[Metric] | None:
    """Return the metric class with this name, or None.

    Only the module of the class is imported; a name that the index lacks is looked for in all of them.

    Examples
    --------
    >>> metric_class("ndcg").__name__, metric_class("nothing")
    ('NDCG', None)
    """
    if name in NAMES:
        found: type[Metric] = __getattr__(NAMES[name])
        return found
    return next((leaf for leaf in metric_classes() if leaf.name == name), None)


@cache
def metric_classes() -> tuple[type[Metric], ...]:
    """Import every metric of the package; return the classes that can be used, by name and class name."""
    found = [leaf for leaf in public_classes() if not isabstract(leaf) and hasattr(leaf, "name")]
    return tuple(sorted(found, key=lambda leaf: (leaf.name, leaf.__name__)))


def public_classes() -> set[type[Metric]]:
    """Import every module of the package; return the metric classes without a leading underscore."""
    for module in walk_packages([str(Path(__file__).parent)], f"{__name__}."):
        import_module(module.name)
    return {
        leaf
        for leaf in _below(Metric)
        if leaf.__module__.startswith(f"{__name__}.") and not leaf.__name__.startswith("_")
    }


def has_defaults(leaf: type[Metric]) -> bool:
    """Whether all parameters have defaults, so that the name alone defines the metric."""
    return all(f.default is not MISSING or f.default_factory is not MISSING for f in fields(leaf))


def _below(parent: type[Metric]) -> set[type[Metric]]:
    children = set(parent.__subclasses__())
    return children.union(*(_below(child) for child in children))
