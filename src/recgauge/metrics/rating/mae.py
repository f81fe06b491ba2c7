"""Mean absolute error."""

from dataclasses import dataclass
from typing import ClassVar

from recgauge.metrics.rating import JudgedRatings, RatingMetric
from recgauge.utils.checks import DoubleArray


@dataclass(frozen=True)
class MAE(RatingMetric):
    r"""How far predictions are from the actual ratings, on average.

    .. math:: \mathrm{MAE} = \frac{1}{n} \sum_{(u, i)} |r_{ui} - \hat r_{ui}|

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
    Range [0, inf), lower is better; in units of the rating scale. Nearly all libraries pool; LensKit, and
    Cornac when asked, average over users.

    References
    ----------
    .. [1] J. L. Herlocker et al., "Evaluating collaborative filtering recommender systems", ACM TOIS 22(1),
       2004, section 4.

    Examples
    --------
    >>> from recgauge.evaluation.evaluate_ratings import evaluate_ratings
    >>> evaluate_ratings([4, 2, 5], [3, 2, 3], metrics=["mae"]).values()
    {'mae': 1.0}
    """

    name: ClassVar[str] = "mae"
    label: ClassVar[str] = "MAE"
    higher_is_better: ClassVar[bool] = False

    def per_group(self, ratings: JudgedRatings) -> DoubleArray:
        """Return the mean absolute error of each group, shape (g,)."""
        return ratings.mean(ratings.error)
