"""Runs compared over several data sets: ranks and what follows from them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DatasetsResult:
    """Runs compared over several data sets by one metric.

    Parameters
    ----------
    metric : str
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
        Runs whose mean ranks differ by more are different (Nemenyi); None after Holm's correction.
    p_adjusted : dict of (str, str) to float
        By pair of runs.
    groups : tuple of tuple of str
        Largest sets of neighbouring runs that are not shown to differ.
    claims : tuple of str
    """

    metric: str
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
