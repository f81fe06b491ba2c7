"""User neighbours: what similar users have taken."""

from dataclasses import dataclass
from typing import Literal, Self

import numpy as np

from recgauge.data.interactions import Interactions
from recgauge.engine import ItemWeights
from recgauge.models import not_fitted, summed_weights
from recgauge.models.item_knn import NeighbourSettings
from recgauge.utils.checks import FloatArray, IntArray
from recgauge.utils.progress import Progress

Documents = Literal["users", "items"]
NeighboursOf = Literal["user", "other"]


@dataclass(eq=False)
class UserKNN(NeighbourSettings):
    r"""Score an item by the similarity of the users who have it.

    .. math:: \hat x_{ui} = \sum_{v \in N_k(u)} s_{uv} x_{vi}

    Parameters
    ----------
    k : int
        Neighbours of a user, >= 1: the most similar others with a positive similarity; equally similar ones
        by rising code.
    similarity : str
        Those of `recgauge.models.item_knn.ItemKNN`, of users: ``adjusted_cosine`` compares ratings less the
        item's mean, ``pearson`` ratings less the user's.
    values : {"binary", "rating"}
        What :math:`x_{vi}` is: 1 for every row, or the rating.
    shrinkage : float
        Added to the denominator of the similarity, >= 0, which lowers that of users with few rows.
    alpha : float
        Of ``asymmetric_cosine``, from -1 to 1: :math:`x_u \cdot x_v / (\lVert x_u \rVert^{2 \alpha}
        \lVert x_v \rVert^{2 - 2 \alpha} + h)`. For :math:`\alpha = 0` v's share of items that u has, too.
    weighting : {"none", "tf_idf", "bm25"}
        Of the entries that are compared. Sums over neighbours are of the entries as they are.
    k1, b : float
        Of ``bm25``: when repetition saturates, >= 0, and what users with many items lose, from 0 to 1.
    normalize : bool
        Whether the similarities of a user's neighbours are divided by their sum, so that scores of several
        users can be compared; no list changes unless ``neighbours_of="other"``.
    tversky_alpha, tversky_beta : float
        Of ``tversky``, >= 0: :math:`n_{uv} / (n_{uv} + \alpha_T (n_u - n_{uv}) + \beta_T (n_v - n_{uv})
        + h)`, over numbers of items; 1 and 1 are ``jaccard``.
    documents : {"users", "items"}
        What `weighting` takes for documents; the others are words.
    neighbours_of : {"user", "other"}
        Whose neighbours count: v must be among the k nearest of u (``user``, the formula above), or u among
        the k nearest of v (``other``).

    Notes
    -----
    Exact: every pair of users who share an item is summed once, in float64. Time grows with
    :math:`\sum_i n_i^2 / 2` over the items' numbers of users, so that popular items cost most. Memory: 16 k
    bytes a user for each thread and 24 k for the result, and 40 bytes a row; no square of users. Similarities
    are compared as float32; results do not depend on threads, and no chance is involved. It ranks items and
    does not predict ratings: `recgauge.models.rating_knn.RatingKNN` does.

    The code of [3]_, which later studies run, has ``documents="items"``, ``neighbours_of="other"``, and
    otherwise differs as `recgauge.models.item_knn.ItemKNN` says.

    References
    ----------
    .. [1] B. Sarwar, G. Karypis, J. Konstan, J. Riedl, "Analysis of recommendation algorithms for
       e-commerce", EC 2000.
    .. [2] F. Aiolli, "Efficient top-N recommendation for very large scale binary rated datasets",
       RecSys 2013.
    .. [3] M. Ferrari Dacrema, S. Boglio, P. Cremonesi, D. Jannach, "A troubling analysis of
       reproducibility and progress in recommender systems research", ACM TOIS 39(2), 2021.

    Examples
    --------
    >>> train = Interactions.from_ids([0, 0, 1, 1, 2, 2, 2], ["x", "y", "x", "y", "x", "y", "z"])
    >>> model = UserKNN(k=2).fit(train, rng=np.random.default_rng(0))
    >>> model.score(np.array([0], np.int32)).round(3)  # user 1 counts 1, user 2 2 / sqrt(6)
    array([[1.816, 1.816, 0.816]], dtype=float32)
    """

    documents: Documents = "users"
    neighbours_of: NeighboursOf = "user"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._votes: ItemWeights | None = None

    def fit(self, train: Interactions, *, rng: np.random.Generator, progress: Progress | None = None) -> Self:  # noqa: ARG002 - contract
        """Find the neighbours of all users; FitError, too, if deviations are compared and are all 0."""
        rows = self.user_rows(train)
        of_items = self.documents == "items"
        compared = self.weighed(rows).T.tocsr() if of_items else self.weighed(rows.T.tocsr())
        of_users = self.neighbours_of == "user"
        nearest = self.nearest(compared, progress, is_first=of_users)
        self._votes = ItemWeights(nearest if of_users else nearest.T.tocsr(), rows)
        return self

    def item_weights(self) -> ItemWeights:
        """Return how similar users are, and what each has taken."""
        if self._votes is None:
            raise not_fitted(self)
        return self._votes

    def score(self, users: IntArray) -> FloatArray:
        """Return the sums of the neighbours' similarities, shape (b, n_items) float32, made in float64."""
        return summed_weights(self.item_weights(), users)
