"""Precision, recall and F1 of ratings cut into liked and not liked, averaged over these two labels."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from recgauge.metrics.classes import ClassFScore, ClassMetric, ClassPrecision, ClassRecall
from recgauge.metrics.metric import divide
from recgauge.metrics.rating import JudgedRatings, RatingMetric
from recgauge.utils.checks import DoubleArray, check_real

SCORES: dict[str, ClassMetric] = {
    "precision": ClassPrecision(),
    "recall": ClassRecall(),
    "f1": ClassFScore(),
}


@dataclass(frozen=True)
class LikedScore(RatingMetric):
    r"""Precision, recall or F1 of the labels liked and not liked, from ratings and a threshold.

    .. math::
        P_c = \frac{|\{c(\hat r) = c(r) = c\}|}{|\{c(\hat r) = c\}|}, \quad
        R_c = \frac{|\{c(\hat r) = c(r) = c\}|}{|\{c(r) = c\}|}, \quad
        c(x) = [x \ge t]

    Parameters
    ----------
    aggregate : {"pooled", "user"}, default "pooled"
        Over all rows, or for each user and then the mean over users.
    score : {"precision", "recall", "f1"}, default "f1"
        Of each label.
    average : {"macro", "micro", "weighted", "binary"}, default "macro"
        ``macro``: the plain mean over the labels that occur; ``micro``: from the counts of both together,
        which is accuracy; ``weighted``: weighted by the actual rows of each; ``binary``: of liked alone.
    liked_from : float, default 4.0
        The lowest rating, actual or predicted, that is liked: the t of the formula.

    Raises
    ------
    ConfigError
        If a parameter is unknown or not finite.

    Notes
    -----
    Range [0, 1], higher is better; 0 where it divides by nothing, as where no rating is predicted as liked.
    Says nothing about the order of lists: only rows with an actual rating count.

    The averages are scikit-learn's. ``aggregate="user", average="binary"`` is its ``samples``: a user is a
    row with several labels, the liked items.

    References
    ----------
    .. [1] M. Sokolova, G. Lapalme, "A systematic analysis of performance measures for classification tasks",
       Information Processing and Management 45(4), 2009.
    .. [2] J. L. Herlocker et al., "Evaluating collaborative filtering recommender systems", ACM TOIS 22(1),
       2004, section 4.2.

    Examples
    --------
    Two of three predicted as liked are; all that are liked are found:

    >>> from recgauge.evaluation.evaluate_ratings import evaluate_ratings
    >>> metric = LikedScore(score="precision", average="binary")
    >>> evaluate_ratings([5, 4, 3, 1], [4, 4.5, 4, 2], metrics={"precision": metric}).values()
    {'precision': 0.6666666666666666}
    """

    name: ClassVar[str] = "liked_score"
    label: ClassVar[str] = "LikedScore"

    score: Literal["precision", "recall", "f1"] = "f1"
    average: Literal["macro", "micro", "weighted", "binary"] = "macro"
    liked_from: float = 4.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_real("LikedScore: liked_from", self.liked_from, low=-np.inf, high=np.inf)

    def per_group(self, ratings: JudgedRatings) -> DoubleArray:
        """Return the score of each group, shape (g,)."""
        is_liked, as_liked = ratings.actual >= self.liked_from, ratings.predicted >= self.liked_from
        rows = ratings.counts
        hits, right, predicted, actual = (
            ratings.total(flags.astype(np.float64)).astype(np.int64)
            for flags in (is_liked & as_liked, is_liked == as_liked, as_liked, is_liked)
        )
        ratio = SCORES[self.score].ratio
        if self.average == "micro":
            return ratio(right, rows, rows)
        liked = ratio(hits, predicted, actual)
        if self.average == "binary":
            return liked
        other = ratio(right - hits, rows - predicted, rows - actual)
        weight, of_other = actual.astype(np.float64), (rows - actual).astype(np.float64)
        if self.average == "macro":
            weight = (predicted + actual > 0).astype(np.float64)
            of_other = (predicted + actual < 2 * rows).astype(np.float64)
        return divide(liked * weight + other * of_other, weight + of_other)
