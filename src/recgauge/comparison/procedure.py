"""How runs are compared: intervals, tests, correction for many comparisons, resamples."""

from dataclasses import dataclass
from typing import Literal, get_args

from recgauge.errors import ConfigError
from recgauge.utils.checks import check_choice, check_int, check_real

Interval = Literal["bca", "percentile", "normal"]
Test = Literal["t", "permutation", "bootstrap", "wilcoxon", "sign"]
Correction = Literal["max_t", "holm", "bh", "none"]


@dataclass(frozen=True, slots=True)
class Procedure:
    """How runs are compared.

    Parameters
    ----------
    baseline : str or None
        The run that all others are compared with; None: every pair of runs.
    correction : {"max_t", "holm", "bh", "none"}
        How p-values are corrected for the number of pairs of one metric. ``max_t`` and ``holm`` bound the
        chance of any false finding (family-wise error), ``bh`` the share of false findings.
    confidence : float
        Of intervals, inside (0, 1); a pair differs if its corrected p is at most ``1 - confidence``.
    interval : {"bca", "percentile", "normal"}
        Bootstrap over users, bias-corrected and accelerated or of plain percentiles; or Student's t.
    tests : tuple of {"t", "permutation", "bootstrap", "wilcoxon", "sign"}
        At least one. The p-values of the first are corrected, unless `correction` is ``max_t``, which makes
        its own.
    n_resamples : int
        Resamples of users, and sign flips, >= 100.
    seed : int
        Of resamples and sign flips, >= 0.

    Raises
    ------
    ConfigError
        If a value is not valid.

    Examples
    --------
    >>> Procedure(baseline="popularity", confidence=0.99).alpha
    0.01
    """

    baseline: str | None = None
    correction: Correction = "max_t"
    confidence: float = 0.95
    interval: Interval = "bca"
    tests: tuple[Test, ...] = ("t",)
    n_resamples: int = 10_000
    seed: int = 0

    def __post_init__(self) -> None:
        check_choice("correction", self.correction, get_args(Correction))
        check_choice("interval", self.interval, get_args(Interval))
        check_real("confidence", self.confidence, low=0.5, high=0.9999)
        check_int("n_resamples", self.n_resamples, minimum=100)
        check_int("seed", self.seed, minimum=0)
        if not self.tests:
            raise ConfigError(f"tests must name at least one of {', '.join(get_args(Test))}.")
        for test in self.tests:
            check_choice("tests", test, get_args(Test))

    @property
    def alpha(self) -> float:
        """The largest corrected p with which a pair differs."""
        return round(1 - self.confidence, 12)
