"""Root of the mean squared error."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from recgauge.metrics.rating import JudgedRatings, RatingMetric
from recgauge.utils.checks import DoubleArray


@dataclass(frozen=True)
class RMSE(RatingMetric):
    r"""The root of the mean squared error: the usual figure of rating prediction.

    .. math:: \mathrm{RMSE} = \sqrt{\frac{1}{n} \sum_{(u, i)} (r_{ui} - \hat r_{ui})^2}

    Parameters
    ----------
    aggregate : {"pooled", "user"}, default "pooled"
        Over all rows, or for each user and then the mean over users; the two differ even if all users have
        equally many rows.

    Raises
    ------
    ConfigError
        If `aggregate` is unknown.

    Notes
    -----
    Range [0, inf), lower is better, never below the MAE of the same rows; in units of the rating scale.

    References
    ----------
    .. [1] J. L. Herlocker et al., "Evaluating collaborative filtering recommender systems", ACM TOIS 22(1),
       2004, section 4.

    Examples
    --------
    >>> from recgauge.evaluation.evaluate_ratings import evaluate_ratings
    >>> evaluate_ratings([4, 2, 5, 1], [3, 2, 5, 2], metrics=["rmse"]).values()["rmse"] ** 2
    0.5000000000000001
    """

    name: ClassVar[str] = "rmse"
    label: ClassVar[str] = "RMSE"
    higher_is_better: ClassVar[bool] = False

    def per_group(self, ratings: JudgedRatings) -> DoubleArray:
        """Return the root mean squared error of each group, shape (g,)."""
        root: DoubleArray = np.sqrt(ratings.mean(ratings.error**2))
        return root
