"""Our values beside the stored ones of rankings; rows of a case with the same inputs are evaluated once."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

import recgauge
from golden.cases import GoldenValue
from golden.ranking_rows import Row
from recgauge.errors import ConfigError, MetricError

Ours = tuple[float, dict[str, float] | None]
"""The mean, and the values of users where the metric has them."""


@dataclass(frozen=True)
class Inputs:
    """What `evaluate` takes to reproduce a value; `is_special` if it is made for this value alone."""

    lists: dict[str, list[int]]
    relevant: dict[str, dict[int, float]]
    users: list[str]
    scores: dict[str, list[float]] | None = None
    train: dict[str, list[int]] | None = None
    features: dict[int, list[float]] | None = None
    similarity: np.ndarray[Any, np.dtype[np.float64]] | None = None
    n_items: int | None = None
    is_special: bool = False

    def evaluate(self, rows: tuple[Row, ...], cutoffs: tuple[int | None, ...]) -> Any:
        """Return the values by row and cutoff, or the message with which they are refused as a whole."""
        names = {f"row{number}": row for number, row in enumerate(rows)}
        try:
            evaluation = recgauge.evaluate(
                self.lists,
                self.relevant,
                metrics={name: row.metric for name, row in names.items()},
                cutoffs=cutoffs,
                conventions=rows[0].convention_object(),
                scores=self.scores,
                train=self.train,
                item_features=self.features,
                item_similarity=self.similarity,
                n_items=self.n_items,
                users=self.users,
            )
        except (MetricError, ConfigError) as error:
            return str(error)
        users = evaluation.users.tolist()
        per_user = (entry.per_user for entry in evaluation.results)
        return {
            (names[entry.name], entry.k): (
                entry.value,
                None if values is None else dict(zip(users, values.tolist(), strict=True)),
            )
            for entry, values in zip(evaluation.results, per_user, strict=True)
        }


class Evaluations:
    """The values that stored ones ask for, each group of rows evaluated once, as in a run."""

    def __init__(
        self, pairs: Iterable[tuple[GoldenValue, Row]], inputs_of: Callable[[GoldenValue, Row], Inputs]
    ) -> None:
        self.inputs_of, self.done = inputs_of, {}
        cutoffs: dict[Any, set[int | None]] = defaultdict(set)
        for value, row in pairs:
            k = row.at(value.k)
            cutoffs[value.case, row, k is None].add(k)
        groups: dict[Any, list[Row]] = defaultdict(list)
        for (case, row, whole), ks in cutoffs.items():
            key = case, row.convention, row.policies, row.lists, whole, tuple(sorted(ks, key=str))
            groups[key].append(row)
        self.groups = {
            (case, row, whole): (tuple(rows), ks)
            for (case, *_, whole, ks), rows in groups.items()
            for row in rows
        }

    def value(self, value: GoldenValue, row: Row) -> Ours | str:
        """Return our value, or why it is refused: where a group is, each row and cutoff is asked alone."""
        inputs, k = self.inputs_of(value, row), row.at(value.k)
        if not inputs.is_special:
            rows, ks = self.groups[value.case, row, k is None]
            for chosen in (rows, (row,)):
                key = value.case, chosen, ks
                if key not in self.done:
                    self.done[key] = inputs.evaluate(chosen, ks)
                values = self.done[key]
                if not isinstance(values, str) and (row, k) in values:
                    return values[row, k]
        alone = inputs.evaluate((row,), (k,))
        return alone if isinstance(alone, str) else alone[row, k]
