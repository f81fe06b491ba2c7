"""Runs compared over several data sets: ranks, tests of ranks, and what follows from them."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from math import inf, sqrt
from typing import Literal

import numpy as np

from recgauge.comparison.claims import ranks_claims, too_few_claim
from recgauge.comparison.tests_of_pairs import holm
from recgauge.errors import ConfigError, listed
from recgauge.metrics.names import direction_of
from recgauge.utils.checks import DoubleArray

PostHoc = Literal["nemenyi", "holm"]


def ranked(values: DoubleArray, *, higher_is_better: bool = True) -> DoubleArray:
    """Return ranks within each row of values (n_datasets, n_runs); 1 is best, equal values share the mean.

    Examples
    --------
    >>> ranked(np.array([[0.3, 0.1, 0.3]]))
    array([[1.5, 3. , 1.5]])
    """
    from scipy.stats import rankdata

    ranks: DoubleArray = rankdata(-values if higher_is_better else values, axis=1)
    return ranks


def friedman(ranks: DoubleArray) -> tuple[float, float]:
    """Return p of Friedman's test, corrected for ties, and of Iman and Davenport's."""
    from scipy.special import chdtrc, fdtrc

    n, k = ranks.shape
    spread = ((ranks - (k + 1) / 2) ** 2).sum()  # n k (k^2 - 1) / 12 without ties
    if spread == 0:
        return 1.0, 1.0
    statistic = (k - 1) * n**2 * float(((ranks.mean(axis=0) - (k + 1) / 2) ** 2).sum() / spread)
    rest = n * (k - 1) - statistic
    p_f = float(fdtrc(k - 1, (k - 1) * (n - 1), (n - 1) * statistic / rest)) if rest > 1e-12 else 0.0
    return float(chdtrc(k - 1, statistic)), p_f


def post_hoc_test(
    ranks: DoubleArray, method: PostHoc, alpha: float
) -> tuple[float | None, dict[tuple[int, int], float]]:
    """Return Nemenyi's critical difference (None for Holm), and corrected p-values by pair of columns.

    `ranks` has shape (n_datasets, n_runs).
    """
    from scipy.special import ndtr
    from scipy.stats import studentized_range

    n, k = ranks.shape
    stderr, mean = sqrt(k * (k + 1) / (6 * n)), ranks.mean(axis=0)
    pairs = list(combinations(range(k), 2))
    z = np.array([abs(mean[i] - mean[j]) / stderr for i, j in pairs])
    if method == "holm":
        return None, dict(zip(pairs, holm(2 * ndtr(-z)).tolist(), strict=True))
    critical = float(studentized_range.ppf(1 - alpha, k, inf)) / sqrt(2) * stderr
    return critical, dict(zip(pairs, studentized_range.sf(z * sqrt(2), k, inf).tolist(), strict=True))


def least_p(n: int, k: int, method: PostHoc) -> float:
    """Return the least corrected p that k runs can have on n data sets: the first and the last on each.

    Examples
    --------
    >>> round(least_p(3, 2, "nemenyi"), 3), round(least_p(4, 2, "nemenyi"), 3)
    (0.083, 0.046)
    """
    from scipy.special import ndtr
    from scipy.stats import studentized_range

    z = (k - 1) / sqrt(k * (k + 1) / (6 * n))
    if method == "holm":
        return min(1.0, k * (k - 1) * float(ndtr(-z)))
    return float(studentized_range.sf(z * sqrt(2), k, inf))


@dataclass(frozen=True, slots=True)
class DatasetsResult:
    """Runs compared over several data sets by one metric.

    Parameters
    ----------
    metric : str
    higher_is_better : bool
    runs : tuple of str
        Best mean rank first.
    datasets : tuple of str
    mean_ranks : dict of str to float
        1 is best; equal values share the mean of their ranks.
    values : dict of str to dict of str to float
        Mean by run and data set.
    p_friedman, p_iman_davenport : float
        That all runs are equal.
    critical_difference : float or None
        Runs whose mean ranks differ by more differ (Nemenyi); None after Holm's correction.
    p_adjusted : dict of (str, str) to float
        By pair of runs, the one with the better rank first.
    groups : tuple of tuple of str
        Largest sets of neighbouring runs that are not shown to differ; single runs are left out.
    claims : tuple of str
    """

    metric: str
    higher_is_better: bool
    runs: tuple[str, ...]
    datasets: tuple[str, ...]
    mean_ranks: dict[str, float]
    values: dict[str, dict[str, float]]
    p_friedman: float
    p_iman_davenport: float
    critical_difference: float | None
    p_adjusted: dict[tuple[str, str], float]
    groups: tuple[tuple[str, ...], ...]
    claims: tuple[str, ...] = ()

    def table(self) -> DoubleArray:
        """Return the means, shape (n_datasets, n_runs)."""
        return np.array([[self.values[run][dataset] for run in self.runs] for dataset in self.datasets])


def compare_datasets(
    values: Mapping[str, Mapping[str, float]],
    *,
    metric: str = "value",
    higher_is_better: bool | None = None,
    post_hoc: PostHoc = "nemenyi",
    alpha: float = 0.05,
) -> DatasetsResult:
    """Compare runs by their ranks on several data sets.

    Data sets count alike, whatever the size of their differences. Friedman's test asks whether any run
    differs, the post hoc test which.

    Parameters
    ----------
    values : mapping of str to mapping of str to float
        By run and data set; every run must have a value on every data set.
    metric : str
    higher_is_better : bool, optional
        By default as the name of the metric says it, see `recgauge.compare`; without a name more is better.
    post_hoc : {"nemenyi", "holm"}
        Nemenyi's test has one critical difference for all pairs; Holm's correction of the same statistics has
        none.
    alpha : float
        Bound of the chance of any false finding.

    Raises
    ------
    ConfigError
        If there are fewer than two runs or data sets, or a value is missing or not finite.

    References
    ----------
    .. [1] J. Demsar, "Statistical comparisons of classifiers over multiple data sets", Journal of Machine
       Learning Research 7, 2006.
    .. [2] R. L. Iman, J. M. Davenport, "Approximations of the critical region of the Friedman statistic",
       Communications in Statistics A9(6), 1980.

    Examples
    --------
    >>> result = compare_datasets({"svd": {"a": 0.3, "b": 0.2}, "popularity": {"a": 0.1, "b": 0.2}})
    >>> result.mean_ranks
    {'svd': 1.25, 'popularity': 1.75}
    """
    if not isinstance(values, Mapping) or not all(isinstance(means, Mapping) for means in values.values()):
        raise ConfigError(
            "compare_datasets: expected means by run and data set, such as {'svd': {'ml_1m': 0.3}}; got "
            f"{type(values).__name__}. Of a data frame with a column per run write frame.to_dict()."
        )
    runs, datasets = list(values), list(next(iter(values.values()), {}))
    if len(runs) < 2 or len(datasets) < 2:
        raise ConfigError(
            f"compare_datasets: at least two runs and two data sets are needed, got {len(runs)} and "
            f"{len(datasets)}."
        )
    for run in runs:
        missing = sorted(set(datasets) ^ set(values[run]))
        if missing or not np.isfinite(list(values[run].values())).all():
            raise ConfigError(
                f"compare_datasets: {run} needs a finite value on each data set that the others have"
                + (f"; {listed(missing)} differ." if missing else ".")
            )
    table = np.array([[values[run][dataset] for run in runs] for dataset in datasets])
    higher = direction_of(metric, higher_is_better)
    ranks = ranked(table, higher_is_better=higher)
    mean = ranks.mean(axis=0)
    order = sorted(range(len(runs)), key=lambda i: (mean[i], i))
    p_friedman, p_iman_davenport = friedman(ranks)
    critical, p = post_hoc_test(ranks[:, order], post_hoc, alpha)
    names = tuple(runs[i] for i in order)
    groups = _neighbours(names, {pair for pair, adjusted in p.items() if adjusted <= alpha})
    claims = ranks_claims(metric, names, groups, len(datasets), p_iman_davenport, alpha)
    if least_p(len(datasets), len(runs), post_hoc) > alpha:
        claims = (too_few_claim(metric, len(datasets), len(runs)),)
    return DatasetsResult(
        metric,
        higher,
        names,
        tuple(datasets),
        {runs[i]: float(mean[i]) for i in order},
        {runs[i]: {name: float(values[runs[i]][name]) for name in datasets} for i in order},
        p_friedman,
        p_iman_davenport,
        critical,
        {(names[i], names[j]): adjusted for (i, j), adjusted in p.items()},
        groups,
        claims,
    )


def _neighbours(runs: tuple[str, ...], different: set[tuple[int, int]]) -> tuple[tuple[str, ...], ...]:
    neighbours: list[range] = []
    for start in range(len(runs)):
        stop = start + 1
        while stop < len(runs) and not any((i, stop) in different for i in range(start, stop)):
            stop += 1
        if stop - start > 1 and (not neighbours or neighbours[-1].stop < stop):
            neighbours.append(range(start, stop))
    return tuple(tuple(runs[i] for i in group) for group in neighbours)
