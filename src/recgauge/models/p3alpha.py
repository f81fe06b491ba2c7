"""P3alpha: random walks user, item, user, item over who took what."""

from dataclasses import dataclass

from recgauge.models._walks import FirstCut, WalkModel


@dataclass(eq=False)
class P3alpha(WalkModel):
    r"""Score an item by the walks of three steps that lead from a user to it.

    .. math::
        \hat r_{uj} = \sum_i x_{ui} W_{ij}, \qquad
        W_{ij} = \sum_v \left( \frac{x_{vi}}{d_i} \cdot \frac{x_{vj}}{d_v} \right)^\alpha

    where x is 1 for every training row, :math:`d_v` counts a user's items and :math:`d_i` an item's users:
    from an item to one of its users, and from the user to one of his or her items, each with equal chance.

    Parameters
    ----------
    alpha : float
        Power of the chance of each step, >= 0; 1: plain random walks, with which the paper begins. On small
        data they follow few users far; the default does better there, and as well elsewhere.
    top_k : int, optional
        Most items i that are kept for an item j, those of the largest weights; None: all.
    first_cut : {"none", "plain", "normalized"}
        Whether, before that, each item i keeps the `top_k` largest of its own weights :math:`W_{ij}`, as they
        are (``plain``) or divided by their sum (``normalized``). The code of [2]_ and of later studies does;
        lists differ much.

    Notes
    -----
    The first step, from the user to an item, has the same chance for all items of the user, and is left out:
    it changes no list. A walk back to its item does not count. Of equal weights those of lower codes are
    kept.

    Time: one addition for each pair of items of each user. Memory: 24 bytes for each weight kept. Sums are
    made in float64 in the order of users, the same on every machine and any number of threads.

    Users can be folded in.

    References
    ----------
    .. [1] C. Cooper, S. H. Lee, T. Radzik, Y. Siantos, "Random walks in recommender systems: exact
       computation and simulations", WWW 2014 companion.
    .. [2] M. Ferrari Dacrema, S. Boglio, P. Cremonesi, D. Jannach, "A troubling analysis of
       reproducibility and progress in recommender systems research", ACM TOIS 39(2), 2021:
       as item weights, with `top_k`.

    Examples
    --------
    >>> import numpy as np
    >>> from recgauge.data.interactions import Interactions
    >>> train = Interactions.from_ids([0, 0, 1, 1, 2], ["x", "y", "x", "y", "x"])
    >>> model = P3alpha(alpha=1.0).fit(train, rng=np.random.default_rng(0))
    >>> model.score(np.array([2], np.int32)).astype(float).round(3).tolist()
    [[0.0, 0.333]]

    Two of the three users of x also took y, among two items each.
    """

    alpha: float = 0.7
    top_k: int | None = 100
    first_cut: FirstCut = "none"

    @property
    def _popularity_power(self) -> float:
        return 0.0
