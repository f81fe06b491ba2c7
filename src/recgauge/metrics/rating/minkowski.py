"""Minkowski error: the family that MAE and RMSE belong to."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from recgauge.metrics.rating import JudgedRatings, RatingMetric
from recgauge.utils.checks import DoubleArray, check_choice, check_real

NORMALIZATIONS = ("mean", "sum")


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

    q: float = 3.0
    normalization: str = "mean"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_real("Minkowski: q", self.q, low=0.0, high=np.inf, low_open=True)
        check_choice("Minkowski: normalization", self.normalization, NORMALIZATIONS)

    def per_group(self, ratings: JudgedRatings) -> DoubleArray:
        """Return the Minkowski error of each group, shape (g,)."""
        # Relative to the largest error: a high power neither overflows nor vanishes.
        largest = np.maximum.reduceat(ratings.error, ratings.start[:-1])
        scale = np.where(largest > 0, largest, 1.0)
        powers = (ratings.error / scale[ratings.owner]) ** self.q
        inner = ratings.mean(powers) if self.normalization == "mean" else ratings.total(powers)
        distance: DoubleArray = scale * inner ** (1.0 / self.q)
        return distance
