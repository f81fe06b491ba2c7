"""How predicted ratings follow the actual ones: correlations and the coefficient of determination."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from recgauge.metrics.metric import divide
from recgauge.metrics.rating import JudgedRatings, RatingMetric
from recgauge.utils.checks import BoolArray, DoubleArray


@dataclass(frozen=True)
class Pearson(RatingMetric):
    r"""How linearly predictions follow the actual ratings, whatever their level and spread.

    .. math::
        \rho = \frac{\sum (r - \bar r)(\hat r - \bar{\hat r})}
        {\sqrt{\sum (r - \bar r)^2} \sqrt{\sum (\hat r - \bar{\hat r})^2}}

    Parameters
    ----------
    aggregate : {"pooled", "user"}, default "pooled"
        Over all rows, or for each user and then the mean over users for whom it is defined.

    Raises
    ------
    ConfigError
        If `aggregate` is unknown.

    Notes
    -----
    Range [-1, 1], higher is better. Undefined (NaN) if the actual or the predicted ratings are all equal,
    so also for one row; such users are left out of the mean and counted.

    References
    ----------
    .. [1] J. L. Herlocker et al., "Evaluating collaborative filtering recommender systems", ACM TOIS 22(1),
       2004, section 4.

    Examples
    --------
    >>> from recgauge.evaluation.evaluate_ratings import evaluate_ratings
    >>> evaluate_ratings([1, 2, 3], [3, 2, 1], metrics=["pearson"]).values()
    {'pearson': -1.0}
    """

    name: ClassVar[str] = "pearson"
    label: ClassVar[str] = "Pearson"

    def per_group(self, ratings: JudgedRatings) -> DoubleArray:
        """Return the correlation of each group, shape (g,); NaN where undefined."""
        return correlate(ratings.actual, ratings.predicted, ratings)


def correlate(x: DoubleArray, y: DoubleArray, groups: JudgedRatings) -> DoubleArray:
    """Return Pearson's coefficient of `x` and `y`, both (n,), in each group, shape (g,)."""
    x, y = _deviations(x, groups), _deviations(y, groups)
    norms = np.sqrt(groups.total(x * x) * groups.total(y * y))
    # Judged by the values themselves: deviations of equal values from their rounded mean need not be 0.
    norms[~(varies(groups.actual, groups) & varies(groups.predicted, groups))] = 0.0
    return np.clip(divide(groups.total(x * y), norms, empty=np.nan), -1.0, 1.0)


def _deviations(values: DoubleArray, groups: JudgedRatings) -> DoubleArray:
    """Return deviations from the group's mean, the largest being 1, so that squares stay in range."""
    deviations = values - groups.mean(values)[groups.owner]
    largest = np.maximum.reduceat(np.abs(deviations), groups.start[:-1])
    scaled: DoubleArray = deviations / np.where(largest > 0, largest, 1.0)[groups.owner]
    return scaled


def varies(values: DoubleArray, groups: JudgedRatings) -> BoolArray:
    """Return whether a group has two different `values`, shape (g,)."""
    first = groups.start[:-1]
    different: BoolArray = np.minimum.reduceat(values, first) < np.maximum.reduceat(values, first)
    return different


@dataclass(frozen=True)
class Spearman(RatingMetric):
    r"""How well predictions put ratings in order: Pearson's coefficient of the ranks.

    .. math:: \rho_s = \rho(\operatorname{rank}(r), \operatorname{rank}(\hat r))

    Parameters
    ----------
    aggregate : {"pooled", "user"}, default "pooled"
        Over all rows, or for each user and then the mean over users for whom it is defined.

    Raises
    ------
    ConfigError
        If `aggregate` is unknown.

    Notes
    -----
    Range [-1, 1], higher is better. Equal values share the mean of their ranks. Undefined (NaN) if the
    actual or the predicted ratings are all equal; such users are left out of the mean and counted.

    References
    ----------
    .. [1] C. Spearman, "The proof and measurement of association between two things", American Journal of
       Psychology 15(1), 1904.

    Examples
    --------
    >>> from recgauge.evaluation.evaluate_ratings import evaluate_ratings
    >>> evaluate_ratings([1, 2, 4], [0.1, 2.2, 2.3], metrics=["spearman"]).values()
    {'spearman': 1.0}
    """

    name: ClassVar[str] = "spearman"
    label: ClassVar[str] = "Spearman"

    def per_group(self, ratings: JudgedRatings) -> DoubleArray:
        """Return the rank correlation of each group, shape (g,); NaN where undefined."""
        actual, predicted = average_ranks(ratings.actual, ratings), average_ranks(ratings.predicted, ratings)
        return correlate(actual, predicted, ratings)


def average_ranks(values: DoubleArray, groups: JudgedRatings) -> DoubleArray:
    """Return each row's rank among its group's rows, equal values sharing their mean rank; shape (n,)."""
    order = np.lexsort((values, groups.owner))
    sorted_values, owner = values[order], groups.owner[order]
    opens = np.ones(len(values), dtype=np.bool_)
    opens[1:] = (sorted_values[1:] != sorted_values[:-1]) | (owner[1:] != owner[:-1])
    first = np.flatnonzero(opens)
    last = np.append(first[1:], len(values)) - 1
    tie = np.cumsum(opens) - 1
    ranks = np.empty(len(values))
    ranks[order] = (first + last)[tie] / 2.0 + 1.0 - groups.start[owner]
    return ranks


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
