"""Models of irspack."""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import sparse

from recgauge.data.interactions import Interactions
from recgauge.engine import ItemWeights
from recgauge.models import Factors, Values, matrix_of
from recgauge.models.adapters import Adapter, as_weights
from recgauge.utils.checks import Count

Algorithm = Literal[
    "IALS", "P3alpha", "RP3beta", "DenseSLIM", "EDLAE", "SLIM", "CosineKNN", "AsymmetricCosineKNN",
    "JaccardKNN", "TverskyIndexKNN", "CosineUserKNN", "AsymmetricCosineUserKNN", "TopPop",
]  # fmt: skip


@dataclass(eq=False)
class Irspack(Adapter):
    """Train a model of irspack.

    Parameters
    ----------
    algorithm : {"IALS", "P3alpha", "RP3beta", "DenseSLIM", "EDLAE", "SLIM", "CosineKNN", ...}
        Name of the class without ``Recommender``; also "AsymmetricCosineKNN", "JaccardKNN",
        "TverskyIndexKNN", "CosineUserKNN", "AsymmetricCosineUserKNN" and "TopPop".
    settings : dict of str to Any
        Of that model, under irspack's names [1]_, such as ``n_components`` or ``top_k``.
    values : {"binary", "rating"}
        What the matrix of users and items holds: 1 for every row, or the rating.
    n_threads : int
        Of training, >= 1.

    Notes
    -----
    Made for irspack 0.5.2. It keeps factors (``IALS``), the weights between items, or the similarities
    between users with their rows; ``TopPop`` has one weight for each item. ``IALS`` needs ``alpha0``, the
    weight of what a user did not take: irspack's default 0 lets it learn from taken items alone, and its
    lists are then worse than chance.

    References
    ----------
    .. [1] https://irspack.readthedocs.io/

    Examples
    --------
    >>> Irspack("RP3beta", {"alpha": 1.0, "beta": 0.5}).settings
    {'alpha': 1.0, 'beta': 0.5}
    """

    library: ClassVar[str] = "irspack"
    extra: ClassVar[str] = "irspack"
    ours: ClassVar[tuple[str, ...]] = ("X_train_all", "X_train", "random_seed", "n_threads")

    algorithm: Algorithm = "IALS"
    settings: dict[str, Any] = field(default_factory=dict)
    values: Values = "binary"
    n_threads: Count = 1

    def kind(self) -> Any:
        """Return the class."""
        import irspack

        return getattr(irspack, f"{self.algorithm}Recommender")

    def learn(self, train: Interactions, seed: int) -> Factors | ItemWeights:
        """Return factors or weights."""
        rows = sparse.csr_matrix(matrix_of(train, self.values))
        model = self.make(rows, random_seed=seed, n_threads=self.n_threads).learn()
        if hasattr(model, "get_user_embedding"):
            return Factors(model.get_user_embedding(), model.get_item_embedding())
        if hasattr(model, "W"):
            return as_weights(rows, model.W)
        if hasattr(model, "U"):
            return as_weights(model.U, rows)
        ones = np.ones((train.n_users, 1), np.float32)
        return Factors(ones, model.get_score(np.array([0]))[0][:, None])  # TopPop: the same for everybody
