"""Mean squared error."""

from dataclasses import dataclass
from typing import ClassVar

from recgauge.metrics.rating import JudgedRatings, RatingMetric
from recgauge.utils.checks import DoubleArray


@dataclass(frozen=True)
class MSE(RatingMetric):
    r"""The mean of squared errors: one large error weighs more than several small ones.

    .. math:: \mathrm{MSE} = \frac{1}{n} \sum_{(u, i)} (r_{ui} - \hat r_{ui})^2

    Parameters
    ----------
    aggregate : {"pooled", "user"}, default "pooled"
        Mean over all rows, or for each user and then over users.

    Raises
    ------
    ConfigError
        If `aggregate` is unknown.

    Notes
    -----
    Range [0, inf), lower is better; in squared units of the rating scale.

    References
    ----------
    .. [1] J. L. Herlocker et al., "Evaluating collaborative filtering recommender systems", ACM TOIS 22(1),
       2004, section 4.

    Examples
    --------
    >>> from recgauge.evaluation.evaluate_ratings import evaluate_ratings
    >>> evaluate_ratings([4, 2], [3, 2], metrics=["mse"]).values()
    {'mse': 0.5}
    """

    name: ClassVar[str] = "mse"
    label: ClassVar[str] = "MSE"
    higher_is_better: ClassVar[bool] = False

    def per_group(self, ratings: JudgedRatings) -> DoubleArray:
        """Return the mean squared error of each group, shape (g,)."""
        return ratings.mean(ratings.error**2)
