"""RP3beta: random walks over who took what, with popular items pushed down."""

from dataclasses import dataclass

from recgauge.models.p3alpha import FirstCut, WalkModel
from recgauge.utils.checks import Count, NotNegative


@dataclass(eq=False)
class RP3beta(WalkModel):
    r"""Score an item by the walks of three steps that lead to it, divided by a power of its popularity.

    .. math::
        \hat r_{uj} = \sum_i x_{ui} W_{ij}, \qquad
        W_{ij} = \frac{1}{d_j^\beta} \sum_v \left( \frac{x_{vi}}{d_i} \cdot \frac{x_{vj}}{d_v} \right)^\alpha

    where x is 1 for every training row, :math:`d_v` counts a user's items and :math:`d_i` an item's users.

    Parameters
    ----------
    alpha : float
        Power of the chance of each step, >= 0; 1 in the paper.
    beta : float
        How much popular items are pushed down, >= 0; 0 is `P3alpha`. Tune it: above .5 lists get much worse
        on MovieLens.
    top_k : int, optional
        Most items i that are kept for an item j, those of the largest weights; None: all.
    first_cut : {"none", "plain", "normalized"}
        Whether each item i keeps the `top_k` largest of its own weights before that, as in `P3alpha`.
    last_n, decay
        Which rows of a user count when lists are made, and how much, as in `P3alpha`.

    Notes
    -----
    Everything else is as in `P3alpha`: walks back to their item do not count, of equal weights those of lower
    codes are kept, sums are the same on every machine and any number of threads, memory is 24 bytes for each
    weight kept, and users can be folded in.

    References
    ----------
    .. [1] B. Paudel, F. Christoffel, C. Newell, A. Bernstein, "Updatable, accurate, diverse, and scalable
       recommendations for interactive applications", ACM TiiS 7(1), 2017.
    .. [2] M. Ferrari Dacrema, S. Boglio, P. Cremonesi, D. Jannach, "A troubling analysis of
       reproducibility and progress in recommender systems research", ACM TOIS 39(2), 2021:
       as item weights, with `top_k`.

    Examples
    --------
    >>> import numpy as np
    >>> from recgauge.data.interactions import Interactions
    >>> train = Interactions.from_ids([0, 0, 1, 1, 2], ["x", "y", "x", "y", "x"])
    >>> model = RP3beta(alpha=1.0, beta=1.0).fit(train, rng=np.random.default_rng(0))
    >>> model.score(np.array([2], np.int32)).astype(float).round(3).tolist()
    [[0.0, 0.167]]
    """

    alpha: NotNegative = 0.7
    beta: NotNegative = 0.2
    top_k: Count | None = 100
    first_cut: FirstCut = "none"

    def _popularity_power(self) -> float:
        return self.beta
