"""Errors of predicted ratings: mean, median, squared, and of any power."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from recgauge.metrics.metric import number
from recgauge.metrics.rating import JudgedRatings, Pooled, RatingMetric
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

    def pooled(self, ratings: JudgedRatings) -> Pooled | None:
        """Return each group's sum of absolute errors."""
        return _parts(self, ratings, ratings.error)


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

    def pooled(self, ratings: JudgedRatings) -> Pooled | None:
        """Return each group's sum of squared errors."""
        return _parts(self, ratings, ratings.error**2)


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

    def pooled(self, ratings: JudgedRatings) -> Pooled | None:
        """Return each group's sum of squared errors."""
        return _parts(self, ratings, ratings.error**2, 0.5)


@dataclass(frozen=True)
class Minkowski(RatingMetric):
    r"""The power mean of absolute errors of order `q`: the larger `q`, the more large errors count.

    .. math::
        \left( \frac{1}{n} \sum_{(u, i)} |r_{ui} - \hat r_{ui}|^q \right)^{1/q}
        \qquad \text{or, with normalization=sum,} \qquad
        \left( \sum_{(u, i)} |r_{ui} - \hat r_{ui}|^q \right)^{1/q}

    Parameters
    ----------
    aggregate : {"pooled", "user"}, default "pooled"
        Over all rows, or for each user and then the mean over users.
    q : float, default 3.0
        Order, > 0; 1 gives MAE, 2 gives RMSE.
    normalization : {"mean", "sum"}, default "mean"
        Power mean, or the raw distance, which grows with the number of rows.

    Raises
    ------
    ConfigError
        If a parameter is unknown or out of range.

    Notes
    -----
    Range [0, inf), lower is better. Only the power mean has MAE and RMSE as special cases; the raw distance
    (SciPy's) is ``n ** (1 / q)`` times as large and cannot compare sets of different size.

    References
    ----------
    .. [1] P. S. Bullen, "Handbook of means and their inequalities", 2003, ch. III.

    Examples
    --------
    >>> from recgauge.evaluation.evaluate_ratings import evaluate_ratings
    >>> evaluate_ratings([4, 2], [2, 4], metrics={"m3": Minkowski(q=3)}).values()
    {'m3': 2.0}
    """

    name: ClassVar[str] = "minkowski"
    label: ClassVar[str] = "Minkowski"
    higher_is_better: ClassVar[bool] = False

    q: float = number(3.0, low=0.0, low_open=True)
    normalization: Literal["mean", "sum"] = "mean"

    def per_group(self, ratings: JudgedRatings) -> DoubleArray:
        """Return the Minkowski error of each group, shape (g,)."""
        # Relative to the largest error: a high power neither overflows nor vanishes.
        largest = np.maximum.reduceat(ratings.error, ratings.start[:-1])
        scale = np.where(largest > 0, largest, 1.0)
        powers = (ratings.error / scale[ratings.owner]) ** self.q
        inner = ratings.mean(powers) if self.normalization == "mean" else ratings.total(powers)
        distance: DoubleArray = scale * inner ** (1.0 / self.q)
        return distance


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


def pooled_metric(definition: str) -> RatingMetric | None:
    """Return the metric over all rows whose definition has this text, if users' parts of it can be told.

    Examples
    --------
    >>> pooled_metric("RMSE(aggregate=pooled)"), pooled_metric("RMSE(aggregate=user)")
    (RMSE(aggregate='pooled'), None)
    """
    known: tuple[RatingMetric, ...] = (MAE(), MSE(), RMSE())
    return next((metric for metric in known if metric.definition() == definition), None)


def _parts(
    metric: RatingMetric, ratings: JudgedRatings, powers: DoubleArray, exponent: float = 1.0
) -> Pooled | None:
    if metric.aggregate == "user":
        return None
    return Pooled(ratings.total(powers), ratings.counts.astype(np.float64), exponent)
