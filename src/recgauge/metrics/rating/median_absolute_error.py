"""Median of the absolute errors."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from recgauge.metrics.rating import JudgedRatings, RatingMetric
from recgauge.utils.checks import DoubleArray


@dataclass(frozen=True)
class MedianAbsoluteError(RatingMetric):
    r"""The error that half of the predictions stay below; outliers do not move it.

    .. math:: \mathrm{MedAE} = \operatorname{median}_{(u, i)} |r_{ui} - \hat r_{ui}|

    Parameters
    ----------
    aggregate : {"pooled", "user"}, default "pooled"
        Over all rows, or for each user and then the mean over users.

    Raises
    ------
    ConfigError
        If `aggregate` is unknown.

    Notes
    -----
    Range [0, inf), lower is better. The mean of the two middle errors of an even number of rows.

    References
    ----------
    .. [1] P. J. Rousseeuw, A. M. Leroy, "Robust regression and outlier detection", 1987, ch. 1.

    Examples
    --------
    >>> from recgauge.evaluation.evaluate_ratings import evaluate_ratings
    >>> evaluate_ratings([1, 2, 3, 4], [1, 1, 1, 1], metrics=["median_absolute_error"]).values()
    {'median_absolute_error': 1.5}
    """

    name: ClassVar[str] = "median_absolute_error"
    label: ClassVar[str] = "MedAE"
    higher_is_better: ClassVar[bool] = False

    def per_group(self, ratings: JudgedRatings) -> DoubleArray:
        """Return the median absolute error of each group, shape (g,)."""
        ordered = ratings.error[np.lexsort((ratings.error, ratings.owner))]
        first, counts = ratings.start[:-1], ratings.counts
        middle: DoubleArray = (ordered[first + (counts - 1) // 2] + ordered[first + counts // 2]) / 2.0
        return middle
