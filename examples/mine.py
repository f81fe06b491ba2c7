"""A model, a metric, a data set and a split outside recgauge; docs/own_model.md explains them.

From the root of a checkout:

    PYTHONPATH=examples recgauge run --config-dir examples/conf "allowed_targets=[mine]" model=recency
"""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np

from recgauge.data.dataset import Dataset
from recgauge.data.interactions import Interactions
from recgauge.datasets import DatasetSource
from recgauge.errors import ConfigError, NotFittedError
from recgauge.metrics import UserMetric
from recgauge.models import Recommender
from recgauge.splits import Assignment, Splitter


@dataclass(eq=False)
class Recency(Recommender):
    """Popularity in which a row counts less, the more rows were made after it.

    Parameters
    ----------
    half_life : float
        After so many later rows, as a share of all, a row counts half, > 0.
    """

    half_life: float = 0.1

    def __post_init__(self) -> None:
        if not self.half_life > 0:
            raise ConfigError(f"Recency: half_life must be above 0, got {self.half_life}.")
        self._scores = None

    def fit(self, train: Interactions, *, rng: np.random.Generator) -> "Recency":
        """Sum up the weights of each item's rows; rows without times count alike."""
        age = np.zeros(len(train))
        if train.timestamp is not None:
            later = len(train) - np.searchsorted(np.sort(train.timestamp), train.timestamp, side="right")
            age = later / len(train)
        weights = 0.5 ** (age / self.half_life)
        self._scores = np.bincount(train.item, weights, train.n_items).astype(np.float32)
        return self

    def score(self, users: np.ndarray) -> np.ndarray:
        """Return the same scores for everybody, shape (b, n_items) float32."""
        if self._scores is None:
            raise NotFittedError("Recency: fit must run before score.")
        return np.tile(self._scores, (len(users), 1))


@dataclass(frozen=True)
class FirstHits(UserMetric):
    """How many of a list's first two items are relevant.

    Parameters
    ----------
    scale : {"count", "share"}
        The number itself, or divided by 2.
    """

    name: ClassVar[str] = "first_hits"
    label: ClassVar[str] = "FirstHits"

    scale: Literal["count", "share"] = "count"

    def per_user(self, judged, k):
        """Return one value a user, shape (n_users,)."""
        counts = judged.hits.cut(min(2, k)).counts()
        return counts / 2 if self.scale == "share" else counts


@dataclass(frozen=True)
class Purchases(DatasetSource):
    """A text file with lines ``who;what``.

    Parameters
    ----------
    path : str
        The file, or a path from the current folder.
    """

    path: str

    def load(self, progress=None) -> Dataset:
        """Read the file."""
        lines = Path(self.path).read_text(encoding="utf-8").split()
        who, what = zip(*(line.split(";") for line in lines), strict=True)
        rows = Interactions.from_ids(list(who), list(what))
        return Dataset(
            name="purchases",
            interactions=rows,
            feedback="implicit",
            relevant_from=1.0,
            sha256=rows.sha256(),
            provenance=f"read from {Path(self.path).name}",
            source="the shop",
            licence="ours",
        )


@dataclass(frozen=True)
class EveryNth(Splitter):
    """Hold out every n-th row of the data set. Depends on the order of the rows.

    Parameters
    ----------
    n : int
        At least 2.
    """

    name: ClassVar[str] = "every_nth"

    n: int = 5

    def __post_init__(self) -> None:
        if self.n < 2:
            raise ConfigError(f"EveryNth: n must be at least 2, got {self.n}.")

    def assign(self, interactions: Interactions, *, rng: np.random.Generator) -> Assignment:
        """Return True for the rows of the test part."""
        return Assignment(np.arange(len(interactions)) % self.n == 0)
