"""The contract of rating metrics, and the rows they measure: actual next to predicted, by user."""

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np

from recgauge.metrics.metric import Kind, Metric
from recgauge.utils.checks import DoubleArray, LongArray


@dataclass(frozen=True, eq=False)
class JudgedRatings:
    """Actual and predicted ratings, the rows of each group back to back.

    Parameters
    ----------
    actual, predicted : ndarray of float64, shape (n,)
        Finite.
    start : ndarray of int64, shape (g + 1,)
        Group j's rows are at ``start[j]:start[j + 1]``; no group is empty. A group is a user.

    Examples
    --------
    >>> ratings = JudgedRatings.by_user(
    ...     np.array([4.0, 2.0, 5.0]), np.array([3.0, 2.0, 4.5]), np.array([1, 0, 1])
    ... )
    >>> ratings.actual.tolist(), ratings.start.tolist()
    ([2.0, 4.0, 5.0], [0, 1, 3])
    """

    actual: DoubleArray
    predicted: DoubleArray
    start: LongArray

    @classmethod
    def by_user(cls, actual: DoubleArray, predicted: DoubleArray, owner: LongArray) -> "JudgedRatings":
        """Sort rows by user.

        Parameters
        ----------
        actual, predicted : ndarray of float64, shape (n,)
        owner : ndarray of int, shape (n,)
            The user of each row, from 0 without gaps.
        """
        order = np.argsort(owner, kind="stable")
        start = np.concatenate(([0], np.cumsum(np.bincount(owner)))).astype(np.int64)
        return cls(actual[order], predicted[order], start)

    def pooled(self) -> "JudgedRatings":
        """Return the same rows as one group."""
        return JudgedRatings(self.actual, self.predicted, np.array([0, len(self.actual)]))

    @property
    def counts(self) -> LongArray:
        """Rows of each group, shape (g,)."""
        return np.diff(self.start)

    @cached_property
    def owner(self) -> LongArray:
        """Group of each row, shape (n,)."""
        return np.repeat(np.arange(len(self.start) - 1), self.counts)

    @cached_property
    def error(self) -> DoubleArray:
        """Absolute errors, shape (n,)."""
        distance: DoubleArray = np.abs(self.actual - self.predicted)
        return distance

    def total(self, weight: DoubleArray) -> DoubleArray:
        """Sum `weight` (n,) over each group's rows, shape (g,)."""
        sums: DoubleArray = np.add.reduceat(weight, self.start[:-1])
        return sums

    def mean(self, weight: DoubleArray) -> DoubleArray:
        """Average `weight` (n,) over each group's rows, shape (g,)."""
        return self.total(weight) / self.counts


@dataclass(frozen=True, slots=True, eq=False)
class Pooled:
    """A metric over all rows, as what each user adds to it: ``(sums.sum() / counts.sum()) ** exponent``.

    Parameters
    ----------
    sums, counts : ndarray of float64, shape (..., m)
        Sums over the rows of each user, and numbers of rows.
    exponent : float

    Examples
    --------
    >>> Pooled(np.array([8.0, 1.0]), np.array([2.0, 2.0]), 0.5).value().tolist()
    1.5
    """

    sums: DoubleArray
    counts: DoubleArray
    exponent: float = 1.0

    def value(self) -> DoubleArray:
        """Return the metric over all rows of all users, shape (...)."""
        value: DoubleArray = (self.sums.sum(axis=-1) / self.counts.sum(axis=-1)) ** self.exponent
        return value

    def per_user(self) -> DoubleArray:
        """Return the metric over the rows of each user, NaN without a row, shape (..., m)."""
        rows = np.where(self.counts > 0, self.counts, np.nan)
        values: DoubleArray = (self.sums / rows) ** self.exponent
        return values


@dataclass(frozen=True)
class RatingMetric(Metric):
    """A metric of actual and predicted ratings.

    Parameters
    ----------
    aggregate : {"pooled", "user"}, default "pooled"
        Over all rows at once, so that a user counts by the number of rows; or for each user, then the mean
        over the users for whom it is defined.

    Raises
    ------
    ConfigError
        If a parameter is unknown or out of range.
    """

    kind: ClassVar[Kind] = "ratings"
    needs_users: ClassVar[bool] = False
    """True: the metric compares rows of one user even when it pools."""

    aggregate: Literal["pooled", "user"] = "pooled"

    @abstractmethod
    def per_group(self, ratings: JudgedRatings) -> DoubleArray:
        """Return one value a group, NaN where undefined.

        Parameters
        ----------
        ratings : JudgedRatings
            Rows of g groups.

        Returns
        -------
        ndarray of float64, shape (g,)
        """

    def pooled(self, ratings: JudgedRatings) -> Pooled | None:  # noqa: ARG002 -- for those that have one
        """Return what each group adds to the value over all rows; None where it is no ratio of sums."""
        return None

    def value(self, ratings: JudgedRatings) -> float:
        """Return the value over all rows, or the mean over users; NaN if undefined for all."""
        if self.aggregate != "user":
            return float(self.per_group(ratings.pooled())[0])
        per_user = self.per_group(ratings)
        defined = per_user[~np.isnan(per_user)]
        return float(defined.mean()) if len(defined) else float("nan")
