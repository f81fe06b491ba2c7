"""Models of implicit."""

import warnings
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import sparse

from recgauge.data.interactions import Interactions
from recgauge.engine import ItemWeights
from recgauge.models import Factors, Values, matrix_of
from recgauge.models.adapters import Adapter, as_weights
from recgauge.utils.checks import Count

Algorithm = Literal["als", "bpr", "lmf", "item_item", "cosine", "tf_idf", "bm25"]

_CLASSES = {
    "als": ("cpu.als", "AlternatingLeastSquares"),
    "bpr": ("cpu.bpr", "BayesianPersonalizedRanking"),
    "lmf": ("cpu.lmf", "LogisticMatrixFactorization"),
    "item_item": ("nearest_neighbours", "ItemItemRecommender"),
    "cosine": ("nearest_neighbours", "CosineRecommender"),
    "tf_idf": ("nearest_neighbours", "TFIDFRecommender"),
    "bm25": ("nearest_neighbours", "BM25Recommender"),
}


@dataclass(eq=False)
class Implicit(Adapter):
    """Train a model of implicit on the CPU.

    Parameters
    ----------
    algorithm : {"als", "bpr", "lmf", "item_item", "cosine", "tf_idf", "bm25"}
        Factors by alternating least squares, by BPR, by logistic matrix factorisation; or item neighbours by
        inner products, cosine, TF-IDF or BM25.
    settings : dict of str to Any
        Of that model, under implicit's names [1]_, such as ``factors`` and ``iterations``, or ``K``.
    values : {"binary", "rating"}
        What the matrix of users and items holds: 1 for every row, or the rating. ``als`` takes it as
        confidence, ``bpr`` does not look at it.
    n_threads : int
        Of training, >= 1. With several, ``bpr`` and ``lmf`` learn other numbers in every run.

    Notes
    -----
    Made for implicit 0.7.3. It keeps factors (with their biases) or the similarities of items, with which
    the engine makes the lists. Its arithmetic is its own: other processors may give other last digits.

    References
    ----------
    .. [1] https://benfred.github.io/implicit/

    Examples
    --------
    >>> Implicit("als", {"factors": 8, "iterations": 5}).algorithm
    'als'
    """

    library: ClassVar[str] = "implicit"
    extra: ClassVar[str] = "implicit"
    ours: ClassVar[tuple[str, ...]] = ("num_threads", "random_state")

    algorithm: Algorithm = "als"
    settings: dict[str, Any] = field(default_factory=dict)
    values: Values = "binary"
    n_threads: Count = 1

    def kind(self) -> Any:
        """Return the class for the CPU."""
        module, name = _CLASSES[self.algorithm]
        return getattr(import_module(f"implicit.{module}"), name)

    def learn(self, train: Interactions, seed: int) -> Factors | ItemWeights:
        """Return factors, or the users' rows and the similarities of items."""
        neighbours = _CLASSES[self.algorithm][0] == "nearest_neighbours"
        rows = sparse.csr_matrix(matrix_of(train, self.values)).astype(
            np.float64 if neighbours else np.float32
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # its warnings are of how it calls itself, and of threads
            model = self.make(num_threads=self.n_threads, random_state=seed)
            model.fit(rows, show_progress=False)
        if neighbours:
            return as_weights(rows, model.similarity)
        return Factors(model.user_factors, model.item_factors)
