"""Sums of users' values, tests of their differences, corrections for many of them, and letters."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from math import ceil, copysign, inf, isfinite, sqrt
from string import ascii_lowercase
from typing import Self

import numpy as np
import numpy.typing as npt

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
        """The mean of the values, NaN of no users."""
        return self.moments.mean()

    @property
    def stderr(self) -> float:
        """The standard error of the mean; 0 of fewer than two users."""
        return self.moments.stderr() or 0.0

    @property
    def largest(self) -> float:
        """The largest absolute value, 0 of no users."""
        return max(abs(self.least), abs(self.greatest)) if self.n_valued else 0.0


def paired_t(differences: DoubleArray) -> float:
    """Return the two-sided p-value of Student's paired t-test, differences (m,) given.

    Examples
    --------
    >>> round(paired_t(np.array([1.0, 2.0, 3.0])), 4)
    0.0742
    """
    stderr = float(differences.std(ddof=1) / np.sqrt(len(differences)))
    return two_sided_t(float(differences.mean()), stderr, len(differences) - 1)


def corrected_resampled_t(differences: DoubleArray) -> float:
    """Return the two-sided p-value of the corrected resampled t-test, of differences over n folds.

    Training parts overlap, so the differences vary less than those of new data would. Their variance is
    multiplied by ``1 / n + share / (1 - share)`` instead of ``1 / n``, with the share ``1 / n`` of the rows
    in each test part.

    References
    ----------
    .. [1] C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine Learning 52(3), 2003.

    Examples
    --------
    >>> round(corrected_resampled_t(np.array([0.01, 0.02, 0.03])), 3)
    0.16
    """
    n, share = len(differences), 1 / len(differences)
    inflated = 1 / n + share / (1 - share)
    stderr = float(differences.std(ddof=1) * np.sqrt(inflated))
    return two_sided_t(float(differences.mean()), stderr, n - 1)


def wilcoxon(differences: DoubleArray) -> float:
    """Return the two-sided p-value of Wilcoxon's signed-rank test; zeros are left out.

    Examples
    --------
    >>> wilcoxon(np.array([1.0, 2.0, 3.0, 4.0, 0.0]))
    0.125
    """
    from scipy import stats

    kept = differences[differences != 0]
    return float(stats.wilcoxon(kept).pvalue) if len(kept) else 1.0


def sign_test(differences: DoubleArray) -> float:
    """Return the two-sided p-value of the sign test; zeros are left out.

    Examples
    --------
    >>> sign_test(np.array([1.0, 2.0, 3.0, 4.0, 0.0]))
    0.125
    """
    from scipy import stats

    n = int((differences != 0).sum())
    return float(stats.binomtest(int((differences > 0).sum()), n).pvalue) if n else 1.0


def t_above(mean: float, stderr: float, n: int, skewness: float = 0.0) -> float:
    """Return the one-sided p-value that a mean of n values is above zero: Student's t, its skewness removed.

    One-sided tests of skewed values are wrong in the first order of ``skewness / sqrt(n)``, which Hall's
    transformation of t removes; without skewness (the third central moment over the cube of the standard
    deviation) it is Student's test. Values that are all equal have no t; the p-value is then that all n
    random signs are the same.

    References
    ----------
    .. [1] P. Hall, "On the removal of skewness by transformation", Journal of the Royal Statistical Society B
       54(1), 1992.

    Examples
    --------
    >>> round(t_above(0.02, 0.01, 100), 4), round(t_above(-0.02, 0.01, 100), 4), t_above(0.5, 0.0, 10)
    (0.0241, 0.9759, 0.0009765625)
    >>> round(t_above(0.02, 0.01, 100, skewness=2.0), 4)
    0.0114
    """
    from scipy.special import stdtr

    if n < 2:
        return 1.0
    if stderr == 0:
        return 0.5**n if mean > 0 else 1.0
    t, a = mean / stderr, skewness / (3 * sqrt(n))
    return float(stdtr(n - 1, -(t + a * t**2 + a**2 * t**3 / 3 + a / 2)))


def t_bound(mean: float, stderr: float, n: int, level: float, skewness: float = 0.0) -> float:
    """Return the value that a mean of n values is above, at a one-sided level: the inverse of `t_above`.

    Examples
    --------
    >>> round(t_bound(0.02, 0.01, 100, level=0.05), 5), round(t_bound(0.02, 0.01, 100, 0.05, 2.0), 5)
    (0.0034, 0.00523)
    """
    a = skewness / (3 * sqrt(n))
    z = student_quantile(1 - level, n - 1) - a / 2
    cubed = 1 + 3 * a * z
    return mean - stderr * (z if abs(a) < _SYMMETRIC else (copysign(abs(cubed) ** (1 / 3), cubed) - 1) / a)


def detectable_difference(stderr: float, n: float, critical: float, power: float = 0.8) -> float | None:
    """Return the smallest true difference that n users would show with this power, None if none can be shown.

    `stderr` is of their mean difference; from a t of `critical` on there is a difference.

    Examples
    --------
    >>> round(detectable_difference(0.01, 100, student_quantile(0.975, 99)), 4)
    0.0283
    """
    errors = critical + student_quantile(power, n - 1)
    return errors * stderr if isfinite(errors) else None


def users_to_show(difference: float, detectable: float | None, n: int) -> int | None:
    """Return how many users would show a true difference if n would show one of `detectable`.

    Examples
    --------
    >>> users_to_show(0.01, 0.02, 1000)
    4000
    """
    if detectable is None or not difference:
        return None
    return max(2, ceil(n * (detectable / difference) ** 2))


def student_quantile(share: float, degrees: float) -> float:
    """Return a quantile of Student's t.

    Examples
    --------
    >>> round(student_quantile(0.975, 9), 3)
    2.262
    """
    from scipy.special import stdtrit

    return float(stdtrit(degrees, share))


def two_sided_t(mean: float, stderr: float, degrees: float) -> float:
    """Return the two-sided p-value of Student's t-test of a mean.

    Examples
    --------
    >>> round(two_sided_t(2.0, 1 / 3**0.5, 2), 4)
    0.0742
    """
    from scipy.special import stdtr

    if stderr == 0:
        return 1.0 if mean == 0 else 0.0
    return float(2 * stdtr(degrees, -abs(mean) / stderr))


_MOST_LETTERS = 100
_SYMMETRIC = 1e-6  # below it the cube root would lose digits, and changes none that counts


def holm(p: npt.ArrayLike) -> DoubleArray:
    """Return p-values corrected so that the chance of any false finding is bounded.

    References
    ----------
    .. [1] S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
       Statistics 6(2), 1979.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p, np.float64)
    order = np.argsort(values, kind="stable")
    scaled = values[order] * np.arange(len(values), 0, -1)
    return _placed(np.minimum(np.maximum.accumulate(scaled), 1.0), order)


def hochberg(p: npt.ArrayLike) -> DoubleArray:
    """Return p-values corrected so that the chance of any false finding is bounded; the largest one stays.

    Steps up where Holm's method steps down, so it finds as much or more. The bound holds for independent and
    for positively dependent one-sided tests (Simes' inequality), and nearly for others.

    References
    ----------
    .. [1] Y. Hochberg, "A sharper Bonferroni procedure for multiple tests of significance", Biometrika 75(4),
       1988.

    Examples
    --------
    >>> hochberg([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.04, 0.04]
    """
    values = np.asarray(p, np.float64)
    order = np.argsort(values, kind="stable")
    scaled = values[order] * np.arange(len(values), 0, -1)
    return _placed(np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0), order)


def benjamini_hochberg(p: npt.ArrayLike) -> DoubleArray:
    """Return p-values corrected so that the expected share of false findings is bounded.

    Holds for independent and for positively dependent tests; differences of all pairs are not always that.

    References
    ----------
    .. [1] Y. Benjamini, Y. Hochberg, "Controlling the false discovery rate", Journal of the Royal Statistical
       Society B 57(1), 1995.

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.04, 0.04]
    """
    values = np.asarray(p, np.float64)
    order = np.argsort(values, kind="stable")
    scaled = values[order] * len(values) / np.arange(1, len(values) + 1)
    return _placed(np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0), order)


def max_t(
    observed: DoubleArray,
    resampled: DoubleArray | Iterable[DoubleArray],
    *,
    exact: bool = False,
    tolerance: float | DoubleArray = 0.0,
) -> tuple[DoubleArray, DoubleArray]:
    """Return p-values corrected by the distribution of the largest statistic, step by step down.

    The largest observed statistic is compared with the largest of every resample, the next with the largest
    of the others, and so on. Tests that depend on each other, as those of all pairs do, are corrected less
    than by Holm's method.

    `observed`, (n,), are large where there is a difference, on one scale; `resampled`, (n_resamples, n) or
    blocks of these, the same under the null hypothesis, of which `exact` has every possible case. What is
    less by `tolerance` counts as equal: what rounding may do. Also returned: the largest statistic of every
    resample.

    References
    ----------
    .. [1] P. H. Westfall, S. S. Young, "Resampling-Based Multiple Testing", 1993, algorithm 4.1.

    Examples
    --------
    >>> p, largest = max_t(np.array([3.0, 1.0]), np.array([[1.0, 2.0], [0.5, 0.1], [0.2, 4.0]]))
    >>> p.tolist(), largest.tolist()
    ([0.5, 0.75], [2.0, 0.5, 4.0])
    """
    order = np.argsort(-observed, kind="stable")
    least = (observed - tolerance)[order]
    n_larger, first = np.zeros(len(observed), np.int64), []
    for block in [resampled] if isinstance(resampled, np.ndarray) else resampled:
        largest = np.maximum.accumulate(block[:, order[::-1]], axis=1)[:, ::-1]
        n_larger += (largest >= least).sum(axis=0)
        first.append(largest[:, 0].copy())
    n_observed, of_all = 0 if exact else 1, np.concatenate(first)
    p = (n_larger + n_observed) / (len(of_all) + n_observed)
    return _placed(np.maximum.accumulate(p), order), of_all


def compact_letters(n: int, different: Collection[tuple[int, int]]) -> list[str] | None:
    """Return letters for n runs, in their order: two share one exactly if they are not shown to differ.

    None where it takes more than 100 letters.

    References
    ----------
    .. [1] H.-P. Piepho, "An algorithm for a letter-based representation of all-pairwise comparisons", Journal
       of Computational and Graphical Statistics 13(2), 2004 (insert and absorb).

    Examples
    --------
    >>> compact_letters(3, [(0, 2)])
    ['a', 'ab', 'b']
    """
    columns = [frozenset(range(n))]
    for pair in sorted({(min(pair), max(pair)) for pair in different}):
        split: list[frozenset[int]] = []
        for column in columns:
            split += [column - {run} for run in pair] if set(pair) <= column else [column]
        distinct = list(dict.fromkeys(split))
        columns = [column for column in distinct if not any(column < larger for larger in distinct)]
        if len(columns) > _MOST_LETTERS:
            return None
    columns.sort(key=sorted)
    return ["".join(letters(i) for i, column in enumerate(columns) if run in column) for run in range(n)]


def letters(number: int) -> str:
    """Return a, b, ..., z, and then (27), (28), ... ."""
    return ascii_lowercase[number] if number < len(ascii_lowercase) else f"({number + 1})"


def _placed(values: DoubleArray, order: Sequence[int] | npt.NDArray[np.intp]) -> DoubleArray:
    placed = np.empty_like(values)
    placed[order] = values
    return placed
