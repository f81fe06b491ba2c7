"""What repeated runs of several models say: values by seed and fold, and differences of pairs of models."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from recgauge.studies import Row, distinct
from recgauge.utils.checks import BoolArray, DoubleArray

BETWEEN = "; "
NEAR = 0.01  # of nDCG: pairs less far apart are told apart from the others


@dataclass(frozen=True, slots=True, eq=False)
class Repeats:
    """Values of models by repeat, and what they say of pairs of models, the nearest pair first.

    The first model of a pair has the higher mean of all splits.
    """

    models: list[str]
    values: DoubleArray  # (n_models, n_seeds, n_folds), a split for each seed
    starts: DoubleArray  # (n_models, n_seeds), on one split
    stderr: DoubleArray  # (n_models,), over users, mean of all splits
    pairs: list[tuple[int, int]]
    shown: (
        DoubleArray  # (n_pairs, n_seeds, n_folds): 1 if the first model is shown to be better, -1: the second
    )

    @property
    def gains(self) -> DoubleArray:
        """Differences of pairs, shape (n_pairs, n_seeds, n_folds)."""
        return np.array([self.values[a] - self.values[b] for a, b in self.pairs])

    @property
    def near(self) -> BoolArray:
        """Which pairs differ by less than `NEAR` in the mean of all splits."""
        near: BoolArray = self.gains.mean(axis=(1, 2)) < NEAR
        return near

    def of_seeds(self, values: DoubleArray, n: int) -> DoubleArray:
        """Return means of every choice of n seeds, at the same fold: shape (..., n_choices, n_folds)."""
        chosen = combinations(range(values.shape[1]), n)
        return np.stack([values[:, list(each)].mean(axis=1) for each in chosen], axis=1)


def repeats_of(rows: Sequence[Row]) -> Repeats:
    """Return what rows of all runs say."""
    known = {(row["split"], row["fold"], row["seed"], row["model"]): row for row in rows}
    models, seeds, folds = (distinct(rows, name) for name in ("model", "seed", "fold"))
    own = [[[known[seed, fold, seed, model] for fold in folds] for seed in seeds] for model in models]
    values, stderr = (
        np.array([[[float(row[name]) for row in line] for line in each] for each in own])
        for name in ("value", "stderr")
    )
    starts = [[float(known[seeds[0], folds[0], seed, model]["value"]) for seed in seeds] for model in models]
    mean = values.mean(axis=(1, 2))
    ordered = combinations(np.argsort(-mean).tolist(), 2)
    pairs = sorted(ordered, key=lambda pair: float(mean[pair[0]] - mean[pair[1]]))

    def below(one: int, other: int) -> DoubleArray:
        names = [[row["surely_below"].split(BETWEEN) for row in line] for line in own[one]]
        return np.array([[models[other] in each for each in line] for line in names], np.float64)

    shown = np.array([below(b, a) - below(a, b) for a, b in pairs])
    return Repeats(models, values, np.array(starts), stderr.mean(axis=(1, 2)), pairs, shown)
