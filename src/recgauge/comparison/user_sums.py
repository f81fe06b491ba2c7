"""What values of users add up to: all that means, intervals and tests need, merged over parts."""

from dataclasses import dataclass
from math import inf
from typing import Self

from recgauge.utils.checks import DoubleArray
from recgauge.utils.exact import Moments


@dataclass(frozen=True, slots=True)
class UserSums:
    """Sums over users that depend neither on their order nor on the parts that they were taken of.

    Parameters
    ----------
    moments : Moments
        How many users, the sum of their values and of the squares, exact.
    least, greatest : float
    above, below : int
        Users whose value is above zero, and below.

    Examples
    --------
    >>> import numpy as np
    >>> values = np.array([0.5, 0.0, -0.25, 1.0])
    >>> UserSums.of(values[:1]) + UserSums.of(values[1:]) == UserSums.of(values)
    True
    """

    moments: Moments
    least: float
    greatest: float
    above: int
    below: int

    @classmethod
    def nobody(cls) -> Self:
        """Return the sums of no user."""
        return cls(Moments(0, 0, 0), inf, -inf, 0, 0)

    @classmethod
    def of(cls, values: DoubleArray) -> Self:
        """Return the sums of finite values, shape (n,)."""
        return cls(
            Moments.of(values),
            float(values.min(initial=inf)),
            float(values.max(initial=-inf)),
            int((values > 0).sum()),
            int((values < 0).sum()),
        )

    def __add__(self, other: Self) -> Self:
        """Return the sums of the users of both."""
        return type(self)(
            self.moments + other.moments,
            min(self.least, other.least),
            max(self.greatest, other.greatest),
            self.above + other.above,
            self.below + other.below,
        )

    def __neg__(self) -> Self:
        """Return the sums of the same values with the other sign."""
        moments = Moments(self.n_valued, -self.moments.total, self.moments.squares)
        return type(self)(moments, -self.greatest, -self.least, self.below, self.above)

    @property
    def n_valued(self) -> int:
        """How many users there are."""
        return self.moments.n

    @property
    def mean(self) -> float:
        """The mean of the values, NaN of nobody."""
        return self.moments.mean()

    @property
    def stderr(self) -> float:
        """The standard error of the mean; 0 of fewer than two users."""
        return self.moments.stderr() or 0.0

    @property
    def largest(self) -> float:
        """The largest absolute value, 0 of nobody."""
        return max(abs(self.least), abs(self.greatest)) if self.n_valued else 0.0
