"""Coefficient of determination."""

from dataclasses import dataclass
from typing import ClassVar

from recgauge.metrics.denominators import divide
from recgauge.metrics.rating import JudgedRatings, RatingMetric
from recgauge.metrics.rating.pearson import varies
from recgauge.utils.checks import DoubleArray


@dataclass(frozen=True)
class RSquared(RatingMetric):
    r"""The share of the ratings' variance that the predictions explain.

    .. math:: R^2 = 1 - \frac{\sum (r_{ui} - \hat r_{ui})^2}{\sum (r_{ui} - \bar r)^2}

    Parameters
    ----------
    aggregate : {"pooled", "user"}, default "pooled"
        Over all rows, with one mean rating; or for each user around the user's own mean, then over users.

    Raises
    ------
    ConfigError
        If `aggregate` is unknown.

    Notes
    -----
    Range (-inf, 1], higher is better; 0 for predicting the mean of the very rows that are judged. Undefined
    (NaN) if all actual ratings are equal, as for one row; scikit-learn gives 1 or 0 there from two rows on.

    References
    ----------
    .. [1] N. R. Draper, H. Smith, "Applied regression analysis", 3rd ed., 1998, ch. 1.

    Examples
    --------
    >>> from recgauge.evaluation.evaluate_ratings import evaluate_ratings
    >>> evaluate_ratings([1, 2, 3], [1, 2, 2], metrics=["r2"]).values()
    {'r2': 0.5}
    """

    name: ClassVar[str] = "r2"
    label: ClassVar[str] = "R2"

    def per_group(self, ratings: JudgedRatings) -> DoubleArray:
        """Return the coefficient of each group, shape (g,); NaN for equal ratings."""
        spread = ratings.total((ratings.actual - ratings.mean(ratings.actual)[ratings.owner]) ** 2)
        unexplained = ratings.total(ratings.error**2)
        spread[~varies(ratings.actual, ratings)] = 0.0
        return 1.0 - divide(unexplained, spread, empty=float("nan"))
