"""Runs compared over several data sets: ranks, tests of ranks, and what follows from them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import pi, sqrt
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from recgauge.comparison.claims import ranks_claims
from recgauge.comparison.tests_of_pairs import holm
from recgauge.errors import ConfigError, listed
from recgauge.files.frames import is_frame
from recgauge.files.tables import read_table
from recgauge.metrics.names import direction_of
from recgauge.utils.checks import DoubleArray
from recgauge.utils.randomness import stream

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PostHoc = Literal["nemenyi", "holm"]


def ranked(values: DoubleArray, *, higher_is_better: bool = True) -> DoubleArray:
    """Return ranks within each row of values (n_datasets, n_runs); 1 is best, equal values share the mean.

    Examples
    --------
    >>> ranked(np.array([[0.3, 0.1, 0.3]]))
    array([[1.5, 3. , 1.5]])
    """
    losses = -values if higher_is_better else values
    better, equal = (
        compare(losses[:, None, :], losses[:, :, None]).sum(axis=2) for compare in (np.less, np.equal)
    )
    ranks: DoubleArray = better + (equal + 1) / 2
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

    n, k = ranks.shape
    stderr, mean = sqrt(k * (k + 1) / (6 * n)), ranks.mean(axis=0)
    pairs = list(combinations(range(k), 2))
    z = np.array([abs(mean[i] - mean[j]) / stderr for i, j in pairs])
    if method == "holm":
        return None, dict(zip(pairs, holm(2 * ndtr(-z)).tolist(), strict=True))
    critical = range_quantile(alpha, k) / sqrt(2) * stderr
    return critical, {
        pair: range_tail(each * sqrt(2), k) for pair, each in zip(pairs, z.tolist(), strict=True)
    }


def range_tail(q: float, k: int) -> float:
    """Return the probability that the range of `k` independent standard normal values exceeds `q`.

    The studentized range with infinitely many degrees of freedom, of which `scipy.stats` takes longer to
    import than this takes to compute.

    Examples
    --------
    >>> round(range_tail(2.772, 2), 3), round(range_tail(3.314, 3), 3)
    (0.05, 0.05)
    """
    from scipy.special import ndtr

    # the largest value is at z, the others between z - q and z; sums of smooth, vanishing functions are exact
    z, step = np.linspace(-9.0, 9.0, 1801, retstep=True)
    density = np.exp(-(z**2) / 2) / sqrt(2 * pi)
    within = k * float(step) * float((density * (ndtr(z) - ndtr(z - q)) ** (k - 1)).sum())
    return min(max(1.0 - within, 0.0), 1.0)


@cache
def range_quantile(alpha: float, k: int) -> float:
    """Return what the range of `k` independent standard normal values exceeds with probability `alpha`.

    Examples
    --------
    >>> round(range_quantile(0.05, 2), 3), round(range_quantile(0.1, 10), 3)
    (2.772, 4.129)
    """
    low, high = 0.0, 40.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if range_tail(middle, k) > alpha else (low, middle)
    return high


def performance_profiles(
    values: DoubleArray, factors: DoubleArray, *, higher_is_better: bool = True
) -> DoubleArray:
    """Return on what share of the data sets each run is within a factor of the best.

    Parameters
    ----------
    values : ndarray of float64, shape (n_datasets, n_runs)
        Not negative.
    factors : ndarray of float64, shape (n,)
        Each at least 1.

    Returns
    -------
    ndarray of float64, shape (n_runs, n)

    References
    ----------
    .. [1] E. D. Dolan, J. J. More, "Benchmarking optimization software with performance profiles",
       Mathematical Programming 91, 2002.

    Examples
    --------
    >>> performance_profiles(np.array([[0.4, 0.2], [0.1, 0.1]]), np.array([1.0, 2.0]))
    array([[1. , 1. ],
           [0.5, 1. ]])
    """
    if (values < 0).any():
        raise ConfigError("performance_profiles: values must not be negative.")
    best = (values.max if higher_is_better else values.min)(axis=1, keepdims=True)
    # products, since a value may be zero: where all are zero, all are the best
    larger, smaller = (best, values) if higher_is_better else (values, best)
    within = larger[:, :, None] <= smaller[:, :, None] * factors
    shares: DoubleArray = within.mean(axis=0)
    return shares


def bayesian_signed_rank(
    differences: DoubleArray, rope: float, *, n_draws: int = 50_000, seed: int = 0, prior: float = 0.5
) -> tuple[float, float, float]:
    """Return the probabilities that differences are positive, as good as zero, and negative.

    The Bayesian signed-rank test: weights of the data sets are drawn from a Dirichlet distribution, and the
    mean of two differences drawn with these weights lies above `rope`, within, or below minus `rope`. A
    probability is the share of draws in which that region is the likeliest.

    Parameters
    ----------
    differences : ndarray of float64, shape (n_datasets,)
    rope : float
        Half the width of the region of practical equivalence, >= 0, in the metric's unit.
    n_draws, seed : int
    prior : float
        Weight of one more difference, of zero.

    References
    ----------
    .. [1] A. Benavoli, G. Corani, J. Demsar, M. Zaffalon, "Time for a change: a tutorial for comparing
       multiple classifiers through Bayesian analysis", Journal of Machine Learning Research 18, 2017.

    Examples
    --------
    >>> positive, equal, negative = bayesian_signed_rank(np.array([0.1, 0.2, 0.15, 0.12]), rope=0.01)
    >>> positive > 0.95, negative < 0.01
    (True, True)
    """
    all_differences = np.concatenate([[0.0], np.asarray(differences, np.float64)])
    weights = stream(seed, "comparison signed rank").dirichlet(
        [prior, *np.ones(len(all_differences) - 1)], n_draws
    )
    means = (all_differences[:, None] + all_differences) / 2
    above, below = (
        np.einsum("ni,ij,nj->n", weights, region.astype(np.float64), weights, optimize=True)
        for region in (means > rope, means < -rope)
    )
    likeliest = np.argmax([above, 1 - above - below, below], axis=0)
    shares = np.bincount(likeliest, minlength=3) / n_draws
    return float(shares[0]), float(shares[1]), float(shares[2])


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

    def equivalence(
        self, a: str, b: str, rope: float, *, n_draws: int = 50_000, seed: int = 0
    ) -> tuple[float, float, float]:
        """Return the probabilities that a is better, that both are as good as equal, and that b is better.

        See `bayesian_signed_rank`; differences within plus or minus `rope` are as good as none.
        """
        sign = 1.0 if self.higher_is_better else -1.0
        gains = [sign * (self.values[a][name] - self.values[b][name]) for name in self.datasets]
        return bayesian_signed_rank(np.array(gains), rope, n_draws=n_draws, seed=seed)

    def plot(self) -> "Figure":
        """Return the critical difference diagram."""
        from recgauge.report.figures.compared import critical_difference_diagram

        return critical_difference_diagram(self)


def compare_datasets(
    values: Any,
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
    values : mapping of str to mapping of str to float, or data frame
        By run and data set; every run must have a value on every data set. A data frame has a column per run
        and a row per data set, named by its index or a column ``dataset``; or a row per run, named by an
        index or a column ``model`` or ``run``, and a column per data set.
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
    values = _by_run(values)
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
        ranks_claims(metric, names, groups, len(datasets), p_iman_davenport, alpha),
    )


def _by_run(values: Any) -> dict[str, dict[str, float]]:
    """Return means by run and data set, from a mapping or a data frame."""
    if isinstance(values, Mapping) and all(isinstance(of_run, Mapping) for of_run in values.values()):
        return {str(run): dict(of_run) for run, of_run in values.items()}
    if not is_frame(values):
        raise ConfigError(
            "compare_datasets: expected means by run and data set, {'svd': {'ml_1m': 0.3}}, or a data frame "
            f"with a column per run and a row per data set; got {type(values).__name__}."
        )
    table = read_table(values, "compare_datasets")
    runs = [name for name in table.names if name in ("model", "run")]
    rows = [name for name in table.names if name in ("model", "run", "dataset", "index")]
    if len(rows) != 1:
        raise ConfigError(
            "compare_datasets: the rows of a data frame are named by its index, or by one column dataset, "
            f"model or run; this one has the columns {listed(table.names)}. A long table, with a row per "
            "value, is for recgauge.compare."
        )
    names = list(map(str, table.column(rows[0]).to_pylist()))
    if len(set(names)) < len(names):
        raise ConfigError(f"compare_datasets: {rows[0]} has rows of one name. Give one row to each.")
    columns = {name: table.numbers(name).tolist() for name in table.names if name != rows[0]}
    by_column = {name: dict(zip(names, column, strict=True)) for name, column in columns.items()}
    if not runs:
        return by_column
    return {name: {column: by_column[column][name] for column in by_column} for name in names}


def _neighbours(runs: tuple[str, ...], different: set[tuple[int, int]]) -> tuple[tuple[str, ...], ...]:
    neighbours: list[range] = []
    for start in range(len(runs)):
        stop = start + 1
        while stop < len(runs) and not any((i, stop) in different for i in range(start, stop)):
            stop += 1
        if stop - start > 1 and (not neighbours or neighbours[-1].stop < stop):
            neighbours.append(range(start, stop))
    return tuple(tuple(runs[i] for i in group) for group in neighbours)
