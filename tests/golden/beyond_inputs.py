"""What `evaluate` takes to reproduce one value of a library beyond accuracy."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import recgauge
from beyond_lists import cosine
from golden.beyond_rows import NAMED_ITEMS_ONLY, POP_PLUS_ONE
from golden.cases import GoldenValue
from golden.ranking_inputs import ranking_inputs
from golden.ranking_rows import Row
from recgauge.conventions import Convention
from recgauge.metrics import Metric


@dataclass(frozen=True)
class Asked:
    """Inputs of one evaluation, and similarities of items where the metric takes those as given."""

    lists: dict[str, list[int]]
    relevant: dict[str, dict[int, float]]
    convention: Convention
    train: dict[str, list[int]] | None
    features: dict[int, list[float]] | None
    n_items: int
    users: list[str]
    similarity: np.ndarray[Any, np.dtype[np.float64]] | None = None
    is_own: bool = False

    @property
    def is_special(self) -> bool:
        """Whether the inputs are made for this one value."""
        return self.is_own or self.similarity is not None

    def evaluate(
        self, metrics: dict[str, str | Metric], cutoffs: tuple[int | None, ...]
    ) -> recgauge.Evaluation:
        return recgauge.evaluate(
            self.lists,
            self.relevant,
            metrics=metrics,
            cutoffs=cutoffs,
            conventions=self.convention,
            train=self.train,
            item_features=self.features,
            item_similarity=self.similarity,
            n_items=self.n_items,
            users=self.users,
        )


def asked_for(value: GoldenValue, row: Row) -> Asked:
    raw, inputs = value.inputs, ranking_inputs(value.case, row.lists)
    features = raw["features"] and {int(item): vector for item, vector in raw["features"].items()}
    asked = Asked(
        inputs.lists,
        inputs.relevant,
        row.convention_object(),
        raw["train"],
        features,
        raw["n_items"],
        inputs.users,
    )
    if value.metric == POP_PLUS_ONE:
        return replace(asked, is_own=True, train={**raw["train"], "everything": list(range(raw["n_items"]))})
    if value.row == NAMED_ITEMS_ONLY:
        lists = {user: items[: value.k] for user, items in inputs.lists.items()}
        named = {item for table in (lists, inputs.relevant) for items in table.values() for item in items}
        return replace(asked, is_own=True, lists=lists, train=None, features=None, n_items=len(named))
    if row.metric == "list_diversity" and features is not None:
        vectors = np.array([features[item] for item in range(raw["n_items"])])
        return replace(asked, similarity=cosine(vectors))
    return asked
