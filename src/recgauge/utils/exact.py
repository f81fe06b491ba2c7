"""Sums of float64 that no order of terms and no partition changes: exact, as whole numbers of a tiny unit."""

from dataclasses import dataclass
from math import frexp, isfinite, ldexp, sqrt
from typing import Self

import numpy as np

from recgauge.utils.checks import DoubleArray

UNIT_BITS = 1074
"""Every finite float64 is a whole number of 2**-1074; products of two are such of 2**-2148."""
LIMBS = 140
"""Float64 numbers that hold any sum of 2**40 products."""

_LIMB_BITS = 32
_CHUNK = 1 << 13  # of which BLAS takes the product on one thread
_SLICE_BITS = 19  # products of two slices have 38 bits, and the sum of a chunk of them 51: float64 holds it


def exact_sum(values: DoubleArray) -> int:
    """Return the sum of finite numbers, in units of 2**-1074.

    Examples
    --------
    >>> to_float(exact_sum(np.array([1e100, 1.0, -1e100])))
    1.0
    """
    return Moments.of(values, squares=False).total


def exact_dot(first: DoubleArray, second: DoubleArray) -> int:
    """Return the sum of products of finite numbers, in units of 2**-2148.

    Examples
    --------
    >>> to_float(exact_dot(np.array([0.5, 3.0]), np.array([4.0, -1.0])), products=True)
    -1.0
    """
    chunks = (slice(i, i + _CHUNK) for i in range(0, len(first), _CHUNK))
    return sum(_products(_slices(first[rows]), _slices(second[rows])) for rows in chunks)


Slices = list[tuple[int, DoubleArray]]


def _slices(values: DoubleArray) -> Slices:
    """Return whole numbers of 19 bits, each with its unit's exponent, that add up to the values."""
    slices: Slices = []
    rest = values
    while len(rest) and (largest := max(float(rest.max()), -float(rest.min()))) != 0.0:
        if not isfinite(largest):
            raise ValueError("exact sums need finite numbers")
        unit = max(frexp(largest)[1] - _SLICE_BITS, -UNIT_BITS)
        if abs(unit) > 900:  # whose power of two, or its inverse, is no float64
            whole = np.trunc(np.ldexp(rest, -unit))
            rest = rest - np.ldexp(whole, unit)
        else:
            whole = rest * ldexp(1.0, -unit)
            np.trunc(whole, out=whole)
            rest = rest - whole * ldexp(1.0, unit)
        slices.append((unit, whole))
    return slices


def _products(first: Slices, second: Slices) -> int:
    return sum(int(a @ b) << (2 * UNIT_BITS + x + y) for x, a in first for y, b in second)


def to_float(total: int, *, products: bool = False, count: int = 1) -> float:
    """Return a total, or its share of `count`, as the nearest float64."""
    return total / (count << (2 * UNIT_BITS if products else UNIT_BITS))


def to_limbs(total: int) -> DoubleArray:
    """Return a total as `LIMBS` numbers that may be added: a million such sums stay exact.

    Examples
    --------
    >>> from_limbs(to_limbs(7 << 50) + to_limbs(-(1 << 200))) == (7 << 50) - (1 << 200)
    True
    """
    sign, digits = (-1.0 if total < 0 else 1.0), abs(total).to_bytes(LIMBS * _LIMB_BITS // 8, "little")
    return sign * np.frombuffer(digits, "<u4").astype(np.float64)


def from_limbs(limbs: DoubleArray) -> int:
    """Return the total that limbs, or sums of limbs, stand for."""
    return sum(int(limb) << (_LIMB_BITS * place) for place, limb in enumerate(limbs.tolist()) if limb)


@dataclass(frozen=True, slots=True)
class Moments:
    """How many numbers there are, their sum and that of their squares, exact: merged by adding."""

    n: int
    total: int
    squares: int

    @classmethod
    def of(cls, values: DoubleArray, *, squares: bool = True) -> Self:
        """Sum finite numbers, shape (n,); without `squares` these are 0."""
        total = total_squares = 0
        for i in range(0, len(values), _CHUNK):
            slices = _slices(values[i : i + _CHUNK])
            total += sum(int(whole.sum()) << (UNIT_BITS + unit) for unit, whole in slices)
            total_squares += _products(slices, slices) if squares else 0
        return cls(len(values), total, total_squares)

    def __add__(self, other: Self) -> Self:
        """Return the moments of both."""
        return type(self)(self.n + other.n, self.total + other.total, self.squares + other.squares)

    def mean(self) -> float:
        """Return the mean, NaN of nothing."""
        return to_float(self.total, count=self.n) if self.n else float("nan")

    def stderr(self) -> float | None:
        """Return the standard error of the mean, None for fewer than two numbers."""
        if self.n < 2:
            return None
        spread = self.n * self.squares - self.total**2
        return sqrt(to_float(spread, products=True, count=self.n**2 * (self.n - 1)))
