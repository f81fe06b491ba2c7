"""How often each rating value was given, as a table to draw."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from recgauge.errors import SchemaError
from recgauge.utils.checks import DoubleArray, LongArray, read_only


@dataclass(frozen=True, slots=True, eq=False)
class RatingDistribution:
    """Counts of the distinct rating values.

    Parameters
    ----------
    values : ndarray of float64, shape (v,)
        Rising.
    counts : ndarray of int64, shape (v,)
    """

    values: DoubleArray
    counts: LongArray

    def __post_init__(self) -> None:
        for name in ("values", "counts"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def shares(self) -> DoubleArray:
        """Share of each value among all ratings, shape (v,); they add up to 1."""
        shares: DoubleArray = self.counts / self.counts.sum()
        return shares


def rating_distribution(values: npt.NDArray[np.floating]) -> RatingDistribution:
    """Count the ratings of each value.

    Parameters
    ----------
    values : ndarray of float, shape (n,)
        Ratings, such as ``interactions.value``.

    Returns
    -------
    RatingDistribution

    Raises
    ------
    SchemaError
        If there are no ratings, or one is not finite.

    Notes
    -----
    What recmetrics' rating_distribution_plot draws.

    Examples
    --------
    >>> table = rating_distribution(np.array([4.0, 3.5, 4.0, 1.0]))
    >>> table.values.tolist(), table.counts.tolist(), table.shares.tolist()
    ([1.0, 3.5, 4.0], [1, 1, 2], [0.25, 0.25, 0.5])
    """
    if len(values) == 0:
        raise SchemaError("rating_distribution: values must hold ratings, got none.")
    if not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values))[0])
        raise SchemaError(f"rating_distribution: values must be finite, got {values[row]} in row {row}.")
    distinct, counts = np.unique(values, return_counts=True)
    return RatingDistribution(distinct.astype(np.float64), counts.astype(np.int64))
