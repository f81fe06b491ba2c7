"""Fraction of concordant pairs."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from recgauge.metrics.denominators import divide
from recgauge.metrics.rating import JudgedRatings, RatingMetric
from recgauge.metrics.rating.pairs import count_pairs
from recgauge.utils.checks import DoubleArray, check_choice

AGGREGATES = ("pooled", "user", "counted_users")


@dataclass(frozen=True)
class ConcordantPairs(RatingMetric):
    r"""The share of a user's pairs of differently rated items that predictions put in the right order.

    .. math:: \mathrm{FCP} = \frac{n_c}{n_c + n_d}

    with n_c pairs in the right order and n_d pairs in the wrong order or predicted as equal.

    Parameters
    ----------
    aggregate : {"pooled", "user", "counted_users"}, default "pooled"
        ``pooled``: pairs of all users are added, then divided; ``user``: the share of each user, then the
        mean; ``counted_users``: Surprise's, with n_c the mean over the users that have a concordant pair and
        n_d the mean over those that have another one, which are not the same users.

    Raises
    ------
    ConfigError
        If `aggregate` is unknown.

    Notes
    -----
    Range [0, 1], higher is better; .5 for chance without ties. Pairs are always within a user. Undefined
    (NaN) for a user without two different ratings.

    References
    ----------
    .. [1] Y. Koren, J. Sill, "Collaborative filtering on ordinal user feedback", IJCAI 2013.

    Examples
    --------
    >>> from recgauge.evaluation.evaluate_ratings import evaluate_ratings
    >>> users = ["ann", "ann", "ann", "bob", "bob"]
    >>> evaluate_ratings([1, 2, 3, 5, 4], [1, 3, 2, 4, 4], users=users, metrics=["fcp"]).values()
    {'fcp': 0.5}
    """

    name: ClassVar[str] = "fcp"
    label: ClassVar[str] = "FCP"
    needs_users: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_choice("ConcordantPairs: aggregate", self.aggregate, AGGREGATES)

    def per_group(self, ratings: JudgedRatings) -> DoubleArray:
        """Return the share of each group, shape (g,); NaN without a pair of different ratings."""
        concordant, others = _concordant_and_others(ratings)
        return divide(concordant, concordant + others, empty=np.nan)

    def value(self, ratings: JudgedRatings) -> float:
        """Return the value as `aggregate` says; NaN if no user has two different ratings."""
        if self.aggregate == "user":
            return super().value(ratings)
        concordant, others = _concordant_and_others(ratings)
        if self.aggregate == "counted_users":
            right, wrong = _mean_of_positive(concordant), _mean_of_positive(others)
        else:
            right, wrong = float(concordant.sum()), float(others.sum())
        return right / (right + wrong) if right + wrong else float("nan")


def _concordant_and_others(ratings: JudgedRatings) -> tuple[DoubleArray, DoubleArray]:
    pairs = count_pairs(ratings)
    others = pairs.discordant + pairs.tied_predicted - pairs.tied_both
    return pairs.concordant.astype(np.float64), others.astype(np.float64)


def _mean_of_positive(counts: DoubleArray) -> float:
    return float(counts[counts > 0].mean()) if (counts > 0).any() else 0.0
