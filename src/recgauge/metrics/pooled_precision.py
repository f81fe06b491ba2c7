"""Pooled (micro) precision: all users' hits over all that could be hit."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from recgauge.judging.judge import JudgedTopK
from recgauge.metrics import RunMetric
from recgauge.metrics.denominators import denominator, hits
from recgauge.utils.checks import DoubleArray, check_choice


@dataclass(frozen=True)
class PooledPrecision(RunMetric):
    r"""Hits of all users together, divided by the most that could be hit.

    .. math:: \mathrm{P_{micro}@}k = \frac{\sum_u |L_k(u) \cap R_u|}{\sum_u \min(k, |R_u|)}

    Parameters
    ----------
    denominator : {"min_relevant_k", "k", "list"}, default "min_relevant_k"
        What each user adds below the line.

    Raises
    ------
    ConfigError
        If `denominator` is unknown.

    Notes
    -----
    Range [0, 1], higher is better. Users with many relevant items weigh more than in the mean over users.
    A value of the whole run: there are no per-user values.

    References
    ----------
    .. [1] implicit, https://github.com/benfred/implicit, ``evaluation.pyx`` (its "precision").

    Examples
    --------
    One of at most two hits:

    >>> from recgauge.metrics.examples import judged_example
    >>> metric = PooledPrecision()
    >>> metric.value(metric.sums(judged_example(), 2))
    0.5
    """

    name: ClassVar[str] = "micro_precision"
    label: ClassVar[str] = "PooledPrecision"

    denominator: str = "min_relevant_k"

    def __post_init__(self) -> None:
        check_choice("PooledPrecision: denominator", self.denominator, ("min_relevant_k", "k", "list"))

    def sums(self, judged: JudgedTopK, k: int | None) -> DoubleArray:
        """Return hits and the most that could be hit, shape (2,)."""
        possible = denominator(self.denominator, judged, k)
        return np.array([hits(judged, k).sum(), possible.sum()])

    def value(self, sums: DoubleArray) -> float:
        """Return the share of hits."""
        return float(sums[0] / sums[1]) if sums[1] else float("nan")
