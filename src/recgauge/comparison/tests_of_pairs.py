"""Tests of differences: are they zero on average, are they equal in all groups."""

from collections.abc import Sequence

import numpy as np

from recgauge.utils.checks import DoubleArray


def paired_t(differences: DoubleArray) -> float:
    """Return the two-sided p-value of Student's paired t-test, differences (m,) given.

    Examples
    --------
    >>> round(paired_t(np.array([1.0, 2.0, 3.0])), 4)
    0.0742
    """
    stderr = float(differences.std(ddof=1) / np.sqrt(len(differences)))
    return _two_sided(float(differences.mean()), stderr, len(differences) - 1)


def corrected_resampled_t(
    differences: DoubleArray, test_share: float, confidence: float = 0.95
) -> tuple[float, float, float]:
    """Return p and the interval of the mean difference over folds or repeated splits.

    Training parts overlap, so the differences vary less than those of new data would. Their variance is
    multiplied by ``1 / n + test_share / (1 - test_share)`` instead of ``1 / n``.

    Parameters
    ----------
    differences : ndarray of float64, shape (n,)
        One per fold or repeated split.
    test_share : float
        Share of the rows in each test part: ``1 / n`` for n folds.
    confidence : float

    Returns
    -------
    p, low, high : float

    References
    ----------
    .. [1] C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine Learning 52(3), 2003.

    Examples
    --------
    >>> p, low, high = corrected_resampled_t(np.array([0.01, 0.02, 0.03]), test_share=1 / 3)
    >>> round(p, 3), round(low, 3), round(high, 3)
    (0.16, -0.019, 0.059)
    """
    n = len(differences)
    inflated = 1 / n + test_share / (1 - test_share)
    mean, stderr = float(differences.mean()), float(differences.std(ddof=1) * np.sqrt(inflated))
    half = student_quantile((1 + confidence) / 2, n - 1) * stderr
    return _two_sided(mean, stderr, n - 1), mean - half, mean + half


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

    n_higher, n = int((differences > 0).sum()), int((differences != 0).sum())
    return float(stats.binomtest(n_higher, n).pvalue) if n else 1.0


def equal_means(groups: Sequence[DoubleArray]) -> float:
    """Return the p-value of Alexander and Govern's test that groups of unequal variances have equal means.

    Parameters
    ----------
    groups : sequence of ndarray of float64
        At least two, each of at least two values that are not all equal.

    Returns
    -------
    float

    Notes
    -----
    `scipy.stats` has it, too, and takes longer to import than a small sweep's report to be made.

    References
    ----------
    .. [1] R. A. Alexander, D. M. Govern, "A new and simpler approximation for ANOVA under variance
       heterogeneity", Journal of Educational Statistics 19(2), 1994.

    Examples
    --------
    >>> few, many = np.array([0.1, 0.2, 0.3, 0.2]), np.array([0.5, 0.6, 0.4, 0.7, 0.6])
    >>> round(equal_means([few, many]), 4)
    0.0013
    """
    from scipy.special import chdtrc

    sizes = np.array([len(group) for group in groups], np.float64)
    means = np.array([group.mean() for group in groups])
    errors = np.sqrt([group.var(ddof=1) for group in groups] / sizes)
    t = (means - np.average(means, weights=errors**-2)) / errors
    a = sizes - 1.5
    b = 48 * a**2
    c = np.sqrt(a * np.log1p(t**2 / (sizes - 1)))
    z = (
        c
        + (c**3 + 3 * c) / b
        - (4 * c**7 + 33 * c**5 + 240 * c**3 + 855 * c) / (b * (10 * b + 8 * c**4 + 1000))
    )
    return float(chdtrc(len(groups) - 1, (z**2).sum()))


def student_quantile(share: float, degrees: int) -> float:
    """Return a quantile of Student's t.

    Examples
    --------
    >>> round(student_quantile(0.975, 9), 3)
    2.262
    """
    from scipy.special import stdtrit

    return float(stdtrit(degrees, share))


def _two_sided(mean: float, stderr: float, degrees: int) -> float:
    from scipy.special import stdtr

    if stderr == 0:
        return 1.0 if mean == 0 else 0.0
    return float(2 * stdtr(degrees, -abs(mean) / stderr))
