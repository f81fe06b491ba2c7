"""Models of Cornac."""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import sparse

from recgauge.data.interactions import Interactions
from recgauge.engine import ItemWeights
from recgauge.models import Factors, Values
from recgauge.models.adapters import Adapter, as_weights
from recgauge.utils.checks import Count, FloatArray, IntArray

Algorithm = Literal[
    "BPR", "WBPR", "MF", "NMF", "PMF", "MMMF", "HPF", "SVD", "ItemKNN", "UserKNN", "EASE", "MostPop",
    "BaselineOnly",
]  # fmt: skip

MEASURE_DOT = "dot product aka. inner product"  # how Cornac says that vectors are compared by products
USERS_AT_A_TIME = 1024


@dataclass(eq=False)
class Cornac(Adapter):
    """Train a model of Cornac.

    Parameters
    ----------
    algorithm : {"BPR", "WBPR", "MF", "NMF", "PMF", "MMMF", "HPF", "SVD", "ItemKNN", "UserKNN", ...}
        Name of the class; also "EASE", "MostPop" and "BaselineOnly".
    settings : dict of str to Any
        Of that model, under Cornac's names [1]_, such as ``k``, ``max_iter`` and ``learning_rate``.
    values : {"rating", "binary"}
        What a row counts: the rating, or 1. Models of ratings (``MF``, ``ItemKNN`` and others) learn nothing
        from ones alone.
    n_threads : int
        Of training, >= 1. Cornac trains on one thread if it has a seed, which it always has here, except in
        models of neighbours.

    Notes
    -----
    Made for Cornac 3.0.1. Users and items without a training row are not shown to Cornac. As in its own
    ranking, such items take the lowest score of the others (0 for ``EASE``), and such users the same score
    for all items. It keeps the weights of ``EASE``, and the factors of models that say that the inner product
    of their vectors ranks as their scores do; the others are asked user by user.

    References
    ----------
    .. [1] https://cornac.readthedocs.io/

    Examples
    --------
    >>> Cornac("BPR", {"k": 16, "max_iter": 200}).settings["k"]
    16
    """

    library: ClassVar[str] = "cornac"
    extra: ClassVar[str] = "cornac"
    ours: ClassVar[tuple[str, ...]] = ("seed", "num_threads", "verbose", "name", "trainable")

    algorithm: Algorithm = "BPR"
    settings: dict[str, Any] = field(default_factory=dict)
    values: Values = "rating"
    n_threads: Count = 1

    def kind(self) -> Any:
        """Return the class."""
        import cornac.models

        return getattr(cornac.models, self.algorithm)

    def learn(self, train: Interactions, seed: int) -> Any:
        """Return factors where the model has them, else Cornac's object."""
        import cornac.data

        users, user = np.unique(train.user, return_inverse=True)
        items, item = np.unique(train.item, return_inverse=True)
        value = np.ones(len(train)) if self.values == "binary" else train.value.astype(np.float64)
        names = ({str(n): n for n in range(len(coded))} for coded in (users, items))
        rows = (user.astype(np.int64), item.astype(np.int64), value)
        data = cornac.data.Dataset(len(users), len(items), *names, rows, seed=seed)
        model = self.make(seed=seed, num_threads=self.n_threads, verbose=False, name=self.algorithm)
        model.fit(data)
        self._users = np.full(train.n_users, -1, np.int64)
        self._users[users] = np.arange(len(users))
        self._items, self._n_items = items, train.n_items
        if self.algorithm == "EASE":  # its vectors of items are rows of weights where columns make the scores
            return _weights(model, self._users, items, train.n_items)
        return _factors(model, self._users, items, train.n_items) or model

    def their_scores(self, users: IntArray) -> FloatArray:
        """Return Cornac's scores."""
        scored = np.zeros((len(users), self._n_items), np.float32)
        for row, user in enumerate(self._users[users].tolist()):
            if user >= 0:
                scores = np.asarray(self._learned.score(user), np.float64)
                scored[row] = scores.min()
                scored[row, self._items] = scores
        return scored


def _weights(model: Any, users: Any, items: Any, n_items: int) -> ItemWeights:
    """Return the users' rows over the items that Cornac knows, and their weights."""
    weights = np.zeros((len(items), n_items), np.float32)
    weights[:, items] = model.B
    rows = sparse.coo_array(model.U)
    coded = np.flatnonzero(users >= 0)
    shape = (len(users), len(items))
    return as_weights(sparse.coo_array((rows.data, (coded[rows.row], rows.col)), shape=shape), weights)


def _factors(model: Any, users: Any, items: Any, n_items: int) -> Factors | None:
    """Return the model's vectors if it ranks by their products, else None.

    An extra column gives items without a training row each user's lowest score of the others.
    """
    measure = getattr(model, "get_vector_measure", None)
    if measure is None or measure() != MEASURE_DOT:
        return None
    of_users, of_items = np.asarray(model.get_user_vectors()), np.asarray(model.get_item_vectors())
    width = of_users.shape[1]
    item = np.zeros((n_items, width + 1), np.float32)
    item[:, width] = 1.0
    item[items] = np.pad(of_items, ((0, 0), (0, 1)))
    user = np.zeros((len(users), width + 1), np.float32)
    for block in np.array_split(np.flatnonzero(users >= 0), 1 + len(users) // USERS_AT_A_TIME):
        user[block, :width] = of_users[users[block]]
        user[block, width] = (user[block, :width] @ of_items.T).min(axis=1)
    return Factors(user, item)
