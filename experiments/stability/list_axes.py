"""The order of models under other conventions and relevance thresholds, from stored lists."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from recgauge.comparison.stability_axes import Frames
from recgauge.conventions import Definition, conventions, get_convention
from recgauge.evaluation.values import EvaluationInputs
from recgauge.metrics import metric_key
from recgauge.metrics.names import split_key
from recgauge.runs.finished import FinishedRun
from recgauge.runs.stored import StoredLists

if TYPE_CHECKING:
    import pandas as pd

MOST_THRESHOLDS = 10


def list_axes(base: Mapping[str, FinishedRun], key: str) -> dict[str, Frames]:
    """Return users' values of a metric under every convention, and from every lowest relevant rating."""
    name, k = split_key(key)
    lists = _Lists(base)
    if k is None:
        return {}
    return {"convention": lists.by_convention(name, k), "relevant from": lists.by_threshold(name, k)}


class _Lists:
    """The stored lists of some models' runs, evaluated under other definitions."""

    def __init__(self, runs: Mapping[str, FinishedRun]) -> None:
        self.record = record = next(iter(runs.values())).record
        chosen = record.settings.get("conventions") or {}
        convention = get_convention(chosen.get("name", "standard"))
        # stored lists have empty places for misses, and are as they were after dropping
        named = {name: record.settings.get(name) for name in ("ties", "repeats", "no_list")}
        self.convention = convention.with_policies(named)
        self.stored = {model: run.lists() for model, run in runs.items()}

    def by_convention(self, name: str, k: int) -> Frames:
        """Return values by convention, the runs' own first."""
        own, lowest = self.record.names["conventions"], self.record.dataset.relevant_from
        inputs = {model: with_a_list_each(lists.inputs(lowest)) for model, lists in self.stored.items()}
        registry = conventions()
        rivals = {other: rule for other, rule in registry.items() if other != own and rule.defines(name)}
        options = {own: self.convention, **rivals}
        return {
            option: self._values(name, convention.definition(name), k, inputs)
            for option, convention in options.items()
        }

    def by_threshold(self, name: str, k: int) -> Frames:
        """Return values of users with lists by lowest relevant rating, the runs' own first."""
        own = self.record.dataset.relevant_from
        if own is None:
            return {}
        test = next(iter(self.stored.values())).test
        ratings = sorted(float(value) for value in test["rating"].unique() if value > 0)
        if len(ratings) > MOST_THRESHOLDS:
            ratings = [value for value in ratings if value == int(value)][:MOST_THRESHOLDS]
        definition = self.convention.definition(name)
        axis: Frames = {}
        for threshold in [float(own), *(value for value in ratings if value != own)]:
            inputs = {model: _listed(each).inputs(threshold) for model, each in self.stored.items()}
            axis[f"{threshold:g}"] = self._values(name, definition, k, inputs)
        return axis

    def _values(
        self, name: str, definition: Definition, k: int, inputs: "Mapping[str, EvaluationInputs]"
    ) -> "pd.DataFrame":
        """Return a row per user and a column per model."""
        import pandas as pd

        key, policies, seed = metric_key(name, k), definition.policies, self.record.seed
        values = {
            model: lists.evaluate({name: definition}, cutoffs=(k,), policies=policies, seed=seed)
            for model, lists in inputs.items()
        }
        return pd.DataFrame({model: result.to_frame()[key] for model, result in values.items()})


def _listed(stored: StoredLists) -> StoredLists:
    """Return the same of users with lists alone."""
    return replace(stored, test=stored.test[stored.test["user_id"].isin(stored.lists["user"].unique())])


def with_a_list_each(lists: EvaluationInputs) -> EvaluationInputs:
    """Return the same, where each user without relevant items has a list, as in runs that count them.

    Runs do not store lists of users whom their convention leaves out. Others count them, and by accuracy all
    lists of such a user are worth the same.
    """
    top_k = lists.top_k
    rows = (top_k.lengths == 0) & (np.diff(lists.relevant.start) == 0)
    items, scores = top_k.items.copy(), np.array(top_k.scores)
    items[rows, 0], scores[rows, 0] = 0, 0.0
    return replace(lists, top_k=replace(top_k, items=items, scores=scores))
