"""Experiments for tests: popularity by nDCG@10 on the demo data, where nothing else is said."""

from collections.abc import Sequence
from typing import Any

from recgauge.candidates import AllItems
from recgauge.conventions import get_convention
from recgauge.datasets.demo import Demo
from recgauge.experiment import Experiment
from recgauge.models.popularity import Popularity
from recgauge.splits.shares import RandomRows


def experiment(
    metrics: Sequence[str] = ("ndcg",), conventions: str = "standard", **changes: Any
) -> Experiment:
    """Return an experiment with these metrics of a convention, and other settings where they are named."""
    convention = get_convention(conventions)
    settings: dict[str, Any] = {
        "dataset": Demo(),
        "splitter": RandomRows(),
        "candidates": AllItems(),
        "model": Popularity(),
        "metrics": {name: convention.definition(name) for name in metrics},
        "cutoffs": (10,),
        "policies": convention.policies,
    }
    return Experiment(**settings | changes)
