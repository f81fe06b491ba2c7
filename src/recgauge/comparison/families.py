"""Many comparisons at once: corrected p-values, and letters for runs that are not shown to differ."""

from collections.abc import Collection, Sequence
from string import ascii_lowercase

import numpy as np
import numpy.typing as npt

from recgauge.utils.checks import DoubleArray


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
    resampled: DoubleArray,
    *,
    exact: bool = False,
    tolerance: float | DoubleArray = 0.0,
) -> DoubleArray:
    """Return p-values corrected by the distribution of the largest statistic, step by step down.

    The largest observed statistic is compared with the largest of every resample, the next with the largest
    of the others, and so on. Tests that depend on each other, as those of all pairs do, are corrected less
    than by Holm's method.

    Parameters
    ----------
    observed : ndarray of float64, shape (n,)
        Statistics, large where there is a difference, on one scale for all tests.
    resampled : ndarray of float64, shape (n_resamples, n)
        The same under the null hypothesis.
    exact : bool
        Whether `resampled` has every possible case, the observed one among them.
    tolerance : float or ndarray, shape (n,)
        Statistics that are less by this count as equal: what rounding may do to them.

    References
    ----------
    .. [1] P. H. Westfall, S. S. Young, "Resampling-Based Multiple Testing", 1993, algorithm 4.1.

    Examples
    --------
    >>> max_t(np.array([3.0, 1.0]), np.array([[1.0, 2.0], [0.5, 0.1], [0.2, 4.0]])).tolist()
    [0.5, 0.75]
    """
    order = np.argsort(-observed, kind="stable")
    least = (observed - tolerance)[order]
    largest = np.maximum.accumulate(resampled[:, order[::-1]], axis=1)[:, ::-1]
    one = 0 if exact else 1
    p = ((largest >= least).sum(axis=0) + one) / (len(resampled) + one)
    return _placed(np.maximum.accumulate(p), order)


def compact_letters(n: int, different: Collection[tuple[int, int]]) -> list[str]:
    """Return letters for n runs so that two share one exactly if they are not shown to differ.

    Parameters
    ----------
    n : int
        Runs, in the order in which letters are given.
    different : collection of (int, int)

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
        columns = [one for one in distinct if not any(one < other for other in distinct)]
    columns.sort(key=sorted)
    return ["".join(letters(i) for i, column in enumerate(columns) if run in column) for run in range(n)]


def letters(number: int) -> str:
    """Return a, b, ..., z, and then (27), (28), ... ."""
    return ascii_lowercase[number] if number < len(ascii_lowercase) else f"({number + 1})"


def _placed(values: DoubleArray, order: Sequence[int] | npt.NDArray[np.intp]) -> DoubleArray:
    placed = np.empty_like(values)
    placed[order] = values
    return placed
