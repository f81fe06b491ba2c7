"""Experiment-tracking evaluation harness for recommender systems."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from recgauge._version import __version__

if TYPE_CHECKING:
    from recgauge.conventions import Convention, get_convention
    from recgauge.evaluation import Evaluation, evaluate
    from recgauge.policies import Policies

__all__ = ["Convention", "Evaluation", "Policies", "__version__", "evaluate", "get_convention"]

# public names are loaded on first use: `import recgauge` stays light
_HOMES = {
    "Convention": "recgauge.conventions",
    "Evaluation": "recgauge.results",
    "Policies": "recgauge.policies",
    "evaluate": "recgauge.evaluation",
    "get_convention": "recgauge.conventions",
}


def __getattr__(name: str) -> Any:
    """Load a public name from where it lives."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'recgauge' has no attribute {name!r}")
