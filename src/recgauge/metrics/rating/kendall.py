"""Kendall's rank correlation of actual and predicted ratings."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from recgauge.metrics.denominators import divide
from recgauge.metrics.rating import JudgedRatings, RatingMetric
from recgauge.metrics.rating.pairs import count_pairs
from recgauge.utils.checks import DoubleArray


@dataclass(frozen=True)
class Kendall(RatingMetric):
    r"""How many more pairs of ratings are predicted in the right order than in the wrong one (tau-b).

    .. math:: \tau_b = \frac{C - D}{\sqrt{(N - T_r)(N - T_{\hat r})}}

    with C concordant and D discordant of N pairs, T of them tied in actual or in predicted rating.

    Parameters
    ----------
    aggregate : {"pooled", "user"}, default "pooled"
        Over all rows, pairs of different users included; or for each user and then the mean over users for
        whom it is defined.

    Raises
    ------
    ConfigError
        If `aggregate` is unknown.

    Notes
    -----
    Range [-1, 1], higher is better. Undefined (NaN) if the actual or the predicted ratings are all equal;
    such users are left out of the mean and counted. Counted in O(n log n).

    References
    ----------
    .. [1] M. G. Kendall, "The treatment of ties in ranking problems", Biometrika 33(3), 1945.

    Examples
    --------
    >>> from recgauge.evaluation.evaluate_ratings import evaluate_ratings
    >>> evaluate_ratings([1, 2, 3], [1, 3, 2], metrics=["kendall"]).values()["kendall"]
    0.3333333333333333
    """

    name: ClassVar[str] = "kendall"
    label: ClassVar[str] = "Kendall tau-b"

    def per_group(self, ratings: JudgedRatings) -> DoubleArray:
        """Return tau-b of each group, shape (g,); NaN where undefined."""
        pairs = count_pairs(ratings)
        untied_actual = (pairs.all - pairs.tied_actual).astype(np.float64)
        untied_predicted = (pairs.all - pairs.tied_predicted).astype(np.float64)
        norms = np.sqrt(untied_actual * untied_predicted)
        excess = (pairs.concordant - pairs.discordant).astype(np.float64)
        return np.clip(divide(excess, norms, empty=np.nan), -1.0, 1.0)
