"""Spearman's rank correlation of actual and predicted ratings."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from recgauge.metrics.rating import JudgedRatings, RatingMetric
from recgauge.metrics.rating.pearson import correlate
from recgauge.utils.checks import DoubleArray


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
