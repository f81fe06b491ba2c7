"""How far numbers depend on the order of users and items, which decides between equal weights and scores.

`python experiments/intent_aware_2025/orders.py N "WORDS OF A RUN" ...` numbers users and items anew, N times
with as many seeds, draws the order of equal scores every other time, and prints for each metric the largest
distance between two of the values: what tolerances of published.csv state where an order is not known.
"""

import csv
import sys
from dataclasses import dataclass, replace

import numpy as np

from recgauge.cli.settings import register_schema, typed_settings
from recgauge.cli.words import CommandLine
from recgauge.data.dataset import Dataset
from recgauge.data.interactions import Interactions
from recgauge.datasets import DatasetSource
from recgauge.experiment import run_experiment
from recgauge.sweeps.compose import compose
from recgauge.utils.progress import Progress


@dataclass(frozen=True)
class InAnotherOrder(DatasetSource):
    """A data set whose users and items are numbered by chance."""

    source: DatasetSource
    seed: int

    def load(self, progress: Progress | None = None) -> Dataset:
        """Return the data set; rows keep their order."""
        dataset, rng = self.source.load(progress), np.random.default_rng(self.seed)
        rows = dataset.interactions
        users, items = rng.permutation(rows.n_users), rng.permutation(rows.n_items)
        numbered = Interactions(
            users[rows.user].astype(np.int32),
            items[rows.item].astype(np.int32),
            rows.value,
            rows.timestamp,
            rows.user_ids[np.argsort(users)],
            rows.item_ids[np.argsort(items)],
        )
        return replace(dataset, interactions=numbered)


def spread(words: str, n_orders: int) -> dict[str, float]:
    """Return for each result of a run the largest distance between the values of two orders."""
    given = compose(typed_settings(CommandLine(tuple(words.split())).composed()))
    values: dict[str, list[float]] = {}
    for seed in range(n_orders):
        numbered = replace(given, dataset=InAnotherOrder(given.dataset, seed), seed=seed)
        drawn = replace(numbered, policies=replace(given.policies, ties="random"))
        ranking = run_experiment(drawn if seed % 2 else numbered).ranking
        assert ranking is not None
        for key, value in ranking.evaluation.values().items():
            values.setdefault(key, []).append(value)
    return {key: max(found) - min(found) for key, found in values.items()}


if __name__ == "__main__":
    register_schema()
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["run", "metric", "spread"])
    for run in sys.argv[2:]:
        distances = spread(run, int(sys.argv[1]))
        table.writerows([run, key, f"{distance:.3g}"] for key, distance in distances.items())
        sys.stdout.flush()
