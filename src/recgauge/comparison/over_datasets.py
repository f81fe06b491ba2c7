"""Runs compared over several data sets: ranks, and what follows from them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recgauge.comparison.claims import ranks_claims
from recgauge.comparison.ranks import PostHoc, bayesian_signed_rank, friedman, post_hoc_test, ranked
from recgauge.errors import ConfigError, listed
from recgauge.utils.checks import DoubleArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
        from recgauge.report.figures.ranks import critical_difference_diagram

        return critical_difference_diagram(self)


def compare_datasets(
    values: Mapping[str, Mapping[str, float]],
    *,
    metric: str = "value",
    higher_is_better: bool = True,
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
    higher_is_better : bool
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
    ranks = ranked(table, higher_is_better=higher_is_better)
    mean = ranks.mean(axis=0)
    order = sorted(range(len(runs)), key=lambda i: (mean[i], i))
    p_friedman, p_iman_davenport = friedman(ranks)
    critical, p = post_hoc_test(ranks[:, order], post_hoc, alpha)
    names = tuple(runs[i] for i in order)
    groups = _neighbours(names, {pair for pair, one in p.items() if one <= alpha})
    return DatasetsResult(
        metric,
        higher_is_better,
        names,
        tuple(datasets),
        {runs[i]: float(mean[i]) for i in order},
        {runs[i]: {name: float(values[runs[i]][name]) for name in datasets} for i in order},
        p_friedman,
        p_iman_davenport,
        critical,
        {(names[i], names[j]): one for (i, j), one in p.items()},
        groups,
        ranks_claims(metric, names, groups, len(datasets), p_iman_davenport, alpha),
    )


def _neighbours(runs: tuple[str, ...], different: set[tuple[int, int]]) -> tuple[tuple[str, ...], ...]:
    found: list[range] = []
    for start in range(len(runs)):
        stop = start + 1
        while stop < len(runs) and not any((i, stop) in different for i in range(start, stop)):
            stop += 1
        if stop - start > 1 and (not found or found[-1].stop < stop):
            found.append(range(start, stop))
    return tuple(tuple(runs[i] for i in group) for group in found)
