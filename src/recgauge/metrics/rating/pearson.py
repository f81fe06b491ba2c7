"""Pearson correlation of actual and predicted ratings."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from recgauge.metrics.denominators import divide
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
    # Told by the values themselves: deviations of equal values from their rounded mean need not be 0.
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
